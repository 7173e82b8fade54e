"""Fig. 4: a forest whose rows come in 1 to 10 equal batches, each counted with fresh noise, at epsilon 0.5.

Run ``python -m papers.jagannathan2012.batches``; the picture and the table go to ``results/``.
"""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from papers.jagannathan2012 import folds
from papers.jagannathan2012.tables import TREES, Table
from privet import PrivateRDTClassifier

EPSILON = 0.5
BATCHES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
# The paper shows the first two.
TITLES = {"nursery": "Nursery", "mushroom": "Mushroom", "congressional-voting": "Congressional Voting"}
COLUMNS = ("table", "way", "batches", "accuracy", "sd", "majority")


def in_batches(table: Table, X: Any, y: Any, *, n_batches: int, n_trees: int) -> Any:
    """Return the forest of rows that come in batches."""
    model = PrivateRDTClassifier(table.schema, epsilon=EPSILON, n_trees=n_trees)
    for rows in np.array_split(np.random.default_rng().permutation(len(X)), n_batches):
        model.partial_fit(X.iloc[rows], y[rows])
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--output", type=Path, default=folds.RESULTS)
    chosen = parser.parse_args()
    cells = [
        folds.Cell(table, "updates", m, partial(in_batches, n_batches=m, n_trees=TREES[table]))
        for table in TITLES
        for m in BATCHES
    ]
    lines = folds.figure_lines(cells, folds.measure(cells, chosen.runs))
    folds.write_lines(chosen.output / "batches.csv", COLUMNS, lines)
    folds.draw(chosen.output / "batches.png", lines, x="batches, epsilon 0.5", titles=TITLES)


if __name__ == "__main__":
    main()
