"""Parts of a table that are read and counted apart: small enough to travel, each with an id of its own.

What a part's blocks hold is exact and stays with whoever may see the rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.counting.files import read_batches
from privet.entropy import unforeseeable_name
from privet.errors import DataError, ExecutorError
from privet.schema.encoding import Encoder
from privet.schema.table import check_present, column_names, column_of

Block: TypeAlias = tuple[NDArray[Any], NDArray[np.uint16]]  # codes, and class codes
_NOTHING_RELEASED = "nothing was released; run the fit again, and if it happens again with another executor"


class Partition(Protocol):
    """A picklable reader of some of the rows."""

    @property
    def id(self) -> str:
        """Tells it from all other parts of the table."""
        ...

    def blocks(self, encoder: Encoder) -> Iterator[Block]:
        """Yield codes and class codes."""
        ...

    def exact_size(self, encoder: Encoder) -> int:
        """Return the number of rows."""
        ...


@dataclass(frozen=True)
class FilePartition:
    """A file, or some row groups of a Parquet file; whoever counts it must find the file at ``path``."""

    id: str
    path: Path
    row_groups: tuple[int, ...] | None = None

    def blocks(self, encoder: Encoder) -> Iterator[Block]:
        """Yield a batch at a time."""
        schema = encoder.schema
        names = [*schema.names, schema.target]
        return encoded(read_batches(self.path, schema, names, row_groups=self.row_groups), encoder)

    def exact_size(self, encoder: Encoder) -> int:
        """Return the number of rows, reading no more columns than it takes."""
        schema = encoder.schema
        batches = read_batches(self.path, schema, [schema.target], row_groups=self.row_groups)
        return sum(batch.num_rows for batch in batches)


@dataclass(frozen=True)
class TablePartition:
    """Some rows of a table, labels among them, of any make that has named columns."""

    id: str
    table: Any = field(repr=False)  # engines log what they were given

    def blocks(self, encoder: Encoder) -> Iterator[Block]:
        """Yield all rows at once."""
        return encoded([self.table], encoder)

    def exact_size(self, encoder: Encoder) -> int:
        """Return the number of rows."""
        return len(column_of(self.table, encoder.schema.target))


@dataclass(frozen=True)
class CodedPartition:
    """Some rows of a table in memory, encoded before they travel."""

    id: str
    codes: NDArray[Any] = field(repr=False)
    labels: NDArray[np.uint16] = field(repr=False)

    def blocks(self, encoder: Encoder) -> Iterator[Block]:  # noqa: ARG002 - they are encoded
        """Yield all rows at once."""
        yield self.codes, self.labels

    def exact_size(self, encoder: Encoder) -> int:  # noqa: ARG002
        """Return the number of rows."""
        return len(self.labels)


def encoded(tables: Iterable[Any], encoder: Encoder) -> Iterator[Block]:
    """Yield codes and class codes of tables that hold their labels; columns that the schema lacks are not looked at."""
    schema = encoder.schema
    for table in tables:
        names = list(schema.names)
        check_present(column_names(table) or [], [*names, schema.target])
        attributes = table.select(names) if hasattr(table, "column_names") else table[names]
        yield encoder.encode(attributes), encoder.encode_labels(column_of(table, schema.target))


def row_group_runs(sizes: Sequence[int], least_rows: int) -> Iterator[tuple[int, ...]]:
    """Yield neighbouring row groups of about ``least_rows`` rows together, or one that has more by itself."""
    run: list[int] = []
    for number in range(len(sizes)):
        run.append(number)
        if sum(sizes[i] for i in run) >= least_rows:
            yield tuple(run)
            run = []
    if run:
        yield tuple(run)


class Delivery(NamedTuple):
    """The result of one part; not for anyone who may not see the rows."""

    partition: str
    exact: Any
    n_rows: int

    def __repr__(self) -> str:
        return f"Delivery(partition={self.partition!r})"  # engines log results


class Count(Protocol):
    """Goes through blocks once and adds up whole numbers; it can be pickled."""

    def __call__(self, blocks: Iterable[Block], n_threads: int = 1) -> NDArray[np.int64]:
        """Return the exact sums."""
        ...


def gathered(blocks: Iterable[Block]) -> Block | None:
    """Return a part's blocks as one, where a method needs the encoded rows themselves."""
    parts = list(blocks)
    if not parts:
        return None
    return np.concatenate([codes for codes, _ in parts]), np.concatenate([labels for _, labels in parts])


