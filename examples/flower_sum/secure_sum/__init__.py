"""A Flower app of four lines: what it does is in privet."""
