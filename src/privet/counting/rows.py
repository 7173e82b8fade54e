"""Encoded rows in memory or in batches, and exact counts over them.

Rows that would count more than once are refused or left out before they are counted. What this module returns is
exact: a mechanism must add noise before it is released.
"""

import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_number, n_threads
from privet.counting.engines.parts import Block, CodedPartition, Count, encoded_blocks
from privet.counting.sources import ITERATOR_USED_UP, Source
from privet.errors import DataError, ParameterError, PrivacyLeakWarning
from privet.privacy.unit import EACH_ROW, Unit
from privet.rng import NoiseSource
from privet.schema.encoding import Encoder, without_view
from privet.schema.persons import Persons
from privet.schema.table import as_numpy, column_of
from privet.tree import kernels
from privet.tree.forest import Forest

_SLICE_ROWS = 2**18
# How many values a coin has.
_WORDS = 2.0**32


class Rows(Protocol):
    """Encoded rows with their labels."""

    def blocks(self) -> Iterator[Block]:
        """Yield codes and class codes."""
        ...

    def exact_size(self) -> int:
        """Return the number of rows."""
        ...

    def exact_sum(self, count: Count, n_jobs: int | None = None) -> NDArray[np.int64]:
        """Return what ``count`` finds in all rows, in one pass."""
        ...

    def require_rereadable(self) -> None:
        """Refuse rows that can be read only once, before anything is spent."""
        ...


@dataclass(frozen=True)
class MemoryRows:
    """Rows that are in memory."""

    codes: NDArray[Any] = field(repr=False)
    labels: NDArray[np.uint16] = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.codes) != len(self.labels):
            raise DataError("the table and its labels have different lengths; pass one label per row")

    def bounded(self, unit: Unit, table: Any, y: Any, weights: "RowWeights | None" = None) -> Self:
        """Return the rows within the unit's bound that their weights keep; ``table`` has the unit's column."""
        keep = np.ones(len(self.labels), dtype=bool)
        if unit.column is not None:
            keep = FirstRows(unit.column, unit.max_rows).keep(column_of(table, unit.column))
            if len(keep) != len(self.labels):
                raise DataError(f"column {unit.column!r} and the table have different lengths; pass one value per row")
        else:
            check_no_row_twice(table, y, self.codes, self.labels)
        if weights is not None:
            keep &= weights.kept(len(keep))
        return self if keep.all() else type(self)(self.codes[keep], self.labels[keep])

    def blocks(self) -> Iterator[Block]:
        """Yield all rows at once."""
        yield self.codes, self.labels

    def exact_size(self) -> int:
        """Return the number of rows."""
        return len(self.labels)

    def exact_sum(self, count: Count, n_jobs: int | None = None) -> NDArray[np.int64]:
        """Return what ``count`` finds in all rows."""
        return count(self.blocks(), n_threads(n_jobs))

    def require_rereadable(self) -> None:
        """Accept: rows in memory can be read again."""

    def partitions(self) -> list[CodedPartition]:
        """Return the rows in slices that can be sent to workers."""
        starts = range(0, len(self.labels), _SLICE_ROWS)
        slices = [slice(start, start + _SLICE_ROWS) for start in starts]
        return [CodedPartition(f"{i}", self.codes[own], self.labels[own]) for i, own in enumerate(slices)]


