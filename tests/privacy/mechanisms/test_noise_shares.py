import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.errors import ParameterError
from privet.privacy import events
from privet.privacy.mechanisms import noise_shares
from privet.privacy.mechanisms.bits import U64
from privet.privacy.mechanisms.noise_shares import noise_share
from privet.rng import SeededNoise
from tests.loops import loop_over
from tests.privacy.mechanisms import reference
from tests.privacy.mechanisms.test_bits import Dripping, coins, filled
from tests.privacy.mechanisms.test_exactness import Believed, law_of

REACH = 200


def negative_binomial(q, honest):
    """The law itself, by its recursion: P(k + 1) / P(k) = q (k + 1/honest) / (k + 1)."""
    law = [(1 - q) ** (1 / honest)]
    for k in range(REACH - 1):
        law.append(law[-1] * q * (k + 1 / honest) / (k + 1))
    return np.array(law)


def kept(sampler, *, least=1e-9):
    """The law of what a sampler keeps, its attempts that begin again aside."""
    law, missed = law_of(sampler, coins=WithOdds, least=least)
    weights = np.array([law[k] for k in range(REACH)])
    return weights / weights.sum(), missed / weights.sum()


class WithOdds(Believed):
    """Coins of q / (1 + q) are believed in one step too; every path of one is followed apart."""

    def odds(self, a, b):
        q = math.exp(-a / b)
        return bool(self._next([1 / (1 + q), q / (1 + q)]))


@pytest.mark.parametrize(("a", "b"), [(1, 3), (1, 2), (1, 100)])
def test_every_path_of_the_coin_of_odds_adds_up(a, b):
    law, missed = law_of(lambda coins: coins.odds(a, b), coins=Believed)
    q = math.exp(-a / b)
    assert missed < 1e-6
    assert law[True] == pytest.approx(q / (1 + q), abs=1e-6)


def test_the_first_probabilities_by_hand():
    # Shape 1/2 and q = exp(-2): P(1) / P(0) = q / 2, P(2) / P(1) = q (3/2) / 2, P(3) / P(2) = q (5/2) / 3.
    law, _ = kept(lambda coins: reference.last_attempt(2, 1, 2, coins))
    q = math.exp(-2)
    assert law[1:4] / law[:3] == pytest.approx([q / 2, q * 3 / 4, q * 5 / 6], rel=1e-5)
    assert law[0] == pytest.approx(math.sqrt(1 - q), abs=1e-6)


@pytest.mark.parametrize("honest", [1, 2, 5, 30])
@pytest.mark.parametrize(("a", "b"), [(1, 1), (3, 4), (5, 2)])
def test_every_path_of_the_last_draw_adds_up_to_the_negative_binomial(a, b, honest):
    law, missed = kept(lambda coins: reference.last_attempt(a, b, honest, coins))
    assert law == pytest.approx(negative_binomial(math.exp(-a / b), honest), abs=1e-9 + 4 * missed)


@pytest.mark.parametrize("honest", [1, 2, 5, 30])
@pytest.mark.parametrize(("a", "b"), [(1, 2), (1, 7), (1, 1000)])
def test_every_path_of_the_jumps_adds_up_to_the_negative_binomial_of_odds(a, b, honest):
    law, missed = kept(lambda coins: reference.level_attempt(a, b, honest, coins))
    q = math.exp(-a / b)
    assert missed < 1e-5
    assert law == pytest.approx(negative_binomial(q / (1 + q), honest), abs=1e-9 + 4 * missed)


@pytest.mark.parametrize(("a", "b"), [(1, 2), (2, 7), (2, 3)])
def test_every_path_of_the_geometric_draw_adds_up(a, b):
    law, missed = kept(lambda coins: reference.geometric_attempt(a, b, coins))
    q = math.exp(-a / b)
    assert missed < 1e-5
    assert law == pytest.approx((1 - q) * q ** np.arange(REACH), abs=1e-9 + 4 * missed)


def with_jumps(q, honest):
    """The law of q^2 plus jumps of 1 + a geometric of q^2, as many as the negative binomial of q / (1 + q) says."""
    jump = np.concatenate([[0.0], (1 - q * q) * (q * q) ** np.arange(REACH - 1)])
    of_jumps, total = np.eye(1, REACH)[0], np.zeros(REACH)
    for weight in negative_binomial(q / (1 + q), honest):
        total += weight * of_jumps
        of_jumps = np.convolve(of_jumps, jump)[:REACH]
    return np.convolve(total, negative_binomial(q * q, honest))[:REACH]


@pytest.mark.parametrize("honest", [1, 3, 10])
@pytest.mark.parametrize("scale", [2.0, 5.0, 20.0])
def test_a_law_is_that_of_the_square_and_its_jumps(scale, honest):
    q = math.exp(-1 / scale)
    assert with_jumps(q, honest) == pytest.approx(negative_binomial(q, honest), abs=1e-12)
    assert with_jumps(q, honest) != pytest.approx(negative_binomial(1.001 * q, honest), abs=1e-5)


