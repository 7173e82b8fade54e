"""Permute-and-flip: choose one candidate by its score, at a cost of pure epsilon."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privet.errors import ParameterError
from privet.privacy import events
from privet.privacy.mechanisms.bits import U64, Cursor, Halves, below, compiled, exp_minus, exp_minus_whole, fill
from privet.privacy.mechanisms.rational import check_epsilon, exact_integers, positive_integer, rate_at_most
from privet.rng import NoiseSource, SystemNoise

_ZERO, _ONE = U64(0), U64(1)


def permute_and_flip(
    exact_scores: ArrayLike,
    *,
    epsilon: float,
    sensitivity: int,
    monotone: bool = False,
    what: str = "selection",
    noise: NoiseSource | None = None,
) -> tuple[int, events.Event]:
    """Choose a candidate, with higher probability for higher scores, and return a receipt.

    Parameters
    ----------
    exact_scores : 1-D array of integers
        One score per candidate, in whole steps of the caller's grid.
    epsilon : float
        From 1e-6 to infinity; infinity takes the best score, ties at random, and the receipt says so.
    sensitivity : int
        How far one more or less row can move any one score, in the same steps, rounding to the grid included.
    monotone : bool
        Whether one more row never lowers a score, or never raises one. The rate may then be twice as high.
    what : str
        The receipt's name for the choice.
    noise : NoiseSource, optional
        The source of bits; by default the system's secure generator.

    Returns
    -------
    index : int
    event : the receipt

    Privacy
    -------
    One row more or less moves each score by at most ``sensitivity``, and all in the same direction if
    ``monotone`` (the caller's promises); the candidates themselves are public. The choice is then
    ``epsilon``-DP, if ``noise`` is secure. Argument: permute_and_flip.md.
    """
    epsilon, sensitivity = check_epsilon(epsilon), positive_integer("sensitivity", sensitivity)
    gaps, noise = _gaps(exact_scores), noise or SystemNoise()
    if math.isinf(epsilon):
        best = np.flatnonzero(gaps == 0)
        return int(best[_choose(np.zeros_like(gaps[best]), 1, 1, noise)]), events.NoNoise(what)
    rate = rate_at_most(sensitivity, epsilon, monotone=monotone)
    index = _choose(gaps, rate.numerator, rate.denominator, noise)
    event = events.PermuteAndFlip(what, epsilon, sensitivity, gaps.size, bool(monotone), rate)
    return index, events.drawn_from(noise, event)


def permute_and_flip_each(
    exact_scores: ArrayLike,
    allowed: NDArray[np.bool_],
    *,
    epsilon: float,
    sensitivity: int,
    monotone: bool = False,
    what: str = "selection",
    noise: NoiseSource | None = None,
) -> tuple[NDArray[np.int64], events.Event]:
    """Choose one of the ``allowed`` candidates in every line of ``exact_scores``. Lines are about disjoint rows.

    Parameters
    ----------
    exact_scores : 2-D array of integers
        One line per choice, one column per candidate.
    allowed : bool array of the same shape
        Public; at least one candidate per line.
    epsilon, sensitivity, monotone, what, noise
        As in `permute_and_flip`.

    Privacy
    -------
    Lines are about disjoint rows (the caller's promise), so one row more or less moves the scores of one line, and
    all choices together cost ``epsilon`` once. Where lines fall into groups, each of disjoint rows, the receipt is for
    one group and the caller counts it once a group. Argument: permute_and_flip.md.
    """
    epsilon, sensitivity = check_epsilon(epsilon), positive_integer("sensitivity", sensitivity)
    scores, noise = exact_integers(np.asarray(exact_scores)), noise or SystemNoise()
    chosen = np.empty(len(scores), dtype=np.int64)
    best = np.where(allowed, scores, np.iinfo(np.int64).min).max(axis=1, keepdims=True)
    gaps = np.where(allowed, best.astype(np.uint64) - scores.astype(np.uint64), np.uint64(0))
    event: events.Event = events.NoNoise(what)
    rate = Fraction(1)
    if math.isinf(epsilon):
        allowed = allowed & (gaps == 0)
    else:
        rate = rate_at_most(sensitivity, epsilon, monotone=monotone)
        most = int(allowed.sum(axis=1).max(initial=1))
        event = events.PermuteAndFlip(what, epsilon, sensitivity, most, bool(monotone), rate)
    fill(
        _fill_each, chosen, gaps, allowed, U64(rate.numerator), U64(rate.denominator),
        words_each=2.0 * gaps.shape[1], noise=noise,
    )  # fmt: skip
    return chosen, event if math.isinf(epsilon) else events.drawn_from(noise, event)


def _gaps(exact_scores: ArrayLike) -> NDArray[np.uint64]:
    """Return how far each score is below the best."""
    scores = np.asarray(exact_scores)
    if scores.ndim != 1 or scores.size == 0:
        raise ParameterError(
            f"scores of shape {scores.shape} offer no choice; pass one score for each of 1 or more candidates"
        )
    values = exact_integers(scores)
    # Both lie within 2**62 of 0, so their difference fits; modulo 2**64 it is the right one.
    return np.max(values).astype(np.uint64) - values.astype(np.uint64)


def _choose(gaps: NDArray[np.uint64], top: int, bottom: int, noise: NoiseSource) -> int:
    chosen = np.empty(1, dtype=np.int64)
    # Two words per candidate are enough even if all are tried; `fill` fetches more where coins are long.
    fill(_fill, chosen, gaps, U64(top), U64(bottom), words_each=2.0 * gaps.size, noise=noise)
    return int(chosen[0])


@compiled
def _fill(
    halves: Halves, out: NDArray[np.int64], done: int, gaps: NDArray[np.uint64], top: np.uint64, bottom: np.uint64
) -> tuple[int, int]:
    """Fill ``out[done:]`` with choices at rate ``top / bottom``, as `bits.fill` asks."""
    cursor = np.zeros(1, dtype=np.int64)
    for i in range(done, out.size):
        start = cursor[0]
        out[i] = _sample(gaps, top, bottom, halves, cursor)
        if cursor[0] > halves.size:
            return i, start
    return out.size, cursor[0]


@compiled
def _fill_each(
    halves: Halves,
    out: NDArray[np.int64],
    done: int,
    gaps: NDArray[np.uint64],
    allowed: NDArray[np.bool_],
    top: np.uint64,
    bottom: np.uint64,
) -> tuple[int, int]:
    """Fill ``out[done:]`` with a choice a line, as `bits.fill` asks."""
    cursor = np.zeros(1, dtype=np.int64)
    for i in range(done, out.size):
        start = cursor[0]
        candidates = np.flatnonzero(allowed[i])
        out[i] = candidates[_sample(gaps[i][candidates], top, bottom, halves, cursor)]
        if cursor[0] > halves.size:
            return i, start
    return out.size, cursor[0]


@compiled
def _sample(gaps: NDArray[np.uint64], top: np.uint64, bottom: np.uint64, halves: Halves, cursor: Cursor) -> int:
    """Choose once: McKenna and Sheldon (2020), algorithm 1, shuffling only as far as is needed."""
    order = np.arange(gaps.size)
    for last in range(gaps.size - 1, -1, -1):
        pick = below(U64(last + 1), halves, cursor)
        candidate = order[pick]
        if _heads(gaps[candidate], top, bottom, halves, cursor):
            break
        order[pick] = order[last]
    return int(candidate)


@compiled
def _heads(gap: np.uint64, top: np.uint64, bottom: np.uint64, halves: Halves, cursor: Cursor) -> bool:
    """Return True with probability exp(-gap * top / bottom).

    ``gap * top`` may not fit in 64 bits, so whole multiples of ``bottom`` are taken out of ``gap`` first.
    """
    multiples = gap // bottom
    while multiples > _ZERO and exp_minus_whole(top, halves, cursor):
        multiples -= _ONE
    if multiples > _ZERO:
        return False
    rest = (gap % bottom) * top
    if not exp_minus_whole(rest // bottom, halves, cursor):
        return False
    return rest % bottom == _ZERO or exp_minus(rest % bottom, bottom, halves, cursor)
