"""What privet advises, against what is measured: the loss that a plan expects, the importances of a model."""
