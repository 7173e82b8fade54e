"""Parts of a table that are read and counted apart: small enough to travel, each with an id of its own.

What a part's blocks hold is exact and stays with whoever may see the rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.counting.files import read_batches
from privet.schema.encoding import Encoder
from privet.schema.table import check_present, column_names, column_of

Block: TypeAlias = tuple[NDArray[Any], NDArray[np.uint16]]  # codes, and class codes


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
