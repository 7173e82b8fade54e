"""The function that is minimised: the loss of the rows, the prior, and a random linear term."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.central.weights import kernels
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.policy import MARGIN
from privet.central.weights.prior import Prior
from privet.central.weights.trees import Trees

Floats = NDArray[np.float64]
_NO_COUNTS, _NO_SCORES = np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.float32)
# Threads take blocks of lines and sums are added in the order of blocks, so that their number changes nothing.
_BLOCK_LINES = 2**17


class Block(NamedTuple):
    """A stretch of rows: cells row after row, classes, and what may be empty."""

    cells: NDArray[np.integer]
    labels: NDArray[np.integer]
    counts: NDArray[np.int64]
    scores: NDArray[np.float32]

    @classmethod
    def of(cls, rows: LeafRows, part: slice) -> "Block":
        """Return these lines of ``rows``."""
        counts = _NO_COUNTS if rows.weights is None else rows.weights[part]
        scores = _NO_SCORES if rows.scores is None else rows.scores[part]
        return cls(rows.cells[part].reshape(-1), rows.labels[part], counts, scores)


@dataclass(frozen=True)
class Objective:
    """sum of losses + 1/2 weights' precision weights + linear_noise' weights; weights are leaves x columns.

    Two classes have one column: the score of the second against the first.
    """

    rows: LeafRows
    trees: Trees
    prior: Prior
    offsets: Floats
    linear_noise: Floats
    margin: float = MARGIN
    n_threads: int = 1
    _curvatures: list[NDArray[np.float32]] = field(default_factory=list)

    @property
    def is_binary(self) -> bool:
        """Whether there is one column."""
        return bool(self.linear_noise.shape[1] == 1)

    @property
    def shape(self) -> tuple[int, int]:
        """Leaves and columns."""
        return self.linear_noise.shape[0], self.linear_noise.shape[1]

    @cached_property
    def blocks(self) -> list["Block"]:
        """Stretches of rows, always the same ones."""
        starts = range(0, max(1, self.rows.n_lines), _BLOCK_LINES)
        return [Block.of(self.rows, slice(start, start + _BLOCK_LINES)) for start in starts]

    def gradient(self, weights: Floats) -> Floats:
        """Return the gradient, and keep the curvatures at ``weights`` for `hessian_product` and the preconditioner."""
        self._curvatures.clear()  # of the last weights; both together would be the most that a fit holds
        curvatures = [np.empty((len(own.labels), self._width), dtype=np.float32) for own in self.blocks]
        padded, starts = self._padded(self.trees.of_cells(weights)), self.trees.cell_starts

        def add(i: int, out: Floats) -> None:
            own = self.blocks[i]
            if self.is_binary:
                offset = float(self.offsets[1] - self.offsets[0])
                kernels.binary_gradient(
                    own.cells, starts, own.labels, own.counts, own.scores.reshape(-1), padded[:, 0], offset,
                    self.margin, out[:, 0], curvatures[i][:, 0],
                )  # fmt: skip
            else:
                kernels.softmax_gradient(
                    own.cells, starts, own.labels, own.counts, own.scores, padded, self._padded_offsets,
                    self.margin, out, curvatures[i],
                )  # fmt: skip

        loss = self._summed(add)
        self._curvatures[:] = curvatures
        return loss + self.precise(weights) + self.linear_noise

    def hessian_product(self, direction: Floats) -> Floats:
        """Return the Hessian, at the last gradient's weights, times ``direction``."""
        padded, starts = self._padded(self.trees.of_cells(direction)), self.trees.cell_starts

        def add(i: int, out: Floats) -> None:
            own = self.blocks[i]
            if self.is_binary:
                kernels.binary_hessian_product(own.cells, starts, self._curvatures[i][:, 0], padded[:, 0], out[:, 0])
            else:
                kernels.softmax_hessian_product(own.cells, starts, own.counts, self._curvatures[i], padded, out)

        return self._summed(add) + self.precise(direction)

    def precise(self, weights: Floats) -> Floats:
        """Return the prior's precision times ``weights``."""
        return self._by_tree(self.prior.precisions, weights)

    def size_of(self, gradient: Floats) -> float:
        """Return how large a gradient is where steps are measured by the prior; the minimiser is as near or nearer."""
        return float(np.sqrt(max(0.0, (gradient * self._by_tree(self.prior.covariances, gradient)).sum())))

    def _by_tree(self, matrices: list[Floats], values: Floats) -> Floats:
        out = np.empty_like(values)
        for matrix, start in zip(matrices, self.trees.starts, strict=True):
            own = slice(start, start + len(matrix))
            out[own] = matrix @ values[own]
        return out

    def sampled(self, most: int) -> "Objective":
        """Return the objective of evenly spaced lines, at most about ``most``, each standing for as many as it must."""
        lines = self.rows.sample(most)
        return self if lines is self.rows else replace(self, rows=lines, n_threads=1, _curvatures=[])

    @property
    def curvatures(self) -> NDArray[np.float32]:
        """The curvatures at the last gradient's weights: second derivatives of two classes, else chances."""
        return np.ascontiguousarray(np.concatenate(self._curvatures)[:, : self.shape[1]])

    @property
    def _width(self) -> int:
        """The number of columns in the kernels: whole fours, the last ones of classes that cannot be."""
        n_columns = self.shape[1]
        return n_columns if self.is_binary else -(-n_columns // 4) * 4

    def _padded(self, values: Floats) -> Floats:
        return np.pad(values, [(0, 0), (0, self._width - values.shape[1])])

    @cached_property
    def _padded_offsets(self) -> Floats:
        return np.pad(self.offsets, (0, max(0, self._width - len(self.offsets))), constant_values=-np.inf)

    def _summed(self, add: Callable[[int, Floats], None]) -> Floats:
        """Return the sum over blocks of what ``add`` adds to an array over cells, for the leaves."""
        n_cells = int(self.trees.cell_sizes.sum())
        parts = [np.zeros((n_cells, self._width)) for _ in self.blocks]
        if self.n_threads == 1 or len(parts) == 1:
            for i, part in enumerate(parts):
                add(i, part)
        else:
            with ThreadPoolExecutor(self.n_threads) as pool:
                list(pool.map(add, range(len(parts)), parts))
        return self.trees.of_leaves(np.sum(parts, axis=0)[:, : self.shape[1]])
