"""Fitting greedy trees: DPDF and DiffPID3 of height 4 against scikit-learn's DecisionTree of depth 5.

All fit the same million rows of 14 attributes and their labels, on one thread. Ours is timed end to end: encoding,
counting, choices, noise. On numbers, DPDF and DiffPID3 see the five cells they cut each range into, and scikit-learn
every value; on cells both see the same, whole numbers from 0 to 15, each with a child of its own in our trees. Either
comes as float32, which is what scikit-learn computes in, so that it converts nothing; it is not private.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from benchmarks.speed import harness, tables
from privet import DiffPID3Classifier, DPDFClassifier, Numeric, Schema

N_ROWS, HEIGHT, N_CELLS = 1_000_000, 4, 16
CELLS = Schema(
    [Numeric(f"x{j}", 0.0, N_CELLS, bins=N_CELLS) for j in range(tables.N_ATTRIBUTES)], classes=tables.SCHEMA.classes
)


def decision_tree() -> Any:
    return DecisionTreeClassifier(max_depth=HEIGHT + 1, random_state=7)


def dpdf(schema: Schema, n_trees: int = 1) -> Any:
    return DPDFClassifier(schema, epsilon=1.0, n_trees=n_trees, height=HEIGHT, n_jobs=1)


def diffpid3(schema: Schema) -> Any:
    return DiffPID3Classifier(schema, epsilon=1.0, height=HEIGHT, n_jobs=1)


def measure(options: harness.Options) -> list[harness.Bar]:
    X, y = tables.numeric_table(N_ROWS)
    cells = np.floor(N_CELLS * X)
    repeats = 2 if options.quick else 3
    return [
        _against("DPDF on numbers", dpdf(tables.SCHEMA), X, y, repeats=repeats),
        _against("DiffPID3 on numbers", diffpid3(tables.SCHEMA), X, y, repeats=repeats),
        _against(f"DPDF on {N_CELLS} cells", dpdf(CELLS), cells, y, repeats=repeats),
        _against(f"DiffPID3 on {N_CELLS} cells", diffpid3(CELLS), cells, y, repeats=repeats),
    ]


def _against(name: str, mine: Any, X: NDArray[np.float32], y: NDArray[np.int64], *, repeats: int) -> harness.Bar:
    theirs = decision_tree()
    for model in (mine, theirs):
        model.fit(X[:2_000], y[:2_000])
    times = harness.side_by_side(lambda: mine.fit(X, y), lambda: theirs.fit(X, y), repeats=repeats)
    return harness.faster(f"fit {N_ROWS:,} rows, {name}, DecisionTree", times, 1)


if __name__ == "__main__":
    harness.main(measure, __doc__)
