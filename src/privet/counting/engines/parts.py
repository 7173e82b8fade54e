"""Rows in parts: what is sent to a worker, what comes back, and how the results are checked and added up.

Engines run a task again when a worker dies, and may do so when none died. So a task has no effect but its result, and
a result carries the id of its part. Exactly one result of each part is used. A task contains the structure to count on
and the coding of values, both public. Budget and noise stay with the caller. Blocks and counts are exact: they stay
with those who may see the rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.counting.csv_format import CsvFormat, format_of_process
from privet.counting.files import read_batches
from privet.entropy import unforeseeable_name
from privet.errors import DataError, ExecutorError
from privet.schema.encoding import Encoder
from privet.schema.table import check_present, column_names, column_of

Block: TypeAlias = tuple[NDArray[Any], NDArray[np.uint16]]  # codes, and class codes
_NOTHING_RELEASED = "nothing was released; run the fit again; if it happens again, use another executor"


class Partition(Protocol):
    """A picklable reader of some of the rows."""

    @property
    def id(self) -> str:
        """A name that no other part of the table has."""
        ...

    def blocks(self, encoder: Encoder) -> Iterator[Block]:
        """Yield codes and class codes."""
        ...

    def exact_size(self, encoder: Encoder) -> int:
        """Return the number of rows."""
        ...


@dataclass(frozen=True)
class FilePartition:
    """A file, or some row groups of a Parquet file. The worker must find the file at ``path``."""

    id: str
    path: Path
    row_groups: tuple[int, ...] | None = None
    csv_format: CsvFormat = field(default_factory=format_of_process)  # the worker is another process

    def blocks(self, encoder: Encoder) -> Iterator[Block]:
        """Yield a batch at a time."""
        schema = encoder.schema
        names = [*schema.names, schema.target]
        batches = read_batches(self.path, schema, names, row_groups=self.row_groups, csv_format=self.csv_format)
        return encoded_blocks(batches, encoder)

    def exact_size(self, encoder: Encoder) -> int:
        """Return the number of rows; only the label's column is read."""
        schema = encoder.schema
        names, form = [schema.target], self.csv_format
        batches = read_batches(self.path, schema, names, row_groups=self.row_groups, csv_format=form)
        return sum(batch.num_rows for batch in batches)


@dataclass(frozen=True)
class TablePartition:
    """Some rows of a table of any library with named columns; the labels are among them."""

    id: str
    table: Any = field(repr=False)  # engines log their arguments

    def blocks(self, encoder: Encoder) -> Iterator[Block]:
        """Yield all rows at once."""
        return encoded_blocks([self.table], encoder)

    def exact_size(self, encoder: Encoder) -> int:
        """Return the number of rows."""
        return len(column_of(self.table, encoder.schema.target))


@dataclass(frozen=True)
class CodedPartition:
    """Some rows of a table in memory, encoded before they are sent."""

    id: str
    codes: NDArray[Any] = field(repr=False)
    labels: NDArray[np.uint16] = field(repr=False)

    def blocks(self, encoder: Encoder) -> Iterator[Block]:  # noqa: ARG002 - already encoded
        """Yield all rows at once."""
        yield self.codes, self.labels

    def exact_size(self, encoder: Encoder) -> int:  # noqa: ARG002
        """Return the number of rows."""
        return len(self.labels)


def encoded_blocks(tables: Iterable[Any], encoder: Encoder) -> Iterator[Block]:
    """Yield codes and class codes of tables that contain their labels. Columns outside the schema are ignored."""
    schema = encoder.schema
    for table in tables:
        names = list(schema.names)
        check_present(column_names(table) or [], [*names, schema.target])
        attributes = table.select(names) if hasattr(table, "column_names") else table[names]
        yield encoder.encode(attributes), encoder.encode_labels(column_of(table, schema.target))


def row_group_runs(sizes: Sequence[int], least_rows: int) -> Iterator[tuple[int, ...]]:
    """Yield runs of neighbouring row groups with at least ``least_rows`` rows each, except perhaps the last."""
    run: list[int] = []
    for number in range(len(sizes)):
        run.append(number)
        if sum(sizes[i] for i in run) >= least_rows:
            yield tuple(run)
            run = []
    if run:
        yield tuple(run)


class Delivery(NamedTuple):
    """The exact result of one part, for those only who may see the rows."""

    partition: str
    exact: Any
    n_rows: int

    def __repr__(self) -> str:
        return f"Delivery(partition={self.partition!r})"  # engines log results


