"""Fig. 4: a forest whose rows come in 1 to 10 equal batches, each counted with fresh noise, at epsilon 0.5."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from papers.experiment import Cell, Experiment, Scale
from papers.jagannathan2012.folds import accuracy, over_runs
from papers.jagannathan2012.tables import TREES, Table
from privet import PrivateRDTClassifier

EPSILON = 0.5
BATCHES = {"quick": (1, 2, 4, 10), "full": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)}


def in_batches(table: Table, X: Any, y: Any, *, n_trees: int, n_batches: int, epsilon: float, seed: int) -> Any:
    """Return the forest of rows that come in batches."""
    model = PrivateRDTClassifier(table.schema, epsilon=epsilon, n_trees=n_trees, random_state=seed, n_jobs=1)
    for rows in np.array_split(np.random.default_rng().permutation(len(X)), n_batches):
        model.partial_fit(X.iloc[rows], y[rows])
    return model


def measure(name: str, n_trees: int, n_batches: int, epsilon: float, run: int) -> list[tuple[float]]:
    train = partial(in_batches, n_trees=n_trees, n_batches=n_batches, epsilon=epsilon, seed=run)
    return [(accuracy(name, run, train),)]


def cells(scale: Scale) -> Iterator[Cell]:
    points = [(name, TREES[name], m, EPSILON) for name in TREES for m in BATCHES[scale]]
    return over_runs(scale, points)


EXPERIMENT = Experiment("batches", ("table", "trees", "batches", "epsilon", "run"), ("accuracy",), cells, measure)