@pytest.mark.parametrize("honest", [2, 7])
def test_the_whole_draw_follows_its_paths_to_the_negative_binomial(honest):
    # Scale 2 takes one halving. Paths with a probability below 1e-5 are many, and not followed.
    law, missed = law_of(
        lambda coins: reference.negative_binomial(Fraction(2), honest, coins), coins=WithOdds, least=1e-5
    )
    expected = negative_binomial(math.exp(-1 / 2), honest)
    assert missed < 0.06
    for k in range(12):
        assert expected[k] - missed <= law[k] <= expected[k] + 1e-9


@pytest.mark.parametrize("honest", [1, 2, 5, 40])
@pytest.mark.parametrize("scale", [0.7, 3.0, 12.0])
def test_shares_of_all_honest_parties_convolve_to_the_discrete_laplace(scale, honest):
    q = math.exp(-1 / scale)
    one = negative_binomial(q, honest)
    share = np.convolve(one, one[::-1])
    spectrum = np.fft.rfft(share, 2**16) ** honest
    total = np.fft.irfft(spectrum, 2**16)
    middle = (REACH - 1) * honest
    values = np.arange(-20, 21)
    laplace = math.tanh(1 / (2 * scale)) * q ** np.abs(values)
    assert total[middle + values] == pytest.approx(laplace, abs=1e-6)


SCALES = [Fraction(1, 2), Fraction(1), Fraction(2), Fraction(7, 3), Fraction(73, 10), Fraction(1000),
          Fraction(123_457, 10), Fraction(2**39 + 1), Fraction(1, 2**20)]  # fmt: skip


@pytest.mark.parametrize("honest", [1, 4, 10_000])
@loop_over("scale", SCALES)
def test_shares_agree_with_their_twin_bit_for_bit(scale, honest):
    twin = coins(7)
    parameters = U64(scale.numerator), U64(scale.denominator), U64(honest)
    drawn = filled(noise_shares._fill, 100, *parameters, noise=SeededNoise(7))
    assert_array_equal(drawn, [reference.share_of_noise(scale, honest, twin) for _ in range(100)])


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_a_stream_cut_into_drops_gives_the_shares_of_one_big_buffer(most):
    parameters = U64(73), U64(10), U64(3)
    at_once = filled(noise_shares._fill, 300, *parameters, noise=SeededNoise(11))
    assert_array_equal(filled(noise_shares._fill, 300, *parameters, noise=Dripping(11, most)), at_once)


def share(exact, **changes):
    return noise_share(exact, **({"epsilon": 0.01, "sensitivity": 1, "honest": 3, "parties": 4} | changes))


def test_a_share_keeps_the_shape_and_leaves_the_exact_values_alone():
    exact = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    before = exact.copy()
    partly_noisy, _ = share(exact)
    assert (partly_noisy.shape, partly_noisy.dtype) == ((2, 3, 4), np.int64)
    assert (partly_noisy != exact).any()
    assert_array_equal(exact, before)


def test_the_receipt_is_that_of_the_sum():
    _, event = share([5, 9], epsilon=0.3, sensitivity=7, what="leaf counts")
    assert isinstance(event, events.NoiseShares)
    assert (event.what, event.epsilon, event.sensitivity, event.honest, event.parties) == ("leaf counts", 0.3, 7, 3, 4)
    assert event.scale >= 7 / Fraction(0.3)


def test_an_infinite_epsilon_adds_nothing_and_says_so():
    exact = np.array([5, 9])
    unchanged, event = share(exact, epsilon=math.inf)
    assert_array_equal(unchanged, exact)
    assert not np.shares_memory(unchanged, exact)
    assert event == events.NoNoise("counts")


def test_noise_of_a_seed_says_so_and_repeats():
    exact = np.zeros(50, dtype=np.int64)
    (first, event), (second, _) = (share(exact, noise=SeededNoise(3)) for _ in range(2))
    assert_array_equal(first, second)
    assert isinstance(event, events.Seeded)
    assert (share(exact)[0] != share(exact)[0]).any()


@pytest.mark.parametrize(
    ("honest", "parties", "wrong"),
    [(0, 4, "honest"), (5, 4, "honest"), (1.0, 4, "honest"), (True, 4, "honest"), (1, 0, "parties"),
     (1, 10_001, "parties")],
)  # fmt: skip
def test_a_number_of_parties_that_cannot_be_is_refused(honest, parties, wrong):
    with pytest.raises(ParameterError, match=rf"{wrong}=.* must be a whole number from 1 to"):
        share([5, 9], honest=honest, parties=parties)


@pytest.mark.parametrize("epsilon", [0.0, 1e-7, math.nan])
def test_an_epsilon_out_of_range_is_refused(epsilon):
    with pytest.raises(ParameterError, match=r"epsilon=.* is out of range"):
        share([5, 9], epsilon=epsilon)


@pytest.mark.parametrize("exact", [[1.5], [True], [2**62 + 1]])
def test_values_that_are_no_counts_are_refused_without_quoting_them(exact):
    with pytest.raises(ParameterError, match=r"exact values must"):
        share(exact)
