"""Numbers as pairs of floats, one and what is left over of it: twice the digits, by sums and products alone.

Their errors are bounded in section 4 of privacy/mechanisms/objective_perturbation.md.
"""

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, localcontext
from functools import cache
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from privet.privacy.mechanisms.bits import inlined

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]

# exp(-75) is below 2**-108, so that all classes a table may have leave out less than 2**-92 of a sum.
_FARTHEST = 75.0
_QUARTERS, _STEPS = 4, 1024


@cache
def powers() -> tuple[Floats, Floats]:
    """Return exp(-x) for x in quarters, and in 1024ths below a quarter: floats of 26 digits, and what is left over."""
    # A context of its own: with the caller's traps whether a fit fails would depend on the caller.
    with localcontext(Context(60, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, traps=[])):
        coarse = [_split((Decimal(-i) / _QUARTERS).exp()) for i in range(int(_FARTHEST) * _QUARTERS + 1)]
        fine = [_split((Decimal(-j) / _STEPS).exp()) for j in range(_STEPS // _QUARTERS)]
    return np.array(coarse), np.array(fine)


def _split(exact: Decimal) -> tuple[float, float]:
    digits, exponent = math.frexp(float(exact))
    high = math.ldexp(round(math.ldexp(digits, 26)), exponent - 26)
    return high, float(exact - Decimal(high))


def two_sum_of_arrays(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b as floats and what they left over, exactly (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


# The same of two floats, in kernels.
two_sum = inlined(cast("Callable[[float, float], tuple[float, float]]", two_sum_of_arrays))


@inlined
def two_product(a: float, b: float) -> tuple[float, float]:
    """Return a * b as a float and what it left over, exactly (Dekker 1971)."""
    product = a * b
    shifted = 134217729.0 * a
    a_high = shifted - (shifted - a)
    a_low = a - a_high
    shifted = 134217729.0 * b
    b_high = shifted - (shifted - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@inlined
def exp_minus(high: float, low: float, coarse: Floats, fine: Floats) -> tuple[float, float]:
    """Return exp(-(high + low)) for a pair that is not negative, and what is left over of it."""
    step, near = _nearest_step(high)
    i, j = step >> np.uint64(8), step & np.uint64(255)
    return _power(high, low, near, coarse[i, 0], coarse[i, 1], fine[j, 0], fine[j, 1])


@inlined
def exps_minus(high: Floats, low: Floats, coarse: Floats, fine: Floats, room: Floats) -> None:
    """Put what `exp_minus` returns in the place of each pair, of which ``room`` holds five numbers.

    Only the second of three turns looks up: processors take several pairs at once in the others.
    """
    for k in range(high.size):
        step, near = _nearest_step(high[k])
        room[0, k], room[1, k] = near, np.float64(np.int64(step))
    for k in range(high.size):
        step = np.uint64(np.int64(room[1, k]))
        i, j = step >> np.uint64(8), step & np.uint64(255)
        room[1, k], room[2, k], room[3, k], room[4, k] = coarse[i, 0], coarse[i, 1], fine[j, 0], fine[j, 1]
    for k in range(high.size):
        high[k], low[k] = _power(high[k], low[k], room[0, k], room[1, k], room[2, k], room[3, k], room[4, k])


@inlined
def _nearest_step(high: float) -> tuple[np.uint64, float]:
    """Return the nearest of the steps that the tables of powers have, and how far it is; 0 for what is none."""
    high = high if 0.0 <= high <= _FARTHEST else 0.0
    steps = np.rint(high * _STEPS)
    return np.uint64(np.int64(steps)), high - steps / _STEPS


@inlined
def _power(
    high: float, low: float, near: float, coarse: float, coarse_rest: float, fine: float, fine_rest: float
) -> tuple[float, float]:
    # exp(-near) - 1 + near, and then with low.
    curve = near * near * (0.5 - near * (1 / 6 - near * (1 / 24 - near * (1 / 120 - near / 720))))
    curve -= low * ((1.0 - near) + curve)
    # Products of 26 digits are exact.
    power = coarse * fine
    power_rest = coarse * fine_rest + coarse_rest * (fine + fine_rest)
    product, product_rest = two_product(power, near)
    total, lost = two_sum(power, -product)
    lost += ((power_rest - product_rest) + (power + power_rest) * curve) - power_rest * near
    total, lost = two_sum(total, lost)
    is_near = 0.0 <= high <= _FARTHEST  # else nothing is left, or it was no number: the gradient is none then
    return (total if is_near else 0.0), (lost if is_near else 0.0)


@inlined
def one_over(high: float, low: float) -> tuple[float, float]:
    """Return 1 / (high + low) and what is left over of it."""
    quotient = 1.0 / high
    product, rest = two_product(quotient, high)
    return quotient, quotient * (((1.0 - product) - rest) - quotient * low)
