"""Spark: a DataFrame counted partition by partition where it is, through ``mapInArrow``.

Spark runs a task again where it failed, and may run one twice; of each partition it hands over one result, and which
partition that is stands in it. pyspark is imported by the workers alone; the frame brings its own session.
"""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from privet.counting.engines.parts import Block, Delivery, Work, encoded
from privet.errors import ExecutorError, ParameterError, PrivetError
from privet.schema.encoding import Encoder
from privet.schema.table import check_present

_RESULT = "partition int, delivery binary"


@dataclass(frozen=True)
class SparkFrame:
    """The partitions of a Spark DataFrame."""

    frame: Any

    def deliver(self, work: Work) -> tuple[Sequence[str], Iterator[Delivery]]:
        """Return the ids of all partitions, and their counts."""
        schema = work.encoder.schema
        names = [*schema.names, schema.target]
        check_present(self.frame.columns, names)
        chosen = self.frame.select(*(f"`{name.replace('`', '``')}`" for name in names))
        try:
            # One RDD for both: another plan may have another number of partitions.
            counted = chosen.mapInArrow(_counting(work), _RESULT).rdd
            rows = counted.collect()
            n_partitions = counted.getNumPartitions()
        except Exception as error:
            raise _in_words(error) from None
        return [f"{i}" for i in range(n_partitions)], (_unpacked(row) for row in rows)


@dataclass(frozen=True)
class _ArrowPartition:
    """The batches of one partition, as Spark hands them to a worker."""

    id: str
    batches: Iterable[Any]

    def blocks(self, encoder: Encoder) -> Iterator[Block]:
        return encoded(self.batches, encoder)

    def exact_size(self, encoder: Encoder) -> int:  # noqa: ARG002 - any column tells
        return sum(batch.num_rows for batch in self.batches)


def _counting(work: Work) -> Any:
    def count(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        try:
            result: Any = work(_ArrowPartition(f"{number}", batches))
        except PrivetError as error:
            result = error  # as a result: Spark would run the task again, and wrap the sentence in a traceback
        yield pa.RecordBatch.from_pydict(
            {"partition": pa.array([number], pa.int32()), "delivery": pa.array([pickle.dumps(result)], pa.binary())}
        )

    return count


def _unpacked(row: Any) -> Delivery:
    """Return what a worker packed; it comes from the cluster's own workers, which run this very code."""
    delivery = pickle.loads(bytes(row["delivery"]))  # noqa: S301
    if isinstance(delivery, PrivetError):
        raise delivery
    return delivery  # type: ignore[no-any-return]


def _in_words(error: Exception) -> PrivetError:
    if isinstance(error, PrivetError):
        return error
    if type(error).__name__ in {"PySparkNotImplementedError", "PySparkAttributeError"}:
        return ParameterError("a frame of Spark Connect has no partitions to look at; use a classic Spark session")
    return ExecutorError(
        f"spark failed ({type(error).__name__}) before all rows were counted, and nothing was released; see to its "
        "workers, where privet must be installed too, and fit again"
    )
