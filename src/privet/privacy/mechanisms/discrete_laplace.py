"""The discrete Laplace mechanism: whole noise for whole counts, at a cost of pure epsilon."""

import math

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
    exp_minus_one,
    inlined,
    with_noise,
)
from privet.privacy.mechanisms.rational import check_epsilon, exact_integers, positive_integer, scale_at_least
from privet.rng import NoiseSource, SystemNoise

_ZERO, _ONE = U64(0), U64(1)

# Keeps top * wholes below 2**62. It is reached with probability exp(-2**21), which is negligible.
_MOST_WHOLES = U64(2**21)


def discrete_laplace(
    exact: ArrayLike, *, epsilon: float, sensitivity: int, what: str = "counts", noise: NoiseSource | None = None
) -> tuple[NDArray[np.int64], events.Event]:
    """Add discrete Laplace noise to ``exact`` and return a receipt.

    Parameters
    ----------
    exact : array of integers, any shape
    epsilon : float
        From 1e-6 to infinity. Infinity adds no noise, and the receipt says so.
    sensitivity : int
        How far one more or less row can move ``exact``, summed over all its values.
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
    One row more or less moves ``exact`` by at most ``sensitivity`` in L1 (the caller's promise); the
    release is then ``epsilon``-DP, if ``noise`` is secure. Argument: discrete_laplace.md.
    """
    epsilon, sensitivity = check_epsilon(epsilon), positive_integer("sensitivity", sensitivity)
    if math.isinf(epsilon):
        return exact_integers(exact), events.NoNoise(what)
    scale = scale_at_least(sensitivity, epsilon)
    noise = noise or SystemNoise()
    # Measured: 3.2 words a sample up to a top of 2**12, 4 to 5 up to 2**31, 7 to 10 beyond.
    words_each = 3.3 if scale.numerator <= 2**12 else 4.5 if scale.numerator <= 2**31 else 8.0
    noisy = with_noise(_fill, exact_integers(exact), scale, words_each=words_each, noise=noise)
    return noisy, events.drawn_from(noise, events.DiscreteLaplace(what, epsilon, sensitivity, scale))


@compiled
def _fill(halves: Halves, out: NDArray[np.int64], done: int, top: np.uint64, bottom: np.uint64) -> tuple[int, int]:
    """Fill ``out[done:]`` with noise of scale ``top / bottom``, as `bits.fill` asks."""
    cursor = np.zeros(1, dtype=np.int64)
    for i in range(done, out.size):
        start = cursor[0]
        out[i] = _sample(top, bottom, halves, cursor)
        if cursor[0] > halves.size:
            return i, start
    return out.size, cursor[0]


@inlined
def _sample(top: np.uint64, bottom: np.uint64, halves: Halves, cursor: Cursor) -> np.int64:
    """Draw one noise: Canonne, Kamath and Steinke (2020), algorithm 2, with its sign drawn first."""
    while True:
        both = below(top + top, halves, cursor)
        part, negative = both >> _ONE, (both & _ONE) == _ONE
        if not exp_minus(part, top, halves, cursor):
            continue
        wholes = _ZERO
        while wholes < _MOST_WHOLES and exp_minus_one(halves, cursor):
            wholes += _ONE
        size = np.int64((part + top * wholes) // bottom)
        if size == 0 and negative:  # there is one zero, not two
            continue
        return -size if negative else size
