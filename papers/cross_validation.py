"""Stratified 10-fold cross-validation of a classifier on a UCI table, run by run."""

import warnings
from functools import cache
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from privet.datasets import Dataset, uci

FOLDS = 10


@cache
def table(name: str) -> Dataset:
    """Return the UCI table with its text as categories, which are coded faster, fold by fold."""
    return uci(name).with_categories()


def codes(X: Any) -> Any:
    """Return categories as whole numbers, for classifiers that know nothing else."""
    return X.apply(lambda column: column.cat.codes if column.dtype == "category" else column)


def accuracy(model: Any, X: Any, y: Any, *, run: int) -> float:
    """Return the mean accuracy over the folds of a run, in per cent; a run has the same folds for every model."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=run)
    with warnings.catch_warnings():
        # Of variants that promise nothing, and of classes with fewer rows than folds.
        warnings.simplefilter("ignore", UserWarning)
        scores = cross_val_score(model, X, y, cv=folds, scoring="accuracy", error_score="raise")
    return round(float(100 * np.mean(scores)), 3)
