"""Section 4.4: the classical random forest on clear rows, to which the paper's is said to be equal."""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from papers.cross_validation import codes
from papers.experiment import Experiment, Scale
from papers.szucs2013.forest import SIZES
from papers.szucs2013.split import Split, split
from papers.workers import Cell

BITS, ATTRIBUTES = "bits", "attributes"
# What trees put together: their leaves' probabilities, or as in the paper a vote each.
MEAN, MAJORITY = "mean", "majority"
TREES: dict[Scale, int] = {"quick": 30, "full": 100}
# Nodes of fewer rows are not split: privet's default where little is disguised, and scikit-learn's own.
LEAST_NODE, FULLY_GROWN = 100, 2
# The share of different rows in a bag of as many as there are.
_DIFFERENT = 1 - math.exp(-1)


def cells(scale: Scale) -> Iterator[Cell]:
    """Yield every table, in bits and as it comes, with large leaves and fully grown."""
    for table, given, least in product(SIZES[scale], (BITS, ATTRIBUTES), (LEAST_NODE, FULLY_GROWN)):
        yield table, TREES[scale], given, least


def measure(table: str, trees: int, given: str, least_node: int) -> list[tuple[str, float]]:
    """Return the areas under the curve on the test rows by both votes."""
    rows = split(table)
    train, test = (_inputs(rows, part, given) for part in (rows.train, rows.test))
    # scikit-learn counts the different rows of a bag, ours and the paper's all that were drawn.
    different = max(FULLY_GROWN, round(least_node * _DIFFERENT))
    forest = RandomForestClassifier(trees, min_samples_split=different, random_state=0, n_jobs=1)
    forest.fit(train, rows.train_y)
    return [(MEAN, rows.auc(forest, test)), (MAJORITY, rows.auc(_Votes(forest), test))]


class _Votes:
    """A forest whose probabilities are shares of trees."""

    def __init__(self, forest: RandomForestClassifier) -> None:
        self._trees, self.classes_ = forest.estimators_, forest.classes_

    def predict_proba(self, test: Any) -> NDArray[np.float64]:
        """Return the share of trees that vote for each class."""
        first_choice = np.eye(len(self.classes_))
        shares: NDArray[np.float64] = np.mean(
            [first_choice[tree.predict_proba(test).argmax(axis=1)] for tree in self._trees], axis=0
        )
        return shares


def _inputs(rows: Split, part: pd.DataFrame, given: str) -> object:
    if given == BITS:
        return rows.bits(part)
    return codes(part).to_numpy()


PLAIN_FOREST = Experiment("plain_forest", ("table", "trees", "given", "least_node"), ("vote", "auc"), cells, measure)
