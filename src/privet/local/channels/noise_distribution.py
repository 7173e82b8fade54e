"""The distributions of noise that a respondent adds to a number: uniform, normal, Laplace.

Each has one scale: half the width of the uniform distribution, the standard deviation of the normal one, the mean
distance from zero of Laplace's.
"""

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.local.channels.number_checks import is_number

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NoiseDistribution(ABC):
    """A distribution of noise, symmetric about zero."""

    scale: float
    name: ClassVar[str]

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


DISTRIBUTIONS: dict[str, type[NoiseDistribution]] = {own.name: own for own in (Uniform, Gaussian, Laplace)}
