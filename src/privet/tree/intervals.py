"""How sure a number made of released counts is: whether it stands out from its noise, and intervals around it.

Intervals hold the exact number 95 times of 100. They are for a node and a class fixed beforehand. Of many nodes, those
that look best owe it in part to their noise.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

# The two-sided 95 % point of a Laplace variable of standard deviation 1. That of a weighted sum of independent ones,
# of standard deviation 1 again, is less: taking weight off the largest lowers the tail beyond t while
# sqrt(2) t > 2, and here it is ln 20 = 3.0. At the other end, many equal ones come to the 1.96 of a Gaussian.
DEVIATIONS = math.log(20) / math.sqrt(2)
# Standard deviations of its own noise that a support must exceed. A forest has thousands of nodes: of those that hold
# nothing but noise one in seven exceeds one deviation, and fewer than one in a hundred three.
RELIABLE = 3.0


def stands_out(support: ArrayLike, variance: ArrayLike) -> NDArray[np.bool_]:
    """Return whether noise of this ``variance`` alone hardly explains so large a ``support``."""
    exceeds: NDArray[np.bool_] = np.asarray(support) > RELIABLE * np.sqrt(np.asarray(variance))
    return exceeds


def reach(variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far noise of this variance takes a count, 95 times of 100."""
    # Noise comes in whole steps: where it is hardly more than 0, that many deviations lie between two steps.
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

    Fieller's interval for the quotient of two noisy numbers: a share p is held where n_c - p n, which would be noise
    alone if p were right, is no larger than noise of its spread, w^2 ((1 - p)^2 + (C - 1) p^2) with w the reach of one
    count. That is a quadratic in p. Where the support may be 0 every share is possible.
    """
    n, own = totals.astype(np.float64), own_counts.astype(np.float64)
    w = reach(variance)
    square = n**2 - n_classes * w**2
    bounded = (n > np.floor(reach(variance * n_classes))) & (square > 0)
    # The discriminant with n^2 own^2 cancelled by hand: two such numbers would leave nothing but rounding.
    under_root = np.maximum((n - own) ** 2 + (n_classes - 1) * (own**2 - w**2), 0.0)
    middle, half = own * n - w**2, w * np.sqrt(under_root)
    safe = np.where(bounded, square, 1.0)
    low, high = (middle - half) / safe, (middle + half) / safe
    bounded &= (low <= 1.0) & (high >= 0.0)  # else no share at all would be held
    return np.where(bounded, np.clip(low, 0.0, 1.0), 0.0), np.where(bounded, np.clip(high, 0.0, 1.0), 1.0)
