"""Spark: a DataFrame counted partition by partition on the cluster, through ``mapInArrow``.

Spark runs a failed task again, and may run a task twice. It returns one result for each partition, and the result
names its partition. Only the workers import pyspark; the frame brings its own session.
"""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from privet.counting.engines.parts import Block, Delivery, Work, encoded_blocks
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
            # One RDD for both calls: another plan may have another number of partitions.
            counted = chosen.mapInArrow(_counting(work), _RESULT).rdd
            rows = counted.collect()
            n_partitions = counted.getNumPartitions()
        except Exception as error:
            raise _plain_error(error) from None
        return [f"{i}" for i in range(n_partitions)], (_unpack(row) for row in rows)


@dataclass(frozen=True)
class _ArrowPartition:
    """The batches of one partition, as Spark passes them to a worker."""

    id: str
    batches: Iterable[Any]

    def blocks(self, encoder: Encoder) -> Iterator[Block]:
        return encoded_blocks(self.batches, encoder)

    def exact_size(self, encoder: Encoder) -> int:  # noqa: ARG002 - any column shows it
        return sum(batch.num_rows for batch in self.batches)


def _counting(work: Work) -> Any:
    def count(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        try:
            result: Any = work(_ArrowPartition(f"{number}", batches))
        except PrivetError as error:
            result = error  # not raised: Spark would run the task again and wrap the message in a traceback
        yield pa.RecordBatch.from_pydict(
            {"partition": pa.array([number], pa.int32()), "delivery": pa.array([pickle.dumps(result)], pa.binary())}
        )

    return count


def _unpack(row: Any) -> Delivery:
    """Return what a worker pickled. It comes from the cluster's own workers, which run this code."""
    delivery = pickle.loads(bytes(row["delivery"]))  # noqa: S301
    if isinstance(delivery, PrivetError):
        raise delivery
    return delivery  # type: ignore[no-any-return]


def _plain_error(error: Exception) -> PrivetError:
    if isinstance(error, PrivetError):
        return error
    if type(error).__name__ in {"PySparkNotImplementedError", "PySparkAttributeError"}:
        return ParameterError("a frame of Spark Connect does not show its partitions; use a classic Spark session")
    return ExecutorError(
        f"spark failed ({type(error).__name__}) before all rows were counted, and nothing was released; check its "
        "workers, where privet must also be installed, and fit again"
    )
