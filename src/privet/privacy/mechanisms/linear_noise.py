"""The noise in an objective: real numbers, drawn on a fine grid next to a variate of the exact distribution.

Real numbers cannot be drawn. Each number here is drawn together with a bound on its distance to a variate of the exact
law (never exceeded, not just likely), and whoever certifies a minimiser counts that distance as an error of the
gradient. The argument is in linear_noise.md.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.privacy.mechanisms.bits import U64, Cursor, Halves, below, compiled, exp_minus, exp_minus_one, fill, inlined
from privet.privacy.mechanisms.discrete_gaussian import gaussian_steps
from privet.privacy.mechanisms.rational import simplest_between
from privet.rng import NoiseSource

_ZERO, _ONE = U64(0), U64(1)
_MOST_WHOLES = U64(2**21)
# A scale is so many grid steps, or up to twice as many; the samplers take terms below 2**40.
_STEPS = 38
_WINDOW = Fraction(1, 10**6)
# A sigma is at least so many steps, as a power of two.
_NORMAL_STEPS = 36
# Uniform cut points have so many bits.
_CUT_BITS = 48
# The number of orthants' weights must stay within what `below` draws from: C(2 n - 2, n - 1) < 2**48.
MOST_SUM_ZERO_CLASSES = 26


@dataclass(frozen=True)
class LinearNoise:
    """Drawn noise: one line a leaf, one column a weight; the true variate is within ``error`` of each number."""

    values: NDArray[np.float64]
    error: float


def scales_at_least(linear: float, shares: list[Fraction]) -> list[Fraction]:
    """Return one noise scale a share, such that one over each, summed up, is at most ``linear`` and hardly less.

    Each is a whole number of steps of `grid_of` the largest.
    """
    least = [1 / (Fraction(linear) * share) for share in shares]
    grid = grid_of(max(least))
    return [grid * simplest_between(scale / grid, scale / grid * (1 + _WINDOW)) for scale in least]


def grid_of(scale: Fraction) -> Fraction:
    """Return the power of two in which noise of this scale, or a smaller one, is drawn."""
    return Fraction(2) ** (math.ceil(math.log2(scale)) - _STEPS)


def draw_laplace(scale: Fraction, n_leaves: int, *, n_weights: int, noise: NoiseSource) -> LinearNoise:
    """Draw independent Laplace noise for each leaf and weight.

    Privacy
    -------
    |value - variate| <= grid / 2, since an exponential variate is grid (G + F) with G geometric and F in [0, 1).
    """
    grid = grid_of(scale)
    steps = draw_exponential(scale, grid, n_leaves * n_weights, noise)
    signs = 1.0 - 2.0 * _draw_bits(len(steps), noise)
    values = signs * (steps + 0.5) * float(grid)
    return LinearNoise(values.reshape(-1, n_weights), float(grid) * (0.5 + 2.0**-10))


def draw_sum_zero(scale: Fraction, n_leaves: int, *, n_weights: int, noise: NoiseSource) -> LinearNoise:
    """Draw noise whose weights add up to zero in every leaf, with density proportional to exp(-|v|_1 / (2 scale)).

    Privacy
    -------
    Of the weights J are positive, with chances proportional to C(n, J) C(n - 2, J - 1); each sign's weights share an
    amount that is the sum of n - 1 exponential variates, cut at uniform points. Argument: linear_noise.md.
    """
    if not 3 <= n_weights <= MOST_SUM_ZERO_CLASSES:
        raise ParameterError(
            f"noise that adds up to zero is for 3 to {MOST_SUM_ZERO_CLASSES} classes; use draw_laplace"
        )
    grid = grid_of(scale)
    steps = draw_exponential(scale, grid, n_leaves * (n_weights - 1), noise).reshape(n_leaves, n_weights - 1)
    amounts = steps.sum(axis=1) + 0.5 * (n_weights - 1)
    parts = np.empty(n_leaves * n_weights, dtype=np.int64)
    weights = [math.comb(n_weights, j) * math.comb(n_weights - 2, j - 1) for j in range(1, n_weights)]
    bounds = np.cumsum(np.array(weights, dtype=np.uint64))
    fill(_fill_cuts, parts, bounds, U64(n_weights), words_each=4.0, noise=noise)
    values = parts.reshape(n_leaves, n_weights) * 2.0**-_CUT_BITS * amounts[:, None]
    # Each exponential is off by half a step, each share of the cut by one unit in its last place, and floats by less.
    off = 0.5 * (n_weights - 1) + float(amounts.max(initial=0.0)) * 2.0 ** (2 - _CUT_BITS)
    return LinearNoise(values * float(grid), float(grid) * off * (1 + 2.0**-20))


def normal_sigma_at_least(sigma: float) -> Fraction:
    """Return a sigma of normal noise, at least ``sigma`` and a whole number of steps of its grid."""
    grid = _normal_grid(Fraction(sigma))
    return grid * math.ceil(Fraction(sigma) / grid)


def draw_normal(sigma: Fraction, n_leaves: int, *, n_weights: int, noise: NoiseSource) -> LinearNoise:
    """Draw discrete normal noise of `normal_sigma_at_least` for each leaf and weight.

    Privacy
    -------
    But for a total variation of `NORMAL_DEFECT` a number it is a normal variate rounded to the grid: linear_noise.md.
    """
    grid = _normal_grid(sigma)
    steps = gaussian_steps(n_leaves * n_weights, sigma / grid, noise).reshape(n_leaves, n_weights)
    return LinearNoise(steps.astype(np.float64) * float(grid), float(grid) * (0.5 + 2.0**-10))


def _normal_grid(sigma: Fraction) -> Fraction:
    return Fraction(2) ** (math.floor(math.log2(sigma)) - _NORMAL_STEPS)


def draw_exponential(scale: Fraction, grid: Fraction, n: int, noise: NoiseSource) -> NDArray[np.float64]:
    """Return the whole grid steps of ``n`` exponential variates of this scale."""
    steps, mean = np.empty(n, dtype=np.int64), scale / grid
    fill(_fill_exponential, steps, U64(mean.numerator), U64(mean.denominator), words_each=8.0, noise=noise)
    return steps.astype(np.float64)


def _draw_bits(n: int, noise: NoiseSource) -> NDArray[np.uint8]:
    bits = np.unpackbits(noise.words(-(-n // 32)).view(np.uint8))
    return bits[:n]


@compiled
def _fill_exponential(
    halves: Halves, out: NDArray[np.int64], done: int, top: np.uint64, bottom: np.uint64
) -> tuple[int, int]:
    """Fill ``out[done:]`` with whole parts of exponential variates of mean ``top / bottom``, as `bits.fill` asks."""
    cursor = np.zeros(1, dtype=np.int64)
    for i in range(done, out.size):
        start = cursor[0]
        out[i] = _exponential(top, bottom, halves, cursor)
        if cursor[0] > halves.size:
            return i, start
    return out.size, cursor[0]


@inlined
def _exponential(top: np.uint64, bottom: np.uint64, halves: Halves, cursor: Cursor) -> np.int64:
    """Draw geometric steps: Canonne, Kamath and Steinke (2020), algorithm 2, without its sign."""
    while True:
        part = below(top, halves, cursor)
        if exp_minus(part, top, halves, cursor):
            break
    wholes = _ZERO
    while wholes < _MOST_WHOLES and exp_minus_one(halves, cursor):
        wholes += _ONE
    return np.int64((part + top * wholes) // bottom)


@compiled
def _fill_cuts(
    halves: Halves, out: NDArray[np.int64], done: int, bounds: NDArray[np.uint64], n_weights: np.uint64
) -> tuple[int, int]:
    """Fill ``out[done:]`` a leaf at a time with shares of 1 and -1 in units of 2**-48, as `bits.fill` asks."""
    cursor = np.zeros(1, dtype=np.int64)
    n = np.int64(n_weights)
    signed = np.empty(n, dtype=np.int64)
    for i in range(done, out.size, n):
        start = cursor[0]
        n_positive = 1 + np.searchsorted(bounds, below(bounds[-1], halves, cursor), side="right")
        _cut(signed[:n_positive], np.int64(1), halves, cursor)
        _cut(signed[n_positive:], np.int64(-1), halves, cursor)
        for j in range(n - 1, -1, -1):
            pick = np.int64(below(U64(j + 1), halves, cursor))
            out[i + j] = signed[pick]
            signed[pick] = signed[j]
        if cursor[0] > halves.size:
            return i, start
    return out.size, cursor[0]


@compiled
def _cut(parts: NDArray[np.int64], sign: np.int64, halves: Halves, cursor: Cursor) -> None:
    """Cut 2**48 at uniform points into as many parts as there is room for."""
    whole = U64(2**48)
    points = np.empty(parts.size + 1, dtype=np.int64)
    points[0], points[parts.size] = 0, np.int64(whole)
    for j in range(1, parts.size):
        points[j] = np.int64(below(whole, halves, cursor))
    points = np.sort(points)
    for j in range(parts.size):
        parts[j] = sign * (points[j + 1] - points[j])


def laplace_factor(n_classes: int) -> float:
    """Return the standard deviation of Laplace noise of scale 1, with more than two classes of the law for those."""
    return math.sqrt(2) if n_classes == 2 else 2 * math.sqrt(2) * sum_zero_share(n_classes)


def sum_zero_share(n_classes: int) -> float:
    """Return the deviation of noise that adds up to zero, as a share of that of independent Laplace noise.

    Its parts have E|v|^2 = scale^2 C(n) with the moments of a gamma variate of shape n - 1 and of uniform cuts.
    """
    if n_classes > MOST_SUM_ZERO_CLASSES:
        return 1.0
    n = n_classes
    weights = [math.comb(n, j) * math.comb(n - 2, j - 1) for j in range(1, n)]
    squares = [2 / (j + 1) + 2 / (n - j + 1) for j in range(1, n)]
    mean = sum(w * s for w, s in zip(weights, squares, strict=True)) / sum(weights)
    return math.sqrt(mean * (n - 1) / 8)