@dataclass(frozen=True)
class BatchRows:
    """Rows of files or other batches. Each pass reads them again, and they are never all in memory."""

    source: Source
    encoder: Encoder
    unit: Unit = EACH_ROW

    def blocks(self) -> Iterator[Block]:
        """Yield a batch at a time."""
        schema = self.encoder.schema
        return encoded_blocks(self._batches([*schema.names, schema.target]), self.encoder)

    def exact_size(self) -> int:
        """Return the number of rows; only the label's column is read."""
        return sum(batch.num_rows for batch in self._batches([self.encoder.schema.target]))

    def exact_sum(self, count: Count, n_jobs: int | None = None) -> NDArray[np.int64]:
        """Return what ``count`` finds in all rows."""
        return count(self.blocks(), n_threads(n_jobs))

    def require_rereadable(self) -> None:
        """Refuse an iterator."""
        if self.source.once:
            raise DataError(ITERATOR_USED_UP)

    def _batches(self, names: list[str]) -> Iterator[Any]:
        """Yield Arrow batches of the rows within the unit's bound."""
        if self.unit.column is None:
            yield from self.source.batches(self.encoder.schema, names)
            return
        import pyarrow as pa

        first_rows = FirstRows(self.unit.column, self.unit.max_rows)
        for batch in self.source.batches(self.encoder.schema, [*names, self.unit.column]):
            kept = pa.array(first_rows.keep(batch.column(self.unit.column)))
            columns = [without_view(batch.column(name)) for name in names]
            yield pa.table(columns, names=names).filter(kept)


@dataclass(frozen=True)
class LeafCount:
    """Counts how many rows of each class reach each leaf. It holds the structure of the trees and nothing else."""

    words: NDArray[np.uint64]
    leaves: NDArray[np.int64]
    n_trees: int
    depth: int
    multiway: bool
    n_classes: int

    @classmethod
    def of(cls, forest: Forest, n_classes: int) -> Self:
        """Return the count for ``forest.leaves``."""
        return cls(forest.words, forest.leaves, forest.n_trees, forest.depth, forest.multiway, n_classes)

    def __call__(self, blocks: Iterable[Block], n_threads: int = 1) -> NDArray[np.int64]:
        """Return leaves x classes."""
        counts = np.zeros((len(self.words), self.n_classes), dtype=np.int64)
        # Trees share no nodes, so threads with different trees never write to the same count.
        shares = np.array_split(np.arange(self.n_trees), min(n_threads, self.n_trees))
        with ThreadPoolExecutor(len(shares)) as pool:
            # Starting a thread would dominate the fit of a small table.
            run = map if len(shares) == 1 else pool.map
            for codes, labels in blocks:
                list(run(partial(self._count_block, codes, labels, counts), shares))
        return counts[self.leaves]

    def _count_block(
        self, codes: NDArray[Any], labels: NDArray[np.uint16], counts: NDArray[np.int64], roots: NDArray[np.int64]
    ) -> None:
        records, stride = codes.reshape(-1), codes.shape[1]
        kernels.count_classes(self.words, roots, self.depth, self.multiway, records, stride, labels, counts)


def exact_leaf_counts(forest: Forest, rows: Rows, *, n_classes: int, n_jobs: int | None = None) -> NDArray[np.int64]:
    """Return how many rows of each class reach each leaf of ``forest.leaves``, in one pass over the rows."""
    return rows.exact_sum(LeafCount.of(forest, n_classes), n_jobs)


class FirstRows:
    """Keeps at most ``max_rows`` rows of each person: the first ones in the order of the table, batch after batch.

    Which of a person's rows are kept depends on that person's rows alone, so adding a person changes nothing about the
    rows of others. Memory grows with the number of persons, not of rows.
    """

    def __init__(self, column: str, max_rows: int) -> None:
        self.max_rows = max_rows
        self._persons = Persons(column)
        self._seen = np.zeros(0, dtype=np.int64)

    def keep(self, exact_persons: Any) -> NDArray[np.bool_]:
        """Return which of the next rows are among the first ``max_rows`` of their person."""
        numbers = self._persons.number_rows(exact_persons)
        newcomers = len(self._persons) - len(self._seen)
        self._seen = np.concatenate([self._seen, np.zeros(newcomers, dtype=np.int64)])
        earlier = self._seen[numbers] + _earlier_in_batch(numbers)
        self._seen += np.bincount(numbers, minlength=len(self._seen))
        return earlier < self.max_rows


