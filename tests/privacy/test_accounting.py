import math
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from privet.errors import ParameterError, PrivetError
from privet.privacy.accounting import epsilon_at, pure_epsilon, rho_of, stated_delta, stated_epsilon
from privet.privacy.events import (
    DiscreteGaussian,
    DiscreteLaplace,
    Jointly,
    KNormObjective,
    NoiseShares,
    NoNoise,
    NormalObjective,
    ObjectivePerturbation,
    Parallel,
    PermuteAndFlip,
    Seeded,
    Sequential,
    Unproven,
)
from privet.privacy.mechanisms.objective_perturbation import pure_objective_epsilon


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


def normal(sigma=20, **changes):
    fields = {"curvature": 0.5, "trees": 16, "classes": 2, "numbers": 64, "rows": 1}
    return NormalObjective("leaf weights", Fraction(sigma), **{**fields, **changes})


def jointly(*parts, epsilon=1.0, delta=1e-6):
    return Jointly(parts, epsilon, delta)


FIT = jointly(laplace(0.05), SPLIT, normal(40))


def test_releases_accounted_for_together_cost_what_was_requested_where_the_noise_pays_for_it():
    # mu = 4 / 40; a loss of 0.55 at most leaves 0.45 for the fit, more than four deviations.
    assert (stated_epsilon(FIT), stated_delta(FIT)) == (1.0, 1e-6)
    assert epsilon_at(FIT, delta=1e-6) == 1.0
    assert epsilon_at(FIT, delta=1e-7) == pure_epsilon(FIT) == rho_of(FIT) == math.inf


@pytest.mark.parametrize(
    "damaged",
    [jointly(laplace(0.05), SPLIT, normal(20)), jointly(laplace(0.05), SPLIT, normal(40, trees=64)),
     jointly(laplace(0.05), SPLIT, normal(40, rows=2)), jointly(laplace(0.05), SPLIT, normal(40, curvature=3.0)),
     jointly(laplace(0.05), SPLIT, normal(40, classes=40)), jointly(laplace(0.5), SPLIT, normal(40)),
     jointly(DiscreteLaplace("counts", 0.05, 1, Fraction(2)), SPLIT, normal(40)),
     jointly(laplace(0.05), SPLIT, normal(40), normal(40)), jointly(laplace(0.05), SPLIT, normal(40), epsilon=0.7),
     jointly(laplace(0.05), SPLIT, normal(40, numbers=2**50))],
    ids=["sigma", "trees", "rows", "curvature", "classes", "epsilon of a part", "scale of a part", "a second fit",
         "epsilon", "numbers"],
)  # fmt: skip
def test_a_joint_receipt_is_charged_for_what_was_drawn(damaged):
    assert stated_delta(damaged) > 2e-6 or math.isinf(stated_epsilon(damaged))
    assert epsilon_at(damaged, delta=1e-6) == math.inf


@pytest.mark.parametrize(
    "part",
    [NoNoise("counts"), Seeded(normal(40)), Seeded(laplace(0.05)), Unproven(SPLIT, "nobody has shown it"),
     gaussian(1e-9), FIT, jointly(laplace(0.05)), normal(1), normal(40, classes=1), normal(40, curvature=1e300),
     Parallel((laplace(0.05), Seeded(SPLIT)), "leaves share no row")],
    ids=["exact", "seeded fit", "seeded counts", "unproven", "zCDP", "joint", "joint without a fit", "hardly any noise",
         "one class", "no prior", "a part of a part"],
)  # fmt: skip
def test_a_part_that_has_no_epsilon_voids_a_joint_receipt(part):
    void = jointly(laplace(0.05), part, normal(40))
    assert (stated_epsilon(void), stated_delta(void)) == (math.inf, 0.0)
    assert epsilon_at(void, delta=1e-6) == math.inf
    assert stated_epsilon(Sequential((laplace(0.5), void))) == math.inf


