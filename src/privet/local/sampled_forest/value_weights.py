"""What each value of an attribute adds to the score of each class, shrunk by as much as its table is noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.local.sampled_forest.class_tables import ClassTable

Floats = NDArray[np.float64]
# How far the class shares of values may lie from those of all people, relative to these: a prior standard deviation.
# Each class of an attribute is fitted with all of them, which count by their marginal likelihood.
_SPREADS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
# Over so many cells of a number what they say is alike.
_REACH = 3.0
# How much of what is left uncertain is added to a share before its logarithm is taken.
_CAUTION = 0.5
# No less is taken to be left uncertain, whatever rounding says.
_LEAST_LEFT = 1e-12


@dataclass(frozen=True)
class ValueWeights:
    """The log of how much likelier each class is with a value than among all: values x classes.

    ``value_shares`` are the estimated shares of people with each value.
    """

    weights: Floats
    value_shares: Floats

    def joint(self, balance: Floats) -> Floats:
        """Return the share of people by value and class that the weights stand for."""
        classes = balance * np.exp(self.weights)
        shares: Floats = self.value_shares[:, None] * classes / classes.sum(axis=1, keepdims=True)
        return shares

    def information(self, balance: Floats) -> float:
        """Return how much the attribute tells of the class, in nats."""
        return max(0.0, float((self.joint(balance) * self.weights).sum()))


def value_weights(table: ClassTable, balance: Floats, *, ordered: bool, has_missing: bool) -> ValueWeights:
    """Return the weights of a table's values; values that are ordered are smoothed, but for the missing one."""
    n_classes = len(balance)
    rows = np.maximum(table.counts.sum(axis=1), 0.0)
    rows = np.maximum(rows * table.n / max(rows.sum(), 1.0), 1.0)
    expected = rows[:, None] * balance
    apart = table.counts - table.counts.sum(axis=1, keepdims=True) * balance
    noise = table.noise * (1 - 2 * balance + n_classes * balance**2) + rows[:, None] * balance * (1 - balance)
    seen, variance = apart / expected, noise / expected**2
    mean, left = _posterior(seen, variance, _likeness(len(rows), ordered=ordered, has_missing=has_missing))
    added = _CAUTION * left / (1 + left)
    shares = balance * (np.maximum(1 + mean, 0.0) + added) / (1 + added)
    shares /= shares.sum(axis=1, keepdims=True)
    return ValueWeights(np.log(shares / balance), rows / rows.sum())


def _likeness(n_values: int, *, ordered: bool, has_missing: bool) -> Floats:
    """Return the prior correlation of what two values say."""
    if not ordered:
        return np.eye(n_values)
    places = np.arange(n_values)
    alike: Floats = np.exp(-np.abs(places[:, None] - places) / _REACH)
    if has_missing:
        alike[-1, :-1] = alike[:-1, -1] = 0.0
    return alike


def _posterior(seen: Floats, variance: Floats, alike: Floats) -> tuple[Floats, Floats]:
    """Return the posterior mean and variance of normal effects, averaged class by class over their prior spreads."""
    fits, means, lefts = [], [], []
    for spread in _SPREADS:
        prior = spread**2 * alike
        covariance = prior + variance.T[:, :, None] * np.eye(len(seen))
        solved = np.linalg.solve(covariance, seen.T[:, :, None])[:, :, 0]
        fits.append(-0.5 * (np.linalg.slogdet(covariance)[1] + (seen.T * solved).sum(axis=1)))
        means.append((solved @ prior).T)
        taken = prior @ np.linalg.solve(covariance, np.broadcast_to(prior, covariance.shape))
        lefts.append(np.maximum(np.diagonal(prior - taken, axis1=1, axis2=2).T, _LEAST_LEFT))
    # A class's spread is fitted to its own effects and, less, to those of others. The effects sum to 0: of two classes
    # they are one number, which counts once.
    own, n_classes = np.array(fits), seen.shape[1]
    likelihood = own * (1 - 2 / n_classes) + own.mean(axis=1, keepdims=True)
    parts = np.exp(likelihood - likelihood.max(axis=0))[:, None]
    parts /= parts.sum(axis=0)
    mean: Floats = (parts * means).sum(axis=0)
    left: Floats = (parts * (lefts + (means - mean) ** 2)).sum(axis=0)
    return mean, left
