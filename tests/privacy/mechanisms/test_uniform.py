"""Uniform integers have no modulo bias: counted over every half there is, at borders, and by chi-square."""

import numpy as np
from numpy.testing import assert_array_equal
from scipy.stats import chisquare

from privet.privacy.mechanisms.bits import U64, compiled
from privet.rng import SystemNoise
from tests.loops import loop_over
from tests.privacy.mechanisms.test_bits import fill_below, filled

EVERY_HALF = np.arange(2**16, dtype=np.uint16)
NARROW = [*range(1, 66), *(2**k + d for k in range(7, 13) for d in (-1, 0, 1)), 5040, 5041, 6553, 8191, 8192]
WIDE = [8193, 2**15 + 1, 2**16 - 1, 2**16, 2**16 + 1, 3 * 2**20, 2**31 - 1, 2**31 + 1, 3 * 2**30, 2**32 - 1, 2**32]
WIDEST = [2**32 + 1, 2**33 - 1, 2**33 + 1, 3 * 2**38, 2**41, 2**47 + 1, 2**48 - 1, 2**48]


@compiled
def fill_modulo(halves, out, done, m):
    """The planted fault: what is left after division."""
    for i in range(done, min(out.size, halves.size)):
        out[i] = np.int64(U64(halves[i]) % m)
    return min(out.size, halves.size), min(out.size, halves.size)


def outcomes(kernel, m, halves=EVERY_HALF):
    """Return what ``kernel`` makes of these halves, read once from the first to the last."""
    out = np.empty(2 * halves.size, dtype=np.int64)
    done, _ = kernel(halves, out, 0, U64(m))
    return out[:done]


def halves_of(number, n):
    return [number >> 16 * i & 0xFFFF for i in range(n)]


@loop_over("m", NARROW)
def test_of_all_halves_each_number_gets_equally_many(m):
    assert_array_equal(np.bincount(outcomes(fill_below, m), minlength=m), np.full(m, 2**16 // m))


def test_the_remainder_of_a_division_would_be_seen_to_favour_small_numbers():
    counts = np.bincount(outcomes(fill_modulo, 5040), minlength=5040)
    assert set(counts[:16]) == {14}  # 2**16 = 13 * 5040 + 16
    assert set(counts[16:]) == {13}


@loop_over("m", WIDE)
def test_of_all_words_each_number_gets_equally_many(m):
    # The words x of a number v have x m in [v 2**32, (v + 1) 2**32). From one to the next the low half of x m grows by
    # m, so only the first can have one that is too low; all others are kept.
    surplus, share = 2**32 % m, 2**32 // m
    for v in {0, 1, m // 2, m - 2, m - 1, *np.random.default_rng(3).integers(0, m, 50).tolist()}:
        first, beyond = -(-v * 2**32 // m), -(-(v + 1) * 2**32 // m)
        if first == beyond:
            continue
        kept_first = first * m % 2**32 >= surplus
        assert beyond - first - (not kept_first) == share
        drawn = outcomes(fill_below, m, np.array(halves_of(first, 2), dtype=np.uint16)).tolist()
        assert drawn == ([v] if kept_first else [])
        last = outcomes(fill_below, m, np.array(halves_of(beyond - 1, 2), dtype=np.uint16)).tolist()
        assert last == ([v] if beyond - 1 > first or kept_first else [])


@loop_over("m", WIDEST)
def test_long_numbers_are_taken_as_they_are_or_drawn_anew(m):
    for number in {0, 1, m // 2, m - 1, m, (1 << (m - 1).bit_length()) - 1}:
        drawn = outcomes(fill_below, m, np.array(halves_of(number, 3), dtype=np.uint16)).tolist()
        masked = number % (1 << (m - 1).bit_length())
        assert drawn == ([masked] if masked < m else [])


def p_value(draws, m, n_bins=64):
    """Chi-square over ranges of equal width; the ranges of a small m are its numbers."""
    n_bins = min(m, n_bins)
    borders = np.array([-(-m * i // n_bins) for i in range(n_bins + 1)], dtype=np.int64)
    counts = np.histogram(draws, borders)[0]
    return chisquare(counts, np.diff(borders) / m * draws.size).pvalue


@loop_over("m", [3, 5, 2**13 + 1, 3 * 2**14, 2**31 + 1, 3 * 2**30, 2**32 + 1, 3 * 2**38, 2**47 + 1])
def test_numbers_just_above_a_power_of_two_are_evenly_spread(m):
    assert p_value(filled(fill_below, 100_000, U64(m), noise=SystemNoise()), m) > 1e-9


def test_the_spread_of_remainders_would_be_rejected():
    words = SystemNoise().words(100_000).astype(np.int64)
    assert p_value(words % (3 * 2**30), 3 * 2**30) < 1e-6
    assert p_value(words & 0xFFFF, 2**16) > 1e-9
    assert p_value((words & 0xFFFF) % 40_000, 40_000) < 1e-6
