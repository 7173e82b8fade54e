"""How a measure grows with one factor: points, the exponent that fits them, and what it should be at most.

A power law is a line in logarithms, so the exponent is the slope of the least-squares line through them.
Its standard error says how far from a line the points are.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.speed.harness import FAILS, HOLDS, seconds

HEADER = ("what", "over", "from", "to", "exponent", "target", "holds")
# Caches end somewhere on the way from few to many, and what leaves them is slower.
ALLOWANCE = 0.15


@dataclass(frozen=True)
class Exponent:
    """A slope in logarithms, and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        # Adding 0 turns -0 into 0.
        return f"{round(self.value, 2) + 0.0:.2f} ± {self.error:.2f}"


def fitted_exponent(sizes: Sequence[float], values: Sequence[float]) -> Exponent:
    """Return the exponent of the power law that fits best in logarithms; it takes three points or more."""
    if len(sizes) < 3:
        raise ValueError("an exponent and its error need three points or more; measure more sizes")
    x, y = np.log(sizes), np.log(values)
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    residuals = y - y.mean() - slope * x
    return Exponent(slope, math.sqrt(float(residuals @ residuals) / (len(sizes) - 2) / float(x @ x)))


@dataclass(frozen=True)
class Curve:
    """A measure over one factor.

    Attributes
    ----------
    what : str
        What is measured, such as "fit Private-RDT".
    factor : str
        What it is measured over, such as "rows"; ``fixed`` says what stays as it is meanwhile.
    points : tuple of pairs
        Size and value, by rising size.
    expected : float
        The exponent that the algorithm has; the bar is a little above it.
    unit : str
        "s" or "MB".
    note : str
        Why the exponent is what it is, where it is not plain.
    """

    what: str
    factor: str
    fixed: str
    points: tuple[tuple[float, float], ...]
    expected: float
    unit: str = "s"
    allowance: float = ALLOWANCE
    note: str = ""

    @cached_property
    def exponent(self) -> Exponent:
        """The exponent of the power law that fits the points."""
        sizes, values = zip(*self.points, strict=True)
        return fitted_exponent(sizes, values)

    @property
    def target(self) -> float:
        """The largest exponent that holds."""
        return self.expected + self.allowance

    @property
    def verdict(self) -> str:
        """Return "holds" or "DOES NOT HOLD"."""
        return HOLDS if self.exponent.value <= self.target else FAILS

    def cells(self) -> tuple[str, ...]:
        """Return the line's columns."""
        (first, low), (last, high) = self.points[0], self.points[-1]
        return (
            self.what,
            self.factor,
            f"{first:,.0f}: {self._value(low)}",
            f"{last:,.0f}: {self._value(high)}",
            str(self.exponent),
            f"<= {self.target:.2f}",
            self.verdict,
        )

    def _value(self, value: float) -> str:
        return seconds(value) if self.unit == "s" else f"{value:.0f} {self.unit}"
