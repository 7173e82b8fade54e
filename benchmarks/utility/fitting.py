"""Fitting a model that has scikit-learn's face, and what it then says about the test rows."""

import time
from typing import Any

from benchmarks.utility.scores import Predictions, by_schema
from benchmarks.utility.splits import Split, positions


def predictions(model: Any, split: Split, train: Any, labels: Any, test: Any) -> Predictions:
    """Fit ``model`` to training rows and their labels, and ask it about the test rows; the fit is timed."""
    start = time.process_time()
    model.fit(train, labels)
    seconds = time.process_time() - start
    classes = split.schema.classes
    chances = by_schema(model.predict_proba(test), model.classes_.tolist(), classes)
    return Predictions(positions(model.predict(test), classes), chances, seconds)
