"""Noise: widths by hand, densities, cdfs and their integrals against each other; exact draws against their weights."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import chisquare

from privet.errors import ParameterError
from privet.local.channels.distributions import (
    DISTRIBUTIONS,
    TOTAL_WEIGHT,
    DiscreteDistribution,
    Gaussian,
    Laplace,
    Uniform,
)

ALL = [noise(scale) for noise in DISTRIBUTIONS.values() for scale in (0.3, 2.0)]
POINTS = np.array([-7.0, -2.0, -0.31, -0.1, 0.0, 0.05, 0.3, 1.0, 2.5, 9.0])


def name(noise):
    return f"{noise.name} {noise.scale}"


def test_widths_are_those_of_the_paper():
    for confidence, in_alpha, in_sigma in [(0.5, 1.0, 1.34), (0.95, 1.9, 3.92), (0.999, 1.998, 6.8)]:
        assert Uniform(10).width(confidence) == pytest.approx(10 * in_alpha)
        assert Gaussian(10).width(confidence) == pytest.approx(10 * in_sigma, rel=0.04)
    assert Gaussian(1).width(0.95) == pytest.approx(3.919928, abs=1e-6)
    assert Laplace(2).width(0.5) == pytest.approx(4 * math.log(2))


@pytest.mark.parametrize("noise", ALL, ids=name)
def test_a_distribution_of_a_width_has_that_width(noise):
    for confidence in (0.5, 0.95):
        assert type(noise).of_width(12.0, confidence).width(confidence) == pytest.approx(12.0)


@pytest.mark.parametrize("noise", ALL, ids=name)
def test_the_interval_of_a_width_holds_its_share_of_the_noise(noise):
    half = noise.width(0.95) / 2
    assert noise.cdf(np.array([half]))[0] - noise.cdf(np.array([-half]))[0] == pytest.approx(0.95)


@pytest.mark.parametrize("noise", ALL, ids=name)
def test_the_cdf_adds_up_the_density(noise):
    for z in POINTS:
        below = -10 * noise.scale
        kinks = sorted({below, *(k for k in (-noise.scale, 0.0, noise.scale) if k < z), z})
        total = sum(quad(lambda t: noise.density(np.float64(t)), a, b)[0] for a, b in itertools.pairwise(kinks))
        assert noise.cdf(z) == pytest.approx(total, abs=5e-5)  # of Laplace's noise e^-10 / 2 lies below


@pytest.mark.parametrize("noise", ALL, ids=name)
def test_the_integral_of_the_cdf_is_one(noise):
    for a, b in itertools.pairwise(POINTS):
        kinks = sorted({a, *(k for k in (-noise.scale, 0.0, noise.scale) if a < k < b), b})
        total = sum(quad(noise.cdf, low, high)[0] for low, high in itertools.pairwise(kinks))
        assert noise.cdf_integral(b) - noise.cdf_integral(a) == pytest.approx(total, abs=1e-9)
    assert noise.cdf_integral(np.float64(-60.0)) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("noise", ALL, ids=name)
def test_standard_deviation_and_entropy_are_those_of_the_density(noise):
    z, step = np.linspace(-40 * noise.scale, 40 * noise.scale, 800_001, retstep=True)
    density = noise.density(z)
    assert np.sqrt(np.sum(density * z**2) * step) == pytest.approx(noise.std, rel=1e-4)
    held = density > 0
    assert -np.sum(density[held] * np.log2(density[held])) * step == pytest.approx(noise.entropy, abs=1e-4)


@pytest.mark.parametrize("noise", ALL, ids=name)
def test_distributions_are_symmetric(noise):
    assert_allclose(noise.density(-POINTS), noise.density(POINTS))
    assert_allclose(noise.cdf(-POINTS), 1 - noise.cdf(POINTS), atol=1e-15)


def test_the_ends_of_the_uniform_distribution_count_half():
    assert Uniform(0.5).density(np.array([-0.5, 0.0, 0.5, 0.51])).tolist() == [0.5, 1.0, 0.5, 0.0]


def test_what_lies_beyond_the_reach_of_a_law():
    assert Uniform(3.0).cdf(Uniform(3.0).reach) == 1.0
    assert Gaussian(3.0).cdf(-Gaussian(3.0).reach) < 2.0**-64
    assert Laplace(3.0).cdf(-Laplace(3.0).reach) == pytest.approx(math.exp(-12) / 2)


@pytest.mark.parametrize("noise", DISTRIBUTIONS.values())
@pytest.mark.parametrize(
    ("scale", "message"),
    [(0.0, "must be above 0 and finite"), (-1.0, "above 0"), (math.inf, "finite"), (math.nan, "above 0"),
     ("3", "must be a number; write it without quotes"), (True, "must be a number"), (None, "must be a number")],
)  # fmt: skip
def test_a_scale_that_is_none_is_refused(noise, scale, message):
    with pytest.raises(ParameterError, match=message):
        noise(scale)


def words(*values):
    return np.array(values, dtype=np.uint64)


def whole_weights(distribution):
    return [int(weight) for weight in distribution.weights]


def test_a_ticket_draws_the_outcome_that_holds_it():
    distribution = DiscreteDistribution.of_weights(5, [3 * TOTAL_WEIGHT // 4, 1, TOTAL_WEIGHT // 4 - 1])
    border = 3 * TOTAL_WEIGHT // 4
    assert distribution.draw(words(0, border - 1, border, border + 1, TOTAL_WEIGHT - 1)).tolist() == [5, 5, 6, 7, 7]
    assert whole_weights(distribution) == [border, 1, TOTAL_WEIGHT // 4 - 1]


def test_an_outcome_without_weight_is_never_drawn():
    distribution = DiscreteDistribution.of_weights(0, [0, TOTAL_WEIGHT // 2, 0, TOTAL_WEIGHT // 2, 0])
    assert distribution.draw(words(0, TOTAL_WEIGHT // 2 - 1, TOTAL_WEIGHT // 2, TOTAL_WEIGHT - 1)).tolist() == [
        1,
        1,
        3,
        3,
    ]


def test_one_outcome_may_have_all_the_weight():
    distribution = DiscreteDistribution.of_weights(0, [TOTAL_WEIGHT, 0])
    assert distribution.draw(words(0, TOTAL_WEIGHT - 1)).tolist() == [0, 0]


@pytest.mark.parametrize("weights", [[1, 2], [TOTAL_WEIGHT + 1, -1], [TOTAL_WEIGHT, TOTAL_WEIGHT]])
def test_weights_that_do_not_add_up_are_refused(weights):
    with pytest.raises(AssertionError, match=r"add up to 2\^64"):
        DiscreteDistribution.of_weights(0, weights)


def test_uniform_noise_by_hand():
    # Half a step on either side of each outcome; a quarter of the last one lies within the noise.
    distribution = DiscreteDistribution.of_noise(Uniform(1.0), step=0.5, reach=2)
    assert (distribution.first, whole_weights(distribution)) == (
        -2,
        [TOTAL_WEIGHT // 8, *[TOTAL_WEIGHT // 4] * 3, TOTAL_WEIGHT // 8],
    )


def test_noise_never_goes_beyond_its_reach():
    distribution = DiscreteDistribution.of_noise(Uniform(10.3), step=1.0, reach=11)
    assert distribution.draw(words(0, TOTAL_WEIGHT - 1)).tolist() == [-10, 10]
    assert sum(whole_weights(distribution)) == TOTAL_WEIGHT


def test_laplace_noise_is_geometric_to_the_last_ticket():
    distribution = DiscreteDistribution.of_noise(Laplace(2.0), step=1.0, reach=30)
    q = math.exp(-0.5)
    weights = whole_weights(distribution)
    for d in range(-29, 30):
        assert weights[30 + d] / TOTAL_WEIGHT == pytest.approx((1 - q) / (1 + q) * q ** abs(d), rel=1e-12)
    assert weights[0] / TOTAL_WEIGHT == pytest.approx(q**30 / (1 + q), rel=1e-12)  # the whole tail


def test_every_outcome_of_laplace_noise_can_be_drawn_however_narrow_it_is():
    assert min(whole_weights(DiscreteDistribution.of_noise(Laplace(1.0), step=1.0, reach=2_000))) == 1


@pytest.mark.parametrize("noise", [Uniform(3.0), Gaussian(3.0), Laplace(3.0)], ids=lambda noise: noise.name)
def test_noise_is_symmetric_and_its_weights_add_up(noise):
    distribution = DiscreteDistribution.of_noise(noise, step=0.1, reach=400)
    weights = whole_weights(distribution)
    assert sum(weights) == TOTAL_WEIGHT
    assert weights == weights[::-1]
    assert len(weights) == 1 - 2 * distribution.first


@pytest.mark.parametrize("noise", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_draws_follow_their_distribution_and_no_other_scale(noise):
    drawn = DiscreteDistribution.of_noise(noise(5.0), step=0.1, reach=455).draw(
        np.random.default_rng(7).integers(0, TOTAL_WEIGHT, 60_000, dtype=np.uint64, endpoint=False)
    )
    assert p_value(drawn, noise(5.0)) > 1e-6
    assert p_value(drawn, noise(4.5)) < 1e-6
    assert p_value(drawn, noise(5.5)) < 1e-6


def p_value(drawn, noise):
    """Return the p-value of noise in steps of a tenth, in some 30 cells that the noise gives about equal chances."""
    edges = (np.unique(np.quantile(drawn, np.linspace(0, 1, 31))[1:-1].round()) - 0.5) * 0.1
    expected = np.diff(np.concatenate([[0.0], noise.cdf(edges), [1.0]])) * len(drawn)
    seen = np.diff(np.searchsorted(np.sort(drawn) * 0.1, [-np.inf, *edges, np.inf]))
    return 0.0 if (expected == 0).any() else chisquare(seen, expected).pvalue
