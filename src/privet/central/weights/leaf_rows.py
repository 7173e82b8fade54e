"""Rows as the fit sees them: the cell that each falls into in each tree, and its class, in one byte each.

What this module returns is exact and must not leave the room.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.trees import Trees
from privet.counting.rows import Rows

# Rows are merged where tuples of cells and classes together are at most a quarter of the rows.
_WORTH_MERGING = 4
_MOST_MERGED = 2**26
_STRETCH = 2**20
# An array that grows is given an eighth more than it needs: few moves, and little that is never filled.
_SPARE = 8


@dataclass(frozen=True)
class LeafRows:
    """Cells, classes, and how many rows each line stands for.

    ``scores`` are what every line's score has before any weight, lines x columns; None where they are all 0.
    """

    cells: NDArray[Any]
    labels: NDArray[Any]
    weights: NDArray[np.int64] | None
    scores: NDArray[np.float32] | None = None

    @classmethod
    def of(cls, rows: Rows, trees: Trees, *, n_classes: int) -> "LeafRows":
        """Go through the rows once and keep one compressed copy."""
        narrow = np.uint8 if n_classes <= 2**8 else np.uint16
        cells = _Growing(np.empty((0, trees.n_trees), dtype=trees.narrowest))
        classes = _Growing(np.empty(0, narrow))
        for codes, labels in rows.blocks():
            cells.add(trees.cells(codes))
            classes.add(labels.astype(narrow))
        return cls(cells.whole(), classes.whole(), None).merged(trees, n_classes)

    @property
    def n_lines(self) -> int:
        """The number of lines."""
        return len(self.labels)

    @property
    def exact_size(self) -> int:
        """The number of rows."""
        return self.n_lines if self.weights is None else int(self.weights.sum())

    def exact_classes(self, n_classes: int) -> NDArray[np.int64]:
        """Return how many rows each class has."""
        counts = np.zeros(n_classes, dtype=np.int64)
        # In stretches: NumPy widens what it counts to eight bytes.
        for start in range(0, self.n_lines, _STRETCH):
            part = slice(start, start + _STRETCH)
            weights = None if self.weights is None else self.weights[part]
            counts += np.bincount(self.labels[part], weights, n_classes).astype(np.int64)
        return counts

    def exact_bins(self, trees: Trees) -> list[NDArray[np.int64]]:
        """Return how many rows each bin of each attribute's histogram has, as ``trees`` ask for them."""
        counts = [np.zeros(int(size), dtype=np.int64) for size in trees.cell_sizes]
        for start in range(0, self.n_lines, _STRETCH):
            part = slice(start, start + _STRETCH)
            weights = None if self.weights is None else self.weights[part]
            for t, own in enumerate(counts):
                own += np.bincount(self.cells[part, t], weights, len(own)).astype(np.int64)
        found = []
        for own, axes in zip(counts, trees.axes, strict=True):
            table = own.reshape([axis.n_cells for axis in axes])
            for i, axis in enumerate(axes):
                by_cell = table.sum(axis=tuple(j for j in range(len(axes)) if j != i))
                found.append(np.bincount(axis.bin_of_cell, by_cell).astype(np.int64))
        return found

    def unpacked(self, trees: Trees) -> tuple[NDArray[Any], NDArray[np.uint16]]:
        """Return codes and classes of every row: of each attribute's cell, the first code that falls into it.

        ``trees``, which the rows were compressed by, ask for every attribute.
        """
        n_values = [axis.n_values for own in trees.axes for axis in own]
        narrow = np.uint8 if max(n_values) < 2**8 else np.uint16
        codes = np.empty((self.n_lines, len(n_values)), dtype=narrow)
        for t, own in enumerate(trees.axes):
            for axis, places in zip(own, trees.cell_places(t), strict=True):
                codes[:, axis.attribute] = axis.first_codes.astype(narrow)[places][self.cells[:, t]]
        lines = np.arange(self.n_lines) if self.weights is None else np.repeat(np.arange(self.n_lines), self.weights)
        return codes[lines], self.labels[lines].astype(np.uint16)

    def merged(self, trees: Trees, n_classes: int) -> "LeafRows":
        """Return the rows with equal ones merged, where there can be so few different ones that it pays."""
        domains = [*map(int, trees.cell_sizes), n_classes]
        different = 1
        for size in domains:
            different *= size  # a plain int: a product of machine integers wraps around
        if different > min(self.n_lines // _WORTH_MERGING, _MOST_MERGED):
            return self
        keys = np.ravel_multi_index([*self.cells.T.astype(np.int64), self.labels.astype(np.int64)], domains)
        counts = np.bincount(keys)
        found = np.flatnonzero(counts)
        *cells, labels = np.unravel_index(found, domains)
        return LeafRows(
            np.stack(cells, axis=1).astype(self.cells.dtype),
            labels.astype(self.labels.dtype),
            counts[found].astype(np.int64),
        )

    def sample(self, most: int) -> "LeafRows":
        """Return evenly spaced lines, at most about ``most``, each counting for the lines that it stands for."""
        step = self.n_lines // most
        if step < 2:
            return self
        labels = self.labels[::step].copy()
        counts = np.ones(len(labels), dtype=np.int64) if self.weights is None else self.weights[::step]
        scores = None if self.scores is None else np.ascontiguousarray(self.scores[::step])
        return LeafRows(np.ascontiguousarray(self.cells[::step]), labels, counts * step, scores)


class _Growing:
    """An array that takes in parts. It grows where it lies, so that no row is held twice: a list, joined, would be."""

    def __init__(self, empty: NDArray[Any]) -> None:
        self._array, self._filled = empty.copy(), 0

    def add(self, part: NDArray[Any]) -> None:
        end = self._filled + len(part)
        if end > len(self._array):
            self._resize(max(end, self._filled + self._filled // _SPARE))
        self._array[self._filled : end] = part
        self._filled = end

    def whole(self) -> NDArray[Any]:
        self._resize(self._filled)
        return self._array

    def _resize(self, n: int) -> None:
        self._array.resize((n, *self._array.shape[1:]), refcheck=False)  # no view of it exists yet
