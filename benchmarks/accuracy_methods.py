"""Accuracy of every method on eight UCI tables, beside a random forest and the most frequent class.

Runs of stratified 10-fold cross-validation, all methods on the same folds, with fresh structure and fresh noise in
every fit: the mean and, over the runs, the standard deviation of the accuracy in per cent. The largest tables get fewer
runs. Tables are as they come: five classes in Nursery, missing values where there are any. The random forest sees the
codes of categories and the numbers themselves, not the cells that the private methods cut them into.

A cell is written to the results once it is measured, and what is found there is not measured again; ``--again`` starts
anew.
"""

import argparse
import csv
import math
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

from benchmarks import harness
from privet import (
    Categorical,
    DiffPID3Classifier,
    DPDFClassifier,
    DPRFClassifier,
    PrivateID3Classifier,
    PrivateRDTClassifier,
    Schema,
)
from privet.datasets import Dataset, uci

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0)
COLUMNS = (*EPSILONS, math.inf)
FOLDS = 10
RUNS = {
    "congressional-voting": 5, "tic-tac-toe": 5, "car-evaluation": 5, "mushroom": 5, "nursery": 5, "chess-krk": 2,
    "adult": 2, "connect-4": 2,
}  # fmt: skip
RESULTS = Path(__file__).with_name("results") / "accuracy_methods.csv"
_HEADER = ("table", "method", "epsilon", "runs", "accuracy", "sd")


class Cell(NamedTuple):
    """One method on one table at one epsilon; inf is also where methods without noise stand."""

    table: str
    method: str
    epsilon: float


class Score(NamedTuple):
    """Mean and standard deviation of the accuracy over runs, in per cent."""

    mean: float
    sd: float


Scores: TypeAlias = dict[Cell, Score]

# Methods that have an epsilon, and what they are compared with.
PRIVATE: dict[str, tuple[Any, dict[str, Any]]] = {
    "Private-RDT": (PrivateRDTClassifier, {"n_trees": 10}),
    "DP-RF": (DPRFClassifier, {}),
    "DPDF, 1 tree": (DPDFClassifier, {"n_trees": 1}),
    "DPDF, 1 tree, paper": (DPDFClassifier, {"n_trees": 1, "variant": "paper"}),
    "DPDF, 4 trees": (DPDFClassifier, {"n_trees": 4}),
    "DPDF, 4 trees, paper": (DPDFClassifier, {"n_trees": 4, "variant": "paper"}),
    "DiffPID3, gini": (DiffPID3Classifier, {"criterion": "gini"}),
    "DiffPID3, n_gini": (DiffPID3Classifier, {"criterion": "n_gini"}),
    "private ID3": (PrivateID3Classifier, {}),
}
OTHERS: dict[str, Any] = {
    "random forest": RandomForestClassifier(100, n_jobs=1),
    "most frequent class": DummyClassifier(strategy="most_frequent"),
}
METHODS = (*PRIVATE, *OTHERS)


def private_model(cell: Cell, schema: Schema) -> Any:
    kind, parameters = PRIVATE[cell.method]
    if (cell.table, cell.method) == ("congressional-voting", "Private-RDT"):
        parameters = {"n_trees": 5}  # as in its paper: the table has a few hundred rows
    return kind(schema, epsilon=cell.epsilon, **parameters)


@cache
def loaded(table: str) -> Dataset:
    """Return the table with its text as categories, which are coded faster, fold by fold."""
    data = uci(table)
    X = data.X.astype({a.name: "category" for a in data.schema.attributes if isinstance(a, Categorical)})
    return Dataset(X, data.y, data.schema, data.name)


def accuracy(cell: Cell) -> Score:
    """Measure one cell."""
    data = loaded(cell.table)
    if cell.method in PRIVATE:
        X, model = data.X, private_model(cell, data.schema)
    else:
        X = data.X.apply(lambda column: column.cat.codes if column.dtype == "category" else column)
        model = OTHERS[cell.method]
    runs = RUNS[cell.table]
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=runs, random_state=0)
    with warnings.catch_warnings():
        # Of the paper's variants, which promise nothing, and of classes with fewer rows than folds.
        warnings.simplefilter("ignore", UserWarning)
        scores = cross_val_score(model, X, data.y, cv=folds, scoring="accuracy", error_score="raise")
    means = 100 * scores.reshape(runs, FOLDS).mean(axis=1)
    # As in the results, so that a run that was resumed prints what one in a row does.
    return Score(round(float(means.mean()), 2), round(float(means.std(ddof=1)), 2))


def all_cells() -> Iterator[Cell]:
    """Yield every cell, small tables first."""
    for table in RUNS:
        for method in OTHERS:
            yield Cell(table, method, math.inf)
        for method in PRIVATE:
            for epsilon in COLUMNS:
                yield Cell(table, method, epsilon)


