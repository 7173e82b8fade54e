"""Figs 1 to 3: accuracy over epsilon, Private-RDT beside private ID3, the paper's and ours."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from papers.experiment import Cell, Experiment, Scale
from papers.jagannathan2012.folds import accuracy, over_runs
from papers.jagannathan2012.horizontal import by_curator
from papers.jagannathan2012.tables import TREES, Table
from privet import PrivateID3Classifier

EPSILONS = {
    "quick": (math.inf, 5.0, 1.0, 0.5, 0.25, 0.1, 0.01),
    "full": (math.inf, 5.0, 4.0, 3.0, 2.0, 1.0, 0.75, 0.5, 0.25, 0.1, 0.01),
}
# The paper's private ID3 is its Algorithm 1 on noisy counts; ours stops where noise begins, and never fails.
RDT, ID3, OUR_ID3 = "Private-RDT", "private ID3", "private ID3, ours"


@dataclass(frozen=True)
class FailuresAreErrors:
    """A tree whose failures count as errors: the paper's accuracy is the share of rows that are classified right."""

    tree: PrivateID3Classifier

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy."""
        return float(np.mean((self.tree.predict(X) == y) & ~self.tree.fails(X)))


def one_tree(table: Table, X: Any, y: Any, *, epsilon: float, ours: bool) -> FailuresAreErrors:
    """Return the ID3 tree of one curator; without noise it is plain ID3."""
    variant = "privet" if ours else "paper"
    return FailuresAreErrors(PrivateID3Classifier(table.schema, epsilon=epsilon, variant=variant, n_jobs=1).fit(X, y))


def measure(name: str, method: str, n_trees: int, epsilon: float, run: int) -> list[tuple[float]]:
    # One ensemble a run, the same at every epsilon, as the paper has it.
    forest = partial(by_curator, n_trees=n_trees, epsilon=epsilon, seed=run)
    tree = partial(one_tree, epsilon=epsilon, ours=method == OUR_ID3)
    return [(accuracy(name, run, forest if method == RDT else tree),)]


def cells(scale: Scale) -> Iterator[Cell]:
    methods = [(name, *own) for name in TREES for own in ((RDT, TREES[name]), (ID3, 1), (OUR_ID3, 1))]
    return over_runs(scale, [(*method, epsilon) for method in methods for epsilon in EPSILONS[scale]])


EXPERIMENT = Experiment("epsilons", ("table", "method", "trees", "epsilon", "run"), ("accuracy",), cells, measure)
