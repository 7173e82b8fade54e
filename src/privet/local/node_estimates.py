"""What is estimated of the nodes of a forest, and how far chance takes it."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.tree.forest import Forest
from privet.tree.vote import SHARE_GRID, nearest_nonempty

Floats = NDArray[np.float64]

# A difference within so many standard deviations is taken for noise.
SURE = 2.0
# Rows of a bootstrap count about once on average, and the squares of how often twice: so does their variance.
BOOTSTRAP_SPREAD = 2.0


@dataclass(frozen=True, eq=False)
class NodeEstimates:
    """Estimated rows of each class in every node; ``spread`` is by how much a bootstrap multiplies variances.

    An estimate is unbiased before it is clipped to what is possible. Clipping takes away nonsense, such as fewer rows
    than none, and adds a bias: upwards where there are few rows, by .4 standard deviations where there are none.
    """

    n_trees: int
    spread: float

    @property
    @abstractmethod
    def unclipped(self) -> Floats:
        """Unbiased estimates of each class's rows; some lie below 0."""

    @property
    @abstractmethod
    def clipped(self) -> Floats:
        """Estimates within what is possible; these make the splits and the leaves' probabilities."""

    @property
    @abstractmethod
    def total_variance(self) -> Floats:
        """Of the unclipped estimate of a node's rows."""

    @abstractmethod
    def difference_variance(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
        """Return the variance of the difference between two classes' unclipped estimates, two classes a node."""

    @property
    def sd(self) -> Floats:
        """The standard deviation of each node's estimated number of rows."""
        return np.sqrt(self.spread * np.maximum(self.total_variance, 0.0))

    @property
    def noise_only(self) -> NDArray[np.bool_]:
        """Whether a node's leading class is ahead of the next one by no more than noise would put it."""
        order = np.argsort(-self.unclipped, axis=1, kind="stable")
        first, second = order[:, 0], order[:, 1]
        nodes = np.arange(len(order))
        ahead = self.unclipped[nodes, first] - self.unclipped[nodes, second]
        variance = self.spread * np.maximum(self.difference_variance(first, second), 0.0)
        within: NDArray[np.bool_] = ahead <= SURE * np.sqrt(variance)
        return within

    def shares(self, forest: Forest) -> Floats:
        """Return the classes' shares of each node's clipped estimates; an empty node has those of the nearest above."""
        totals = self.clipped.sum(axis=1, keepdims=True)
        shares = np.divide(self.clipped, totals, out=np.zeros_like(self.clipped), where=totals > 0)
        own: Floats = shares[nearest_nonempty(forest, shares)]
        own[~own.any(axis=1)] = 1.0 / own.shape[1]
        return own

    def votes(self, forest: Forest, *, by_majority: bool = False) -> NDArray[np.int64]:
        """Return each node's votes for the classes, in whole steps: their shares, or one for the first choice."""
        shares = self.shares(forest)
        if by_majority:
            first_choice: NDArray[np.int64] = np.eye(shares.shape[1], dtype=np.int64)[shares.argmax(axis=1)]
            return first_choice
        return np.rint(shares * SHARE_GRID).astype(np.int64)
