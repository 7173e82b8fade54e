"""What is believed of leaf weights before any row: those of neighbouring cells and of shared attributes are alike."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.policy import EFFECTS, LATER_EFFECTS
from privet.central.weights.trees import Axis, Trees
from privet.errors import PrivetError
from privet.schema import Schema
from privet.schema.attribute import has_order

# How fast leaves of a number become strangers: those at both ends of a range have a correlation of exp(-8), and in the
# second stage, where there are few, neighbours one of exp(-1/2). Of ordered categories those at both ends have exp(-8)
# in both: with as much as numbers' few knots have, chances on Nursery were worse.
_DECAY, _LATER_DECAY = 8.0, 0.5
# The covariance is made smaller by this, and its inverse is trusted to a quarter of that.
_SHRUNK = 2e-5


@dataclass(frozen=True)
class Prior:
    """Independent normal weights of mean zero, tree by tree.

    ``precisions`` define the prior, number by number as they are stored. ``covariances`` are their inverses up to a
    relative error that `of` has checked.
    """

    precisions: list[NDArray[np.float64]]
    covariances: list[NDArray[np.float64]]

    @classmethod
    def of(cls, trees: Trees, schema: Schema, variances: NDArray[np.float64], *, curvature: float) -> "Prior":
        """Return the prior of these ``variances`` of each tree's weights, which a row's score has at most together."""
        if variances.sum() > curvature * (1 + 1e-9):
            raise PrivetError("the prior allows more than was paid for, which is a bug in privet; nothing was released")
        wanted = [covariance_of(trees, t, schema, variance) for t, variance in enumerate(variances)]
        precisions = [_symmetric(np.linalg.inv(covariance).astype(np.float64)) for covariance in wanted]
        for precision, covariance in zip(precisions, wanted, strict=True):
            # |P^-1 - K| <= |K| e / (1 - e), e the norm of I - P K by rows: far below what K was made smaller by.
            off = np.abs(precision @ covariance - np.eye(len(covariance))).sum(axis=1).max()
            reach = np.abs(covariance).sum(axis=1).max() / covariance.diagonal().min()
            if not off * reach < _SHRUNK / 4:
                raise PrivetError("the prior is too ill-conditioned to be trusted; pass a smaller group_size or n_bins")
        return cls(precisions, wanted)


def spread_of(trees: Trees, schema: Schema, variances: NDArray[np.float64]) -> float:
    """Return at least the sum of all covariances, none of which is negative."""
    total = 0.0
    for t, (axes, variance) in enumerate(zip(trees.axes, variances, strict=True)):
        sums = [float(_alike(schema, axis, is_later=trees.is_later(t)).sum()) for axis in axes]
        for size, weight in enumerate(_effects(trees, t), start=1):
            subsets = list(combinations(range(len(axes)), size))
            for subset in subsets:
                rest = [axis.n_leaves**2 for i, axis in enumerate(axes) if i not in subset]
                total += variance * weight / len(subsets) * math.prod([sums[i] for i in subset]) * math.prod(rest)
    return total * (1 + _SHRUNK)


def _effects(trees: Trees, tree: int) -> tuple[float, ...]:
    return (LATER_EFFECTS if trees.is_later(tree) else EFFECTS)[len(trees.axes[tree])]


def covariance_of(trees: Trees, tree: int, schema: Schema, variance: float) -> NDArray[np.float64]:
    """Return the covariance of a tree's weights, a little smaller than its ``variance`` says."""
    return variance * (1 - _SHRUNK) * _kernel(trees, tree, schema)


def _symmetric(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    symmetric: NDArray[np.float64] = (matrix + matrix.T) / 2
    return symmetric


def _kernel(trees: Trees, tree: int, schema: Schema) -> NDArray[np.float64]:
    """Return the correlation of every two leaves of a tree: 1 on the diagonal."""
    places, is_later = trees.leaf_places(tree), trees.is_later(tree)
    alike = [
        _alike(schema, axis, is_later=is_later)[np.ix_(place, place)]
        for axis, place in zip(trees.axes[tree], places, strict=True)
    ]
    total = np.zeros((int(trees.sizes[tree]),) * 2)
    for size, weight in enumerate(_effects(trees, tree), start=1):
        subsets = list(combinations(alike, size))
        for subset in subsets:
            total += weight / len(subsets) * np.prod(subset, axis=0)
    # The weights of effects may round to a little more than 1 together.
    correlations: NDArray[np.float64] = total / max(1.0, float(total.max()))
    return correlations


def _alike(schema: Schema, axis: Axis, *, is_later: bool) -> NDArray[np.float64]:
    """Return how alike two leaves of an attribute are: those that have an order by their distance, others not at all.

    Every leaf is wholly alike to itself, and the matrix is positive definite. What a row costs rests on that alone.
    """
    alike = np.eye(axis.n_leaves)
    if has_order(schema.attributes[axis.attribute]):
        # The missing value, which has no neighbours, comes last.
        n_known, place = axis.n_known, np.arange(axis.n_known)
        decay = _LATER_DECAY if is_later and axis.knots else _DECAY / n_known
        alike[:n_known, :n_known] = np.exp(-decay * np.abs(place[:, None] - place))
    return alike
