"""What follows from opened sums: leaf weights from class tables, and how much each tree counts from a Newton step.

Only released numbers enter, so nothing here costs epsilon.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.link import scores_of
from privet.central.weights.policy import MARGIN
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.single_tree import pull_deviation
from privet.central.weights.trees import GRID, Trees
from privet.partitioned.tables.newton_kernel import MOST_RANGE, OFFSET_RANGE, STEPS, UNITS

Floats = NDArray[np.float64]
# A leaf has so many scales of noise in rows added, and one row, spread as the classes are.
_ADDED = 2.0
# How much a tree counts: without a step, where the loss is expanded for one, and at least and at most after it.
# Several trees often say the same, so it is less than 1. A step from nearer to 0 does not go too far.
COUNTS_FOR, START, _LEAST, _MOST = 0.6, 0.3, 0.0, 1.0
# Precisions of the step, beside the noise: of how much a tree counts, and of an offset. An offset moves less than
# the last number.
_PRECISION, _OFFSET_PRECISION, _MOST_OFFSET = 2.0, 0.5, 2.0
_SWEEPS = 300
# Weights are whole numbers of 2 to this power.
_EXPONENT = -20


@dataclass(frozen=True)
class AttributeWeights:
    """Weights of the leaves of every tree, from noisy class tables.

    ``noisy`` are leaves x classes in units of 1/32 row; ``deviation`` is that of their noise, in the same units.
    """

    trees: Trees
    noisy: NDArray[np.int64]
    deviation: float

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.noisy.shape[1])

    @property
    def scale(self) -> float:
        """The scale of Laplace noise as large as that of a count, in rows."""
        return self.deviation / (math.sqrt(2) * GRID)

    @cached_property
    def balance(self) -> NDArray[np.int64]:
        """About how many rows each class has: the mean of what the tables say, weighted by their noise."""
        totals = np.add.reduceat(self.noisy, self.trees.starts, axis=0) / GRID
        parts = 1 / self.trees.sizes
        balance: NDArray[np.int64] = np.rint((totals * parts[:, None]).sum(axis=0) / parts.sum()).astype(np.int64)
        return balance

    @property
    def balance_scale(self) -> float:
        """The scale of Laplace noise as large as that of a class's rows."""
        return self.scale / math.sqrt(float((1 / self.trees.sizes).sum()))

    @cached_property
    def class_shares(self) -> Floats:
        """Each class's share of the rows."""
        return ReleasedWeights.balance_only(self.trees, 1, self.balance).class_shares(self.balance_scale)

    @cached_property
    def offsets(self) -> Floats:
        """Where all rows start: the scores of the class shares."""
        return scores_of(self.class_shares, MARGIN)

    @cached_property
    def of_leaves(self) -> Floats:
        """What a leaf adds to the score of each class, if its tree counts 1: leaves x classes, of mean zero.

        A tree whose table is no more than noise adds nothing.
        """
        counts = np.maximum(self.noisy / GRID, 0.0) + (_ADDED * self.scale + 1) * self.class_shares
        weights = scores_of(counts / counts.sum(axis=1, keepdims=True), MARGIN) - self.offsets
        return weights * np.repeat(self.trust, self.trees.sizes)[:, None]

    @cached_property
    def trust(self) -> Floats:
        """Of each tree, how far its classes differ from leaf to leaf beyond what noise explains, from 0 to 1."""
        counts, shares, found = self.noisy / GRID, self.class_shares, []
        noise = 2 * self.scale**2 * (self.n_classes - 2 + self.n_classes * float((shares**2).sum()))
        for start, size in zip(self.trees.starts, self.trees.sizes, strict=True):
            own = counts[start : start + size]
            seen = float(((own - own.sum(axis=1, keepdims=True) * shares) ** 2).sum())
            found.append(math.sqrt(max(0.0, 1 - size * noise / seen)) if seen else 0.0)
        return np.array(found)

    @cached_property
    def whole_scores(self) -> NDArray[np.int64]:
        """What a cell adds to the score of each class, from 0, in the units of the Newton sums: cells x classes."""
        scores = np.rint(self.trees.of_cells(self.of_leaves) * UNITS).astype(np.int64)
        lowest: NDArray[np.int64] = scores.min(axis=1, keepdims=True)
        return scores - lowest

    @cached_property
    def rows_of_cells(self) -> NDArray[np.int64]:
        """About how many rows each bin of each attribute has: a leaf's rows are spread evenly over its cells."""
        found = []
        for axes, start, size in zip(self.trees.axes, self.trees.starts, self.trees.sizes, strict=True):
            table = self.noisy[start : start + size].sum(axis=1).reshape([axis.n_leaves for axis in axes]) / GRID
            for place, axis in enumerate(axes):
                shares, rows = axis.shares.toarray(), table.sum(axis=tuple({*range(len(axes))} - {place}))
                cells = shares @ (rows / np.maximum(shares.sum(axis=0), 1))
                found.append(np.bincount(axis.bin_of_cell, cells, minlength=axis.n_bins))
        return np.rint(np.concatenate(found)).astype(np.int64)

    @property
    def cell_scale(self) -> float:
        """The scale of Laplace noise as large as that of a bin's rows of all classes, where it is largest.

        A bin of an attribute that shares a tree has all leaves with it.
        """
        added = max(
            math.prod(axis.n_leaves for axis in axes) // axis.n_leaves for axes in self.trees.axes for axis in axes
        )
        return self.scale * math.sqrt(self.n_classes * added)

    def released(self, n_rows: int, step: "NewtonStep | None" = None) -> ReleasedWeights:
        """Return the weights of a model: those of the tables, or those after the step."""
        counts_for = step.counts_for if step else np.full(self.trees.n_trees, COUNTS_FOR)
        weights = self.of_leaves * np.repeat(counts_for, self.trees.sizes)[:, None]
        columns = weights[:, 1:] - weights[:, :1] if self.n_classes == 2 else weights
        held = float((self.class_shares * (1 - self.class_shares)).mean())
        variance = 1 / ((_ADDED * self.scale + 1) * held)
        return replace(
            ReleasedWeights.balance_only(self.trees, n_rows, self.balance),
            weights=np.rint(columns * 2.0**-_EXPONENT).astype(np.int64), exponent=_EXPONENT,
            variances=np.full(self.trees.n_trees, variance),
            noise_std=pull_deviation(self.deviation / GRID) * np.abs(counts_for) * self.trust,
            cells=self.rows_of_cells,
        )  # fmt: skip


