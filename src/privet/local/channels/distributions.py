"""Distributions: the noise that a respondent adds to a number, and the exact one that an answer is drawn from.

Noise has one scale: half the width of the uniform distribution, the standard deviation of the normal one, the mean
distance from zero of Laplace's.

A draw is from whole-number weights that add up to 2^64. Whoever has 64 random bits draws an outcome by looking up where
they fall. The chances are exact, so what a draw gives away can be computed instead of trusted to the rounding of
floating-point noise.
"""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_number
from privet.errors import ParameterError

Floats = NDArray[np.float64]
TOTAL_WEIGHT = 2**64
# A promise is rounded up by more than the arithmetic that computes it can err.
_UPWARDS = 1 + 1e-12


@dataclass(frozen=True)
class NoiseDistribution(ABC):
    """A distribution of noise, symmetric about zero."""

    scale: float
    name: ClassVar[str]
    # Whether clamped answers with this noise have a local epsilon; see columns.md.
    bounds_epsilon: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not is_number(self.scale):
            raise ParameterError("the scale of noise must be a number; write it without quotes")
        if not 0 < self.scale <= sys.float_info.max:  # which a whole number may exceed
            raise ParameterError(f"scale={self.scale!r:.20} must be above 0 and finite; give the spread of the noise")
        object.__setattr__(self, "scale", float(self.scale))

    @classmethod
    def of_width(cls, width: float, confidence: float) -> Self:
        """Return the distribution whose central interval of this ``confidence`` has this ``width``."""
        return cls(width / cls(1.0).width(confidence))

    @property
    @abstractmethod
    def std(self) -> float:
        """The standard deviation."""

    @property
    @abstractmethod
    def reach(self) -> float:
        """How far noise goes; beyond it lies less than can be drawn with 64 bits, or what is cut off on purpose."""

    @property
    @abstractmethod
    def entropy(self) -> float:
        """The differential entropy in bits."""

    @abstractmethod
    def width(self, confidence: float) -> float:
        """Return the width of the interval about the answer that holds the value with this confidence."""

    @abstractmethod
    def density(self, z: Floats) -> Floats:
        """Return the density at ``z``."""

    @abstractmethod
    def cdf(self, z: Floats) -> Floats:
        """Return the chance that noise is at most ``z``."""

    @abstractmethod
    def cdf_integral(self, z: Floats) -> Floats:
        """Return the integral of `cdf` up to ``z``: with it the mean of the cdf over an interval is a difference."""

    def lower_half(self, step: float, reach: int) -> Floats:
        """Return the chances of -reach, ..., -1 steps; the first has the whole tail."""
        borders = (np.arange(-reach, 1, dtype=np.float64) - 0.5) * step
        below = self.cdf(borders)
        below[0] = 0.0
        return np.diff(below)


class Uniform(NoiseDistribution):
    """Every value from -scale to scale is equally likely."""

    name: ClassVar[str] = "uniform"

    @property
    def std(self) -> float:
        """The standard deviation."""
        return self.scale / math.sqrt(3)

    @property
    def reach(self) -> float:
        """How far noise goes."""
        return self.scale

    @property
    def entropy(self) -> float:
        """The differential entropy in bits."""
        return math.log2(2 * self.scale)

    def width(self, confidence: float) -> float:
        """Return the width of the interval about the answer that holds the value with this confidence."""
        return 2 * self.scale * confidence

    def density(self, z: Floats) -> Floats:
        """Return the density at ``z``; half of it at the very ends, which lie in two cells."""
        inside = np.sign(np.maximum(0.0, self.scale - np.abs(z)))
        return np.where(np.isclose(np.abs(z), self.scale, rtol=1e-9, atol=0.0), 0.5, inside) / (2 * self.scale)

    def cdf(self, z: Floats) -> Floats:
        """Return the chance that noise is at most ``z``."""
        return np.clip((z + self.scale) / (2 * self.scale), 0.0, 1.0)

    def cdf_integral(self, z: Floats) -> Floats:
        """Return the integral of `cdf` up to ``z``."""
        inside = np.clip(z, -self.scale, self.scale)
        return (inside + self.scale) ** 2 / (4 * self.scale) + np.maximum(z - self.scale, 0.0)


