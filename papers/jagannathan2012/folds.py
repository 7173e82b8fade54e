"""Runs of stratified 10-fold cross-validation: the same folds for all ways of training, fresh noise in every fit."""

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from sklearn.model_selection import StratifiedKFold

from papers.experiment import Scale
from papers.jagannathan2012.tables import Table, prepared

FOLDS = 10
RUNS = {"quick": 2, "full": 10}
# Returns the model of some of the table's rows.
Training: TypeAlias = Callable[[Table, Any, Any], Any]


def accuracy(name: str, run: int, train: Training) -> float:
    """Return the accuracy of one run of cross-validation, in per cent."""
    table = prepared(name)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # two rows of Nursery are the only ones of their class
        parts = list(folds.split(table.X, table.y))
    scores = []
    for kept, held_out in parts:
        model = train(table, table.X.iloc[kept], table.y[kept])
        scores.append(model.score(table.X.iloc[held_out], table.y[held_out]))
    return float(100 * np.mean(scores))


def over_runs(scale: Scale, points: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield every point in run 0, then every point in run 1: an interrupted run has something of each."""
    for run, point in product(range(RUNS[scale]), points):
        yield *point, run
