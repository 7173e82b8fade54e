"""Coded rows wherever they lie, and what a fit asks of them: whole numbers, added up over blocks.

`LeafRows` are those of this process, in memory and beyond that in a file; `PartRows` are with the workers of an engine.
Everything a fit learns of rows is a `Pass`, a sum of whole numbers: neither the order of rows nor how they are cut into
blocks and parts, nor who adds them up, changes it. What this module returns is exact and must not leave the room.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privet.central.weights import kernels
from privet.central.weights.trees import Trees
from privet.counting.rows import Rows
from privet.counting.tables import in_whole_rows

if TYPE_CHECKING:
    from privet.central.weights.leaf_rows import LeafRows

Whole = NDArray[np.int64]
# Rows are merged where tuples of cells and classes together are at most a quarter of the rows.
_WORTH_MERGING = 4
_MOST_MERGED = 2**20


class Block(NamedTuple):
    """A stretch of rows: cells row after row, classes, and what may be empty."""

    cells: NDArray[Any]
    labels: NDArray[Any]
    counts: Whole
    scores: NDArray[np.float32]

    def by_line(self, n_trees: int) -> NDArray[Any]:
        """Return the cells, lines x trees."""
        return self.cells.reshape(len(self.labels), n_trees)

    @property
    def exact_size(self) -> int:
        """The number of rows."""
        return int(self.counts.sum()) if self.counts.size else len(self.labels)


class Change(Protocol):
    """Makes other columns of a block, line by line. It can be pickled, and holds nothing that is not public."""

    @property
    def n_trees(self) -> int:
        """How many cells a line then has."""
        ...

    def __call__(self, block: Block) -> Block:
        """Return the block with other columns."""
        ...


class Note(Protocol):
    """An array that a pass leaves beside a block for a later one, under the name of what it was computed from."""

    def read(self, name: bytes) -> NDArray[Any] | None:
        """Return the array of this name; None where there is none, or one of another name."""
        ...

    def write(self, name: bytes, array: NDArray[Any]) -> None:
        """Leave an array in the place of the last one."""
        ...


class Pass(Protocol):
    """One question to all rows. It can be pickled, and holds nothing that is not public or released."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the sums."""
        ...

    def __call__(self, block: Block, out: Whole, note: Note) -> float:
        """Add a block's whole numbers to ``out``, and return a number of which the largest counts; 0 if none does."""
        ...

    def is_sound(self, sums: Whole, n_rows: int) -> bool:
        """Return whether sums can be those of ``n_rows`` rows, as far as they show it themselves."""
        ...


class Sums(NamedTuple):
    """What a pass found: sums, and the largest of all other numbers."""

    exact: Whole
    largest: float


