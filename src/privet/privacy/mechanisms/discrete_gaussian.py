"""The discrete Gaussian mechanism: whole noise for whole counts, at a cost of rho in zero-concentrated DP."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privet.privacy import events
from privet.privacy.mechanisms.bits import (
    U64,
    Cursor,
    Halves,
    below,
    compiled,
    exp_minus,
    exp_minus_whole,
    happens,
    inlined,
    with_noise,
)
from privet.privacy.mechanisms.rational import check_rho, exact_integers, positive_integer, sigma_at_least
from privet.rng import NoiseSource, SystemNoise

_ZERO, _ONE, _TWO = U64(0), U64(1), U64(2)

# Keeps top * wholes below 2**62. It is reached with probability exp(-2**20), which is negligible.
_MOST_WHOLES = U64(2**21)


def discrete_gaussian(
    exact: ArrayLike, *, rho: float, sensitivity_squared: int, what: str = "counts", noise: NoiseSource | None = None
) -> tuple[NDArray[np.int64], events.Event]:
    """Add discrete Gaussian noise to ``exact`` and return a receipt.

    Parameters
    ----------
    exact : array of integers, any shape
    rho : float
        From 5e-13 to infinity; infinity adds no noise, and the receipt says so.
    sensitivity_squared : int
        How far one more or less row can move ``exact``: the sum of the squares of all its values' moves.
    what : str
        The receipt's name for the values.
    noise : NoiseSource, optional
        The source of bits; by default the system's secure generator.

    Returns
    -------
    noisy : int64 array of the same shape
    event : the receipt

    Privacy
    -------
    One row more or less moves ``exact`` by at most ``sensitivity_squared`` in squared L2 (the caller's
    promise); the release is then ``rho``-zCDP, if ``noise`` is secure. No pure epsilon holds. Argument:
    discrete_gaussian.md.
    """
    rho, squared = check_rho(rho), positive_integer("sensitivity_squared", sensitivity_squared)
    if math.isinf(rho):
        return exact_integers(exact), events.NoNoise(what)
    sigma = sigma_at_least(squared, rho)
    noise = noise or SystemNoise()
    # Measured: 7 to 9 words a sample for a whole sigma below 2**13, 10.3 above, up to 18 near 1.
    words_each = 9.0 if sigma.numerator <= 2**13 else 10.5
    noisy = with_noise(_fill, exact_integers(exact), sigma, words_each=words_each, noise=noise)
    return noisy, events.drawn_from(noise, events.DiscreteGaussian(what, rho, squared, sigma))


def gaussian_steps(n: int, sigma: Fraction, noise: NoiseSource) -> NDArray[np.int64]:
    """Return ``n`` draws of noise of this sigma, without counts to add them to."""
    return with_noise(_fill, np.zeros(n, dtype=np.int64), sigma, words_each=10.5, noise=noise)


@compiled
def _fill(halves: Halves, out: NDArray[np.int64], done: int, top: np.uint64, bottom: np.uint64) -> tuple[int, int]:
    """Fill ``out[done:]`` with noise of sigma ``top / bottom``, as `bits.fill` asks."""
    cursor = np.zeros(1, dtype=np.int64)
    for i in range(done, out.size):
        start = cursor[0]
        out[i] = _sample(top, bottom, halves, cursor)
        if cursor[0] > halves.size:
            return i, start
    return out.size, cursor[0]


@inlined
def _sample(top: np.uint64, bottom: np.uint64, halves: Halves, cursor: Cursor) -> np.int64:
    """Draw one noise: Karney (2016), algorithm D with mean 0.

    The noise's size is written as sigma (k + x), with k whole and x = rest / top in [0, 1).
    """
    choices = (top + bottom - _ONE) // bottom  # ceil(sigma) numbers at most share one k
    while True:
        k = _whole_sigmas(halves, cursor)
        if not exp_minus_whole(k * (k - _ONE) // _TWO if k > _ONE else _ZERO, halves, cursor):
            continue
        first = (k * top + bottom - _ONE) // bottom
        both = below(choices + choices, halves, cursor)
        size, negative = first + (both >> _ONE), (both & _ONE) == _ONE
        rest = size * bottom - k * top
        if rest >= top or (size == _ZERO and negative):  # there is one zero, not two
            continue
        if _accepts(k, rest, top, halves, cursor):
            return -np.int64(size) if negative else np.int64(size)


@compiled
def _whole_sigmas(halves: Halves, cursor: Cursor) -> np.uint64:
    """Return k with probability proportional to exp(-k/2)."""
    k = _ZERO
    while k < _MOST_WHOLES and exp_minus(_ONE, _TWO, halves, cursor):
        k += _ONE
    return k


@compiled
def _accepts(k: np.uint64, rest: np.uint64, top: np.uint64, halves: Halves, cursor: Cursor) -> bool:
    """Return True with probability exp(-x (2k + x) / 2), x = rest / top: k + 1 coins of the (k+1)-th root."""
    left = k + _ONE
    while left > _ZERO and _root_accepts(k, rest, top, halves, cursor):
        left -= _ONE
    return bool(left == _ZERO)


@inlined
def _root_accepts(k: np.uint64, rest: np.uint64, top: np.uint64, halves: Halves, cursor: Cursor) -> bool:
    """Return True with probability exp(-x y), y = (2k + x) / (2k + 2), by the series of `bits.exp_minus`."""
    n = _ONE
    while (
        (n == _ONE or happens(_ONE, n, halves, cursor))
        and happens(rest, top, halves, cursor)
        and _partly(k, rest, top, halves, cursor)
    ):
        n += _ONE
    return bool((n & _ONE) == _ONE)


@inlined
def _partly(k: np.uint64, rest: np.uint64, top: np.uint64, halves: Halves, cursor: Cursor) -> bool:
    """Return True with probability (2k + x) / (2k + 2): of 2k + 2 parts, 2k count and one counts with x."""
    part = below(k + k + _TWO, halves, cursor)
    return bool(part < k + k) or (part == k + k and happens(rest, top, halves, cursor))
