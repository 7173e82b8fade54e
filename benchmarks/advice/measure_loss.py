"""Measure what noise costs: ``python -m benchmarks.advice.measure_loss``, some 20 minutes of one core.

The recommended forest is fitted to parts of public tables at several prices and without noise, and both are scored on
rows that neither has seen. A line is written for each part and price, with means over repeats; what is found in the
file is not measured again.
"""

import csv
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.advice import tables
from privet import PrivateForestClassifier

EPSILONS = (0.05, 0.1, 0.5, 1.0, 2.0, 4.0)
LOSSES = Path(__file__).with_name("results") / "losses.csv"
_SIZES = (300, 1_000, 4_000, 16_000)
# Of parts with up to so many rows.
_REPEATS = ((1_000, 8), (4_000, 5), (16_000, 3), (10**9, 2))


class Measured(NamedTuple):
    """Mean accuracies of one size of part and one price: of the largest class, without noise, and with it."""

    table: str
    attributes: int
    classes: int
    rows: int
    epsilon: float
    guessing: float
    exact: float
    noisy: float


def sizes_of(table: str) -> list[int]:
    """Return how many rows the parts of a table have: round numbers, and all there are."""
    most = tables.n_train(table)
    return [*(size for size in _SIZES if size <= 0.7 * most), most]


def measured(table: str, n_rows: int) -> list[Measured]:
    """Fit and score parts of one size, a line a price."""
    repeats = next(repeats for rows, repeats in _REPEATS if n_rows <= rows)
    found = np.array([_accuracies(table, n_rows, seed) for seed in range(repeats)]).mean(axis=0)
    data, (guessing, exact, *noisy) = tables.loaded(table), (round(float(each), 5) for each in found)
    facts = len(data.schema.attributes), len(data.schema.classes), n_rows
    return [
        Measured(table, *facts, epsilon, guessing, exact, one) for epsilon, one in zip(EPSILONS, noisy, strict=True)
    ]


def _accuracies(table: str, n_rows: int, seed: int) -> list[float]:
    part = tables.part_of(table, n_rows, seed)
    largest = Counter(part.y.tolist()).most_common(1)[0][0]
    scores = [float(np.mean(part.y_test == largest))]
    for epsilon in (np.inf, *EPSILONS):
        model = PrivateForestClassifier(part.schema, epsilon=epsilon, random_state=seed, unsafe_seeded_noise=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # no noise, or noise from a seed, promises nothing
            scores.append(float(model.fit(part.X, part.y).score(part.X_test, part.y_test)))
    return scores


def read(path: Path = LOSSES) -> list[Measured]:
    """Return what has been measured."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Measured(line["table"], *(int(line[name]) for name in Measured._fields[1:4]),
                     *(float(line[name]) for name in Measured._fields[4:]))
            for line in csv.DictReader(file)
        ]  # fmt: skip


def main() -> None:
    done = {(each.table, each.rows) for each in read()}
    LOSSES.parent.mkdir(exist_ok=True)
    with LOSSES.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(Measured._fields)
        for table in tables.names():
            for n_rows in sizes_of(table):
                if (table, n_rows) in done:
                    continue
                writer.writerows(measured(table, n_rows))
                file.flush()
                print(f"{table}, {n_rows:,} rows", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
