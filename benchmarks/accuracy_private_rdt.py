"""Accuracy of Private-RDT on the tables of its paper: Nursery, Mushroom, Congressional Voting.

Ten runs of stratified 10-fold cross-validation, with fresh structure and fresh noise in every fit; the mean and, over
the runs, the standard deviation of the accuracy in per cent, beside the most frequent class. The tables are prepared
as in the paper (papers/jagannathan2012/tables.py).
"""

import csv
import math
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from papers.jagannathan2012.tables import TREES, prepared
from sklearn.model_selection import StratifiedKFold, cross_val_score

from benchmarks import harness
from privet import PrivateRDTClassifier

EPSILONS = (0.1, 0.5, 1.0, 5.0, math.inf)
RUNS = 10
RESULTS = Path(__file__).with_name("results") / "private_rdt_accuracy.csv"
_COLUMNS = ("table", "epsilon", "trees", "height", "accuracy", "sd", "majority")


def accuracy(name: str, epsilon: float, run: int) -> float:
    """Return the accuracy of one run of cross-validation, in per cent."""
    table = prepared(name)
    model = PrivateRDTClassifier(table.schema, epsilon=epsilon, n_trees=TREES[name])
    folds = StratifiedKFold(10, shuffle=True, random_state=run)
    return float(100 * cross_val_score(model, table.X, table.y, cv=folds).mean())


def measure() -> list[tuple[str, ...]]:
    """Return a line per table and epsilon."""
    cells = list(product(TREES, EPSILONS))
    tasks = [(*cell, run) for cell in cells for run in range(RUNS)]
    with ProcessPoolExecutor() as pool:
        scores = np.array(list(pool.map(accuracy, *zip(*tasks, strict=True)))).reshape(len(cells), RUNS)
    return [_line(name, epsilon, own) for (name, epsilon), own in zip(cells, scores, strict=True)]


def _line(name: str, epsilon: float, scores: NDArray[np.float64]) -> tuple[str, ...]:
    table, trees = prepared(name), TREES[name]
    height = PrivateRDTClassifier(table.schema, n_trees=trees).fit(table.X, table.y).height_
    figures = (scores.mean(), scores.std(ddof=1), table.majority)
    return name, f"{epsilon:g}", str(trees), str(height), *(f"{figure:.1f}" for figure in figures)


def main() -> None:
    lines = measure()
    print(harness.table([_COLUMNS, *lines]))
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([_COLUMNS, *lines])


if __name__ == "__main__":
    main()
