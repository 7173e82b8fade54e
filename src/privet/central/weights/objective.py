"""The function that is minimised: the loss of the rows, the prior, and a random linear term."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.central.weights import kernels
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.policy import MARGIN
from privet.central.weights.prior import Prior
from privet.central.weights.trees import Trees

Floats = NDArray[np.float64]
_NO_COUNTS = np.empty(0, dtype=np.int64)
# Threads take blocks of lines and sums are added in the order of blocks, so that their number changes nothing.
_BLOCK_LINES = 2**17


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
    def blocks(self) -> list[tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.int64]]]:
        """Stretches of rows, always the same ones: flat leaves, labels and counts."""
        rows, starts = self.rows, range(0, max(1, self.rows.n_lines), _BLOCK_LINES)
        parts = [slice(start, start + _BLOCK_LINES) for start in starts]
        counts = [_NO_COUNTS if rows.weights is None else rows.weights[part] for part in parts]
        return [
            (rows.leaves[part].reshape(-1), rows.labels[part], count) for part, count in zip(parts, counts, strict=True)
        ]

    def gradient(self, weights: Floats) -> Floats:
        """Return the gradient, and keep the curvatures at ``weights`` for `hessian_product` and the preconditioner."""
        self._curvatures.clear()  # of the last weights; both together would be the most that a fit holds
        curvatures = [np.empty((len(labels), self._width), dtype=np.float32) for _, labels, _ in self.blocks]
        padded = self._padded(weights)

        def add(i: int, out: Floats) -> None:
            leaves, labels, counts = self.blocks[i]
            if self.is_binary:
                offset = float(self.offsets[1] - self.offsets[0])
                kernels.binary_gradient(
                    leaves, self.trees.starts, labels, counts, weights[:, 0], offset, self.margin, out[:, 0],
                    curvatures[i][:, 0],
                )  # fmt: skip
            else:
                kernels.softmax_gradient(
                    leaves,
                    self.trees.starts,
                    labels,
                    counts,
                    padded,
                    self._padded_offsets,
                    self.margin,
                    out,
                    curvatures[i],
                )

        loss = self._summed(add)
        self._curvatures[:] = curvatures
        return loss + self.precise(weights) + self.linear_noise

    def hessian_product(self, direction: Floats) -> Floats:
        """Return the Hessian, at the last gradient's weights, times ``direction``."""
        padded = self._padded(direction)

        def add(i: int, out: Floats) -> None:
            leaves, _, counts = self.blocks[i]
            if self.is_binary:
                kernels.binary_hessian_product(
                    leaves, self.trees.starts, self._curvatures[i][:, 0], direction[:, 0], out[:, 0]
                )
            else:
                kernels.softmax_hessian_product(leaves, self.trees.starts, counts, self._curvatures[i], padded, out)

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
        """Return the sum over blocks of what ``add`` adds to an array of its own."""
        parts = [np.zeros((self.shape[0], self._width)) for _ in self.blocks]
        if self.n_threads == 1 or len(parts) == 1:
            for i, part in enumerate(parts):
                add(i, part)
        else:
            with ThreadPoolExecutor(self.n_threads) as pool:
                list(pool.map(add, range(len(parts)), parts))
        summed: Floats = np.sum(parts, axis=0)[:, : self.shape[1]]
        return summed
