import math

import numpy as np
import pytest
from scipy.stats import binomtest

from privet.privacy.mechanisms.deviation import standard_deviation
from privet.privacy.mechanisms.discrete_gaussian import discrete_gaussian

SIGMAS = [0.5, 7.3, 1e4]


def noise_of(sigma, n):
    return discrete_gaussian(np.zeros(n, dtype=np.int64), rho=1 / (2 * sigma**2), sensitivity_squared=1)


def law(sigma):
    return lambda x: np.exp(-((x / sigma) ** 2) / 2)


def assert_this_sigma_and_no_other(p_value, draws, sigma):
    reach = int(12 * sigma) + 2
    assert p_value(draws, law(sigma), reach=reach) > 1e-9
    assert p_value(draws, law(0.9 * sigma), reach=reach) < 1e-6
    assert p_value(draws, law(1.1 * sigma), reach=reach) < 1e-6


@pytest.mark.parametrize("sigma", [1 / 3, *SIGMAS])
def test_the_noise_has_the_stated_sigma_and_not_another(p_value, sigma):
    assert_this_sigma_and_no_other(p_value, noise_of(sigma, 60_000)[0], sigma)


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [1 / 3, *SIGMAS, 0.999, 1.0, 1.01, 2.5, 64.0, 1e5])
def test_a_million_draws_have_the_stated_sigma_and_not_another(p_value, sigma):
    assert_this_sigma_and_no_other(p_value, noise_of(sigma, 1_000_000)[0], sigma)


def test_zero_is_as_likely_as_by_hand():
    # At sigma = 1/2 the weights are 1, e^-2, e^-8, ... : P(0) = 1 / (1 + 2 e^-2 + 2 e^-8 + ...).
    draws, _ = noise_of(0.5, 100_000)
    zero = 1 / (1 + 2 * math.exp(-2) + 2 * math.exp(-8) + 2 * math.exp(-18))
    assert binomtest(int((draws == 0).sum()), draws.size, zero).pvalue > 1e-9


def test_both_signs_are_equally_likely():
    draws, _ = noise_of(3.0, 200_000)
    assert binomtest(int((draws > 0).sum()), int((draws != 0).sum())).pvalue > 1e-9


@pytest.mark.parametrize("sigma", SIGMAS)
def test_the_stated_deviation_is_the_one_seen(sigma):
    draws, event = noise_of(sigma, 200_000)
    # The kurtosis stays below 5 here, so the sample's deviation spreads by 1 / sqrt(n) or less of itself.
    assert draws.std() == pytest.approx(standard_deviation(event), rel=7 / math.sqrt(draws.size))


@pytest.mark.parametrize("sigma", SIGMAS)
def test_the_draws_agree_with_opendp(p_value_of_two, opendp_gaussian, sigma):
    theirs = opendp_gaussian(sigma, 10_000)
    assert p_value_of_two(noise_of(sigma, 10_000)[0], theirs) > 1e-9
    assert p_value_of_two(noise_of(1.25 * sigma, 10_000)[0], theirs) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("sigma", SIGMAS)
def test_many_draws_agree_with_opendp(p_value_of_two, opendp_gaussian, sigma):
    theirs = opendp_gaussian(sigma, 200_000)
    assert p_value_of_two(noise_of(sigma, 200_000)[0], theirs) > 1e-9
    assert p_value_of_two(noise_of(1.1 * sigma, 200_000)[0], theirs) < 1e-6


@pytest.fixture
def opendp_gaussian():
    import opendp.prelude as dp

    dp.enable_features("contrib")

    def draw(sigma, n):
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
        return np.array(dp.m.make_gaussian(*space, scale=sigma)([0] * n))

    return draw
