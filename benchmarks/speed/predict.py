"""Predicting: ``predict_proba`` of Private-RDT against scikit-learn's RandomForest, 30 trees of depth 10 each.

Both are fitted to the same 100,000 rows and predict the same float32 rows on one thread: a million at once, and one row
over and over. The last line is RandomForest as it comes, with 100 trees without a limit of depth; it is there for
scale and is not a comparison of equals.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from benchmarks.speed import harness, tables
from benchmarks.speed.fit import random_forest

_FITTED_ROWS = 100_000


def measure(options: harness.Options) -> list[harness.Bar]:
    del options
    X, y = tables.numeric_table(1_000_000)
    mine = tables.ours().fit(X[:_FITTED_ROWS], y[:_FITTED_ROWS])
    theirs = random_forest().fit(X[:_FITTED_ROWS], y[:_FITTED_ROWS])
    default = RandomForestClassifier(n_jobs=1, random_state=7).fit(X[:_FITTED_ROWS], y[:_FITTED_ROWS])
    return [
        _compare("predict 1e6 rows, RandomForest", mine, theirs, X, 5, calls=(1, 1)),
        _compare("predict 1 row, RandomForest", mine, theirs, X[:1], 200, calls=(2_000, 50)),
        _compare("predict 1 row, RandomForest's defaults", mine, default, X[:1], None, calls=(2_000, 20)),
    ]


def _compare(
    name: str, mine: Any, theirs: Any, X: NDArray[np.float32], target: float | None, *, calls: tuple[int, int]
) -> harness.Bar:
    for model in (mine, theirs):
        model.predict_proba(X[:100])
    times = harness.side_by_side(lambda: mine.predict_proba(X), lambda: theirs.predict_proba(X), repeats=5, calls=calls)
    return harness.faster(name, times, target)


if __name__ == "__main__":
    harness.main(measure, __doc__)
