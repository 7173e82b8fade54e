"""A public distribution: outcomes with whole-number weights that add up to 2^64.

Whoever has 64 random bits draws an outcome by looking up where they fall. The chances are exact, so what a draw gives
away can be computed instead of trusted to the rounding of floating-point noise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Self

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.noise_distribution import Laplace, NoiseDistribution

TOTAL_WEIGHT = 2**64
# A promise is rounded up by more than the arithmetic that computes it can err.
_UPWARDS = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class DiscreteDistribution:
    """Outcomes ``first``, ``first + 1``, ...; ``upto[k]`` is the weight of all outcomes up to the k-th.

    Entries of 2^64, which 64 bits do not hold, are left out: the last outcome's, and those after it without weight.
    """

    first: int
    upto: NDArray[np.uint64]

    @classmethod
    def of_weights(cls, first: int, weights: Sequence[int]) -> Self:
        """Return the distribution with these weights."""
        if sum(weights) != TOTAL_WEIGHT or min(weights) < 0:
            raise AssertionError("the weights of a distribution add up to 2^64")
        return cls(first, np.array([total for total in accumulate(weights) if total < TOTAL_WEIGHT], dtype=np.uint64))

    @classmethod
    def of_noise(cls, noise: NoiseDistribution, step: float, reach: int) -> Self:
        """Return ``noise`` in whole ``step``s, at most ``reach`` of them; the tails are put on the ends."""
        # Rounding up leaves no outcome out, and takes from the middle, where it is least felt.
        lower = np.ceil(_lower_half(noise, step, reach) * float(TOTAL_WEIGHT)).astype(np.uint64)
        # Left out is what cannot happen: behind it the sum would be 2^64, which is 0 in 64 bits.
        lower = lower[lower > 0]
        middle = np.uint64(TOTAL_WEIGHT - 2 * int(lower.sum(dtype=np.uint64)))
        weights = np.concatenate([lower, [middle], lower[:0:-1]])
        return cls(-len(lower), np.cumsum(weights, dtype=np.uint64))

    @cached_property
    def weights(self) -> NDArray[np.uint64]:
        """The weight of every outcome; 0 where it is the only one."""
        # 2^64 is 0 in 64 bits, so the last difference comes out right.
        return np.diff(self.upto, prepend=np.uint64(0), append=np.uint64(0))

    def draw(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the outcome that each of these 64-bit words draws."""
        return self.first + np.searchsorted(self.upto, words, side="right").astype(np.int64)


def _lower_half(noise: NoiseDistribution, step: float, reach: int) -> NDArray[np.float64]:
    """Return the chances of -reach, ..., -1 steps; the first has the whole tail."""
    if isinstance(noise, Laplace):
        # Exactly geometric, so that the ratio over the domain is what the scale says: P(d) = (1-r) / (1+r) r^|d|.
        rest = -np.expm1(-step / noise.scale)  # 1 - r, to the last digit
        steps = np.arange(reach, 0, -1, dtype=np.float64)
        chances: NDArray[np.float64] = rest / (2 - rest) * np.exp(-steps * step / noise.scale)
        chances[0] /= rest
        # An answer that one value can give, every value can: the exponential may vanish, a weight must not.
        return np.maximum(chances, 1 / TOTAL_WEIGHT)
    borders = (np.arange(-reach, 1, dtype=np.float64) - 0.5) * step
    below = noise.cdf(borders)
    below[0] = 0.0
    return np.diff(below)


def log_ratio(excess: float) -> float:
    """Return the logarithm of 1 + excess, by which one chance exceeds another, rounded up."""
    return math.log1p(excess) * _UPWARDS
