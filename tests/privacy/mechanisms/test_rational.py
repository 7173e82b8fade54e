import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import ParameterError
from privet.privacy.mechanisms.rational import (
    MIN_EPSILON,
    MIN_RHO,
    _root_above,
    check_epsilon,
    check_rho,
    float_above,
    rate_at_most,
    remaining,
    scale_at_least,
    sigma_at_least,
    simplest_between,
)

fractions = st.fractions(min_value=Fraction(1, 500), max_value=500, max_denominator=500)
epsilons = st.floats(min_value=MIN_EPSILON, max_value=1e300)
sensitivities = st.integers(min_value=1, max_value=10_000)
WINDOW = 1 + Fraction(1, 10**6)
FLOOR = Fraction(1, 2**20)


@pytest.mark.parametrize(
    ("low", "high", "simplest"),
    [("1/3", "1/2", "1/2"), ("3/10", "2/5", "1/3"), ("5/2", "7/2", "3"), ("7/3", "7/3", "7/3"),
     ("1/9", "1/9", "1/9"), ("314/100", "315/100", "22/7"), ("2", "9", "2"), ("271/100", "272/100", "19/7")],
)  # fmt: skip
def test_the_simplest_rational_is_the_one_found_by_hand(low, high, simplest):
    assert simplest_between(Fraction(low), Fraction(high)) == Fraction(simplest)


@given(fractions, fractions)
def test_no_rational_with_a_smaller_denominator_lies_between(one, other):
    low, high = sorted([one, other])
    simplest = simplest_between(low, high)
    assert low <= simplest <= high
    for denominator in range(1, simplest.denominator):
        assert math.floor(high * denominator) < low * denominator  # no multiple of 1/denominator is inside


def test_very_long_fractions_need_no_recursion():
    golden = Fraction(1)
    for _ in range(5000):
        golden = 1 + 1 / golden
    assert simplest_between(golden, golden) == golden


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (2, 1)])
def test_an_interval_that_is_empty_or_reaches_zero_is_refused(low, high):
    with pytest.raises(ParameterError, match="pass 0 < low <= high"):
        simplest_between(Fraction(low), Fraction(high))


@given(sensitivities, epsilons)
def test_a_scale_is_never_below_sensitivity_over_epsilon_and_hardly_above(sensitivity, epsilon):
    least = sensitivity / Fraction(epsilon)
    scale = scale_at_least(sensitivity, epsilon)
    assert least <= scale <= max(least * WINDOW, FLOOR)
    assert scale.denominator < 2**22


@given(sensitivities, st.floats(min_value=MIN_RHO, max_value=1e300))
def test_a_sigma_squared_is_never_below_what_rho_asks_for(sensitivity_squared, rho):
    square = sensitivity_squared / (2 * Fraction(rho))
    sigma = sigma_at_least(sensitivity_squared, rho)
    assert square <= sigma**2
    assert sigma <= FLOOR or sigma**2 <= square * (1 + Fraction(3, 10**6))


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_a_root_is_never_below_the_true_one_and_exact_where_that_is_rational(value):
    assert value <= _root_above(value) ** 2 <= value * (1 + Fraction(1, 2**50))
    assert _root_above(value**2) == value


@given(sensitivities, epsilons, st.booleans())
def test_a_rate_is_never_above_what_epsilon_allows_and_hardly_below(sensitivity, epsilon, monotone):
    most = Fraction(epsilon) / (sensitivity if monotone else 2 * sensitivity)
    rate = rate_at_most(sensitivity, epsilon, monotone=monotone)
    assert min(most / WINDOW, 1 / FLOOR) <= rate <= most
    assert rate.numerator < 2**22
    assert rate.denominator < 2**40


def test_round_parameters_have_round_scales():
    assert scale_at_least(3, 0.5) == 6
    assert sigma_at_least(1, 0.5) == 1
    assert sigma_at_least(2, 0.25) == 2
    assert sigma_at_least(9, 8.0) == Fraction(3, 4)
    assert rate_at_most(1, 1.0, monotone=False) == Fraction(1, 2)
    assert rate_at_most(1, 1.0, monotone=True) == 1


def test_a_scale_beyond_the_sampler_is_refused_with_the_way_out():
    with pytest.raises(ParameterError, match=r"noise of scale 1e\+15 .* pass a larger epsilon, or count in coarser"):
        scale_at_least(10**9, 1e-6)
    with pytest.raises(ParameterError, match="pass a larger rho"):
        sigma_at_least(2**62, 1e-12)


@pytest.mark.parametrize("epsilon", [0, 0.0, -1.0, 9.9e-7, math.nan, -math.inf, True, "1", None, 1j, [1.0], 10**400])
def test_an_epsilon_out_of_range_is_quoted_with_the_way_out(epsilon):
    with pytest.raises(ParameterError, match=r"epsilon=.* is out of range; pass a number from 1e-06 to inf"):
        check_epsilon(epsilon)


@pytest.mark.parametrize("epsilon", [1e-6, 1, 0.5, np.float64(2.0), np.int64(3), Fraction(1, 2), math.inf])
def test_an_epsilon_in_range_comes_back_as_a_float(epsilon):
    assert check_epsilon(epsilon) == epsilon
    assert type(check_epsilon(epsilon)) is float


def test_the_smallest_rho_is_accepted_and_less_is_not():
    assert check_rho(5e-13) == 5e-13
    with pytest.raises(ParameterError, match=r"rho=4e-13 is out of range; pass a number from 5e-13 to inf"):
        check_rho(4e-13)


@given(st.floats(min_value=MIN_EPSILON, max_value=1e6), st.floats(min_value=0, max_value=1))
def test_what_remains_is_the_largest_float_that_does_not_overshoot(epsilon, share):
    spent = min(epsilon, epsilon * share)
    left = remaining(epsilon, spent)
    assert left >= 0
    assert Fraction(left) + Fraction(spent) <= Fraction(epsilon)
    assert Fraction(math.nextafter(left, math.inf)) + Fraction(spent) > Fraction(epsilon)


def test_where_plain_subtraction_would_overshoot_the_remainder_does_not():
    assert Fraction(1.0 - 1e-17) + Fraction(1e-17) > 1
    assert Fraction(remaining(1.0, 1e-17)) + Fraction(1e-17) <= 1
    assert remaining(1.0, 1.0) == 0.0
    assert remaining(math.inf, 5.0) == math.inf
    assert remaining(math.inf, math.inf) == math.inf


@pytest.mark.parametrize("spent", [1.5, -0.1, math.nan, math.inf])
def test_an_overdrawn_budget_has_no_remainder(spent):
    with pytest.raises(
        ParameterError, match=r"spent=.* is not between 0 and epsilon=1.0; a budget cannot be overdrawn"
    ):
        remaining(1.0, spent)


@given(st.fractions(min_value=0))
def test_a_float_above_is_the_smallest_such_float(value):
    above = float_above(value)
    assert above >= value
    assert above == 0 or math.nextafter(above, 0) < value


def test_a_float_above_everything_is_infinite():
    assert float_above(Fraction(10**400)) == math.inf
