"""A forest with the released class counts of all its nodes, the noise in them, and importances of attributes."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
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

    @cached_property
    def variance(self) -> NDArray[np.float64]:
        """Per node, the variance of the noise in one class count."""
        spread: NDArray[np.float64] = self.draw_variance * self.n_draws.astype(np.float64)
        return spread


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