positive = st.floats(min_value=0, max_value=1e300, exclude_min=True)
whole = st.one_of(st.integers(1, 9), st.integers(1, 2**63 - 1))
ratio = st.fractions(min_value=Fraction(1, 2**40), max_value=2**40, max_denominator=2**40)
any_part = st.one_of(
    st.builds(DiscreteLaplace, st.just("counts"), positive, whole, ratio),
    st.builds(NormalObjective, st.just("leaf weights"), ratio, positive, whole, whole, whole, whole),
)


@settings(deadline=None)
@given(st.lists(any_part, min_size=1, max_size=4), positive, positive)
def test_whatever_a_joint_receipt_holds_it_costs_what_it_states_or_more(parts, epsilon, delta):
    event = jointly(*parts, epsilon=epsilon, delta=delta)
    cost = stated_epsilon(event), stated_delta(event)
    assert cost == (math.inf, 0.0) or (cost[0] == epsilon and cost[1] >= delta)


def test_a_fit_with_normal_noise_alone_promises_nothing():
    alone = normal(40)
    assert pure_epsilon(alone) == rho_of(alone) == stated_epsilon(alone) == epsilon_at(alone, delta=1e-3) == math.inf


def test_joint_receipts_add_up_and_of_disjoint_rows_the_dearest_counts():
    less = jointly(laplace(0.05), normal(80), epsilon=0.5, delta=1e-7)
    both = Sequential((laplace(0.25), FIT, less))
    assert stated_epsilon(both) == 1.75
    assert stated_delta(both) == pytest.approx(1.1e-6, rel=1e-12)
    either = Parallel((FIT, less), "a row is in one batch")
    assert (stated_epsilon(either), stated_delta(either)) == (1.0, 1e-6)
    parts = Parallel((laplace(0.05), laplace(0.02)), "leaves share no row")
    assert stated_delta(jointly(parts, SPLIT, normal(40))) == 1e-6


@pytest.mark.parametrize("kind", [KNormObjective, ObjectivePerturbation])
def test_a_plan_with_a_delta_that_ended_in_pure_releases_states_its_delta(kind):
    # Another outcome would have had normal noise, and the promise is about all outcomes.
    fit = kind("leaf weights", 0.4375, 0.4, 0.2, 2, 1)
    event = jointly(laplace(0.0625), SPLIT, fit)
    assert (stated_epsilon(event), stated_delta(event), pure_epsilon(event)) == (1.0, 1e-6, math.inf)
    assert stated_delta(jointly(laplace(0.07), SPLIT, fit)) > 1e-6


@pytest.mark.parametrize(("linear", "curvature", "rows"), [(0.4, 0.2, 1), (0.05, 0.01, 7), (3.0, 2.0, 2)])
@pytest.mark.parametrize("n_classes", [2, 3, 26, 40])
def test_noise_that_trees_share_costs_what_a_rows_gradient_and_its_determinant_do(linear, curvature, rows, n_classes):
    own = rows * pure_objective_epsilon(linear, curvature, n_classes)
    shared = KNormObjective("leaf weights", own * (1 + 1e-9), linear, curvature, n_classes, rows)
    assert own <= pure_epsilon(shared) == stated_epsilon(shared) == epsilon_at(shared, delta=0) == shared.epsilon
    assert stated_delta(shared) == 0.0
    # As much as noise that every tree has of its own, and not less than what it says costs.
    alone = ObjectivePerturbation("leaf weights", shared.epsilon, linear, curvature, n_classes, rows)
    assert pure_epsilon(alone) == pure_epsilon(shared)
    understated = replace(shared, epsilon=own * (1 - 1e-6))
    assert pure_epsilon(understated) >= own * (1 - 1e-9)


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
    with pytest.raises(
        PrivetError, match=r"the package dp-accounting, .* `pip install 'privet\[delta\]'`, or use delta=0"
    ):
        epsilon_at(laplace(0.5), delta=1e-6)
    assert epsilon_at(laplace(0.5), delta=0) == 0.5
