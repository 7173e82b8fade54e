import math
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from privet.errors import ParameterError, PrivetError
from privet.privacy.accounting import epsilon_at, pure_epsilon, rho_of
from privet.privacy.events import (
    DiscreteGaussian,
    DiscreteLaplace,
    NoiseShares,
    NoNoise,
    Parallel,
    PermuteAndFlip,
    Seeded,
    Sequential,
    Unproven,
)


def laplace(epsilon):
    return DiscreteLaplace("counts", epsilon, 1, 1 / Fraction(epsilon))


def gaussian(rho, sigma=10**9):
    return DiscreteGaussian("counts", rho, 1, Fraction(sigma))


SPLIT = PermuteAndFlip("split", 0.5, 1, 4, False, Fraction(1, 4))


def test_costs_found_by_hand():
    assert pure_epsilon(laplace(0.5)) == 0.5
    assert pure_epsilon(SPLIT) == 0.5
    assert rho_of(laplace(0.5)) == 0.125
    assert rho_of(SPLIT) == 0.125
    assert rho_of(gaussian(0.25)) == 0.25
    assert pure_epsilon(gaussian(0.25)) == math.inf
    assert pure_epsilon(NoNoise("counts")) == rho_of(NoNoise("counts")) == math.inf


def test_releases_on_the_same_rows_add_up_and_on_disjoint_rows_the_dearest_counts():
    both = Sequential((laplace(0.25), SPLIT))
    assert pure_epsilon(both) == 0.75
    assert rho_of(both) == 0.03125 + 0.125
    assert pure_epsilon(Parallel((laplace(0.25), SPLIT), "leaves share no row")) == 0.5
    assert pure_epsilon(Parallel((both, both), "trees share no row")) == 0.75
    assert rho_of(Parallel((gaussian(0.25), laplace(0.5)), "leaves share no row")) == 0.25


def test_one_part_without_noise_makes_the_whole_infinite():
    assert pure_epsilon(Sequential((laplace(0.5), NoNoise("classes")))) == math.inf
    assert pure_epsilon(Parallel((laplace(0.5), NoNoise("classes")), "leaves")) == math.inf
    assert epsilon_at(Sequential((laplace(0.5), NoNoise("classes"))), delta=1e-6) == math.inf


@pytest.mark.parametrize("release", [laplace(0.5), SPLIT, gaussian(0.25), NoNoise("x"), Seeded(SPLIT)])
def test_a_price_that_is_not_proven_counts_as_infinite_whatever_it_claims(release):
    claimed = Unproven(release, "nobody has shown it")
    assert pure_epsilon(claimed) == rho_of(claimed) == epsilon_at(claimed, delta=1e-6) == math.inf
    assert pure_epsilon(Sequential((laplace(0.5), claimed))) == math.inf
    assert pure_epsilon(Parallel((laplace(0.5), claimed), "leaves share no row")) == math.inf


def test_nothing_released_costs_nothing():
    assert pure_epsilon(Sequential(())) == 0.0
    assert pure_epsilon(Parallel((), "no leaves")) == 0.0


@given(st.lists(st.floats(min_value=1e-6, max_value=100), min_size=1, max_size=30))
def test_a_sum_is_the_smallest_float_not_below_the_exact_sum(epsilons):
    exact = sum(map(Fraction, epsilons))
    total = pure_epsilon(Sequential(tuple(map(laplace, epsilons))))
    assert total >= exact
    assert math.nextafter(total, 0) < exact


def test_ten_tenths_cost_more_than_one_since_a_float_tenth_does():
    assert sum([0.1] * 10) < 1  # plain floats would round the cost down
    assert pure_epsilon(Sequential((laplace(0.1),) * 10)) > 1


def test_a_receipt_that_drew_less_noise_than_it_asked_for_is_charged_for_what_it_drew():
    assert pure_epsilon(DiscreteLaplace("counts", 0.1, 3, Fraction(2))) == 1.5
    assert rho_of(DiscreteGaussian("counts", 0.1, 4, Fraction(2))) == 0.5
    assert pure_epsilon(PermuteAndFlip("split", 0.1, 2, 9, False, Fraction(1, 2))) == 2.0
    assert pure_epsilon(PermuteAndFlip("split", 0.1, 2, 9, True, Fraction(1, 2))) == 1.0


def test_shares_of_noise_cost_what_the_noise_of_the_honest_ones_costs():
    shares = NoiseShares("counts", 0.5, 3, Fraction(6), honest=3, parties=4)
    assert (pure_epsilon(shares), rho_of(shares)) == (0.5, 0.125)
    assert pure_epsilon(NoiseShares("counts", 0.1, 3, Fraction(2), honest=3, parties=4)) == 1.5


def test_at_delta_zero_the_cost_is_pure():
    assert epsilon_at(laplace(0.5), delta=0) == 0.5
    assert epsilon_at(gaussian(0.5), delta=0.0) == math.inf


@pytest.mark.parametrize("rho", [1e-10, 1e-4, 0.5, 30.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
def test_a_gaussian_costs_at_most_the_textbook_conversion_and_at_least_its_true_curve(rho, delta):
    epsilon = epsilon_at(gaussian(rho, sigma=10**6), delta=delta)
    assert epsilon <= rho + 2 * math.sqrt(rho * math.log(1 / delta))  # Bun and Steinke 2016, proposition 1.3
    # The normal mechanism of this rho has exactly this delta at epsilon (Balle and Wang 2018, theorem 8).
    shift = math.sqrt(2 * rho)
    true_delta = norm.cdf(shift / 2 - epsilon / shift) - math.exp(epsilon) * norm.cdf(-shift / 2 - epsilon / shift)
    assert true_delta <= delta


def test_many_small_releases_are_cheaper_at_a_delta_and_one_is_not():
    many = Sequential((laplace(0.01),) * 1000)
    assert epsilon_at(many, delta=1e-6) < 0.3 * pure_epsilon(many)
    assert epsilon_at(laplace(1.0), delta=1e-6) == 1.0


@pytest.mark.parametrize(
    "delta",
    [-1e-9, 1.0, 2, math.nan, "1e-6", True, None, Fraction(10**30 - 1, 10**30),
     pytest.param(10**400, id="beyond all floats"), pytest.param(-(10**400), id="below all floats")],
)  # fmt: skip
def test_a_delta_that_is_no_probability_below_one_is_refused(delta):
    with pytest.raises(ParameterError, match=r"delta=.* is no probability below 1; pass 0 for pure DP"):
        epsilon_at(laplace(0.5), delta=delta)


def test_without_dp_accounting_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(PrivetError, match=r"pip install 'privet\[delta\]', or use delta=0"):
        epsilon_at(laplace(0.5), delta=1e-6)
    assert epsilon_at(laplace(0.5), delta=0) == 0.5
