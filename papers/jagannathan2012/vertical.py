"""Fig. 5: Congressional Voting with its bills dealt out at random to two parties, who both know the class.

Shown is the epsilon that is truly spent. As the paper has it each party spends the whole of its epsilon, so the two
spend twice as much; by default they share it. Run ``python -m papers.jagannathan2012.vertical``; the picture and the
table go to ``results/``.
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from papers.jagannathan2012 import folds
from papers.jagannathan2012.tables import TREES, Table
from privet import Party, PrivateRDTClassifier, VerticalForest
from privet.partitioned import PrivateKey, Roster, SplitStructure

VOTES = "congressional-voting"
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
TITLES = {VOTES: "Congressional Voting"}
COLUMNS = ("table", "way", "epsilon asked for", "epsilon spent", "accuracy", "sd", "majority")


def whole(table: Table, X: Any, y: Any, *, epsilon: float) -> Any:
    """Return the forest of one curator who holds all columns."""
    return PrivateRDTClassifier(table.schema, epsilon=epsilon, n_trees=TREES[VOTES]).fit(X, y)


def halves(table: Table, X: Any, y: Any, *, epsilon: float, variant: str) -> VerticalForest:
    """Return the forest of two parties with half of the columns each."""
    names = np.random.default_rng().permutation(table.schema.names).tolist()
    split = {"alice": names[: len(names) // 2], "bob": names[len(names) // 2 :]}
    structure = SplitStructure.draw(table.schema, split, epsilon=epsilon, variant=variant, n_trees=TREES[VOTES])
    with tempfile.TemporaryDirectory() as folder:
        parties = [Party(PrivateKey.generate(name), store=Path(folder) / name) for name in split]
        releases = []
        for party in parties:
            own = structure.part_of(party.key.name)
            releases.append(party.release(own, X[list(own.schema.names)], y))
        return VerticalForest.combine(structure, Roster(party.public for party in parties), releases)


def cells() -> list[tuple[folds.Cell, float]]:
    """Return the points of the figure, at the epsilon that is spent, and what was asked for."""
    made = []
    for epsilon in EPSILONS:
        shared, paper = (partial(halves, epsilon=epsilon, variant=variant) for variant in ("sound", "paper"))
        made += [
            (folds.Cell(VOTES, "whole table", epsilon, partial(whole, epsilon=epsilon)), epsilon),
            (folds.Cell(VOTES, "two halves, epsilon shared", epsilon, shared), epsilon),
            (folds.Cell(VOTES, "two halves as in the paper", 2 * epsilon, paper), epsilon),
        ]
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--output", type=Path, default=folds.RESULTS)
    chosen = parser.parse_args()
    points, asked = zip(*cells(), strict=True)
    lines = folds.figure_lines(points, folds.measure(points, chosen.runs))
    told = [(*line[:2], f"{epsilon:g}", *line[2:]) for line, epsilon in zip(lines, asked, strict=True)]
    folds.write_lines(chosen.output / "vertical.csv", COLUMNS, told)
    spent = "epsilon that is truly spent"
    folds.draw(chosen.output / "vertical.png", lines, x=spent, titles=TITLES, scale="log")


if __name__ == "__main__":
    main()
