"""Rows as the fit sees them: the leaf that each reaches in each tree, and its class, in one byte each.

What this module returns is exact and must not leave the room.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.trees import Trees, cell_ends
from privet.counting.rows import Rows

# Rows are merged where leaf tuples and classes together are at most a quarter of the rows.
_WORTH_MERGING = 4
_MOST_MERGED = 2**26
_STRETCH = 2**20
# An array that grows is given an eighth more than it needs: few moves, and little that is never filled.
_SPARE = 8


@dataclass(frozen=True)
class LeafRows:
    """Leaves, classes, and how many rows each line stands for."""

    leaves: NDArray[Any]
    labels: NDArray[Any]
    weights: NDArray[np.int64] | None

    @classmethod
    def of(cls, rows: Rows, trees: Trees, *, n_classes: int) -> "LeafRows":
        """Go through the rows once and keep one compressed copy."""
        narrow = np.uint8 if n_classes <= 2**8 else np.uint16
        leaves = _Growing(trees.leaves(np.empty((0, len(trees.n_values)), dtype=np.uint8)))
        classes = _Growing(np.empty(0, narrow))
        for codes, labels in rows.blocks():
            leaves.add(trees.leaves(codes))
            classes.add(labels.astype(narrow))
        return cls(leaves.whole(), classes.whole(), None).merged(trees, n_classes)

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

    def exact_cells(self, trees: Trees) -> list[NDArray[np.int64]]:
        """Return how many rows each cell has, for each attribute as ``trees`` ask for them."""
        counts = [np.zeros(int(size), dtype=np.int64) for size in trees.sizes]
        for start in range(0, self.n_lines, _STRETCH):
            part = slice(start, start + _STRETCH)
            weights = None if self.weights is None else self.weights[part]
            for t, own in enumerate(counts):
                own += np.bincount(self.leaves[part, t], weights, len(own)).astype(np.int64)
        found = []
        for own, attributes in zip(counts, trees.attributes, strict=True):
            table = own.reshape([trees.n_cells(a) for a in attributes])
            axes = range(len(attributes))
            found += [table.sum(axis=tuple(j for j in axes if j != i)) for i in axes]
        return found

    def unpacked(self, trees: Trees) -> tuple[NDArray[Any], NDArray[np.uint16]]:
        """Return codes and classes of every row: of each attribute's cell, the first code that falls into it.

        ``trees``, which the rows were compressed by, ask for every attribute.
        """
        narrow = np.uint8 if max(trees.n_values) < 2**8 else np.uint16
        codes = np.empty((self.n_lines, len(trees.n_values)), dtype=narrow)
        for t, own in enumerate(trees.attributes):
            for a, cells in zip(own, trees.cells(t), strict=True):
                first = np.array(cell_ends(trees.n_values[a]), dtype=narrow)  # its end is the missing value's code
                codes[:, a] = first[cells][self.leaves[:, t]]
        lines = np.arange(self.n_lines) if self.weights is None else np.repeat(np.arange(self.n_lines), self.weights)
        return codes[lines], self.labels[lines].astype(np.uint16)

    def merged(self, trees: Trees, n_classes: int) -> "LeafRows":
        """Return the rows with equal ones merged, where there can be so few different ones that it pays."""
        domains = [*map(int, trees.sizes), n_classes]
        different = 1
        for size in domains:
            different *= size  # a plain int: a product of machine integers wraps around
        if different > min(self.n_lines // _WORTH_MERGING, _MOST_MERGED):
            return self
        keys = np.ravel_multi_index([*self.leaves.T.astype(np.int64), self.labels.astype(np.int64)], domains)
        counts = np.bincount(keys)
        found = np.flatnonzero(counts)
        *leaves, labels = np.unravel_index(found, domains)
        return LeafRows(
            np.stack(leaves, axis=1).astype(self.leaves.dtype),
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
        return LeafRows(np.ascontiguousarray(self.leaves[::step]), labels, counts * step)


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
