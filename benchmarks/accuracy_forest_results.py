"""Results of single fits: a file of lines that grows while fits are scored, by one run or by several."""

import csv
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from benchmarks.accuracy_forest_split import Scores

COLUMNS = ("method", "dataset", "epsilon", "seed", *Scores._fields)


class Cell(NamedTuple):
    """One fit: a method on one split of a table; methods without noise stand at epsilon inf."""

    method: str
    dataset: str
    epsilon: float
    seed: int


Results: TypeAlias = dict[Cell, Scores]


def read(path: Path) -> Results:
    """Return what the file holds; a line that was cut off by the end of a run is not there."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.reader(file) if len(line) == len(COLUMNS) and line[-1]]
    return {
        Cell(method, dataset, float(epsilon), int(seed)): Scores(*map(float, figures))
        for method, dataset, epsilon, seed, *figures in lines
        if (method, dataset) != COLUMNS[:2]
    }


def append(path: Path, cell: Cell, scores: Scores) -> None:
    """Add a line in one write, so that two runs may share the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = [cell.method, cell.dataset, f"{cell.epsilon:g}", str(cell.seed), *(f"{score:.5f}" for score in scores)]
    with path.open("a+", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        file.seek(0, os.SEEK_END)
        writer.writerows([line] if file.tell() else [COLUMNS, line])


def forget(path: Path, cells: Iterable[Cell]) -> None:
    """Take lines out of the file; no other run may be adding to it."""
    gone, kept = set(cells), read(path)
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    for cell, scores in kept.items():
        if cell not in gone:
            append(draft, cell, scores)
    if draft.exists():
        draft.replace(path)
    else:
        path.unlink(missing_ok=True)


def mean_of(results: Results, method: str, dataset: str, epsilon: float, score: str, seeds: Iterable[int]) -> float:
    """Return a score's mean over splits, NaN where one of them is not measured."""
    own = [results.get(Cell(method, dataset, epsilon, seed)) for seed in seeds]
    return float(np.mean([math.nan if scores is None else getattr(scores, score) for scores in own]))
