"""What Fig. 1 shows: the accuracy of DP-RF and Private-RDT on nine tables at seven budgets."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier

from papers.cross_validation import accuracy, never_missing, table
from papers.experiment import Cell, Experiment, Scale
from privet import Categorical, DPRFClassifier, Numeric, PrivateRDTClassifier, Schema
from privet.datasets import Dataset

TABLES = {
    "car-evaluation": "Car Evaluation",
    "tic-tac-toe": "Tic-Tac-Toe",
    "pima-diabetes": "Pima Diabetes",
    "page-blocks": "Page Blocks",
    "mushroom": "Mushroom",
    "nursery": "Nursery",
    "chess-krk": "Chess (King-Rook vs. King)",
    "bank-marketing": "Bank Marketing",
    "adult": "Adult",
}
BUDGETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
# The paper cuts numbers into so many cells of equal width, for both methods.
BINS = 5
RUNS = 30
FEWER_RUNS = 5

DP_RF, ROOT_C, PRIVATE_RDT = "DP-RF", "DP-RF, sqrt(C)", "Private-RDT"
MOST_FREQUENT = "most frequent class"
PRIVATE = (DP_RF, PRIVATE_RDT, ROOT_C)


def n_runs(scale: Scale, method: str) -> int:
    """Return the paper's 30, fewer where the paper has none."""
    if scale == "quick" or method == MOST_FREQUENT:
        return 1
    return FEWER_RUNS if method == ROOT_C else RUNS


def cells(scale: Scale) -> Iterator[Cell]:
    """Yield the first run of everything, then the second, and so on."""
    for run in range(RUNS):
        for name in TABLES:
            for method in (*PRIVATE, MOST_FREQUENT):
                if run < n_runs(scale, method):
                    budgets = BUDGETS if method in PRIVATE else (math.inf,)
                    yield from ((name, method, budget, run) for budget in budgets)


def in_five(data: Dataset) -> Dataset:
    """Return the table with every number as one of five categories: cells of equal width over its public bounds.

    Both methods then split it five ways. Left as numbers, each would cut it in two, at a threshold drawn at random.
    """
    X, attributes = data.X.copy(), []
    for attribute in data.schema.attributes:
        if isinstance(attribute, Numeric):
            column, cells = X[attribute.name], replace(attribute, bins=BINS, edges=None)
            codes = pd.Series(np.searchsorted(cells.cuts, column, side="right"), index=column.index, dtype=object)
            X[attribute.name] = codes.where(column.notna(), None).astype("category")
            attributes.append(Categorical(attribute.name, range(BINS)))
        else:
            attributes.append(attribute)
    return replace(data, X=X, schema=never_missing(data.schema.with_attributes(attributes), X))


@cache
def prepared(name: str) -> Dataset:
    """Return the table as both methods see it."""
    return in_five(table(name))


def classifier(method: str, schema: Schema, budget: float) -> Any:
    """Return what a method's name stands for."""
    if method == PRIVATE_RDT:
        return PrivateRDTClassifier(schema, epsilon=budget, n_trees=10)
    if method == MOST_FREQUENT:
        return DummyClassifier(strategy="most_frequent")
    return DPRFClassifier(schema, epsilon=budget, noise_factor="classes" if method == DP_RF else "sqrt_classes")


def measure(name: str, method: str, budget: float, run: int) -> list[tuple[float]]:
    """Return the accuracy of one run of cross-validation, with fresh trees and fresh noise in every fold."""
    data = prepared(name)
    return [(accuracy(classifier(method, data.schema, budget), data.X, data.y, run=run),)]


ACCURACY = Experiment("accuracy", ("table", "method", "epsilon", "run"), ("accuracy",), cells, measure)
