"""What is estimated of the nodes of a forest, and how far chance takes it."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.local.response_forest.bit_kernels import SURE
from privet.tree.forest import Forest
from privet.tree.vote import SHARE_GRID, nearest_nonempty

Floats = NDArray[np.float64]
# The variance of what some nodes, a slice, hold of each class beyond the given shares of all that they hold.
Variance: TypeAlias = Callable[[slice, Floats], Floats]
# Standard deviations below which a node keeps its parent's shares: of many splits the luckiest is grown, so two would
# be no surprise.
SHRUNK_BELOW = 3.0
# Variances are differences of sums: what is left of equal ones by rounding is no variance.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class NodeEstimates:
    """Estimated rows of each class in every node, and by how much they miss the true numbers of those who answered.

    A row counts for a class with a number X that is on average 1 where its true record is in the node and of the
    class, and else 0; an estimate is the sum of X over rows. So the sum of squares less the estimate is the variance
    that the channel gives it. With ``bootstrap`` the sums are those over a bag, and the drawing of the bag adds n
    times the variance of X over rows, as for any sum of n rows drawn with replacement.

    An estimate is unbiased before it is clipped to what is possible. Clipping takes away nonsense, such as fewer rows
    than none, and adds a bias: upwards where there are few rows, by .4 standard deviations where there are none.
    """

    n_trees: int
    bootstrap: bool

    @property
    @abstractmethod
    def n_drawn(self) -> float:
        """How many rows a tree was grown on."""

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
    def class_squares(self) -> Floats:
        """Sums over rows of the square of what they count for a class."""

    @property
    @abstractmethod
    def class_products(self) -> Floats:
        """Sums over rows of what they count for a class times what they count for all classes together."""

    @abstractmethod
    def difference_squares(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
        """Return sums of squares of what rows count for one class less for another, two classes a node."""

    @cached_property
    def totals(self) -> Floats:
        """Unbiased estimates of each node's rows."""
        total: Floats = self.unclipped.sum(axis=1)
        return total

    @cached_property
    def total_squares(self) -> Floats:
        """Sums over rows of the square of what they count in a node."""
        squares: Floats = self.class_products.sum(axis=1)
        return squares

    @cached_property
    def class_variance(self) -> Floats:
        """Of the unclipped estimate of each class's rows."""
        return _at_least_0(self._covariance(self.class_squares, self.unclipped, self.unclipped**2))

    @cached_property
    def class_covariance(self) -> Floats:
        """Of the unclipped estimates of each class's rows and of all the node's rows."""
        return self._covariance(self.class_products, self.unclipped, self.unclipped * self.totals[:, None])

    @cached_property
    def total_variance(self) -> Floats:
        """Of the unclipped estimate of a node's rows."""
        return _at_least_0(self._covariance(self.total_squares, self.totals, self.totals**2))

    def difference_variance(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
        """Return the variance of the difference between two classes' unclipped estimates, two classes a node."""
        nodes = np.arange(len(self.unclipped))
        one, other = self.unclipped[nodes, first], self.unclipped[nodes, second]
        squares = self.difference_squares(first, second)
        return _at_least_0(self._covariance(squares, one + other, (one - other) ** 2))

    def _covariance(self, products: Floats, truth: Floats, product_of_sums: Floats) -> Floats:
        """Return the covariance of two sums over rows, with ``truth`` the sum of products of their true numbers."""
        covariance = products - truth
        if self.bootstrap:
            n = self.n_drawn
            covariance = covariance + (n * products - product_of_sums) / max(n - 1.0, 1.0)
        return np.where(np.abs(covariance) > _ROUNDING * (np.abs(products) + np.abs(truth)), covariance, 0.0)

    @property
    def sd(self) -> Floats:
        """The standard deviation of each node's estimated number of rows."""
        return np.sqrt(self.total_variance)

    @property
    def noise_only(self) -> NDArray[np.bool_]:
        """Whether a node's leading class is ahead of the next one by no more than noise would put it."""
        order = np.argsort(-self.unclipped, axis=1, kind="stable")
        first, second = order[:, 0], order[:, 1]
        nodes = np.arange(len(order))
        ahead = self.unclipped[nodes, first] - self.unclipped[nodes, second]
        within: NDArray[np.bool_] = ahead <= SURE * np.sqrt(self.difference_variance(first, second))
        return within

    def shares(self, forest: Forest, *, cautious: bool) -> Floats:
        """Return the classes' shares of each node's clipped estimates; an empty node has those of the nearest above.

        If ``cautious``, they are shrunk to those of the node above, and at last to those of all rows.
        """
        if cautious:
            balance = balance_of(self.unclipped[: self.n_trees].sum(axis=0))
            return shrunk_shares(forest, self.unclipped, balance, self._excess_variance)
        totals = self.clipped.sum(axis=1, keepdims=True)
        shares = np.divide(self.clipped, totals, out=np.zeros_like(self.clipped), where=totals > 0)
        own: Floats = shares[nearest_nonempty(forest, shares)]
        own[~own.any(axis=1)] = 1.0 / own.shape[1]
        return own

    def _excess_variance(self, nodes: slice, above: Floats) -> Floats:
        """Return the variance that the channel gives to each class's rows beyond the shares ``above`` of all rows.

        A bag has a row as often as a Poisson variable of mean 1 says, whose square is 2 on average.
        """
        of_class = self.class_squares[nodes] - self.unclipped[nodes]
        of_both = self.class_products[nodes] - self.unclipped[nodes]
        of_total = (self.total_squares[nodes] - self.totals[nodes])[:, None]
        variance: Floats = of_class - 2 * above * of_both + above**2 * of_total
        rounding = _ROUNDING * (self.class_squares[nodes] + self.total_squares[nodes][:, None])
        return (1 + self.bootstrap) * np.where(variance > rounding, variance, 0.0)

    def votes(self, forest: Forest, *, by_majority: bool, cautious: bool) -> NDArray[np.int64]:
        """Return each node's votes for the classes, in whole steps: their shares, or one for the first choice."""
        shares = self.shares(forest, cautious=cautious)
        if by_majority:
            first_choice: NDArray[np.int64] = np.eye(shares.shape[1], dtype=np.int64)[shares.argmax(axis=1)]
            return first_choice
        return np.rint(shares * SHARE_GRID).astype(np.int64)


def _at_least_0(variance: Floats) -> Floats:
    """Return variances; an estimated one may fall below 0."""
    return np.maximum(variance, 0.0)


def shrunk_shares(forest: Forest, estimates: Floats, balance: Floats, variance: Variance) -> Floats:
    """Return the classes' shares in every node, drawn to those of the node above as far as noise may explain.

    What is estimated from disturbed answers is noise in most small nodes, and whoever decides by it does worse than by
    the class balance. So a node's shares move away from its parent's by the positive part of James and Stein's factor,
    1 - (SHRUNK_BELOW / z)^2, with z the difference in its standard deviations: not at all below SHRUNK_BELOW of them,
    and fully where the noise is small. Arguments: reconstruction_tree.md, random_response_forest.md.

    Parameters
    ----------
    forest : Forest
        Whose nodes these are.
    estimates : array of nodes x classes
        Unbiased estimates of each class's rows; some may lie below 0.
    balance : array of classes
        The shares of all rows, which every root has.
    variance : function
        Of ``estimates - shares * total``, given nodes and the shares of the nodes above them.
    """
    own = _clipped(estimates)
    shares = np.empty_like(own)
    shares[: forest.n_trees] = balance
    for level in range(1, forest.depth + 1):
        nodes = slice(int(forest.level_start[level]), int(forest.level_start[level + 1]))
        above = shares[forest.parent[nodes]]
        away = estimates[nodes] - above * estimates[nodes].sum(axis=1, keepdims=True)
        noise = np.maximum(variance(nodes, above), 0.0)
        # The class that stands out most decides for all.
        square = np.divide(away**2, noise, out=np.full_like(away, np.inf), where=noise > 0).max(axis=1)
        weight = np.maximum(0.0, 1.0 - SHRUNK_BELOW**2 / np.maximum(square, SHRUNK_BELOW**2))
        has_rows = own[nodes].any(axis=1)
        shares[nodes] = above + np.where(has_rows, weight, 0.0)[:, None] * (own[nodes] - above)
    return shares


def balance_of(estimates: Floats) -> Floats:
    """Return the classes' shares of estimated counts, equal ones where none is above 0."""
    share = _clipped(estimates[None, :])[0]
    return share if share.any() else np.full(len(share), 1.0 / len(share))


def _clipped(estimates: Floats) -> Floats:
    """Return shares of the estimates above 0; all 0 where there are none."""
    counts = np.maximum(estimates, 0.0)
    total = counts.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return shares
