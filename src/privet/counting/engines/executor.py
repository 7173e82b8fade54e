"""Parts counted through any ``concurrent.futures.Executor``: threads, processes, or a cluster behind one."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from typing import Any

from privet.counting.engines.dask import DaskParts
from privet.counting.engines.keeping import Made, drop_with
from privet.counting.engines.parts import Delivery, Partition, Parts
from privet.entropy import unforeseeable_name
from privet.errors import ExecutorError, ParameterError, PrivetError
from privet.privacy.unit import Unit

# Tasks that are submitted and not yet added up: enough that no worker waits, few enough to hold the results in memory.
_AHEAD = 128


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
