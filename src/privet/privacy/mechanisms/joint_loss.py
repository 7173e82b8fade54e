"""What several releases about the same rows cost together, where one or more are minimisers with normal noise.

Epsilons of pure releases add up only in the worst case; a delta pays for the rare cases in which they nearly do. The
privacy loss of the whole is at most a sum of independent variables, and delta follows from the law of that sum. The
argument is in joint_loss.md.
"""

import math
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.privacy.mechanisms.objective_perturbation import NORMAL_DEFECT, NormalLoss

# Losses lie on a grid of so many steps an epsilon: a fit's are rounded up, which is as if epsilon were smaller by a
# two-thousandth on average.
_STEPS = 1024
# A fit's losses are followed so many deviations far; what lies beyond is less than the room in `NORMAL_DEFECT`.
_DEVIATIONS = 12.0
# Beyond these, nothing is promised: no fit that is worth its delta comes near, and a damaged receipt costs no hours.
_MOST_EPSILONS, _MOST_PURE, _MOST_FITS = 32.0, 2**13, 3
# For floats: all terms are positive, and none of a few thousand is off by more than 1e-12 of itself.
_MARGIN = 1.0 + 1e-9
# No forest has more weights, 2**16 a stage: a plan must not depend on how many there are.
_MOST_NUMBERS = 2**17
# A plan leaves this much of delta unused, so that another machine's exponential function comes to the same verdict.
_ROOM = 1.0 - 1e-8
# The search for a mu starts at this share of epsilon, and ends where it is known to a millionth.
_LEAST, _CLOSE, _TRIALS = 1e-3, 1e-6, 60


class Stage(NamedTuple):
    """A fit that is still to be paid for: ``share`` is its part of mu^2, the precision that all fits have together."""

    curvature: float
    n_classes: int
    rows: int = 1
    share: float = 1.0

    def loss(self, mu: float) -> NormalLoss:
        """Return the law of its loss, where all fits together have ``mu``."""
        return NormalLoss(self.rows * mu * math.sqrt(self.share), self.rows * self.curvature, self.n_classes)


def joint_delta(epsilon: float, pure: Sequence[float], fits: Sequence[NormalLoss], *, n_numbers: int) -> float:
    """Return the delta at ``epsilon`` of releases together; 1 where nothing is promised.

    Parameters
    ----------
    epsilon : float
    pure : sequence of float
        The epsilon of each release that has one.
    fits : sequence of NormalLoss
        The loss of each minimiser with normal noise.
    n_numbers : int
        How many numbers of discrete normal noise the fits drew together.

    Privacy
    -------
    The theorem of joint_loss.md; sums err upwards.
    """
    return _Grid(epsilon, pure).delta(fits, n_numbers)


def largest_mu(epsilon: float, delta: float, pure: Sequence[float], stages: Sequence[Stage]) -> float | None:
    """Return the largest mu at which all ``stages`` and the ``pure`` releases together cost (epsilon, delta), or None.

    It depends on neither the trees nor their leaves, so both may follow from releases that are counted here.
    """
    grid, most = _Grid(epsilon, pure), delta * _ROOM

    def over(mu: float) -> float:
        """Return the logarithm of how many times delta it costs; above 0 is too much."""
        cost = grid.delta([stage.loss(mu) for stage in stages], _MOST_NUMBERS)
        return math.log(cost / most)

    low = _LEAST * epsilon / max(stage.rows for stage in stages)
    return _largest(over, low) if over(low) <= 0 else None


def _largest(over: Callable[[float], float], low: float) -> float:
    """Return the largest number at which ``over``, which rises, is not above 0; at ``low`` it is not."""
    below, high = over(low), 4 * low
    while (above := over(high)) <= 0:
        low, below, high = high, above, 4 * high
    for _ in range(_TRIALS):
        if high / low < 1 + _CLOSE:
            break
        # False position in logarithms; the end that stays loses half of its weight (the Illinois rule).
        middle = low * (high / low) ** min(max(below / (below - above), 0.02), 0.98)
        if (found := over(middle)) <= 0:
            low, below, above = middle, found, above / 2
        else:
            high, above, below = middle, found, below / 2
    return low


class _Grid:
    """The law of the pure releases' losses, in steps of epsilon / `_STEPS`; ``least`` is its lowest."""

    def __init__(self, epsilon: float, pure: Sequence[float]) -> None:
        self.epsilon, self.step = epsilon, epsilon / _STEPS
        self.law, self.least = np.ones(1), 0
        self.known = self.step > sys.float_info.min and len(pure) <= _MOST_PURE and sum(pure) <= 2 * epsilon
        for own in pure if self.known else ():
            whole, part = divmod(own / self.step, 1.0)
            reach = int(whole) + 1
            kernel, up = np.zeros(2 * reach + 1), 1 / (1 + math.exp(-own))
            # Two neighbours on the grid share a loss such that its mean stays; that can only raise delta.
            kernel[-2:] = (1 - part) * up, part * up
            kernel[:2] += part * (1 - up), (1 - part) * (1 - up)
            self.law, self.least = np.convolve(self.law, kernel), self.least - reach

    def delta(self, fits: Sequence[NormalLoss], n_numbers: int) -> float:
        """Return the delta of the pure releases and these fits."""
        most = min(_MOST_EPSILONS * self.epsilon, sys.float_info.max)
        # Not by the largest reach: one that is no number would not be seen in it.
        if not self.known or len(fits) > _MOST_FITS or not all(fit.reach(_DEVIATIONS) <= most for fit in fits):
            return 1.0
        law, tails = self.law, [self._tail(fit) for fit in fits] or [np.zeros(1)]
        for tail in tails[:-1]:
            law = np.convolve(law, -np.diff(tail, prepend=1.0))
        defect = n_numbers * NORMAL_DEFECT * (1 + math.exp(min(self.epsilon, 600.0)))
        return min(1.0, self._excess(law, tails[-1]) * _MARGIN + defect)

    def _tail(self, fit: NormalLoss) -> NDArray[np.float64]:
        """Return the chance that the loss is above 0, 1, 2 ... steps."""
        n_steps = math.ceil(fit.reach(_DEVIATIONS) / self.step) + 1
        return fit.tail(self.step * np.arange(n_steps, dtype=np.float64))

    def _excess(self, law: NDArray[np.float64], tail: NDArray[np.float64]) -> float:
        """Return the mean of what the sum of both exceeds epsilon by."""
        # Of the last fit, rounded up: the mean of its excess over 0, 1, 2 ... steps.
        mean = self.step * np.cumsum(tail[::-1])[::-1]
        allowed = _STEPS - (self.least + np.arange(len(law)))
        below = np.maximum(-allowed, 0) * self.step
        known = np.minimum(np.maximum(allowed, 0), len(mean))
        return float(law @ (np.append(mean, 0.0)[known] + below))
