"""Public lotteries: exact weights, and draws that follow them and no others."""

import math

import numpy as np
import pytest
from scipy.stats import chisquare

from privet.local.channels.distributions import TOTAL_WEIGHT, DiscreteDistribution
from privet.local.channels.distributions import DISTRIBUTIONS, Gaussian, Laplace, Uniform


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