class CodedRows(ABC):
    """Rows as the fit sees them: the cell that each falls into in each tree, and its class."""

    @property
    @abstractmethod
    def n_lines(self) -> int:
        """The number of lines; a line may stand for several rows."""

    @property
    @abstractmethod
    def exact_size(self) -> int:
        """The number of rows."""

    @property
    @abstractmethod
    def has_counts(self) -> bool:
        """Whether lines stand for several rows."""

    @abstractmethod
    def summed(self, question: Pass, n_threads: int = 1) -> Sums:
        """Ask all blocks, and return the sums."""

    @abstractmethod
    def derived(self, change: Change) -> "CodedRows":
        """Return other columns of the same rows, made and kept where the rows are."""

    @abstractmethod
    def every(self, step: int) -> "LeafRows":
        """Return every so manyth line, held, each counting for the lines that it stands for."""

    @abstractmethod
    def unpacked(self, trees: Trees) -> Rows:
        """Return the rows by codes: of each attribute's cell, the first code that falls into it.

        ``trees``, which the rows were compressed by, ask for every attribute.
        """

    def exact_classes(self, n_classes: int, steps: int = 1) -> Whole:
        """Return how many rows each class has; of targets in so many ``steps``, in whole rows of two classes."""
        if steps == 1:
            return self.summed(ClassCount(n_classes)).exact
        return in_whole_rows(self.summed(TargetSum(steps)).exact, steps)

    def exact_bins(self, trees: Trees) -> list[Whole]:
        """Return how many rows each bin of each attribute's histogram has, as ``trees`` ask for them."""
        counts = self.summed(CellCount(trees.cell_starts, int(trees.cell_sizes.sum()))).exact
        found = []
        for own, axes in zip(np.split(counts, trees.cell_starts[1:]), trees.axes, strict=True):
            table = own.reshape([axis.n_cells for axis in axes])
            for i, axis in enumerate(axes):
                by_cell = table.sum(axis=tuple(j for j in range(len(axes)) if j != i))
                found.append(np.bincount(axis.bin_of_cell, by_cell).astype(np.int64))
        return found

    def merged(self, trees: Trees, n_labels: int) -> "CodedRows":
        """Return the rows with equal ones merged, where there can be so few different ones that it pays."""
        from privet.central.weights.leaf_rows import LeafRows

        domains = [*map(int, trees.cell_sizes), n_labels]
        different = 1
        for size in domains:
            different *= size  # a plain int: a product of machine integers wraps around
        if different > min(self.n_lines // _WORTH_MERGING, _MOST_MERGED):
            return self
        counts = self.summed(KindCount(tuple(domains))).exact
        found = np.flatnonzero(counts)
        *cells, labels = np.unravel_index(found, domains)
        return LeafRows(
            np.stack(cells, axis=1).astype(trees.narrowest), labels.astype(label_type(n_labels)), counts[found]
        )


def label_type(n_labels: int) -> type[np.unsignedinteger[Any]]:
    """Return the narrowest type that holds a class, or the steps of a target."""
    return np.uint8 if n_labels <= 2**8 else np.uint16


@dataclass(frozen=True)
class ClassCount:
    """How many rows each class has."""

    n_classes: int

    @property
    def shape(self) -> tuple[int, ...]:
        """One number a class."""
        return (self.n_classes,)

    def __call__(self, block: Block, out: Whole, note: Note) -> float:  # noqa: ARG002
        """Count a block."""
        out += _counted(block.labels, block.counts, self.n_classes)
        return 0.0

    def is_sound(self, sums: Whole, n_rows: int) -> bool:
        """Return whether each row is of one class."""
        return bool((sums >= 0).all() and sums.sum() == n_rows)


@dataclass(frozen=True)
class TargetSum:
    """How many rows there are, and the sum of their targets in ``steps``."""

    steps: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Two numbers."""
        return (2,)

    def __call__(self, block: Block, out: Whole, note: Note) -> float:  # noqa: ARG002
        """Add a block."""
        steps = block.labels.astype(np.int64)
        out += (block.exact_size, int((steps * block.counts).sum() if block.counts.size else steps.sum()))
        return 0.0

    def is_sound(self, sums: Whole, n_rows: int) -> bool:
        """Return whether each row has a target within its range."""
        return bool(sums[0] == n_rows and 0 <= sums[1] <= n_rows * self.steps)


@dataclass(frozen=True)
class CellCount:
    """How many rows each cell of each tree has."""

    starts: Whole
    n_cells: int

    @property
    def shape(self) -> tuple[int, ...]:
        """One number a cell."""
        return (self.n_cells,)

    def __call__(self, block: Block, out: Whole, note: Note) -> float:  # noqa: ARG002
        """Count a block."""
        kernels.count_cells(block.cells, self.starts, block.counts, out)
        return 0.0

    def is_sound(self, sums: Whole, n_rows: int) -> bool:
        """Return whether each row is in one cell of each tree."""
        return bool((sums >= 0).all() and (np.add.reduceat(sums, self.starts) == n_rows).all())


@dataclass(frozen=True)
class KindCount:
    """How many rows have each tuple of cells and class."""

    domains: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """One number a tuple."""
        return (int(np.prod(self.domains)),)

    def __call__(self, block: Block, out: Whole, note: Note) -> float:  # noqa: ARG002
        """Count a block."""
        cells = block.by_line(len(self.domains) - 1)
        keys = np.ravel_multi_index([*cells.T.astype(np.int64), block.labels.astype(np.int64)], self.domains)
        out += _counted(keys, block.counts, out.size)
        return 0.0

    def is_sound(self, sums: Whole, n_rows: int) -> bool:
        """Return whether each row is of one kind."""
        return bool((sums >= 0).all() and sums.sum() == n_rows)


def _counted(values: NDArray[Any], counts: Whole, n: int) -> Whole:
    if not counts.size:
        return np.bincount(values, minlength=n).astype(np.int64, copy=False)
    found = np.zeros(n, dtype=np.int64)
    np.add.at(found, values, counts)
    return found


def agree(sums: Whole, starts: Whole) -> bool:
    """Return whether stretches of the last axis but one have the same sums, as the cells of each tree do."""
    if not len(starts):
        return True
    totals = np.add.reduceat(sums, starts, axis=-2)
    return bool((totals == totals[..., :1, :]).all())
