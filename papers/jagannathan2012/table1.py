"""Table 1: ID3 without privacy, the most frequent class, and private ID3 at epsilon 0.5."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from sklearn.dummy import DummyClassifier

from papers.experiment import Cell, Experiment, Scale
from papers.jagannathan2012.epsilons import ID3, OUR_ID3, one_tree
from papers.jagannathan2012.folds import accuracy, over_runs
from papers.jagannathan2012.tables import NURSERY, TREES, VOTES, WHOLE_MUSHROOM, WHOLE_NURSERY, Table, prepared
from privet import PrivateID3Classifier

EPSILON = 0.5
# What is private has the three classes of the paper's Table 2; the other figures are those of all five.
TABLES = (NURSERY, WHOLE_NURSERY, VOTES, WHOLE_MUSHROOM)
PLAIN, MOST_FREQUENT = "ID3 without privacy", "most frequent class"


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
    train = partial(one_tree, epsilon=epsilon, ours=method == OUR_ID3)
    return [(questions(name, epsilon), accuracy(name, run, train))]


def cells(scale: Scale) -> Iterator[Cell]:
    methods = ((PLAIN, math.inf), (ID3, EPSILON), (OUR_ID3, EPSILON))
    guessed = dict.fromkeys((*TABLES, *TREES))  # what the figures show is compared with guessing, too
    points = [(name, *method) for name in TABLES for method in methods]
    return over_runs(scale, [*points, *((name, MOST_FREQUENT, math.inf) for name in guessed)])


EXPERIMENT = Experiment("table1", ("table", "method", "epsilon", "run"), ("questions", "accuracy"), cells, measure)
