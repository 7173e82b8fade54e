"""What is believed of leaf weights before any row: those of neighbouring cells and of shared attributes are alike."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.policy import EFFECTS
from privet.central.weights.trees import Trees
from privet.errors import PrivetError
from privet.schema import Categorical, Schema

# How fast numeric cells become strangers: cells at both ends of a range have a correlation of exp(-8).
_DECAY = 8.0
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
    for own, variance in zip(trees.attributes, variances, strict=True):
        sums = [float(_alike(schema, a, trees.n_cells(a)).sum()) for a in own]
        for size, weight in enumerate(EFFECTS[len(own)], start=1):
            subsets = list(combinations(range(len(own)), size))
            for subset in subsets:
                rest = [trees.n_cells(a) ** 2 for i, a in enumerate(own) if i not in subset]
                total += variance * weight / len(subsets) * math.prod([sums[i] for i in subset]) * math.prod(rest)
    return total * (1 + _SHRUNK)


def covariance_of(trees: Trees, tree: int, schema: Schema, variance: float) -> NDArray[np.float64]:
    """Return the covariance of a tree's weights, a little smaller than its ``variance`` says."""
    return variance * (1 - _SHRUNK) * _kernel(trees, tree, schema)


def _symmetric(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    symmetric: NDArray[np.float64] = (matrix + matrix.T) / 2
    return symmetric


def _kernel(trees: Trees, tree: int, schema: Schema) -> NDArray[np.float64]:
    """Return the correlation of every two leaves of a tree: 1 on the diagonal."""
    own, cells = trees.attributes[tree], trees.cells(tree)
    alike = [_alike(schema, a, trees.n_cells(a))[np.ix_(cell, cell)] for a, cell in zip(own, cells, strict=True)]
    total = np.zeros((int(trees.sizes[tree]),) * 2)
    for size, weight in enumerate(EFFECTS[len(own)], start=1):
        subsets = list(combinations(alike, size))
        for subset in subsets:
            total += weight / len(subsets) * np.prod(subset, axis=0)
    # The weights of effects may round to a little more than 1 together.
    correlations: NDArray[np.float64] = total / max(1.0, float(total.max()))
    return correlations


def _alike(schema: Schema, attribute: int, n_cells: int) -> NDArray[np.float64]:
    """Return how alike two cells of an attribute are: categories not at all, numbers by their distance."""
    alike = np.eye(n_cells)
    if not isinstance(schema.attributes[attribute], Categorical):
        # The missing value, which has no neighbours, comes last.
        n_values = n_cells - (not schema.attributes[attribute].never_missing)
        place = np.arange(n_values)
        alike[:n_values, :n_values] = np.exp(-_DECAY * np.abs(place[:, None] - place) / n_values)
    return alike