class Count(Protocol):
    """Reads blocks once and adds up whole numbers. It can be pickled."""

    def __call__(self, blocks: Iterable[Block], n_threads: int = 1) -> NDArray[np.int64]:
        """Return the exact sums."""
        ...


def gather(blocks: Iterable[Block]) -> Block | None:
    """Return the blocks of a part as one, for a method that needs the encoded rows themselves."""
    parts = list(blocks)
    if not parts:
        return None
    return np.concatenate([codes for codes, _ in parts]), np.concatenate([labels for _, labels in parts])


@dataclass(frozen=True)
class Work:
    """The task that is run on every part: ``count``, or only its number of rows where ``count`` is None."""

    count: Any  # a Count, or `gather`
    encoder: Encoder
    # Dask caches results by their inputs, and a file may have changed since.
    run: str = field(default_factory=unforeseeable_name)

    def __call__(self, partition: Partition) -> Delivery:
        """Read and count one part."""
        if self.count is None:
            return Delivery(partition.id, None, partition.exact_size(self.encoder))
        blocks = _CountedBlocks(partition.blocks(self.encoder))
        exact = self.count(blocks)
        return Delivery(partition.id, exact, blocks.n_rows)


class _CountedBlocks:
    """Yields blocks and counts their rows."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._blocks, self.n_rows = blocks, 0

    def __iter__(self) -> Iterator[Block]:
        for codes, labels in self._blocks:
            self.n_rows += len(labels)
            yield codes, labels


class Parts(Protocol):
    """A table in parts, and an engine that counts them."""

    def deliver(self, work: Callable[[Any], Delivery]) -> tuple[Sequence[str], Iterable[Delivery]]:
        """Return the ids of all parts, and their results in any order."""
        ...

    def keep(self, make: Callable[[Any], Any]) -> "Parts":
        """Return the parts as ``make`` returns them: made by workers and kept there, and made again where lost."""
        ...


def one_each(ids: Sequence[str], deliveries: Iterable[Delivery]) -> Iterator[Delivery]:
    """Yield the deliveries. Refuse a second one of a part, one of an unknown part, and at the end a missing one."""
    missing = set(ids)
    for delivery in deliveries:
        require(isinstance(delivery, Delivery))
        if delivery.partition not in missing:
            raise ExecutorError(f"the executor returned a part of the rows twice; {_NOTHING_RELEASED}")
        missing.remove(delivery.partition)
        yield delivery
    if missing:
        raise ExecutorError(f"the executor did not return all parts of the rows; {_NOTHING_RELEASED}")


@dataclass(frozen=True)
class PartitionedRows:
    """Rows of a table in parts. Counts are whole numbers, so their sum depends neither on order nor on the engine."""

    parts: Parts
    encoder: Encoder
    _sizes: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def exact_sum(self, count: Count, n_jobs: int | None = None) -> NDArray[np.int64]:  # noqa: ARG002
        """Return the sum over all parts of what ``count`` finds in each. A part is counted on one thread."""
        total = count(())
        for delivery in self._deliveries(Work(count, self.encoder)):
            total += _check_counts(delivery.exact, total)
        return total

    def blocks(self) -> Iterator[Block]:
        """Yield the encoded rows part by part, in the order in which they arrive."""
        for delivery in self._deliveries(Work(gather, self.encoder)):
            if delivery.exact is not None:
                yield delivery.exact

    def exact_size(self) -> int:
        """Return the number of rows."""
        return sum(delivery.n_rows for delivery in self._deliveries(Work(None, self.encoder)))

    def require_rereadable(self) -> None:
        """Accept: parts can be read again."""

    def _deliveries(self, work: Work) -> Iterator[Delivery]:
        for delivery in one_each(*self.parts.deliver(work)):
            self.check_sizes({delivery.partition: delivery.n_rows})
            yield delivery

    def check_sizes(self, sizes: Mapping[str, int]) -> None:
        """Refuse a part that had another number of rows in an earlier pass: they would not be about the same table."""
        for own, n_rows in sizes.items():
            if self._sizes.setdefault(own, n_rows) != n_rows:
                raise DataError("the rows changed while they were counted; leave them alone, and fit again")


def _check_counts(exact: object, like: NDArray[np.int64]) -> NDArray[np.int64]:
    require(isinstance(exact, np.ndarray) and exact.dtype == like.dtype and exact.shape == like.shape)
    return exact  # type: ignore[return-value]


def require(is_sound: bool) -> None:
    """Refuse what cannot be the counts of a part."""
    if not is_sound:
        raise ExecutorError(f"the executor returned something other than counts; {_NOTHING_RELEASED}")
