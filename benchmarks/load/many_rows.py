"""Generated rows fitted and predicted in a process of its own: the child of `run`, prints one line of JSON.

``python -m benchmarks.load.many_rows METHOD N_ROWS``. Rows are made a batch at a time, as in production they are read;
what making them alone takes is timed too. Both cores count and vote; batches are made and encoded on one.
"""

import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.load.generated import BATCH, batch, batches_of, schema_of
from benchmarks.load.process import peak_mb
from privet import PrivateForestClassifier, PrivateRDTClassifier

_CORES = 2


def model_of(method: str, n_rows: int) -> Any:
    """Return the unfitted model. Trees of one height for any number of rows: a larger model is no growth with rows."""
    if method == "private-rdt":
        return PrivateRDTClassifier(schema_of(n_rows), epsilon=1.0, n_trees=10, height=10, n_jobs=_CORES)
    return PrivateForestClassifier(schema_of(n_rows), epsilon=1.0, n_attributes=10, n_bins=8, n_jobs=_CORES)


def predicted(model: Any, n_rows: int) -> int:
    """Predict all rows, a batch in each thread, and return how many are predicted as they are labelled."""
    names = list(model.schema_.names)

    def right(start: int) -> int:
        rows = batch(start, min(BATCH, n_rows - start))
        return int((model.predict(rows.select(names)) == rows.column("class").to_numpy(zero_copy_only=False)).sum())

    starts, total = range(0, n_rows, BATCH), 0
    with ThreadPoolExecutor(_CORES) as pool:
        # No more at a time than there are threads: the pool would hold a result for every batch.
        for first in range(0, len(starts), 64):
            total += sum(pool.map(right, starts[first : first + 64]))
    return total


@dataclass(frozen=True)
class Taken:
    """How long something took by the clock, and by the processor, both cores added up."""

    wall: float
    cpu: float

    @classmethod
    def by(cls, work: Callable[[], Any]) -> "tuple[Taken, Any]":
        """Do ``work`` and return its time with its result."""
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        return cls(time.perf_counter() - wall, time.process_time() - cpu), result


def main(method: str, n_rows: int) -> None:
    model_of(method, 20_000).fit(batches_of(20_000)).predict(batch(0, 9).select(range(10)))
    before = peak_mb()
    making, _ = Taken.by(lambda: sum(rows.num_rows for rows in batches_of(n_rows)()))
    fitting, model = Taken.by(lambda: model_of(method, n_rows).fit(batches_of(n_rows)))
    peak_fit = peak_mb()
    model.set_params(n_jobs=1)  # each core has a batch of its own
    predicting, right = Taken.by(lambda: predicted(model, n_rows))
    print(json.dumps({
        "method": method, "rows": n_rows, "making": asdict(making), "fit": asdict(fitting),
        "predict": asdict(predicting), "start_mb": before, "fit_mb": peak_fit, "predict_mb": peak_mb(),
        "accuracy": right / n_rows,
    }))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], int(float(sys.argv[2])))
