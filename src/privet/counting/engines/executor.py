"""Parts counted through any ``concurrent.futures.Executor``: threads, processes, or a cluster behind one.

A worker keeps a part between two tasks in a dictionary of its process, where the engine itself keeps nothing. One that
has lost a part, or never had it, makes it again. What is not asked for in a while is dropped.
"""

import os
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from threading import Lock, Timer
from typing import Any

from privet.counting.engines.dask import DaskParts
from privet.counting.engines.parts import Delivery, Partition, Parts
from privet.entropy import unforeseeable_name
from privet.errors import ExecutorError, ParameterError, PrivetError
from privet.privacy.unit import Unit

# Seconds after which a worker drops what was not asked for.
_IDLE_SECONDS = 600.0
# Tasks that are submitted and not yet added up: enough that no worker waits, few enough to hold the results in memory.
_AHEAD = 128


@dataclass(frozen=True)
class Made:
    """A part as ``make`` returns it, on whichever worker asks for it. ``run`` is a name that no other fit uses."""

    id: str
    source: Any = field(repr=False)
    make: Callable[[Any], Any] = field(repr=False)
    run: str

    def value(self) -> Any:
        """Return what this process has kept, or make it."""
        found = KEPT.get(self.run, self.id)
        if found is None:
            found = self.make(self.source.value() if isinstance(self.source, Made) else self.source)
            KEPT.put(self.run, self.id, found)
        return found


class Kept:
    """What one process has kept, by run and part."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._runs: dict[str, dict[str, Any]] = {}
        self._used: dict[str, float] = {}
        self._timer: Timer | None = None

    def get(self, run: str, own: str) -> Any:
        """Return what is kept of a part, or None."""
        with self._lock:
            self._used[run] = time.monotonic()
            return self._runs.get(run, {}).get(own)

    def put(self, run: str, own: str, value: Any) -> None:
        """Keep it."""
        with self._lock:
            self._used[run] = time.monotonic()
            self._runs.setdefault(run, {})[own] = value
            self._look_later()

    def drop(self, run: str) -> None:
        """Drop all that is kept of a run."""
        with self._lock:
            self._used.pop(run, None)
            self._runs.pop(run, None)

    def drop_idle(self) -> None:
        """Drop the runs that nobody asked for in a while."""
        with self._lock:
            idle = [run for run, used in self._used.items() if time.monotonic() - used >= _IDLE_SECONDS]
        for run in idle:
            self.drop(run)
        with self._lock:
            self._timer = None
            if self._runs:
                self._look_later()

    def _look_later(self) -> None:
        if self._timer is None:
            self._timer = Timer(_IDLE_SECONDS / 2, self.drop_idle)
            self._timer.daemon = True
            self._timer.start()


KEPT = Kept()
if hasattr(os, "register_at_fork"):  # a child begins with nothing
    os.register_at_fork(after_in_child=KEPT.__init__)  # type: ignore[misc]


def drop_with(owner: object, run: str) -> None:
    """Drop a run in this process when ``owner`` is gone; other processes drop it when nobody asks any more."""
    weakref.finalize(owner, KEPT.drop, run)


def check_executor(executor: Any, unit: Unit) -> None:
    """Refuse what is not an executor, and a unit of privacy whose rows may be in several parts."""
    if not callable(getattr(executor, "submit", None)):
        raise ParameterError(
            "executor must have a submit method; pass a concurrent.futures.Executor, such as ProcessPoolExecutor(4) "
            "or a Dask client's get_executor()"
        )
    check_each_row(unit)


def check_each_row(unit: Unit) -> None:
    """Refuse a unit other than a row: each part would keep the first rows of a person that it has itself."""
    if unit.column is not None:
        raise ParameterError(
            f"rows are counted in parts, and those of one {unit.name!r} may be in several; fit in one process, without "
            'an executor, or protect each row with unit="row"'
        )


@dataclass(frozen=True)
class OnExecutor:
    """Parts and the executor that counts them."""

    partitions: Sequence[Partition | Made]
    executor: Executor
    watch: Callable[[float], None] | None = None

    def keep(self, make: Callable[[Any], Any]) -> Parts:
        """Return the parts as ``make`` returns them. Workers keep them; those of Dask where Dask knows them to be."""
        client = getattr(self.executor, "_client", None)
        if type(client).__module__.partition(".")[0] == "distributed":
            ids = [partition.id for partition in self.partitions]
            return DaskParts(ids, self.partitions, client, self.watch).keep(make)
        run = unforeseeable_name()
        made = [Made(partition.id, partition, make, run) for partition in self.partitions]
        kept = replace(self, partitions=made)
        drop_with(kept, run)
        return kept

    def deliver(self, work: Callable[[Any], Delivery]) -> tuple[Sequence[str], Iterator[Delivery]]:
        """Return the ids of all parts, and their results in the order of the parts."""
        return [partition.id for partition in self.partitions], self._watch_results(self._results(work))

    def _watch_results(self, results: Iterator[Delivery]) -> Iterator[Delivery]:
        self._report(0.0)  # a pass begins
        for number, delivery in enumerate(results, start=1):
            self._report(number / len(self.partitions))
            yield delivery

    def _report(self, share: float) -> None:
        if self.watch is not None:
            self.watch(share)

    def _results(self, work: Callable[[Any], Delivery]) -> Iterator[Delivery]:
        waiting: deque[Future[Delivery]] = deque()
        try:
            for partition in self.partitions:
                waiting.append(self.executor.submit(done, work, partition))
                if len(waiting) == _AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except PrivetError:
            raise
        except Exception as error:
            raise ExecutorError(
                f"the executor failed ({type(error).__name__}) before all rows were counted, and nothing was released; "
                "check its workers, and fit again"
            ) from None  # a worker's message may quote a value
        finally:
            for future in waiting:
                future.cancel()


def done(work: Callable[[Any], Delivery], partition: Any) -> Delivery:
    """Do the work on a worker: on the part, or on what is kept of it."""
    return work(partition.value() if isinstance(partition, Made) else partition)
