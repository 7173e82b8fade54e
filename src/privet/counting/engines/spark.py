"""Spark: a DataFrame counted partition by partition on the cluster, through ``mapInArrow``.

Spark runs a failed task again, and may run a task twice. It returns one result for each partition, and the result
names its partition. Only the workers import pyspark; the frame brings its own session.
"""

import pickle
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from privet.counting.engines.parts import Block, Delivery, encoded_blocks
from privet.errors import ExecutorError, ParameterError, PrivetError
from privet.schema.encoding import Encoder
from privet.schema.table import check_present

_RESULT = "partition int, delivery binary"
# What is kept is cut into pieces of so many bytes, each a row: Arrow's and Java's arrays end at 2 GB.
_PIECE = 2**28


@dataclass(frozen=True)
class SparkFrame:
    """The partitions of a Spark DataFrame."""

    frame: Any

    def deliver(self, work: Any) -> tuple[Sequence[str], Iterator[Delivery]]:
        """Return the ids of all partitions, and their counts."""
        return _collected(self._chosen(work.encoder), _on_rows(work))

    def keep(self, make: Any) -> "SparkParts":
        """Return the partitions as ``make`` returns them, in the memory of Spark's executors and on their disks."""
        return SparkParts(_mapped(self._chosen(make.encoder), _on_rows(make)).persist())

    def _chosen(self, encoder: Encoder) -> Any:
        names = [*encoder.schema.names, encoder.schema.target]
        check_present(self.frame.columns, names)
        return self.frame.select(*(f"`{name.replace('`', '``')}`" for name in names))


@dataclass(frozen=True)
class SparkParts:
    """What Spark keeps of each partition, pickled. It makes again what is lost."""

    frame: Any

    def __post_init__(self) -> None:
        weakref.finalize(self, self.frame.unpersist)

    def deliver(self, work: Callable[[Any], Delivery]) -> tuple[Sequence[str], Iterator[Delivery]]:
        """Return the ids of all partitions, and what ``work`` returns for each."""
        return _collected(self.frame, _on_kept(work))

    def keep(self, make: Callable[[Any], Any]) -> "SparkParts":
        """Return the partitions as ``make`` returns them."""
        return SparkParts(_mapped(self.frame, _on_kept(make)).persist())


@dataclass(frozen=True)
class _ArrowPartition:
    """The batches of one partition, as Spark passes them to a worker."""

    id: str
    batches: Iterable[Any]

    def blocks(self, encoder: Encoder) -> Iterator[Block]:
        return encoded_blocks(self.batches, encoder)

    def exact_size(self, encoder: Encoder) -> int:  # noqa: ARG002 - any column shows it
        return sum(batch.num_rows for batch in self.batches)


def _on_rows(work: Callable[[Any], Any]) -> Callable[[int, Iterable[Any]], Any]:
    return lambda number, batches: work(_ArrowPartition(f"{number}", batches))


def _on_kept(work: Callable[[Any], Any]) -> Callable[[int, Iterable[Any]], Any]:
    def on_kept(_: int, batches: Iterable[Any]) -> Any:
        pieces = [piece for batch in batches for piece in batch.column("delivery").to_pylist()]
        return work(_loaded(b"".join(pieces)))

    return on_kept


def _mapped(frame: Any, task: Callable[[int, Iterable[Any]], Any]) -> Any:
    """Return a frame of what ``task`` returns for each partition, pickled: in a row, or several where it is large."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        try:
            result = task(number, batches)
        except PrivetError as error:
            result = error  # not raised: Spark would run the task again and wrap the message in a traceback
        data = pickle.dumps(result)
        for start in range(0, len(data), _PIECE):
            piece = pa.array([data[start : start + _PIECE]], pa.binary())
            yield pa.RecordBatch.from_pydict({"partition": pa.array([number], pa.int32()), "delivery": piece})

    return frame.mapInArrow(run, _RESULT)


def _collected(frame: Any, task: Callable[[int, Iterable[Any]], Any]) -> tuple[Sequence[str], Iterator[Delivery]]:
    try:
        # One RDD for both calls: another plan may have another number of partitions.
        counted = _mapped(frame, task).rdd
        rows = counted.collect()
        n_partitions = counted.getNumPartitions()
    except Exception as error:
        raise _plain_error(error) from None
    # Sums are small, so each has one row; a second one is a second delivery.
    return [f"{i}" for i in range(n_partitions)], (_loaded(bytes(row["delivery"])) for row in rows)


def _loaded(pickled: bytes) -> Any:
    """Return what a worker pickled. It comes from the cluster's own workers, which run this code."""
    found = pickle.loads(pickled)  # noqa: S301
    if isinstance(found, PrivetError):
        raise found
    return found


def _plain_error(error: Exception) -> PrivetError:
    if isinstance(error, PrivetError):
        return error
    if type(error).__name__ in {"PySparkNotImplementedError", "PySparkAttributeError"}:
        return ParameterError("a frame of Spark Connect does not show its partitions; use a classic Spark session")
    return ExecutorError(
        f"spark failed ({type(error).__name__}) before all rows were counted, and nothing was released; check its "
        "workers, where privet must also be installed, and fit again"
    )