class Gaussian(NoiseDistribution):
    """The normal distribution with standard deviation ``scale``."""

    name: ClassVar[str] = "gaussian"

    @property
    def std(self) -> float:
        """The standard deviation."""
        return self.scale

    @property
    def reach(self) -> float:
        """How far noise goes: 2^-64 lies beyond 9.1 standard deviations."""
        return 9.1 * self.scale

    @property
    def entropy(self) -> float:
        """The differential entropy in bits."""
        return 0.5 * math.log2(2 * math.pi * math.e * self.scale**2)

    def width(self, confidence: float) -> float:
        """Return the width of the interval about the answer that holds the value with this confidence."""
        from scipy.special import ndtri

        return 2 * float(ndtri((1 + confidence) / 2)) * self.scale

    def density(self, z: Floats) -> Floats:
        """Return the density at ``z``."""
        return np.exp(-0.5 * (z / self.scale) ** 2) / (self.scale * math.sqrt(2 * math.pi))

    def cdf(self, z: Floats) -> Floats:
        """Return the chance that noise is at most ``z``."""
        from scipy.special import ndtr

        return np.asarray(ndtr(z / self.scale))

    def cdf_integral(self, z: Floats) -> Floats:
        """Return the integral of `cdf` up to ``z``."""
        return z * self.cdf(z) + self.scale**2 * self.density(z)


class Laplace(NoiseDistribution):
    """Density proportional to exp(-|z| / scale)."""

    name: ClassVar[str] = "laplace"
    bounds_epsilon: ClassVar[bool] = True

    @property
    def std(self) -> float:
        """The standard deviation."""
        return self.scale * math.sqrt(2)

    @property
    def reach(self) -> float:
        """How far an answer may leave the domain: e^-12, six in a million, is put on the border."""
        return 12 * self.scale

    @property
    def entropy(self) -> float:
        """The differential entropy in bits."""
        return math.log2(2 * math.e * self.scale)

    def width(self, confidence: float) -> float:
        """Return the width of the interval about the answer that holds the value with this confidence."""
        return -2 * math.log(1 - confidence) * self.scale

    def density(self, z: Floats) -> Floats:
        """Return the density at ``z``."""
        return np.exp(-np.abs(z) / self.scale) / (2 * self.scale)

    def cdf(self, z: Floats) -> Floats:
        """Return the chance that noise is at most ``z``."""
        below = 0.5 * np.exp(-np.abs(z) / self.scale)
        return np.where(z < 0, below, 1 - below)

    def cdf_integral(self, z: Floats) -> Floats:
        """Return the integral of `cdf` up to ``z``."""
        return np.maximum(z, 0.0) + 0.5 * self.scale * np.exp(-np.abs(z) / self.scale)

    def lower_half(self, step: float, reach: int) -> Floats:
        """Return the chances of -reach, ..., -1 steps; the first has the whole tail."""
        # Exactly geometric, so that the ratio over the domain is what the scale says: P(d) = (1-r) / (1+r) r^|d|.
        rest = -np.expm1(-step / self.scale)  # 1 - r, to the last digit
        steps = np.arange(reach, 0, -1, dtype=np.float64)
        chances: Floats = rest / (2 - rest) * np.exp(-steps * step / self.scale)
        chances[0] /= rest
        # An answer that one value can give, every value can: the exponential may vanish, a weight must not.
        return np.maximum(chances, 1 / TOTAL_WEIGHT)


DISTRIBUTIONS: dict[str, type[NoiseDistribution]] = {own.name: own for own in (Uniform, Gaussian, Laplace)}


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
        lower = np.ceil(noise.lower_half(step, reach) * float(TOTAL_WEIGHT)).astype(np.uint64)
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


def log_ratio(excess: float) -> float:
    """Return the logarithm of 1 + excess, by which one chance exceeds another, rounded up."""
    return math.log1p(excess) * _UPWARDS
