"""Noise that trees share: the K-norm mechanism of Hardt and Talwar (2010) for trees that add up the same rows.

A row pulls at one leaf of every tree, or at several by shares, and in all of them by as much. So the sums over the
leaves of any two trees are equal, and noise in directions in which they are not would hide nothing. What is drawn here
is uniform in the smallest symmetric body that holds what one row can do, made larger by a random factor. The argument
is in k_norm.md.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from privet.privacy.mechanisms.linear_noise import LinearNoise, draw_exponential, grid_of
from privet.privacy.mechanisms.objective_perturbation import pulls
from privet.rng import NoiseSource

# Trees of more leaves gain next to nothing, and the law's whole numbers grow with the leaves of all trees together.
MOST_SHARED_LEAVES, MOST_DIMENSIONS = 32, 128
# Uniform numbers have so many bits.
_BITS = 48


def shared_deviation(size: int, n_dimensions: int, n_classes: int) -> float:
    """Return about the deviation of a leaf's number against the others of its tree, at scale 1.

    It is the root of half the variance of a difference of two leaves. ``n_dimensions`` are the leaves of all trees that
    share the noise, less one a tree. It is exact for a tree that is alone, and off by a fortieth at most.
    """
    variance = 2 * widening(n_dimensions) / ((size + 1) * (size + 2))
    # Of more classes each has noise of twice the scale, less the mean over classes.
    return math.sqrt(variance) * (1 if n_classes == 2 else 2 * math.sqrt(1 - 1 / n_classes))


def widening(n_dimensions: int) -> int:
    """Return what every tree's variance grows with, whatever its leaves: the mean square of the random factor."""
    return (n_dimensions + 2) * (n_dimensions + 3)


def draw_shared(scale: Fraction, sizes: Sequence[int], *, n_weights: int, noise: NoiseSource) -> LinearNoise:
    """Draw the noise of trees with so many leaves each, at least two trees: leaves x ``n_weights``.

    Privacy
    -------
    One weight a leaf: density proportional to exp(-max over trees of |b_t|_1 / scale) where all trees have the same
    sum. More: that at twice the scale for each weight, less the mean over weights. Argument: k_norm.md.
    """
    widened = scale * pulls(2 if n_weights == 1 else n_weights)
    columns = [_draw_column(widened, tuple(sizes), noise) for _ in range(n_weights)]
    values, error = np.column_stack([column.values for column in columns]), max(column.error for column in columns)
    if n_weights == 1:
        return LinearNoise(values, error)
    return LinearNoise(values - values.mean(axis=1, keepdims=True), 2 * error * (1 + 2.0**-20))


def shared_error(scale: float, n_dimensions: int, n_weights: int) -> float:
    """Return a bound on the error of `draw_shared`, except for draws that no machine will see."""
    return 2.0**-37 * scale * (n_dimensions + 2) * (1 if n_weights == 1 else 2 * pulls(n_weights))


def _draw_column(scale: Fraction, sizes: tuple[int, ...], noise: NoiseSource) -> LinearNoise:
    law, grid = _Law.of(sizes), grid_of(scale)
    n_common = _draw_place(law.weights, noise)
    steps = draw_exponential(scale, grid, law.n_dimensions + 2, noise) + 0.5
    # What the leaves of every tree add up to, and how much more may be of each sign.
    common, most = float(steps[: n_common + 1].sum()), float(steps[n_common + 1 :].sum()) / 2
    found = []
    for size, degree in zip(sizes, _draw_degrees(law, n_common, noise), strict=True):
        n_positive = _draw_n_positive(size, degree, noise)
        extra = most * _draw_largest(size - 1 - degree, noise)
        parts = np.empty(size)
        places = _draw_order(size, noise)
        parts[places[:n_positive]] = _draw_gaps(n_positive, noise) * (common + extra)
        parts[places[n_positive:]] = _draw_gaps(size - n_positive, noise) * -extra
        found.append(parts)
    sign = 1 - 2 * _draw_place((1, 1), noise)
    # Each exponential is off by half a step, each uniform number by one unit in its last place, and floats by less.
    off = (law.n_dimensions + 2) / 2 + (common + most) * 2.0 ** (3 - _BITS)
    return LinearNoise(sign * np.concatenate(found) * float(grid), float(grid) * off)