@dataclass(frozen=True)
class Work:
    """What is done with every part: ``count``, or where that is None only its size is found out."""

    count: Any  # a Count, or `gathered`
    encoder: Encoder
    # Dask remembers results by what they were made of, and a file may have changed since.
    run: str = field(default_factory=unforeseeable_name)

    def __call__(self, partition: Partition) -> Delivery:
        """Read and count one part."""
        if self.count is None:
            return Delivery(partition.id, None, partition.exact_size(self.encoder))
        passing = _Passing(partition.blocks(self.encoder))
        exact = self.count(passing)
        return Delivery(partition.id, exact, passing.n_rows)


class _Passing:
    """Blocks that are counted as they pass."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._blocks, self.n_rows = blocks, 0

    def __iter__(self) -> Iterator[Block]:
        for codes, labels in self._blocks:
            self.n_rows += len(labels)
            yield codes, labels


class Parts(Protocol):
    """A table in parts, and an engine that counts them."""

    def deliver(self, work: Work) -> tuple[Sequence[str], Iterable[Delivery]]:
        """Return the ids of all parts, and what comes back, in any order."""
        ...


def one_each(ids: Sequence[str], deliveries: Iterable[Delivery]) -> Iterator[Delivery]:
    """Yield the deliveries; refuse one of a part that was delivered or does not exist, and at the end a missing one."""
    missing = set(ids)
    for delivery in deliveries:
        if not isinstance(delivery, Delivery):
            raise ExecutorError(f"the executor brought back something other than counts; {_NOTHING_RELEASED}")
        if delivery.partition not in missing:
            raise ExecutorError(f"the executor delivered a part of the rows twice; {_NOTHING_RELEASED}")
        missing.remove(delivery.partition)
        yield delivery
    if missing:
        raise ExecutorError(f"the executor did not deliver all parts of the rows; {_NOTHING_RELEASED}")


@dataclass(frozen=True)
class PartitionedRows:
    """Rows of a table in parts. Counts are whole numbers, so neither their order nor who counted shows in a sum."""

    parts: Parts
    encoder: Encoder
    _sizes: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def exact_sum(self, count: Count, n_jobs: int | None = None) -> NDArray[np.int64]:  # noqa: ARG002
        """Return the sum over all parts of what ``count`` finds in each; a part is counted on one thread."""
        total = count(())
        for delivery in self._deliveries(Work(count, self.encoder)):
            total += _checked(delivery.exact, total)
        return total

    def blocks(self) -> Iterator[Block]:
        """Yield the encoded rows of one part after the other, in the order of the table."""
        for delivery in self._deliveries(Work(gathered, self.encoder)):
            if delivery.exact is not None:
                yield delivery.exact

    def exact_size(self) -> int:
        """Return the number of rows."""
        return sum(delivery.n_rows for delivery in self._deliveries(Work(None, self.encoder)))

    def require_rereadable(self) -> None:
        """Take note that the rows are gone through more than once: parts can be."""

    def _deliveries(self, work: Work) -> Iterator[Delivery]:
        for delivery in one_each(*self.parts.deliver(work)):
            # A table that grows between two passes would be counted as two tables.
            if self._sizes.setdefault(delivery.partition, delivery.n_rows) != delivery.n_rows:
                raise DataError("the rows changed while they were counted; leave them alone, and fit again")
            yield delivery


def _checked(exact: object, like: NDArray[np.int64]) -> NDArray[np.int64]:
    if isinstance(exact, np.ndarray) and exact.dtype == like.dtype and exact.shape == like.shape:
        return exact
    raise ExecutorError("the executor brought back something other than counts; nothing was released; use another one")
