"""Intervals for numbers computed from released counts, and whether a number exceeds its noise.

An interval contains the exact number with probability 95%, for a node and a class that are fixed beforehand. Among many
nodes, those that look best do so partly because of their noise.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

# The two-sided 95 % point of a Laplace variable of standard deviation 1. A weighted sum of independent ones with
# standard deviation 1 has a smaller one: moving weight away from the largest lowers the tail beyond t while
# sqrt(2) t > 2, and here sqrt(2) t is ln 20 = 3.0. Many equal ones approach the 1.96 of a Gaussian.
DEVIATIONS = math.log(20) / math.sqrt(2)
# A support must exceed this many standard deviations of its noise. A forest has thousands of nodes. Of those with noise
# alone one in seven exceeds one deviation, and fewer than one in a hundred exceed three.
RELIABLE = 3.0


def stands_out(support: ArrayLike, variance: ArrayLike) -> NDArray[np.bool_]:
    """Return whether ``support`` is too large to be explained by noise of this ``variance`` alone."""
    exceeds: NDArray[np.bool_] = np.asarray(support) > RELIABLE * np.sqrt(np.asarray(variance))
    return exceeds


def reach(variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bound that noise of this variance stays within with probability 95%."""
    # Noise is whole. Where its deviation is small, DEVIATIONS times it may lie between two whole numbers.
    return np.where(variance > 0, DEVIATIONS * np.sqrt(variance) + 1.0, 0.0)


def support_intervals(
    counts: NDArray[np.int64], variance: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return low and high ends for the sums of each row of ``counts``; ``variance`` is that of one count of the row."""
    support = counts.sum(axis=1).astype(np.float64)
    far = np.floor(reach(variance * counts.shape[1]))
    return support - far, support + far


def confidence_intervals(
    counts: NDArray[np.int64], chosen: NDArray[np.int64], variance: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return low and high ends for the share of the ``chosen`` class in each row of ``counts``."""
    own = counts[np.arange(len(counts)), chosen]
    return share_intervals(own, counts.sum(axis=1), variance, n_classes=counts.shape[1])


def share_intervals(
    own_counts: NDArray[np.int64], totals: NDArray[np.int64], variance: NDArray[np.float64], *, n_classes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return low and high ends for the share of a class's count in the sum of all classes' counts.

    This is Fieller's interval for the quotient of two noisy numbers. If p is the true share, n_c - p n is noise alone.
    The interval contains p where (n_c - p n)^2 is at most w^2 ((1 - p)^2 + (C - 1) p^2), with w the reach of one count.
    That is a quadratic in p. Where the support may be 0, every share is possible.
    """
    n, own = totals.astype(np.float64), own_counts.astype(np.float64)
    w = reach(variance)
    square = n**2 - n_classes * w**2
    bounded = (n > np.floor(reach(variance * n_classes))) & (square > 0)
    # The discriminant, with n^2 own^2 cancelled by hand: subtracting two such numbers would leave only rounding errors.
    under_root = np.maximum((n - own) ** 2 + (n_classes - 1) * (own**2 - w**2), 0.0)
    middle, half = own * n - w**2, w * np.sqrt(under_root)
    safe = np.where(bounded, square, 1.0)
    low, high = (middle - half) / safe, (middle + half) / safe
    bounded &= (low <= 1.0) & (high >= 0.0)  # otherwise the interval would contain no share
    return np.where(bounded, np.clip(low, 0.0, 1.0), 0.0), np.where(bounded, np.clip(high, 0.0, 1.0), 1.0)
