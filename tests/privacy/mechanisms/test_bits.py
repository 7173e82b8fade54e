import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.privacy.mechanisms import discrete_gaussian, discrete_laplace, permute_and_flip
from privet.privacy.mechanisms.bits import U64, below, compiled, exp_minus, exp_minus_one, fill
from privet.rng import SeededNoise
from tests.loops import loop_over
from tests.privacy.mechanisms import reference


class Dripping:
    """The words of a seed, but never more than ``most`` at a time."""

    secure = False

    def __init__(self, seed, most):
        self._noise, self._most = SeededNoise(seed), most

    def words(self, n):
        return self._noise.words(min(n, self._most))


class Counting(SeededNoise):
    """Adds up how many words were asked for."""

    asked = 0

    def words(self, n):
        self.asked += n
        return super().words(n)


@compiled
def fill_below(halves, out, done, m):
    cursor = np.zeros(1, dtype=np.int64)
    for i in range(done, out.size):
        start = cursor[0]
        out[i] = np.int64(below(m, halves, cursor))
        if cursor[0] > halves.size:
            return i, start
    return out.size, cursor[0]


@compiled
def fill_exp(halves, out, done, a, b):
    cursor = np.zeros(1, dtype=np.int64)
    for i in range(done, out.size):
        start = cursor[0]
        out[i] = exp_minus_one(halves, cursor) if a == b else exp_minus(a, b, halves, cursor)
        if cursor[0] > halves.size:
            return i, start
    return out.size, cursor[0]


def filled(kernel, n, *parameters, noise):
    out = np.full(n, -(2**63), dtype=np.int64)
    fill(kernel, out, *parameters, words_each=2.0, noise=noise)
    return out


def coins(seed):
    """The halves of one seed's words, fetched in blocks of any size: the stream is the same."""

    def halves():
        noise = SeededNoise(seed)
        while True:
            yield from noise.words(4096).view(np.uint16).tolist()

    return reference.Coins(halves())


def until_kept(attempt, *arguments):
    while (value := attempt(*arguments)) is None:
        pass
    return value


MODULI = [1, 2, 3, 5040, 8191, 8192, 8193, 65536, 10**6, 2**32 - 5, 2**32, 2**32 + 1, 3 * 2**38, 2**41]


@pytest.mark.parametrize("m", MODULI)
def test_uniform_integers_agree_with_their_twin_bit_for_bit(m):
    twin = coins(5)
    assert_array_equal(filled(fill_below, 2000, U64(m), noise=SeededNoise(5)), [twin.below(m) for _ in range(2000)])


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 2), (1, 1), (3, 7), (9_999, 10_000), (5 * 2**36, 2**39)])
def test_coins_of_exp_agree_with_their_twin_bit_for_bit(a, b):
    twin = coins(6)
    expected = [twin.exp_minus_one() if a == b else twin.exp_minus(a, b) for _ in range(5000)]
    assert_array_equal(filled(fill_exp, 5000, U64(a), U64(b), noise=SeededNoise(6)), expected)


SCALES = [
    Fraction(1, 2),
    Fraction(10),
    Fraction(73, 10),
    Fraction(10_000),
    Fraction(2**39 + 1),
    Fraction(1, 2**20),
]


@pytest.mark.parametrize("scale", SCALES)
def test_laplace_noise_agrees_with_its_twin_bit_for_bit(scale):
    twin = coins(7)
    noise = filled(discrete_laplace._fill, 1000, U64(scale.numerator), U64(scale.denominator), noise=SeededNoise(7))
    assert_array_equal(noise, [until_kept(reference.laplace_attempt, scale, twin) for _ in range(1000)])


@pytest.mark.parametrize("sigma", [*SCALES, Fraction(1, 3), Fraction(10_099, 9_999)])
def test_gaussian_noise_agrees_with_its_twin_bit_for_bit(sigma):
    twin = coins(8)
    noise = filled(discrete_gaussian._fill, 1000, U64(sigma.numerator), U64(sigma.denominator), noise=SeededNoise(8))
    assert_array_equal(noise, [until_kept(reference.gaussian_attempt, sigma, twin) for _ in range(1000)])


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(7, 300), Fraction(1, 10**9), Fraction(2**20)])
@pytest.mark.parametrize("gaps", [[0], [0, 3, 1, 0], [5, 40, 0, 17, 2**63], list(range(300))])
def test_choices_agree_with_their_twin_bit_for_bit(rate, gaps):
    twin = coins(9)
    parameters = np.array(gaps, dtype=np.uint64), U64(rate.numerator), U64(rate.denominator)
    chosen = filled(permute_and_flip._fill, 200, *parameters, noise=SeededNoise(9))
    assert_array_equal(chosen, [reference.permute_and_flip_once(gaps, rate, twin) for _ in range(200)])


@loop_over("most", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("kernel", "parameters"),
    [(fill_below, (U64(2**40 + 1),)), (fill_exp, (U64(2), U64(3))),
     (discrete_laplace._fill, (U64(73), U64(10))), (discrete_gaussian._fill, (U64(7), U64(3))),
     (permute_and_flip._fill, (np.arange(50, dtype=np.uint64), U64(1), U64(9)))],
    ids=["below", "exp", "laplace", "gaussian", "choice"],
)  # fmt: skip
def test_a_stream_cut_into_drops_gives_the_samples_of_one_big_buffer(kernel, parameters, most):
    at_once = filled(kernel, 300, *parameters, noise=SeededNoise(11))
    in_drops = filled(kernel, 300, *parameters, noise=Dripping(11, most))
    assert_array_equal(in_drops, at_once)


def test_small_requests_ask_for_few_words_and_large_ones_for_little_more_than_needed():
    few, many = Counting(1), Counting(1)
    discrete_laplace.discrete_laplace([0], epsilon=0.1, sensitivity=1, noise=few)
    discrete_laplace.discrete_laplace(np.zeros(100_000, dtype=np.int64), epsilon=0.1, sensitivity=1, noise=many)
    assert few.asked <= 40
    assert many.asked <= 350_000


def test_one_number_below_7_factorial_holds_six_coins():
    # Of the 5040 numbers, 0 alone leaves the answer open; 5040 (1/2! - 1/3! + ... - 1/7!) = 1854 say yes.
    def answer(drawn):
        half = math.ceil(drawn * 65536 / 5040 + 0.01)  # a half that Lemire's multiplication maps to ``drawn``
        assert half * 5040 >> 16 == drawn
        return fill_once(half)

    def fill_once(half):
        out = np.empty(1, dtype=np.int64)
        done, _ = fill_exp(np.array([half, 9, 9], dtype=np.uint16), out, 0, U64(1), U64(1))
        assert done == 1
        return out[0]

    assert sum(answer(drawn) for drawn in range(1, 5040)) == 1854
