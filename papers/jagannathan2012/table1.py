"""Table 1: ID3 without privacy, the most frequent class, and private ID3 at epsilon 0.5."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from sklearn.dummy import DummyClassifier

from papers.experiment import Cell, Experiment, Scale
from papers.jagannathan2012.epsilons import one_tree
from papers.jagannathan2012.folds import accuracy, over_runs
from papers.jagannathan2012.tables import NURSERY, VOTES, WHOLE_MUSHROOM, Table, prepared
from privet import PrivateID3Classifier

EPSILON = 0.5
TABLES = (NURSERY, VOTES, WHOLE_MUSHROOM)
PLAIN, PRIVATE, MOST_FREQUENT = "ID3 without privacy", "private ID3", "most frequent class"


def most_frequent(_table: Table, X: Any, y: Any) -> Any:
    """Return the guess that needs no attribute."""
    return DummyClassifier(strategy="most_frequent").fit(X, y)


def questions(name: str, epsilon: float) -> int:
    """Return among how many questions private ID3 shares its epsilon: of a level's, one row enters each."""
    plan = PrivateID3Classifier(prepared(name).schema, epsilon=epsilon).plan()
    return sum(step.sensitivity for step in plan.steps)


def measure(name: str, method: str, epsilon: float, run: int) -> list[tuple[int, float]]:
    if method == MOST_FREQUENT:
        return [(0, accuracy(name, run, most_frequent))]
    return [(questions(name, epsilon), accuracy(name, run, partial(one_tree, epsilon=epsilon)))]


def cells(scale: Scale) -> Iterator[Cell]:
    methods = ((PLAIN, math.inf), (MOST_FREQUENT, math.inf), (PRIVATE, EPSILON))
    return over_runs(scale, [(name, *method) for name in TABLES for method in methods])


EXPERIMENT = Experiment("table1", ("table", "method", "epsilon", "run"), ("questions", "accuracy"), cells, measure)
