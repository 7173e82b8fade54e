"""The function that is minimised: the loss of the rows, the prior, and a random linear term.

Sums over rows are of whole numbers: each row's part is rounded to a unit. So they are the same bit for bit whatever
the order of rows, the blocks, the threads and the machines that add them up.
"""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.central.weights import kernels
from privet.central.weights.coded_rows import Block, CodedRows, Note, Pass, Whole, agree
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.order import Order
from privet.central.weights.policy import MARGIN
from privet.central.weights.prior import Prior
from privet.central.weights.trees import Trees

Floats = NDArray[np.float64]
# A unit is 2 to minus this power of the most that a row can have: a block's sums stay below 2**62.
_DIGITS, _MOST_DIGITS = 43, 61
# Sums come in two, as the kernels write them.
_HIGH = 2.0**24


@dataclass(frozen=True)
class Gradient:
    """The pass that adds up the gradient of the loss, and leaves second derivatives for `HessianProduct`."""

    weights: Floats
    starts: Whole
    offsets: Floats
    margin: float
    digits: int
    steps: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """High and low parts of the sum of each cell and column."""
        return 2, *self.weights.shape

    @cached_property
    def name(self) -> bytes:
        """What second derivatives are kept under: those of other weights have another name."""
        parts = (self.weights, self.offsets, np.float64(self.margin))
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).digest()

    def __call__(self, block: Block, out: Whole, note: Note) -> float:
        """Add a block's pulls."""
        note.write(self.name, self.curvatures(block, out))
        return 0.0

    def curvatures(self, block: Block, out: Whole | None = None) -> NDArray[np.float32]:
        """Return the curvatures: second derivatives of two classes, else chances. Pulls are added to ``out``."""
        out = np.zeros(self.shape, dtype=np.int64) if out is None else out
        found = np.empty((len(block.labels), self.weights.shape[1]), dtype=np.float32)
        unit = 2.0**self.digits
        if self.weights.shape[1] == 1:
            rest = (
                block.counts, block.scores.reshape(-1), self.weights[:, 0], float(self.offsets[1] - self.offsets[0]),
                self.margin, unit, found[:, 0], out[:, :, 0],
            )  # fmt: skip
            if self.steps > 1:
                kernels.share_gradient(block.cells, self.starts, block.labels, self.steps, *rest)
            else:
                kernels.binary_gradient(block.cells, self.starts, block.labels, *rest)
        else:
            kernels.softmax_gradient(
                block.cells, self.starts, block.labels, block.counts, block.scores, self.weights, self.offsets,
                self.margin, unit, found, out,
            )  # fmt: skip
        return found

    def is_sound(self, sums: Whole, n_rows: int) -> bool:  # noqa: ARG002
        """All trees have the same rows, and so the same sums."""
        return agree(_in_one(sums), self.starts)


@dataclass(frozen=True)
class HessianProduct:
    """The pass that adds up the loss's Hessian times a direction, which is in units, at a gradient's weights."""

    at: Gradient
    direction: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        """As of the gradient."""
        return self.at.shape

    def __call__(self, block: Block, out: Whole, note: Note) -> float:
        """Add a block's part, with the second derivatives that were left, or found anew."""
        curvatures = note.read(self.at.name)
        if curvatures is None:
            curvatures = self.at.curvatures(block)
            note.write(self.at.name, curvatures)
        if self.direction.shape[1] == 1:
            kernels.binary_hessian_product(
                block.cells, self.at.starts, curvatures[:, 0], self.direction[:, 0], out[:, :, 0]
            )
        else:
            kernels.softmax_hessian_product(block.cells, self.at.starts, block.counts, curvatures, self.direction, out)
        return 0.0

    def is_sound(self, sums: Whole, n_rows: int) -> bool:
        """All trees have the same rows, and so the same sums."""
        return self.at.is_sound(sums, n_rows)


def _in_one(sums: Whole) -> Whole:
    """Return high and low parts as one, modulo 2**64: equal ones stay equal."""
    whole: Whole = (sums[0] << 24) + sums[1]
    return whole


