import math

import numpy as np
import pytest

from privet.privacy.mechanisms.deviation import standard_deviation
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.noise_shares import noise_share

PARTIES = 5
SCALES = [0.5, 7.3, 200.0]


def sum_of_shares(scale, n, *, honest=PARTIES, parties=PARTIES):
    zeros = np.zeros(n, dtype=np.int64)
    settings = {"epsilon": 1 / scale, "sensitivity": 1, "honest": honest, "parties": parties}
    shares, receipts = zip(*(noise_share(zeros, **settings) for _ in range(parties)), strict=True)
    return sum(shares), receipts[0]


def law(scale):
    return lambda x: np.exp(-np.abs(x) / scale)


def assert_this_scale_and_no_other(p_value, draws, scale):
    reach = int(40 * scale)
    assert p_value(draws, law(scale), reach=reach) > 1e-9
    assert p_value(draws, law(0.9 * scale), reach=reach) < 1e-6
    assert p_value(draws, law(1.1 * scale), reach=reach) < 1e-6


@pytest.mark.parametrize("scale", SCALES)
def test_five_shares_sum_to_the_discrete_laplace_of_the_stated_scale_and_not_another(p_value, scale):
    assert_this_scale_and_no_other(p_value, sum_of_shares(scale, 60_000)[0], scale)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.2, 1.0, 2.0, *SCALES, 10.0, 1000.0, 3e5])
def test_a_million_sums_of_five_shares_have_the_stated_scale_and_not_another(p_value, scale):
    assert_this_scale_and_no_other(p_value, sum_of_shares(scale, 1_000_000)[0], scale)


def test_the_sum_of_shares_cannot_be_told_from_one_curators_noise(p_value_of_two):
    shared, _ = sum_of_shares(7.3, 60_000)
    zeros = np.zeros(60_000, dtype=np.int64)
    assert p_value_of_two(shared, discrete_laplace(zeros, epsilon=1 / 7.3, sensitivity=1)[0]) > 1e-9
    assert p_value_of_two(shared, discrete_laplace(zeros, epsilon=1.1 / 7.3, sensitivity=1)[0]) < 1e-6


def test_one_share_alone_is_not_the_noise_that_is_claimed(p_value):
    share, _ = noise_share(np.zeros(60_000, dtype=np.int64), epsilon=1 / 7.3, sensitivity=1, honest=5, parties=5)
    assert p_value(share, law(7.3), reach=292) < 1e-6


@pytest.mark.parametrize(("honest", "parties"), [(5, 5), (3, 4), (1, 3)])
def test_the_stated_deviation_is_the_one_seen_where_all_add_their_shares(honest, parties):
    draws, event = sum_of_shares(7.3, 200_000, honest=honest, parties=parties)
    # Adding shares flattens the law: the kurtosis stays below 6, and the deviation spreads by 1.2 / sqrt(n) of itself.
    assert draws.std() == pytest.approx(standard_deviation(event), rel=7 * 1.2 / math.sqrt(draws.size))
    assert standard_deviation(event) == pytest.approx(7.3 * math.sqrt(2 * parties / honest), rel=0.01)