@dataclass(frozen=True)
class NewtonStep:
    """How much each tree counts, and where all rows start, after one Newton step."""

    counts_for: Floats
    offsets: Floats

    @classmethod
    def of(cls, weights: AttributeWeights, noisy: NDArray[np.int64], deviation: float) -> "NewtonStep":
        """Return the step of noisy sums; ``deviation`` is that of the noise in each of them.

        The Hessian is made positive, and noise adds to the precision: where there is little but noise, a tree counts
        what it does without a step.
        """
        n_trees, n_offsets = weights.trees.n_trees, weights.n_classes - 1
        n, offset = n_trees + n_offsets, offset_range(weights.n_classes)
        total = (MOST_RANGE + n_offsets * offset) / UNITS
        of_gradient, of_hessian = total / STEPS, total**2 / (4 * STEPS)
        half = np.zeros((n, n))
        half[np.triu_indices(n)] = noisy[n:] * (of_hessian / 2)
        values, vectors = np.linalg.eigh(half + half.T)
        hessian = (vectors * np.maximum(values, 0.0)) @ vectors.T
        noise = deviation * (of_hessian * math.sqrt(n) / 2 + of_gradient)
        precision = noise + np.repeat([_PRECISION, _OFFSET_PRECISION], [n_trees, n_offsets])
        usual = np.repeat([COUNTS_FOR - START, 0.0], [n_trees, n_offsets])
        far = _MOST_OFFSET * UNITS / max(offset, 1)
        step = _minimum_in_box(
            hessian + np.diag(precision), noisy[:n] * of_gradient + precision * usual,
            np.repeat([_LEAST - START, -far], [n_trees, n_offsets]),
            np.repeat([_MOST - START, far], [n_trees, n_offsets]),
        )  # fmt: skip
        moved = weights.offsets + np.append(0.0, step[n_trees:] * offset / UNITS)
        return cls(START + step[:n_trees], moved - moved.mean())


def _minimum_in_box(matrix: Floats, vector: Floats, least: Floats, most: Floats) -> Floats:
    """Return about where x'Mx / 2 - v'x is least between bounds, coordinate by coordinate; M is positive."""
    found: Floats = np.clip(np.linalg.solve(matrix, vector), least, most)
    for _ in range(_SWEEPS):
        for i, line in enumerate(matrix):
            found[i] = min(max(found[i] + (vector[i] - line @ found) / line[i], least[i]), most[i])
    return found


def offset_range(n_classes: int) -> int:
    """Return how far an offset's own score reaches, in the units of the Newton sums."""
    return OFFSET_RANGE // (n_classes - 1)
