import math
from fractions import Fraction

import pytest

from privet.errors import ParameterError
from privet.privacy import events
from privet.privacy.mechanisms.deviation import standard_deviation


def laplace(scale):
    return events.DiscreteLaplace("counts", 1.0, 1, Fraction(scale))


def gaussian(sigma):
    return events.DiscreteGaussian("counts", 1.0, 1, Fraction(sigma))


def summed(weight):
    """The standard deviation, from the law itself."""
    weights = {x: weight(x) for x in range(-3000, 3001)}
    return math.sqrt(sum(x * x * w for x, w in weights.items()) / sum(weights.values()))


@pytest.mark.parametrize("scale", ["1/10", "1/2", "1", "73/10", "60"])
def test_the_laplace_deviation_is_that_of_its_law(scale):
    expected = summed(lambda x: math.exp(-abs(x) / Fraction(scale)))
    assert standard_deviation(laplace(scale)) == pytest.approx(expected)


@pytest.mark.parametrize("sigma", ["1/10", "1/3", "1/2", "1", "39/10", "4", "60"])
def test_the_gaussian_deviation_is_that_of_its_law(sigma):
    expected = summed(lambda x: math.exp(-((x / Fraction(sigma)) ** 2) / 2))
    assert standard_deviation(gaussian(sigma)) == pytest.approx(expected)


def test_a_scale_of_one_by_hand():
    # q = 1/e: the variance is 2 e / (e - 1)^2.
    assert standard_deviation(laplace(1)) == pytest.approx(math.sqrt(2 * math.e) / (math.e - 1))


def test_extreme_scales_neither_overflow_nor_lose_their_digits():
    assert standard_deviation(laplace(2**39)) == pytest.approx(math.sqrt(2) * 2**39, rel=1e-12)
    assert standard_deviation(laplace(Fraction(1, 2**20))) == 0.0
    assert standard_deviation(gaussian(Fraction(1, 2**20))) == 0.0
    assert standard_deviation(gaussian(2**39)) == 2**39


def test_shares_of_all_parties_spread_further_than_those_of_the_honest_ones():
    # Four shares, three of which make the noise of scale 1: 4/3 of its variance.
    shares = events.NoiseShares("counts", 1.0, 1, Fraction(1), honest=3, parties=4)
    assert standard_deviation(shares) == pytest.approx(math.sqrt(4 / 3 * 2 * math.e) / (math.e - 1))


def test_no_noise_spreads_by_nothing():
    assert standard_deviation(events.NoNoise("counts")) == 0.0


@pytest.mark.parametrize(
    "event",
    [events.PermuteAndFlip("split", 1.0, 1, 2, False, Fraction(1, 2)), events.Sequential((laplace(1),))],
)
def test_events_that_add_no_noise_to_values_have_no_deviation(event):
    with pytest.raises(ParameterError, match=r"adds no noise to values; pass one of its parts"):
        standard_deviation(event)
