"""Generated rows fitted on two Dask workers, of which some are killed meanwhile: the child of `run`, prints JSON.

``python -m benchmarks.load.on_cluster N_ROWS N_KILLS``. Each worker makes the rows of its parts when it codes them, as
it would read them in production. The same fit in one process must lead to the same model, to the last bit.
"""

import json
import os
import pickle
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.load.generated import BATCH, batch, batches_of
from benchmarks.load.many_rows import Taken, model_of
from benchmarks.load.process import peak_mb
from privet.counting.engines import dask as engine
from privet.counting.engines.parts import encoded_blocks
from privet.counting.sources import BatchStream
from privet.model_file import checksum_of

_PART = 16 * BATCH
_CALLS_BETWEEN_KILLS = 60


@dataclass(frozen=True)
class GeneratedPart:
    """Some generated rows, made by whoever reads them."""

    id: str
    start: int
    stop: int

    def batches(self) -> Iterator[Any]:
        """Yield the rows."""
        return (batch(start, min(BATCH, self.stop - start)) for start in range(self.start, self.stop, BATCH))

    def blocks(self, encoder: Any) -> Iterator[Any]:
        """Yield codes and class codes."""
        return encoded_blocks(self.batches(), encoder)

    def exact_size(self, encoder: Any) -> int:  # noqa: ARG002
        """Return the number of rows."""
        return self.stop - self.start


class Generated(BatchStream):
    """Generated rows that have parts; ``watch`` is called after every result of a part."""

    def __init__(self, n_rows: int, watch: Any) -> None:
        super().__init__(batches_of(n_rows))
        self.n_rows, self.watch = n_rows, watch

    def partitions(self) -> list[Any]:
        """Return parts of about a million rows."""
        starts = range(0, self.n_rows, _PART)
        return [GeneratedPart(f"{i}", start, min(start + _PART, self.n_rows)) for i, start in enumerate(starts)]


@dataclass
class Killer:
    """Kills a worker after every so many results, and none that it killed before."""

    cluster: Any
    n_kills: int
    killed: list[int] = field(default_factory=list)
    calls: int = 0

    def __call__(self, _: float) -> None:
        """Count a result, and kill if it is time."""
        self.calls += 1
        if len(self.killed) < self.n_kills and self.calls >= (len(self.killed) + 1) * _CALLS_BETWEEN_KILLS:
            nannies = list(self.cluster.workers.values())
            if any(nanny.pid in self.killed or not has_started(self.cluster, nanny) for nanny in nannies):
                return  # a worker that dies while it or another starts is not always started again
            pid = nannies[len(self.killed) % len(nannies)].pid
            os.kill(pid, signal.SIGKILL)
            self.killed.append(pid)


def has_started(cluster: Any, nanny: Any) -> bool:
    """Return whether a worker runs, and the scheduler knows it."""
    runs = nanny.process is not None and nanny.process.status.name == "running"
    return runs and nanny.pid is not None and nanny.worker_address in cluster.scheduler.workers


@dataclass
class Wire:
    """What goes to the workers and comes back, as pickles."""

    n_passes: int = 0
    sent: int = 0
    returned: int = 0

    def weigh(self) -> None:
        """Begin to weigh what Dask is given and returns."""
        results = engine.DaskParts._results  # noqa: SLF001

        def weighed(parts: Any, work: Any) -> Iterator[Any]:
            self.n_passes += 1
            self.sent += len(pickle.dumps(work)) * len(parts.ids)
            for delivery in results(parts, work):
                self.returned += len(pickle.dumps(delivery))
                yield delivery

        engine.DaskParts._results = weighed  # type: ignore[method-assign,assignment]  # noqa: SLF001


def _worker_mb() -> float:
    return peak_mb()


def main(n_rows: int, n_kills: int) -> None:
    import dask
    from distributed import Client, LocalCluster

    def model() -> Any:
        return model_of("private-forest", n_rows).set_params(random_state=3, unsafe_seeded_noise=True)

    wire = Wire()
    wire.weigh()
    settings = {"distributed.scheduler.allowed-failures": 100, "distributed.comm.timeouts.connect": "120s"}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster, timeout=120) as client,
    ):
        killer = Killer(cluster, n_kills)
        before = peak_mb()
        start = time.perf_counter()
        fitted = model().fit(Generated(n_rows, killer), executor=client.get_executor())
        taken = time.perf_counter() - start
        driver, workers = peak_mb(), list(client.run(_worker_mb).values())
    found = {
        "rows": n_rows, "kills": len(killer.killed), "seconds": taken, "before_mb": before, "driver_mb": driver,
        "worker_mb": workers, "passes": wire.n_passes, "parts": -(-n_rows // _PART), "bytes_sent": wire.sent,
        "bytes_returned": wire.returned,
    }  # fmt: skip
    print(json.dumps(found), file=sys.stderr, flush=True)
    here, alone = Taken.by(lambda: model().fit(batches_of(n_rows)))
    same = checksum_of(fitted.to_document()) == checksum_of(alone.to_document())
    print(json.dumps({**found, "one_process_seconds": here.wall, "same_model": same}))


if __name__ == "__main__":
    main(int(float(sys.argv[1])), int(sys.argv[2]))
