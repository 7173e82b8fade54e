"""Fig. 5: Congressional Voting with its bills dealt out at random to two parties, who both know the class.

As the paper has it each party spends the whole of its epsilon, so the two spend twice as much; by default they share
it. What is truly spent is read off the model's guarantee.
"""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from papers.experiment import Cell, Experiment, Scale
from papers.jagannathan2012.folds import accuracy, over_runs
from papers.jagannathan2012.horizontal import by_curator
from papers.jagannathan2012.tables import TREES, VOTES, Table
from privet import Party, VerticalForest
from privet.partitioned import PrivateKey, Roster, SplitStructure

EPSILONS = {"quick": (0.1, 0.25, 0.5), "full": (0.01, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)}
WHOLE = "whole table"
SHARED = "two halves, epsilon shared"
PAPER = "two halves as in the paper"
VARIANTS = {SHARED: "sound", PAPER: "paper"}


def by_halves(table: Table, X: Any, y: Any, *, n_trees: int, epsilon: float, seed: int, variant: str) -> VerticalForest:
    """Return the forest of two parties with half of the columns each."""
    names = np.random.default_rng(seed).permutation(table.schema.names).tolist()
    split = {"alice": names[: len(names) // 2], "bob": names[len(names) // 2 :]}
    structure = SplitStructure.draw(
        table.schema, split, epsilon=epsilon, variant=variant, n_trees=n_trees, random_state=seed
    )
    with tempfile.TemporaryDirectory() as folder:
        parties = [Party(PrivateKey.generate(name), store=Path(folder) / name) for name in split]
        releases = []
        for party in parties:
            own = structure.part_of(party.key.name)
            releases.append(party.release(own, X[list(own.schema.names)], y))
        return VerticalForest.combine(structure, Roster(party.public for party in parties), releases)


def measure(name: str, n_trees: int, way: str, epsilon: float, run: int) -> list[tuple[float, float]]:
    common: dict[str, Any] = {"n_trees": n_trees, "epsilon": epsilon, "seed": run}
    train: Callable[..., Any] = (
        partial(by_curator, **common) if way == WHOLE else partial(by_halves, **common, variant=VARIANTS[way])
    )
    spent: list[float] = []

    def noting_the_price(table: Table, X: Any, y: Any) -> Any:
        model = train(table, X, y)
        spent.append(model.guarantee_.epsilon)
        return model

    score = accuracy(name, run, noting_the_price)
    return [(max(spent), score)]


def cells(scale: Scale) -> Iterator[Cell]:
    points = [(VOTES, TREES[VOTES], way, epsilon) for way in (WHOLE, *VARIANTS) for epsilon in EPSILONS[scale]]
    return over_runs(scale, points)


EXPERIMENT = Experiment("vertical", ("table", "trees", "way", "epsilon", "run"), ("spent", "accuracy"), cells, measure)
