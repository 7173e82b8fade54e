"""Encoded rows, wherever they are, and the exact counts that are summed over them.

What this module returns is exact and must not leave the room before a mechanism has added noise.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from privet.counting.files import read_batches
from privet.counting.first_rows import FirstRows
from privet.errors import DataError
from privet.privacy.unit import EACH_ROW, Unit
from privet.schema.encoding import Encoder
from privet.schema.table import column_of
from privet.tree import kernels
from privet.tree.forest import Forest
from privet.tree.threads import n_threads


class Rows(Protocol):
    """Encoded rows with their labels, as blocks that can be gone through more than once."""

    def blocks(self) -> Iterator[tuple[NDArray[Any], NDArray[np.uint16]]]:
        """Yield codes and class codes."""
        ...

    def exact_size(self) -> int:
        """Return the number of rows."""
        ...


@dataclass(frozen=True)
class MemoryRows:
    """Rows that are in memory."""

    codes: NDArray[Any]
    labels: NDArray[np.uint16]

    def __post_init__(self) -> None:
        if len(self.codes) != len(self.labels):
            raise DataError("the table and its labels have different lengths; pass one label per row")

    def bounded(self, unit: Unit, table: Any) -> Self:
        """Return the rows that the unit's bound leaves; ``table`` has the unit's column."""
        if unit.column is None:
            return self
        keep = FirstRows(unit.column, unit.max_rows).keep(column_of(table, unit.column))
        if len(keep) != len(self.labels):
            raise DataError(f"column {unit.column!r} and the table have different lengths; pass one value per row")
        return type(self)(self.codes[keep], self.labels[keep])

    def blocks(self) -> Iterator[tuple[NDArray[Any], NDArray[np.uint16]]]:
        """Yield all rows at once."""
        yield self.codes, self.labels

    def exact_size(self) -> int:
        """Return the number of rows."""
        return len(self.labels)


@dataclass(frozen=True)
class FileRows:
    """Rows of a Parquet or CSV file, read anew each time and never held together."""

    path: str | Path
    encoder: Encoder
    unit: Unit = EACH_ROW

    def blocks(self) -> Iterator[tuple[NDArray[Any], NDArray[np.uint16]]]:
        """Yield a batch at a time."""
        schema = self.encoder.schema
        for batch in self._batches([*schema.names, schema.target]):
            codes = self.encoder.encode(batch.select(list(schema.names)))
            yield codes, self.encoder.encode_labels(batch.column(schema.target))

    def exact_size(self) -> int:
        """Return the number of rows, reading no more columns of them than it takes."""
        return sum(batch.num_rows for batch in self._batches([self.encoder.schema.target]))

    def _batches(self, names: list[str]) -> Iterator[Any]:
        """Yield Arrow batches of the rows that the unit's bound leaves."""
        if self.unit.column is None:
            yield from read_batches(self.path, self.encoder.schema, names)
            return
        import pyarrow as pa

        first_rows = FirstRows(self.unit.column, self.unit.max_rows)
        for batch in read_batches(self.path, self.encoder.schema, [*names, self.unit.column]):
            yield batch.filter(pa.array(first_rows.keep(batch.column(self.unit.column))))


def exact_leaf_counts(forest: Forest, rows: Rows, *, n_classes: int, n_jobs: int | None = None) -> NDArray[np.int64]:
    """Return how many rows of each class reach each leaf of ``forest.leaves``, in one pass over the rows."""
    counts = np.zeros((forest.n_nodes, n_classes), dtype=np.int64)
    # Trees share no node, so threads that own different trees never write to the same count.
    shares = np.array_split(np.arange(forest.n_trees), min(n_threads(n_jobs), forest.n_trees))
    with ThreadPoolExecutor(len(shares)) as pool:
        # A single share needs no thread, and starting one would dominate the fit of a small table.
        run = map if len(shares) == 1 else pool.map
        for codes, labels in rows.blocks():
            list(run(partial(_count_block, forest, codes, labels, counts), shares))
    return counts[forest.leaves]


def _count_block(
    forest: Forest,
    codes: NDArray[Any],
    labels: NDArray[np.uint16],
    counts: NDArray[np.int64],
    roots: NDArray[np.int64],
) -> None:
    records, stride = codes.reshape(-1), codes.shape[1]
    kernels.count_classes(forest.words, roots, forest.depth, forest.multiway, records, stride, labels, counts)