@dataclass(frozen=True)
class Objective:
    """sum of losses + 1/2 weights' precision weights + linear_noise' weights; weights are leaves x columns.

    Two classes have one column: the score of the second against the first. There an ``order`` costs what it says. With
    more than one of ``steps`` a label is how many of them a line is of the second class, and its loss the mean of those
    of both classes.
    """

    rows: CodedRows
    trees: Trees
    prior: Prior
    offsets: Floats
    linear_noise: Floats
    margin: float = MARGIN
    n_threads: int = 1
    steps: int = 1
    order: Order | None = None
    _last: list[tuple[Gradient, Floats]] = field(default_factory=list, init=False, repr=False, compare=False)
    _samples: dict[int, LeafRows] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def is_binary(self) -> bool:
        """Whether there is one column."""
        return bool(self.linear_noise.shape[1] == 1)

    @property
    def shape(self) -> tuple[int, int]:
        """Leaves and columns."""
        return self.linear_noise.shape[0], self.linear_noise.shape[1]

    def gradient(self, weights: Floats) -> Floats:
        """Return the gradient at ``weights``, where `hessian_product` will be too."""
        if not np.isfinite(weights).all():  # whole numbers could not tell
            return np.full(self.shape, np.nan)
        question = self._gradient_at(weights)
        self._last[:] = [(question, weights)]
        found = self._loss_part(question, question.digits) + self.precise(weights) + self.linear_noise
        return found if self.order is None else found + self.order.gradient(weights)

    def hessian_product(self, direction: Floats) -> Floats:
        """Return the Hessian, at the last gradient's weights, times ``direction``."""
        ((at, weights),) = self._last
        of_cells = self._padded(self.trees.of_cells(direction))
        # No row moves farther than this, so with it as 1 its part is as many units as a pull at most.
        farthest = float(np.maximum.reduceat(np.abs(of_cells).max(axis=1), self.trees.cell_starts).sum())
        if not math.isfinite(farthest):
            return np.full(self.shape, np.nan)
        scale = math.frexp(farthest)[1]
        question = HessianProduct(at, np.ldexp(of_cells, at.digits - scale))
        found = self._loss_part(question, at.digits - scale) + self.precise(direction)
        return found if self.order is None else found + self.order.hessian_product(weights, direction)

    def curved_blocks(self, weights: Floats) -> Iterator[tuple[Block, NDArray[np.float32]]]:
        """Yield the blocks of rows that are held, with the curvatures at ``weights``, a column each."""
        question = self._gradient_at(weights)
        for block in self.rows.every(1).blocks():
            yield block, np.ascontiguousarray(question.curvatures(block)[:, : self.shape[1]])

    def rounding(self, weights: Floats) -> float:
        """Return what rounding may do to a number of the gradient at most, about."""
        of_rows = self.rows.n_lines * 2.0**-self._digits
        return of_rows if self.order is None else of_rows + self.order.rounding(weights)

    @property
    def _digits(self) -> int:
        return min(_DIGITS, _MOST_DIGITS - self.rows.exact_size.bit_length()) if self.rows.has_counts else _DIGITS

    def _gradient_at(self, weights: Floats) -> Gradient:
        offsets = self.offsets if self.is_binary else self._padded_offsets
        of_cells = self._padded(self.trees.of_cells(weights))
        return Gradient(of_cells, self.trees.cell_starts, offsets, self.margin, self._digits, self.steps)

    def _loss_part(self, question: Pass, digits: int) -> Floats:
        """Return the sums that a pass finds, for the leaves."""
        high, low = self.rows.summed(question, self.n_threads).exact[:, :, : self.shape[1]]
        return self.trees.of_leaves((high * _HIGH + low) * 2.0**-digits)

    def precise(self, weights: Floats) -> Floats:
        """Return the prior's precision times ``weights``."""
        return self._by_tree(self.prior.precisions, weights)

    def spread(self, gradient: Floats) -> Floats:
        """Return the prior's covariance times ``gradient``."""
        return self._by_tree(self.prior.covariances, gradient)

    def size_of(self, gradient: Floats) -> float:
        """Return how large a gradient is where steps are measured by the prior; the minimiser is as near or nearer."""
        return float(np.sqrt(max(0.0, (gradient * self.spread(gradient)).sum())))

    def _by_tree(self, matrices: list[Floats], values: Floats) -> Floats:
        out = np.empty_like(values)
        for matrix, start in zip(matrices, self.trees.starts, strict=True):
            own = slice(start, start + len(matrix))
            out[own] = matrix @ values[own]
        return out

    def sampled(self, most: int) -> "Objective":
        """Return the objective of evenly spaced lines, at most about ``most``, each standing for as many as it must."""
        step = self.rows.n_lines // most
        if step < 2:
            return self
        if step not in self._samples:
            self._samples[step] = self.rows.every(step)
        return replace(self, rows=self._samples[step], n_threads=1)

    @property
    def _width(self) -> int:
        """The number of columns in the kernels: whole fours, the last ones of classes that cannot be."""
        n_columns = self.shape[1]
        return n_columns if self.is_binary else -(-n_columns // 4) * 4

    def _padded(self, values: Floats) -> Floats:
        return values if self.is_binary else np.pad(values, [(0, 0), (0, self._width - values.shape[1])])

    @cached_property
    def _padded_offsets(self) -> Floats:
        return np.pad(self.offsets, (0, max(0, self._width - len(self.offsets))), constant_values=-np.inf)
