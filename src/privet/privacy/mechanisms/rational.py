"""The numbers of a mechanism: whole exact values, and noise parameters as exact rationals rounded towards more noise.

A float epsilon is an exact rational. The samplers need a rational with small terms, so each function takes the simplest
one in a narrow window on the safe side: a scale or a sigma never below what epsilon or rho requires, a rate never
above.
"""

import functools
import math
import operator
from fractions import Fraction
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privet.checks import check_whole
from privet.errors import ParameterError, PrivetError

MIN_EPSILON = 1e-6
MIN_RHO = 5e-13  # what an epsilon of 1e-6 costs in zCDP: epsilon**2 / 2

# The width of the window. A millionth more noise does not matter, and allows a rational with terms below about 2**21.
_WINDOW = Fraction(1, 10**6)

# Noise of scale 2**-20 differs from none with probability exp(-2**20). Smaller scales would only make longer terms.
_SMALLEST_SCALE = Fraction(1, 2**20)

# The samplers multiply terms by numbers below 2**22 in 64-bit integers.
MAX_TERM = 2**40

# A tree needs the same scale at every node. Only plain ints and floats come here: machine integers wrap around, and one
# that equals a plain int would share its cache entry.
_remembered = functools.lru_cache(maxsize=256)
# Values up to 2**62 and noise below 2**62 add up in 64 bits.
_LARGEST = 2**62


def check_epsilon(epsilon: object) -> float:
    """Return ``epsilon`` as a float from `MIN_EPSILON` to infinity, or refuse it."""
    return _checked("epsilon", epsilon, MIN_EPSILON)


def check_rho(rho: object) -> float:
    """Return ``rho`` as a float from `MIN_RHO` to infinity, or refuse it."""
    return _checked("rho", rho, MIN_RHO)


def _checked(name: str, value: object, least: float) -> float:
    way_out = f"{name}={value!r} is out of range; pass a number from {least:g} to inf (inf adds no noise at all)"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(way_out)
    try:
        number = float(value)
    except OverflowError:  # an int beyond every float; as inf it would switch the noise off
        raise ParameterError(way_out) from None
    if not number >= least:  # also catches NaN
        raise ParameterError(way_out)
    return number


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the rational with the smallest terms in the closed interval from ``low > 0`` to ``high``."""
    if not 0 < low <= high:
        raise ParameterError(f"no positive interval runs from {low} to {high}; pass 0 < low <= high")
    # The ends share these terms of their continued fractions. The answer is the shortest fraction beyond them.
    shared: list[int] = []
    while (floor := math.floor(low)) != low and floor + 1 > high:
        shared.append(floor)
        low, high = 1 / (high - floor), 1 / (low - floor)
    simplest = Fraction(math.ceil(low))
    for term in reversed(shared):
        simplest = term + 1 / simplest
    return simplest


def scale_at_least(sensitivity: int, epsilon: float) -> Fraction:
    """Return a discrete Laplace scale, never below ``sensitivity / epsilon`` and at most slightly above it."""
    return _rounded_up(Fraction(operator.index(sensitivity)) / Fraction(float(epsilon)), "epsilon")


def sigma_at_least(sensitivity_squared: int, rho: float) -> Fraction:
    """Return a discrete Gaussian sigma whose square is at least ``sensitivity_squared / (2 rho)``."""
    return _rounded_up(_root_above(Fraction(operator.index(sensitivity_squared)) / (2 * Fraction(float(rho)))), "rho")


def rate_at_most(sensitivity: int, epsilon: float, *, monotone: bool) -> Fraction:
    """Return a rate of selection, never above ``epsilon / (2 sensitivity)`` and at most slightly below it.

    A monotone score allows ``epsilon / sensitivity``.
    """
    moves = operator.index(sensitivity) * (1 if monotone else 2)
    return 1 / _rounded_up(moves / Fraction(float(epsilon)), "epsilon")


@_remembered
def _rounded_up(least: Fraction, cause: str) -> Fraction:
    rounded = simplest_between(least, max(least * (1 + _WINDOW), _SMALLEST_SCALE))
    if rounded.numerator >= MAX_TERM:
        raise ParameterError(
            f"noise of scale {float(rounded):.3g} is beyond the sampler's limit of {float(MAX_TERM):.3g}; "
            f"pass a larger {cause}, or count in coarser units so that the sensitivity is smaller"
        )
    if rounded < least:
        raise PrivetError("the noise is smaller than epsilon requires; nothing was released")
    return rounded


def _root_above(square: Fraction) -> Fraction:
    """Return the square root of ``square``: exact if it is rational, else slightly above it."""
    # sqrt(n / d) = sqrt(n d) / d. The shift leaves at least 64 bits of root, far finer than the window.
    shift = max(0, 128 - square.numerator.bit_length())
    product = square.numerator * square.denominator << 2 * shift
    root = math.isqrt(product)
    return Fraction(root + (root * root < product), square.denominator << shift)


def remaining(epsilon: float, spent: float) -> float:
    """Return the largest float that can be spent after ``spent`` without ever exceeding ``epsilon``."""
    if math.isinf(epsilon):
        return epsilon
    if not 0 <= spent <= epsilon:
        raise ParameterError(f"spent={spent!r} is not between 0 and epsilon={epsilon!r}; a budget cannot be overdrawn")
    return _float_at_most(Fraction(epsilon) - Fraction(spent))


def equal_share(epsilon: float, n: int) -> float:
    """Return the largest float that can be spent ``n`` times without ever exceeding ``epsilon``."""
    return epsilon if math.isinf(epsilon) else _float_at_most(Fraction(epsilon) / n)


def multiple(share: float, n: int) -> float:
    """Return ``n`` times ``share``, never more."""
    return share if math.isinf(share) else _float_at_most(n * Fraction(share))


def _float_at_most(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)


def float_above(value: Fraction) -> float:
    """Return the smallest float that is not below ``value >= 0``; infinity beyond the largest."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def exact_integers(exact: ArrayLike) -> NDArray[np.int64]:
    """Return a copy of ``exact`` as 64-bit integers, or refuse what is not an array of integers."""
    values = np.asarray(exact)
    if values.dtype.kind not in "iu":
        raise ParameterError(
            f"exact values must be integers, not {values.dtype}; "
            "count in whole units, or round to a grid and count the rounding in the sensitivity"
        )
    if values.size and (values.max() > _LARGEST or values.min() < -_LARGEST):
        raise ParameterError("exact values must stay within 2**62 on either side of 0; count in coarser units")
    return values.astype(np.int64)


def positive_integer(name: str, value: object) -> int:
    """Return ``value`` as a Python int from 1 to 2**62, or say that ``name`` must be one."""
    return check_whole(name, value, least=1, most=_LARGEST)
