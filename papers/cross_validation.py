"""Stratified 10-fold cross-validation of a classifier on a UCI table, run by run."""

import warnings
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from privet import Schema
from privet.datasets import Dataset, uci

FOLDS = 10


@cache
def table(name: str) -> Dataset:
    """Return the UCI table with its text as categories, which are coded faster, fold by fold."""
    data = uci(name).with_categories()
    return replace(data, schema=never_missing(data.schema, data.X))


def never_missing(schema: Schema, X: Any) -> Schema:
    """Return the schema that declares what no row of ``X`` lacks.

    These tables are public as a whole, and the repository documents which attributes have missing values.
    """
    whole = ~X.isna().any()
    return schema.with_attributes(replace(a, never_missing=bool(whole[a.name])) for a in schema.attributes)


def codes(X: Any) -> Any:
    """Return categories as whole numbers, for classifiers that know nothing else."""
    return X.apply(lambda column: column.cat.codes if column.dtype == "category" else column)


def accuracy(model: Any, X: Any, y: Any, *, run: int, in_order: bool = False) -> float:
    """Return the mean accuracy over the folds of a run, in per cent; a run has the same folds for every model.

    ``in_order`` leaves the rows of each class in the order of the table, so that every run has the same folds.
    """
    folds = StratifiedKFold(FOLDS) if in_order else StratifiedKFold(FOLDS, shuffle=True, random_state=run)
    with warnings.catch_warnings():
        # Of variants that promise nothing, and of classes with fewer rows than folds.
        warnings.simplefilter("ignore", UserWarning)
        scores = cross_val_score(model, X, y, cv=folds, scoring="accuracy", error_score="raise")
    return round(float(100 * np.mean(scores)), 3)
