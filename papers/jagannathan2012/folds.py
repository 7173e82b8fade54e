"""Runs of stratified 10-fold cross-validation, with fresh trees and fresh noise in every fold."""

import csv
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from papers.jagannathan2012.tables import Table, prepared

FOLDS = 10
RESULTS = Path(__file__).with_name("results")


class Training(Protocol):
    """A way to a model: a module's function, with its settings, that a worker process can be sent."""

    def __call__(self, table: Table, X: Any, y: Any) -> Any:
        """Return the model of these rows of the table."""


@dataclass(frozen=True)
class Cell:
    """One point of a figure: a table, and how its models are trained."""

    table: str
    label: str
    x: float
    training: Training


def accuracy(cell: Cell, run: int) -> float:
    """Return the accuracy of one run of cross-validation, in per cent."""
    table = prepared(cell.table)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=run)
    scores = []
    for train, test in folds.split(table.X, table.y):
        model = cell.training(table, table.X.iloc[train], table.y[train])
        scores.append(model.score(table.X.iloc[test], table.y[test]))
    return float(100 * np.mean(scores))


def measure(cells: Sequence[Cell], runs: int) -> NDArray[np.float64]:
    """Return the accuracies, a line a cell and a column a run."""
    tasks = [(cell, run) for cell in cells for run in range(runs)]
    with ProcessPoolExecutor() as pool:
        scores = list(pool.map(accuracy, *zip(*tasks, strict=True)))
    return np.array(scores).reshape(len(cells), runs)


def write_lines(path: Path, columns: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print the table and write it as CSV."""
    widths = [max(len(line[j]) for line in (columns, *lines)) for j in range(len(columns))]
    for line in (columns, *lines):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *lines])


def figure_lines(cells: Sequence[Cell], scores: NDArray[np.float64]) -> list[tuple[str, ...]]:
    """Return table, way, place on the axis, mean accuracy, its deviation over runs, the majority's share."""
    return [
        (
            cell.table, cell.label, f"{cell.x:g}", f"{own.mean():.1f}", f"{own.std(ddof=1):.1f}",
            f"{prepared(cell.table).majority:.1f}",
        )
        for cell, own in zip(cells, scores, strict=True)
    ]  # fmt: skip


def draw(path: Path, lines: Sequence[Sequence[str]], *, x: str, titles: dict[str, str], scale: str = "linear") -> None:
    """Draw what `figure_lines` returned, a picture a table: mean accuracy by way of training, with its deviation."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(titles), figsize=(4.6 * len(titles), 3.8), layout="constrained", squeeze=False)
    for axis, (table, title) in zip(axes[0], titles.items(), strict=True):
        own = [line for line in lines if line[0] == table]
        for way in dict.fromkeys(line[1] for line in own):
            places, means, deviations = zip(*(map(float, line[2:5]) for line in own if line[1] == way), strict=True)
            axis.errorbar(places, means, deviations, label=way, marker="o", markersize=4, linewidth=1.3, capsize=2)
        axis.axhline(float(own[0][5]), color="0.6", linewidth=1, linestyle=":", label="most frequent class")
        axis.set_xscale(scale)
        axis.set_title(title)
        axis.set_xlabel(x)
        axis.grid(alpha=0.25)
    axes[0][0].set_ylabel("accuracy in per cent")
    axes[0][-1].legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
