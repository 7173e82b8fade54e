"""Rehearsed accuracy beside that of real tables: ``python -m benchmarks.advice.rehearsal``, about ten minutes.

The recommended forest is rehearsed for as many rows as a table's training part has, in five ways: with attributes of
medium strength, with the root mean square of the table's Cohen's w, with the w of each attribute, with the accuracy of
the better of two learners without privacy as the best that is known, and with one half of the training rows as a public
table. Class shares are the table's. Accuracies of real tables are the means that
`benchmarks.utility` has written. The lines are printed, and stand in docs/rehearsal.md.
"""

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.utility.splits import Split
from privet import rehearse
from privet.datasets.stand_in import cohens_w
from privet.schema import Schema
from privet.schema.encoding import Encoder

TABLES = ("adult", "nursery", "mushroom", "connect-4", "bank-marketing", "compas")
EPSILONS = (0.1, 0.5, 1.0, 2.0)
RESULTS = Path(__file__).parents[1] / "utility" / "results" / "summary.csv"
_METHOD, _FOREST = "private-forest", "private forest"
_CELLS, _MOST, _DRAWS = 16, 0.95, 3


def strengths_of(schema: Schema, rows: object, places: np.ndarray) -> dict[str, float]:
    """Return the w of each attribute, of numbers in 16 cells."""
    coarse = schema.with_bins(_CELLS)
    codes = Encoder(coarse).encode(rows)
    balance = np.bincount(places, minlength=len(schema.classes)) / len(places)
    found = {}
    for a, attribute in enumerate(coarse.attributes):
        counts = np.zeros((attribute.n_values + 1, len(balance)))
        np.add.at(counts, (codes[:, a], places), 1)
        found[attribute.name] = min(max(cohens_w(counts / counts.sum(axis=0), balance), 0.01), _MOST)
    return found


def real(table: str) -> list[float]:
    """Return the measured accuracy at each epsilon."""
    with RESULTS.open(encoding="utf-8") as file:
        found = {float(line["epsilon"]): float(line["accuracy"]) for line in csv.DictReader(file)
                 if (line["method"], line["table"]) == (_FOREST, table) and line["epsilon"]}  # fmt: skip
    return [found[epsilon] for epsilon in EPSILONS]


def best_known(table: str) -> float:
    """Return the accuracy of the better of two learners without privacy."""
    with RESULTS.open(encoding="utf-8") as file:
        return max(float(line["accuracy"]) for line in csv.DictReader(file)
                   if line["table"] == table and line["method"] in ("random forest", "gradient boosting"))  # fmt: skip


def main() -> None:
    prices = " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS)
    print(f"| table | stated | {prices} |\n| --- | --- |{' ---: |' * len(EPSILONS)}")
    off: dict[str, list[np.ndarray]] = {}
    for table in TABLES:
        split = Split(table, 0)
        rows, labels = split.frames()[0].reset_index(drop=True), np.asarray(split.labels)
        places = np.array([labels == each for each in split.schema.classes]).argmax(axis=0)
        shares = dict(zip(split.schema.classes, np.bincount(places) / len(places), strict=True))
        each, measured = strengths_of(split.schema, rows, places), np.array(real(table))
        root = math.sqrt(float(np.mean(np.square(list(each.values())))))
        best = min(best_known(table), 0.999)
        half = rows.assign(**{split.schema.target: labels}).iloc[::2]
        print(f"| {table} | measured | {' | '.join(f'{100 * a:.1f}' for a in measured)} |", flush=True)
        ways: dict[str, dict[str, Any]] = {
            "medium": {"class_shares": shares, "strength": "medium"},
            f"w = {root:.2f}": {"class_shares": shares, "strength": root},
            "the w of each attribute": {"class_shares": shares, "strength": each},
            f"best = {best:.3f}": {"class_shares": shares, "best": best},
            "half of it, public": {"like": half},
        }
        for what, stated in ways.items():
            found = rehearse(split.schema, [len(rows)], epsilons=EPSILONS, draws=_DRAWS, **stated)
            told = np.array([score.accuracy for score in found.scores[:-1]])
            off.setdefault(what.split(" = ")[0], []).append(np.abs(told - measured))
            print(f"| | {what} | {' | '.join(f'{100 * a:.1f}' for a in told)} |", flush=True)
    for what, own in off.items():
        worst = ", ".join(f"{table} {100 * each.mean():.1f}" for table, each in zip(TABLES, own, strict=True))
        print(f"{what}: off by {100 * np.mean(own):.1f} points on average: {worst}")


if __name__ == "__main__":
    main()
