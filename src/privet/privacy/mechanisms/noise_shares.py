"""Shares of discrete Laplace noise: what each of several parties adds, so that their sum has one curator's noise."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privet.checks import check_whole
from privet.privacy import events
from privet.privacy.mechanisms.bits import (
    U64,
    Cursor,
    Halves,
    below,
    compiled,
    exp_minus,
    exp_minus_one,
    exp_minus_whole,
    fill,
    happens,
    inlined,
)
from privet.privacy.mechanisms.rational import check_epsilon, exact_integers, positive_integer, scale_at_least
from privet.rng import NoiseSource, SystemNoise

MAX_PARTIES = 10_000

_ZERO, _ONE, _TWO = U64(0), U64(1), U64(2)

# Keeps top * wholes below 2**62. It is reached with probability exp(-2**21), which is negligible.
_MOST_WHOLES = U64(2**21)


def noise_share(
    exact: ArrayLike,
    *,
    epsilon: float,
    sensitivity: int,
    honest: int,
    parties: int,
    what: str = "counts",
    noise: NoiseSource | None = None,
) -> tuple[NDArray[np.int64], events.Event]:
    """Add one party's share of discrete Laplace noise to its part of a sum.

    Parameters
    ----------
    exact : array of integers, any shape
        One party's part of the sum.
    epsilon : float
        From 1e-6 to infinity. Infinity adds no noise, and the receipt says so.
    sensitivity : int
        How far one more or less row can move the sum, added up over all its values.
    honest, parties : int
        ``honest`` of the ``parties`` shares together are the noise that epsilon requires. The others may be missing, or
        known to those who see the sum.
    what : str
        The receipt's name for the values.
    noise : NoiseSource, optional
        The source of bits; by default the system's secure generator.

    Returns
    -------
    partly_noisy : int64 array of the same shape
        Not private by itself: it may leave only within a sum that nobody can take apart.
    event : the receipt of the sum

    Privacy
    -------
    The sum over all parties is ``epsilon``-DP if at least ``honest`` of them added their shares in secret and only the
    sum is seen. Argument: noise_shares.md.
    """
    epsilon, sensitivity = check_epsilon(epsilon), positive_integer("sensitivity", sensitivity)
    parties = check_whole("parties", parties, least=1, most=MAX_PARTIES)
    honest = check_whole("honest", honest, least=1, most=parties)
    values = exact_integers(exact)
    if math.isinf(epsilon):
        return values, events.NoNoise(what)
    scale = scale_at_least(sensitivity, epsilon)
    noise = noise or SystemNoise()
    share = np.empty(values.size, dtype=np.int64)
    terms = U64(scale.numerator), U64(scale.denominator), U64(honest)
    fill(_fill, share, *terms, words_each=_words_each(float(scale), honest), noise=noise)
    event = events.NoiseShares(what, epsilon, sensitivity, scale, honest, parties)
    return values + share.reshape(values.shape), events.drawn_from(noise, event)


def _words_each(scale: float, honest: int) -> float:
    """Return about how many words a share takes, as measured: a few per halving, and more where jumps are frequent."""
    return 2.6 + (1.4 + 8.0 / honest) * max(0.0, math.log2(scale))


@compiled
def _fill(
    halves: Halves, out: NDArray[np.int64], done: int, top: np.uint64, bottom: np.uint64, honest: np.uint64
) -> tuple[int, int]:
    """Fill ``out[done:]`` with shares of noise of scale ``top / bottom``, as `bits.fill` asks."""
    cursor = np.zeros(1, dtype=np.int64)
    for i in range(done, out.size):
        start = cursor[0]
        above = _negative_binomial(top, bottom, honest, halves, cursor)
        out[i] = above - _negative_binomial(top, bottom, honest, halves, cursor)
        if cursor[0] > halves.size:
            return i, start
    return out.size, cursor[0]


@compiled
def _negative_binomial(
    top: np.uint64, bottom: np.uint64, honest: np.uint64, halves: Halves, cursor: Cursor
) -> np.int64:
    """Draw from the negative binomial distribution of shape 1 / honest and q = exp(-bottom / top).

    While q is above exp(-1), the distribution for q is that for q^2 plus a few jumps: noise_shares.md, "Halving".
    """
    total = _ZERO
    while bottom + bottom <= top:
        jumps = _level(bottom, top, honest, halves, cursor)
        bottom += bottom
        while jumps > _ZERO:
            total += _ONE + _geometric(top, bottom, halves, cursor)
            jumps -= _ONE
    return np.int64(total + _last(bottom, top, honest, halves, cursor))


@inlined
def _level(a: np.uint64, b: np.uint64, honest: np.uint64, halves: Halves, cursor: Cursor) -> np.uint64:
    """Draw from the negative binomial distribution of shape 1 / honest and p = q / (1 + q), q = exp(-a/b)."""
    # Most draws are 0: one number decides between 0 and more, in the proportion honest : q.
    while below(honest + _ONE, halves, cursor) == _ZERO:
        if not exp_minus(a, b, halves, cursor):
            continue
        k = _ONE
        while k > _ZERO and _odds(a, b, halves, cursor):
            k = k + _ONE if _goes_on(k, honest, halves, cursor) else _ZERO
        if k > _ZERO:
            return k
    return _ZERO


@inlined
def _last(a: np.uint64, b: np.uint64, honest: np.uint64, halves: Halves, cursor: Cursor) -> np.uint64:
    """Draw from the negative binomial distribution of shape 1 / honest and q = exp(-a/b), where a may exceed b."""
    whole, rest = a // b, a % b
    k = _ZERO
    while exp_minus_whole(whole, halves, cursor) and (rest == _ZERO or exp_minus(rest, b, halves, cursor)):
        k = k + _ONE if _goes_on(k, honest, halves, cursor) else _ZERO
    return k


@inlined
def _goes_on(k: np.uint64, honest: np.uint64, halves: Halves, cursor: Cursor) -> bool:
    """Return True with probability (k + 1/honest) / (k + 1); otherwise the draw starts again."""
    return happens(k * honest + _ONE, (k + _ONE) * honest, halves, cursor)


@inlined
def _odds(a: np.uint64, b: np.uint64, halves: Halves, cursor: Cursor) -> bool:
    """Return True with probability q / (1 + q), q = exp(-a/b): of 1 and q in equal parts, q is drawn."""
    while below(_TWO, halves, cursor) == _ONE:
        if exp_minus(a, b, halves, cursor):
            return True
    return False


@compiled
def _geometric(top: np.uint64, bottom: np.uint64, halves: Halves, cursor: Cursor) -> np.uint64:
    """Draw a geometric variable of q = exp(-bottom / top): Canonne, Kamath and Steinke (2020), algorithm 2."""
    part = below(top, halves, cursor)
    while not exp_minus(part, top, halves, cursor):
        part = below(top, halves, cursor)
    wholes = _ZERO
    while wholes < _MOST_WHOLES and exp_minus_one(halves, cursor):
        wholes += _ONE
    return (part + top * wholes) // bottom
