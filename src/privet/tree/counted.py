"""A forest with the released class counts of all its nodes, the noise in them, and importances of attributes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.schema import Attribute
from privet.tree.forest import Forest
from privet.tree.intervals import stands_out


@dataclass(frozen=True, eq=False)
class CountedForest:
    """A forest and the released counts of every node.

    Attributes
    ----------
    forest : Forest
    counts : int64 array
        Released class counts, one line per node.
    n_draws : int64 array
        How many draws of noise are in each of a node's class counts.
    draw_variance : float
        The variance of one draw; 0 where no noise was added.
    fails : bool array, optional
        Which leaves answer nothing, the Failure of ID3; None where all answer.
    """

    forest: Forest
    counts: NDArray[np.int64]
    n_draws: NDArray[np.int64]
    draw_variance: float
    fails: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.draw_variance < math.inf:
            raise ParameterError(f"draw_variance={self.draw_variance!r} must be finite and at least 0")

    @classmethod
    def of_leaves(cls, forest: Forest, leaf_counts: NDArray[np.int64], draw_variance: float) -> Self:
        """Return the forest; the counts of an inner node are the sums over its leaves."""
        return cls(forest, forest.sums_of_leaves(leaf_counts), forest.n_leaves_below, draw_variance)

    def without_missing_noise(self, attributes: Sequence[Attribute]) -> Self:
        """Return the forest with inner nodes whose sums leave out children for missing values that noise explains.

        Where no value is missing such a child holds noise alone, and all of it would be in every node above. A child
        whose support stands out from its noise stays in the sums.
        """
        forest, n_classes = self.forest, self.counts.shape[1]
        n_values = np.array([*(a.n_values for a in attributes), 0])  # the last entry is LEAF's
        child = np.arange(forest.n_trees, forest.n_nodes)
        parent = forest.parent[child]
        own_code = child - forest.first_child[parent]
        is_missing = np.zeros(forest.n_nodes, dtype=bool)
        is_missing[child] = (forest.cut[parent] < 0) & (own_code == n_values[forest.attribute[parent]])
        if not is_missing.any():
            return self
        counts, n_draws = self.counts.copy(), self.n_draws.copy()
        for level in range(forest.depth - 1, -1, -1):
            start, middle, stop = forest.level_start[level : level + 3]
            inner = start + np.flatnonzero(forest.n_children[start:middle])
            first, below = forest.first_child[inner] - middle, slice(middle, stop)
            noise = n_classes * self.draw_variance * n_draws[below]
            counted = ~is_missing[below] | stands_out(counts[below].sum(axis=1), noise)
            counts[inner] = np.add.reduceat(counts[below] * counted[:, None], first, axis=0)
            n_draws[inner] = np.add.reduceat(n_draws[below] * counted, first)
        return replace(self, counts=counts, n_draws=n_draws)

    @cached_property
    def variance(self) -> NDArray[np.float64]:
        """Per node, the variance of the noise in one class count."""
        spread: NDArray[np.float64] = self.draw_variance * self.n_draws.astype(np.float64)
        return spread


def balance_of(counted: CountedForest) -> NDArray[np.float64]:
    """Return each class's share of the rows, the mean over trees; a count within its noise is as large as the noise."""
    roots = slice(0, counted.forest.n_trees)
    noise_std = math.sqrt(counted.variance[roots].sum()) / counted.forest.n_trees
    counts = np.maximum(counted.counts[roots].mean(axis=0), max(1.0, noise_std))
    shares: NDArray[np.float64] = counts / counts.sum()
    return shares


def gini_importances(counted: CountedForest, *, n_attributes: int) -> NDArray[np.float64]:
    """Return each attribute's share of the fall in Gini impurity over all nodes that test it.

    Released counts are the only input, so this costs no epsilon. Noise alone looks like a fall in impurity, most of all
    where a node has many children. So the squares of noisy counts are corrected for the variance of the noise, and a
    child whose support hardly exceeds its noise is treated like its parent. All zero if no node is left.
    """
    forest, counts, variance = counted.forest, counted.counts.astype(np.float64), counted.variance
    support = counts.sum(axis=1)
    reliable = stands_out(support, counts.shape[1] * variance)
    gini = _gini(counts, variance, np.where(reliable, support, 1.0))

    child = np.arange(forest.n_trees, forest.n_nodes)
    parent = forest.parent[child]
    fall = np.where(reliable[child] & reliable[parent], support[child] * (gini[parent] - gini[child]), 0.0)
    by_attribute = np.maximum(np.bincount(forest.attribute[parent], weights=fall, minlength=n_attributes), 0.0)
    total = by_attribute.sum()
    return by_attribute / total if total > 0 else by_attribute


def _gini(
    counts: NDArray[np.float64], variance: NDArray[np.float64], support: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return 1 - sum of squared shares; ``variance`` is that of the noise in one class count of the node."""
    squares = (counts**2).sum(axis=1) - counts.shape[1] * variance
    gini: NDArray[np.float64] = 1.0 - squares / support**2
    return gini