def _earlier_in_batch(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for every row how many rows with the same number precede it."""
    order = np.argsort(numbers, kind="stable")
    ranked = numbers[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])[: len(ranked)])
    earlier = np.empty(len(numbers), dtype=np.int64)
    earlier[order] = np.arange(len(numbers)) - np.repeat(starts, np.diff(np.append(starts, len(numbers))))
    return earlier


@dataclass(frozen=True)
class RowWeights:
    """What each row counts for: 0 or 1, or up to a declared ``most``.

    With a ``most``, a row is kept with a chance of its weight over the most, by a secret coin of its own. On average
    the kept rows say what the weighted ones do, and none of them counts more than once: see private_rdt.md.
    """

    values: Any = field(repr=False)
    most: float | None
    coins: NoiseSource

    def kept(self, n_rows: int) -> NDArray[np.bool_]:
        """Return which rows are kept."""
        if self.most is None:
            return rows_of_weight_1(self.values, n_rows)
        weights = as_numpy(self.values)
        numbers = [is_number(weight) and weight >= 0 for weight in weights.ravel().tolist()]
        if weights.shape != (n_rows,) or not all(numbers):
            raise ParameterError("sample_weight must have one number per row, 0 or more; leave it out")
        limits = np.rint(np.minimum(weights.astype(np.float64) / self.most, 1.0) * _WORDS).astype(np.uint64)
        return self.coins.words(n_rows) < limits


def rows_of_weight_1(sample_weight: Any, n_rows: int) -> NDArray[np.bool_]:
    """Return which rows have the weight 1, and refuse weights other than 0 and 1, which would multiply a row's cost."""
    weights = as_numpy(sample_weight)
    if weights.shape != (n_rows,):
        raise ParameterError("sample_weight must have one weight per row, 0 or 1; leave it out")
    if not np.isin(weights, (0, 1)).all():
        raise ParameterError(
            "sample_weight may leave rows out (0) or use them once (1): a row that counts for more would cost more "
            "epsilon than is charged; for other weights declare the largest that there may be with max_sample_weight. "
            "Bagging draws rows repeatedly unless bootstrap=False; boosting needs other weights; for rare classes "
            "there is class_weight"
        )
    if len(weights) and not weights.any():
        raise ParameterError("sample_weight is zero for every row; give the rows to take the weight 1")
    return weights.astype(bool)


def check_no_row_twice(table: Any, y: Any, codes: NDArray[Any], labels: NDArray[np.uint16]) -> None:
    """Refuse a table that visibly holds a row twice; warn where only the index repeats.

    Noise covers a row that is counted once. Equal rows may be different people, so equality alone says nothing. The
    same object twice, or a repeating index with equal rows, means that a row was drawn twice. A repeating index with
    unequal rows may come from several tables put together, each with its own index.
    """
    if isinstance(table, list):
        rows = [id(row) for row in table if isinstance(row, (list, np.ndarray))]
        if len(set(rows)) < len(rows):
            raise DataError(
                "one row is in the list more than once, as the same object, and would be counted several times; pass "
                "each row once, or copies where they are different people"
            )
    indices = [getattr(given, "index", None) for given in (table, y)]
    repeating = [index for index in indices if not getattr(index, "is_unique", True)]
    if not repeating:
        return
    first = _first_of_each(repeating[0])
    if (codes == codes[first]).all() and (labels == labels[first]).all():
        raise DataError(
            "rows are in the table more than once: entries of its index repeat, and their rows are equal; pass each "
            "row once, or name the column that identifies a person with unit; if they are different people, use "
            "reset_index(drop=True)"
        )
    warnings.warn(
        "entries of the table's index repeat. If these are rows of the same people, the guarantee covers one row of "
        "each, not all: name the column that identifies a person with unit; if not, use reset_index(drop=True)",
        PrivacyLeakWarning, stacklevel=6,  # the caller of fit
    )  # fmt: skip


def _first_of_each(index: Any) -> NDArray[np.int64]:
    """Return for every row the first row with the same entry in the index."""
    import pandas as pd

    entries = pd.factorize(index, use_na_sentinel=False)[0]
    return np.unique(entries, return_index=True)[1][entries]
