import math

import numpy as np
import pytest
from scipy.stats import binomtest

from privet.privacy.mechanisms.deviation import standard_deviation
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace

SCALES = [0.5, 7.3, 1e4]


def noise_of(scale, n, noise=None):
    return discrete_laplace(np.zeros(n, dtype=np.int64), epsilon=1 / scale, sensitivity=1, noise=noise)


def law(scale):
    return lambda x: np.exp(-np.abs(x) / scale)


def assert_this_scale_and_no_other(p_value, draws, scale):
    reach = int(40 * scale)
    assert p_value(draws, law(scale), reach=reach) > 1e-9
    assert p_value(draws, law(0.9 * scale), reach=reach) < 1e-6
    assert p_value(draws, law(1.1 * scale), reach=reach) < 1e-6


@pytest.mark.parametrize("scale", SCALES)
def test_the_noise_has_the_stated_scale_and_not_another(p_value, scale):
    assert_this_scale_and_no_other(p_value, noise_of(scale, 60_000)[0], scale)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.2, *SCALES, 10.0, 123.456, 3e5])
def test_a_million_draws_have_the_stated_scale_and_not_another(p_value, scale):
    assert_this_scale_and_no_other(p_value, noise_of(scale, 1_000_000)[0], scale)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_zero_is_as_likely_as_by_hand(scale):
    # P(0) = (1 - q) / (1 + q) = tanh(1 / (2 scale)), q = exp(-1 / scale).
    draws, _ = noise_of(scale, 100_000)
    n_zeros = int((draws == 0).sum())
    assert binomtest(n_zeros, draws.size, math.tanh(1 / (2 * scale))).pvalue > 1e-9
    assert binomtest(n_zeros, draws.size, math.tanh(1 / (2.2 * scale))).pvalue < 1e-6


def test_both_signs_are_equally_likely():
    draws, _ = noise_of(3.0, 200_000)
    assert binomtest(int((draws > 0).sum()), int((draws != 0).sum())).pvalue > 1e-9


def test_neighbouring_draws_are_uncorrelated():
    draws, _ = noise_of(7.3, 200_000)
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 6.2 / math.sqrt(draws.size)  # 6.2 sigma: p = 6e-10


@pytest.mark.parametrize("scale", SCALES)
def test_the_stated_deviation_is_the_one_seen(scale):
    draws, event = noise_of(scale, 200_000)
    # The kurtosis stays below 9 here, so the sample's deviation spreads by 1.5 / sqrt(n) or less of itself.
    assert draws.std() == pytest.approx(standard_deviation(event), rel=7 * 1.5 / math.sqrt(draws.size))


@pytest.mark.parametrize("scale", SCALES)
def test_the_draws_agree_with_opendp(p_value_of_two, opendp_laplace, scale):
    theirs = opendp_laplace(scale, 15_000)
    assert p_value_of_two(noise_of(scale, 15_000)[0], theirs) > 1e-9
    assert p_value_of_two(noise_of(1.25 * scale, 15_000)[0], theirs) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_many_draws_agree_with_opendp(p_value_of_two, opendp_laplace, scale):
    theirs = opendp_laplace(scale, 200_000)
    assert p_value_of_two(noise_of(scale, 200_000)[0], theirs) > 1e-9
    assert p_value_of_two(noise_of(1.1 * scale, 200_000)[0], theirs) < 1e-6


@pytest.fixture
def opendp_laplace():
    import opendp.prelude as dp

    dp.enable_features("contrib")

    def draw(scale, n):
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
        return np.array(dp.m.make_laplace(*space, scale=scale)([0] * n))

    return draw
