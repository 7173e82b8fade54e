"""Many threads at one model, and many at one ledger: the child of `run`, prints one line of JSON.

``python -m benchmarks.load.many_threads N_THREADS``. Each thread asks the same fitted model for chances, classes,
logarithms and importances of rows of its own, and every answer must be the one that a single thread gets, to the last
bit. Then as many threads fit a model each and pay from one ledger, which must have them all on record.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np

from benchmarks.load.process import Held
from privet import Ledger, PrivateForestClassifier, PrivateRDTClassifier
from privet.datasets import agrawal

_ROWS = 2_000
_CALLS = 20
_EPSILON = 0.1


def models(n_jobs: int = 2) -> list[Any]:
    """Return fitted models, each of which all threads will share."""
    data = agrawal(5_000, random_state=5)
    return [
        estimator(data.schema, epsilon=5.0, random_state=3, n_jobs=n_jobs).fit(data.X, data.y)
        for estimator in (PrivateRDTClassifier, PrivateForestClassifier)
    ]


def answers(model: Any, rows: Any) -> list[Any]:
    """Ask all that can be asked without paying."""
    return [model.predict_proba(rows), model.predict(rows), model.predict_log_proba(rows), model.feature_importances_]


def at_once(n_threads: int, work: Callable[[int], Any]) -> list[Any]:
    """Run ``work`` in so many threads that begin at the same moment."""
    barrier = Barrier(n_threads)

    def begin(i: int) -> Any:
        barrier.wait()
        return work(i)

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(begin, range(n_threads)))


def n_wrong(model: Any, n_threads: int, *, n_calls: int = _CALLS, n_rows: int = _ROWS) -> int:
    """Return how many of all calls gave an answer that a single thread would not have got."""
    tables = [agrawal(n_rows, random_state=i).X for i in range(n_threads)]
    expected = [answers(model, rows) for rows in tables]

    def differing(i: int) -> int:
        return sum(not _same(answers(model, tables[i]), expected[i]) for _ in range(n_calls))

    return sum(at_once(n_threads, differing))


def _same(one: list[Any], other: list[Any]) -> bool:
    return all(np.array_equal(mine, theirs) for mine, theirs in zip(one, other, strict=True))


def n_recorded(n_threads: int) -> tuple[int, float]:
    """Let each thread fit a model and pay from one ledger; return how many fits are on record, and what was spent."""
    data = agrawal(300, random_state=5)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder, "ledger.db"), dataset="rows", epsilon=round(n_threads * _EPSILON, 9))

        def pay(_: int) -> None:
            PrivateRDTClassifier(data.schema, epsilon=_EPSILON, n_trees=2, height=3, ledger=ledger).fit(data.X, data.y)

        at_once(n_threads, pay)
        states = [spending.state for spending in ledger.account().spendings]
        return states.count("settled"), ledger.spent


def main(n_threads: int) -> None:
    found = []
    for model in models():
        n_wrong(model, n_threads)  # caches filled, and every thread has had its first call
        early, start = Held.now(), time.perf_counter()
        wrong = n_wrong(model, n_threads)
        taken = time.perf_counter() - start
        n_rows = 3 * _ROWS * n_threads * (_CALLS + 1)  # three of the four questions are about all rows
        found.append({
            "method": model.method, "calls": n_threads * _CALLS, "wrong": wrong, "early": asdict(early),
            "late": asdict(Held.now()), "rows_per_second": n_rows / taken,
        })  # fmt: skip
    recorded, spent = n_recorded(n_threads)
    print(json.dumps({"threads": n_threads, "models": found, "recorded": recorded, "spent": spent}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
