"""Figs 1 to 3: accuracy over epsilon, Private-RDT beside private ID3."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from papers.experiment import Cell, Experiment, Scale
from papers.jagannathan2012.folds import accuracy, over_runs
from papers.jagannathan2012.horizontal import by_curator
from papers.jagannathan2012.tables import TREES, Table
from privet import PrivateID3Classifier

EPSILONS = {
    "quick": (math.inf, 5.0, 1.0, 0.5, 0.25, 0.1, 0.01),
    "full": (math.inf, 5.0, 4.0, 3.0, 2.0, 1.0, 0.75, 0.5, 0.25, 0.1, 0.01),
}
RDT, ID3 = "Private-RDT", "private ID3"


def one_tree(table: Table, X: Any, y: Any, *, epsilon: float) -> Any:
    """Return the ID3 tree of one curator; without noise it is plain ID3."""
    return PrivateID3Classifier(table.schema, epsilon=epsilon, n_jobs=1).fit(X, y)


def measure(name: str, method: str, n_trees: int, epsilon: float, run: int) -> list[tuple[float]]:
    # One ensemble a run, the same at every epsilon, as the paper has it.
    forest = partial(by_curator, n_trees=n_trees, epsilon=epsilon, seed=run)
    train = forest if method == RDT else partial(one_tree, epsilon=epsilon)
    return [(accuracy(name, run, train),)]


def cells(scale: Scale) -> Iterator[Cell]:
    methods = [(name, method, trees) for name in TREES for method, trees in ((RDT, TREES[name]), (ID3, 1))]
    return over_runs(scale, [(*method, epsilon) for method in methods for epsilon in EPSILONS[scale]])


EXPERIMENT = Experiment("epsilons", ("table", "method", "trees", "epsilon", "run"), ("accuracy",), cells, measure)
