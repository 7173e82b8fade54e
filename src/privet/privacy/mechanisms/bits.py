"""Exact Bernoulli draws ("coins") from uniform bits, by integer arithmetic only.

Nothing here is a float, so nothing is rounded: given uniform bits, ``below(m)`` is uniform and ``exp_minus`` succeeds
with probability exactly exp(-a/b). The series for exp are those of Canonne, Kamath and Steinke (2020), "The discrete
Gaussian for differential privacy", algorithm 1, after von Neumann.

The bits arrive in a buffer of 16-bit halves of words; ``cursor[0]`` is the next one to read. A sample is a function of
the bits it reads. If it were restarted on other bits whenever the buffer ends, long samples would be too rare. So a
kernel whose buffer ends returns where that sample began, and `fill` replays it on the same halves, with new ones after
them.

Every number in a kernel is ``uint64``: numba adds signed to unsigned integers as floats.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from privet.rng import NoiseSource

Halves = NDArray[np.uint16]
Cursor = NDArray[np.int64]
_Function = TypeVar("_Function", bound=Callable[..., Any])

U64 = np.uint64
_ZERO, _ONE, _TWO = U64(0), U64(1), U64(2)
_2_16, _2_32 = U64(2**16), U64(2**32)
_LOW_16, _LOW_32 = U64(2**16 - 1), U64(2**32 - 1)
_16, _30, _32, _48 = U64(16), U64(30), U64(32), U64(48)

# One half is enough for draws below this. It rejects at most one in eight, and one in 4096 at 7!.
NARROW = U64(2**13)

# Fits the second-level cache of common processors, so that words are read soon after they are made.
_MOST_WORDS = 2**16


def compiled(function: _Function) -> _Function:
    """Compile ``function`` on its first call."""
    return cast("_Function", numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def inlined(function: _Function) -> _Function:
    """Compile ``function`` into its callers: passing two arrays would cost more than most coins."""
    return cast("_Function", numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=True)(function))


def fill(
    kernel: Callable[..., tuple[int, int]],
    out: NDArray[np.int64],
    *parameters: object,
    words_each: float,
    noise: NoiseSource,
) -> None:
    """Let ``kernel`` fill the flat array ``out``, and fetch words while it needs more.

    ``kernel(halves, out, done, *parameters)`` writes ``out[done:]`` as far as the halves last. It returns how many
    values are written and where the halves of the next one begin.
    """
    done, unread = 0, np.empty(0, dtype=np.uint16)
    while done < out.size:
        expected = min(int(words_each * (out.size - done)) + 16, _MOST_WORDS)
        # At least half as many as are replayed, so that a very long sample is replayed only a few times.
        fresh = noise.words(max(expected, unread.size // 4))
        halves = np.concatenate([unread, fresh.view(np.uint16)])
        done, read = kernel(halves, out, done, *parameters)
        unread = halves[read:]


def with_noise(
    kernel: Callable[..., tuple[int, int]],
    exact: NDArray[np.int64],
    scale: Fraction,
    *,
    words_each: float,
    noise: NoiseSource,
) -> NDArray[np.int64]:
    """Return ``exact`` plus the noise that ``kernel`` draws for every value at ``scale``."""
    noisy = np.empty(exact.size, dtype=np.int64)
    fill(kernel, noisy, U64(scale.numerator), U64(scale.denominator), words_each=words_each, noise=noise)
    noisy += exact.ravel()
    return noisy.reshape(exact.shape)


@inlined
def next_half(halves: Halves, cursor: Cursor) -> np.uint64:
    """Return the next 16 bits; past the end of the buffer, filler that is never released.

    The filler only lets a sample without bits end. ``cursor`` then points past the buffer, and the kernel discards that
    sample and returns to its beginning.
    """
    position = cursor[0]
    cursor[0] = position + 1
    if position < halves.size:
        return U64(halves[position])
    mixed = (U64(position) + _ONE) * U64(0x9E3779B97F4A7C15)  # splitmix64, so that every loop ends
    mixed = (mixed ^ (mixed >> _30)) * U64(0xBF58476D1CE4E5B9)
    return mixed >> _48


@inlined
def below(m: np.uint64, halves: Halves, cursor: Cursor) -> np.uint64:
    """Return a uniform integer from 0 to ``m - 1``, for 0 < m <= 2**48."""
    if m > NARROW:
        return _below_wide(m, halves, cursor)
    # Lemire (2019), "Fast random integer generation in an interval": of the 2**16 products, those whose low half is
    # below 2**16 mod m must be rejected for equal shares.
    product = next_half(halves, cursor) * m
    if (product & _LOW_16) < m:
        surplus = (_2_16 - m) % m
        while (product & _LOW_16) < surplus:
            product = next_half(halves, cursor) * m
    return product >> _16


@compiled
def _below_wide(m: np.uint64, halves: Halves, cursor: Cursor) -> np.uint64:
    if m > _2_32:
        return _below_widest(m, halves, cursor)
    surplus = (_2_32 - m) % m
    while True:
        product = (next_half(halves, cursor) | (next_half(halves, cursor) << _16)) * m
        if (product & _LOW_32) >= surplus:
            return product >> _32


@compiled
def _below_widest(m: np.uint64, halves: Halves, cursor: Cursor) -> np.uint64:
    mask = m - _ONE
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> U64(shift)
    while True:
        drawn = next_half(halves, cursor)
        drawn |= next_half(halves, cursor) << _16
        drawn |= next_half(halves, cursor) << _32
        drawn &= mask
        if drawn < m:
            return drawn


@inlined
def happens(numerator: np.uint64, denominator: np.uint64, halves: Halves, cursor: Cursor) -> bool:
    """Return True with probability ``numerator / denominator``."""
    return bool(below(denominator, halves, cursor) < numerator)


@inlined
def exp_minus_one(halves: Halves, cursor: Cursor) -> bool:
    """Return True with probability exp(-1).

    Toss coins of 1/2, 1/3, 1/4, ...; the first ``k - 1`` all succeed with probability 1/k!, so the first failure is at
    an odd k with probability 1/2! - 1/3! + 1/4! - ... = exp(-1). A number below 7! gives the first six coins at once:
    those up to 1/k all succeed where it is below 7!/k!.
    """
    drawn = below(U64(5040), halves, cursor)
    if drawn != _ZERO:
        third = (drawn < U64(2520)) & (drawn >= U64(840))
        fifth = (drawn < U64(210)) & (drawn >= U64(42))
        return bool(third | fifth | (drawn < U64(7)))
    k = U64(8)
    while happens(_ONE, k, halves, cursor):
        k += _ONE
    return bool((k & _ONE) == _ONE)


@inlined
def exp_minus(a: np.uint64, b: np.uint64, halves: Halves, cursor: Cursor) -> bool:
    """Return True with probability exp(-a/b), for 0 <= a <= b <= 2**48.

    Like `exp_minus_one`, with coins of a/(b k). Each is a coin of 1/k and a coin of a/b, so that no term grows.
    """
    if not happens(a, b, halves, cursor):
        return True
    k = _TWO
    while happens(_ONE, k, halves, cursor) and happens(a, b, halves, cursor):
        k += _ONE
    return bool((k & _ONE) == _ONE)


@inlined
def exp_minus_whole(times: np.uint64, halves: Halves, cursor: Cursor) -> bool:
    """Return True with probability exp(-times).

    A while loop, since numba's ``range`` treats 2**63 as a negative number.
    """
    while times > _ZERO and exp_minus_one(halves, cursor):
        times -= _ONE
    return bool(times == _ZERO)