@dataclass(frozen=True)
class _Law:
    """The weights of the mixture for trees of these sizes, as whole numbers.

    ``volumes`` are those of a tree's slice of the body, as coefficients by the degree of the common sum, ``products``
    what the trees from each on have together, and ``weights`` those of the degree of all.
    """

    n_dimensions: int
    volumes: tuple[tuple[int, ...], ...]
    products: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...]

    @classmethod
    @lru_cache(maxsize=32)  # one may take half a megabyte
    def of(cls, sizes: tuple[int, ...]) -> "_Law":
        n, volumes = sum(sizes) - len(sizes), tuple(map(_volume, sizes))
        one: tuple[int, ...] = (1,)
        products = tuple(accumulate(reversed(volumes), _times, initial=one))[::-1]
        weights = (
            own * math.factorial(k) * math.factorial(n - k) << k for k, own in enumerate(products[0])
        )  # the moments of two gamma variates, of which the second has half the scale
        return cls(n, volumes, products, tuple(weights))


@cache
def _volume(size: int) -> tuple[int, ...]:
    """Return the volume of a tree's slice as a polynomial, coefficients of s^i q^(size - 1 - i), in whole numbers."""
    if size == 1:  # of one leaf it is a point
        return (1,)
    signs = [sum(_sign_weights(size, i)) for i in range(size - 1)]
    terms = [Fraction(own, size - 1 - i) for i, own in enumerate(signs)] + [Fraction(1, size - 1)]
    whole = math.lcm(*(term.denominator for term in terms))
    return tuple(int(term * whole) for term in terms)


def _sign_weights(size: int, degree: int) -> list[int]:
    """Return how likely it is that ``degree`` + 1 leaves of a tree are positive, one more, and so on to all but one."""
    return [math.comb(size, j) * math.comb(j - 1, degree) * math.comb(size - 2, j - 1) for j in range(degree + 1, size)]


def _times(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """Return the product of two polynomials."""
    out = [0] * (len(left) + len(right) - 1)
    for i, own in enumerate(left):
        for j, other in enumerate(right):
            out[i + j] += own * other
    return tuple(out)


def _draw_degrees(law: _Law, n_common: int, noise: NoiseSource) -> list[int]:
    """Draw each tree's degree of the common sum; they add up to ``n_common``."""
    degrees, left = [], n_common
    for own, rest in zip(law.volumes, law.products[1:], strict=True):
        first = max(0, left - len(rest) + 1)
        last = min(left, len(own) - 1)
        degrees.append(first + _draw_place([own[i] * rest[left - i] for i in range(first, last + 1)], noise))
        left -= degrees[-1]
    return degrees


def _draw_n_positive(size: int, degree: int, noise: NoiseSource) -> int:
    """Draw how many leaves of a tree are positive."""
    if degree == size - 1:
        return size
    return degree + 1 + _draw_place(_sign_weights(size, degree), noise)


def _draw_largest(n: int, noise: NoiseSource) -> float:
    """Draw the largest of ``n`` uniform numbers, 0 of none."""
    return float(_draw_uniform(n, noise).max(initial=0.0))


def _draw_place(weights: Sequence[int], noise: NoiseSource) -> int:
    """Draw a place with chances proportional to whole numbers of any size."""
    bounds = list(accumulate(weights))
    n_bits = bounds[-1].bit_length()
    while True:
        drawn = int.from_bytes(noise.words(-(-n_bits // 32)).tobytes(), "little") & ((1 << n_bits) - 1)
        if drawn < bounds[-1]:
            return bisect_right(bounds, drawn)


def _draw_uniform(n: int, noise: NoiseSource) -> NDArray[np.float64]:
    return (_draw_keys(n, noise) >> np.uint64(64 - _BITS)).astype(np.float64) * 2.0**-_BITS


def _draw_gaps(n: int, noise: NoiseSource) -> NDArray[np.float64]:
    """Cut 1 at uniform points into ``n`` parts."""
    if n == 0:
        return np.empty(0)
    points = np.sort(_draw_uniform(n - 1, noise))
    gaps: NDArray[np.float64] = np.diff(points, prepend=0.0, append=1.0)
    return gaps


def _draw_order(n: int, noise: NoiseSource) -> NDArray[np.intp]:
    """Draw an order of ``n`` things, all orders alike."""
    while True:
        keys = _draw_keys(n, noise)
        order = np.argsort(keys)
        if (np.diff(keys[order]) != 0).all():  # else two are equal, and either might come first
            return order


def _draw_keys(n: int, noise: NoiseSource) -> NDArray[np.uint64]:
    return noise.words(2 * n).view(np.uint64)