def read() -> Scores:
    """Return what has been measured before."""
    if not RESULTS.exists():
        return {}
    with RESULTS.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    return {
        Cell(line["table"], line["method"], float(line["epsilon"])): Score(float(line["accuracy"]), float(line["sd"]))
        for line in lines
    }


def write(scores: Scores) -> None:
    """Write what has been measured, whole or not at all."""
    lines = [
        (cell.table, cell.method, f"{cell.epsilon:g}", RUNS[cell.table], *(f"{figure:.2f}" for figure in scores[cell]))
        for cell in all_cells()
        if cell in scores
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    draft = RESULTS.with_suffix(".draft")
    with draft.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([_HEADER, *lines])
    draft.replace(RESULTS)


def measure(scores: Scores) -> Scores:
    """Add what is missing in ``scores``, two cells at a time."""
    missing = [cell for cell in all_cells() if cell not in scores]
    with ProcessPoolExecutor(2) as pool:
        futures = {pool.submit(accuracy, cell): cell for cell in missing}
        for done, future in enumerate(as_completed(futures), start=1):
            cell = futures[future]
            scores[cell] = future.result()
            write(scores)
            line = f"{cell.table}, {cell.method}, epsilon={cell.epsilon:g}: {scores[cell].mean:.1f}"
            print(f"{done}/{len(missing)}  {line}", file=sys.stderr, flush=True)
    return scores


def table_of(table: str, scores: Scores) -> str:
    """Return one table's accuracies: a line per method, a column per epsilon."""
    data, runs = loaded(table), f"{RUNS[table]} runs of {FOLDS} folds"
    rows, attributes = data.X.shape
    title = f"{table}: {rows:,} rows, {attributes} attributes, {len(data.schema.classes)} classes; {runs}"
    lines = [(method, *(_figures(scores.get(Cell(table, method, e))) for e in COLUMNS)) for method in METHODS]
    return f"{title}\n{_laid_out(lines)}"


def _figures(score: Score | None) -> str:
    return "" if score is None else f"{score.mean:.1f} ({score.sd:.1f})"


def summary_of(scores: Scores) -> str:
    """Return the means over tables."""
    lines = []
    for method in METHODS:
        means = [[s.mean for table in RUNS if (s := scores.get(Cell(table, method, epsilon)))] for epsilon in COLUMNS]
        lines.append((method, *(f"{np.mean(own):.1f}" if own else "" for own in means)))
    return f"mean over the {len(RUNS)} tables\n{_laid_out(lines)}"


def _laid_out(lines: list[tuple[str, ...]]) -> str:
    return harness.table([("epsilon", *(f"{e:g}" for e in EPSILONS), "no noise"), *lines])


@dataclass(frozen=True)
class Claim:
    """On average over tables and epsilons, ``better`` is ahead of ``worse`` by at least ``points``."""

    better: str
    worse: str
    points: float = 0.0

    def line(self, scores: Scores) -> tuple[str, ...]:
        """Return the claim, the mean difference, that at each epsilon, the cells won, and whether the claim holds."""
        ahead = np.array([[self._ahead(scores, table, epsilon) for epsilon in EPSILONS] for table in RUNS])
        won = f"{(ahead > 0).sum()} of {ahead.size}"
        figures = [f"{figure:+.1f}" for figure in (ahead.mean(), *ahead.mean(axis=0))]
        return f"{self.better} > {self.worse}", *figures, won, f">= {self.points:+g}", self._verdict(ahead.mean())

    def _ahead(self, scores: Scores, table: str, epsilon: float) -> float:
        return scores[Cell(table, self.better, epsilon)].mean - scores[Cell(table, self.worse, epsilon)].mean

    def _verdict(self, mean: float) -> str:
        return "met" if mean >= self.points else "NOT MET"


CLAIMS = (
    Claim("DPDF, 1 tree", "DPDF, 1 tree, paper", points=-1.0),
    Claim("DPDF, 4 trees", "DPDF, 4 trees, paper", points=-1.0),
    Claim("DPDF, 1 tree", "DiffPID3, gini"),
    Claim("DPDF, 1 tree", "DiffPID3, n_gini"),
    Claim("DPDF, 4 trees", "DiffPID3, gini"),
    Claim("DPDF, 4 trees", "DiffPID3, n_gini"),
    Claim("DP-RF", "Private-RDT"),
)


def claims_of(scores: Scores) -> str:
    """Return whether the claims hold, in points of accuracy; cells are pairs of a table and an epsilon below inf."""
    header = ("ahead by, in points", "mean", *(f"{e:g}" for e in EPSILONS), "cells won", "target", "")
    return harness.table([header, *(claim.line(scores) for claim in CLAIMS)])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--again", action="store_true", help="measure everything anew")
    scores = measure({} if parser.parse_args().again else read())
    print("\n\n".join([*(table_of(table, scores) for table in RUNS), summary_of(scores), claims_of(scores)]))


if __name__ == "__main__":
    main()
