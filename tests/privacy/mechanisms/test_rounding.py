"""Rounding goes towards more noise, always: exact fractions judge what the samplers are really handed."""

import math
from fractions import Fraction
from unittest.mock import patch

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from privet.errors import ParameterError
from privet.local import LaplaceNoise
from privet.local.channels.distributions import TOTAL_WEIGHT
from privet.local.channels.randomized_response import LEAST_SHARE, MOST_SHARE, RandomAnswer
from privet.privacy.mechanisms import discrete_gaussian, discrete_laplace, noise_shares, permute_and_flip
from privet.privacy.mechanisms.linear_noise import normal_sigma_at_least, scales_at_least
from privet.privacy.mechanisms.objective_perturbation import gaussian_delta, linear_at_most, pure_objective_epsilon
from privet.privacy.mechanisms.rational import MAX_TERM, MIN_EPSILON, MIN_RHO
from privet.schema import Numeric, Schema

LARGEST_INT = 2**62
PRECISE = mpmath.MPContext()
PRECISE.dps = 60


def next_to(values):
    """A number that floats meet exactly or just miss, and its neighbours on both sides."""
    return st.tuples(values, st.sampled_from([-1, 0, 1])).map(
        lambda pair: math.nextafter(pair[0], pair[1] * math.inf) if pair[1] else pair[0]
    )


def awkward(least, most):
    """Floats of every size, thirds and tenths and powers of two, and their neighbours."""
    ratios = st.builds(lambda p, q: p / q, st.integers(1, 2000), st.integers(1, 2000))
    powers = st.integers(-40, 60).map(lambda k: 2.0**k)
    tens = st.integers(-6, 18).map(lambda k: 10.0**k)
    sizes = st.floats(math.log(least), math.log(most)).map(math.exp)
    return next_to(st.one_of(ratios, powers, tens, sizes, st.just(least))).filter(lambda x: least <= x <= most)


epsilons = awkward(MIN_EPSILON, 1e300)
rhos = awkward(MIN_RHO, 1e300)
sensitivities = st.one_of(
    st.integers(1, 100), st.integers(1, LARGEST_INT), st.integers(0, 62).map(lambda k: 2**k),
    st.integers(2, 62).map(lambda k: 2**k - 1),
)  # fmt: skip


def handed_over(module, function, *arguments, **parameters):
    """Return the terms that a mechanism hands to its sampler, as a fraction, and its receipt."""
    handed = []

    def filled(kernel, out, *terms, words_each, noise):
        handed.append(Fraction(*map(int, terms[-2:] if module is not noise_shares else terms[:2])))
        out[:] = 0

    with patch("privet.privacy.mechanisms.bits.fill", filled), patch.object(module, "fill", filled, create=True):
        _, event = getattr(module, function)(*arguments, **parameters)
    (terms,) = handed
    return terms, event


def or_too_much(release):
    """Return what ``release`` returns; noise beyond the sampler's limit is refused, never made smaller."""
    try:
        return release()
    except ParameterError as error:
        assume("is beyond the sampler's limit" not in str(error))
        raise


@settings(deadline=None, max_examples=60)
@given(epsilons, sensitivities)
@example(math.nextafter(0.1, 0), 1)
@example(math.nextafter(1 / 3, 1), 3)
@example(1e300, 1)
def test_laplace_noise_is_drawn_at_no_smaller_scale_than_epsilon_asks(epsilon, sensitivity):
    scale, event = or_too_much(
        lambda: handed_over(discrete_laplace, "discrete_laplace", [0], epsilon=epsilon, sensitivity=sensitivity)
    )
    assert scale == event.scale >= Fraction(sensitivity) / Fraction(epsilon)
    assert max(scale.numerator, scale.denominator) < MAX_TERM


@settings(deadline=None, max_examples=60)
@given(epsilons, sensitivities, st.integers(1, 10_000))
def test_shares_of_noise_are_drawn_at_no_smaller_scale_than_epsilon_asks(epsilon, sensitivity, honest):
    scale, event = or_too_much(
        lambda: handed_over(
            noise_shares, "noise_share", [0], epsilon=epsilon, sensitivity=sensitivity, honest=honest, parties=10_000
        )
    )
    assert scale == event.scale >= Fraction(sensitivity) / Fraction(epsilon)


@settings(deadline=None, max_examples=60)
@given(rhos, sensitivities)
@example(0.5, 2)
@example(math.nextafter(0.125, 1), 1)
def test_gaussian_noise_is_drawn_at_no_smaller_sigma_than_rho_asks(rho, squared):
    sigma, event = or_too_much(
        lambda: handed_over(discrete_gaussian, "discrete_gaussian", [0], rho=rho, sensitivity_squared=squared)
    )
    assert sigma == event.sigma
    assert sigma**2 >= Fraction(squared) / (2 * Fraction(rho))


@settings(deadline=None, max_examples=60)
@given(epsilons, sensitivities, st.booleans())
def test_choices_are_made_at_no_larger_rate_than_epsilon_allows(epsilon, sensitivity, monotone):
    rate, event = or_too_much(
        lambda: handed_over(
            permute_and_flip, "permute_and_flip", [0, 1], epsilon=epsilon, sensitivity=sensitivity, monotone=monotone
        )
    )
    assert rate == event.rate <= Fraction(epsilon) / (sensitivity * (1 if monotone else 2))


def test_a_scale_by_the_division_of_floats_would_be_caught():
    epsilon = next(e for e in (n / 10 for n in range(1, 100)) if Fraction(1 / e) < 1 / Fraction(e))
    assert discrete_laplace.scale_at_least(1, epsilon) >= 1 / Fraction(epsilon) > Fraction(1 / epsilon)


shares = st.lists(st.fractions(Fraction(1, 1000), 1000, max_denominator=1000), min_size=1, max_size=30)


@settings(deadline=None, max_examples=60)
@given(awkward(1e-7, 1e6), shares)
def test_the_noise_scales_of_an_objective_together_cost_no_more_than_their_epsilon(linear, parts):
    scales = scales_at_least(linear, [part / sum(parts) for part in parts])
    assert sum(1 / scale for scale in scales) <= Fraction(linear)


@settings(deadline=None, max_examples=60)
@given(awkward(1e-9, 1e12))
def test_the_sigma_of_a_tilt_is_no_smaller_than_asked(sigma):
    assert normal_sigma_at_least(sigma) >= Fraction(sigma)


def cost_at(p, linear, curvature, n_classes):
    """What a row may cost whose class is fitted with chance p: objective_perturbation.md, in 60 digits."""
    others = 1 / PRECISE.mpf(n_classes - 1) if n_classes > 2 else PRECISE.mpf(0)
    own = 1 + others
    p, linear, curvature = PRECISE.mpf(p), PRECISE.mpf(linear), PRECISE.mpf(curvature)
    of_others = (n_classes - 2) * PRECISE.log1p(curvature * (1 - p) * others)
    return linear * (1 - p) + of_others + PRECISE.log1p(curvature * p * (1 - p) * own)


@settings(deadline=None, max_examples=60)
@given(awkward(1e-9, 1e3), awkward(1e-12, 1e6), st.sampled_from([2, 3, 5, 26, 100]), st.floats(0, 1))
def test_no_row_costs_more_than_the_stated_epsilon(linear, curvature, n_classes, p):
    stated = PRECISE.mpf(pure_objective_epsilon(linear, curvature, n_classes))
    assert stated >= cost_at(p, linear, curvature, n_classes)


@settings(deadline=None, max_examples=25)
@given(awkward(MIN_EPSILON, 60.0), st.floats(0.01, 0.9), st.sampled_from([2, 3, 10]), st.floats(0, 1))
def test_a_tilt_bought_for_a_price_costs_no_row_more(price, share, n_classes, p):
    curvature = share * price
    assume(pure_objective_epsilon(price * 1e-9, curvature, n_classes) <= price)
    linear = linear_at_most(price, curvature, n_classes)
    assert cost_at(p, linear, curvature, n_classes) <= PRECISE.mpf(price)


@settings(deadline=None, max_examples=60)
@given(awkward(MIN_EPSILON, 60.0), awkward(1e-4, 10.0))
def test_a_delta_is_never_understated_where_floats_can_tell(epsilon, mu):
    def tail(x):
        return PRECISE.erfc(x / PRECISE.sqrt(2)) / 2

    epsilon_, mu_ = PRECISE.mpf(epsilon), PRECISE.mpf(mu)
    exact = tail(epsilon_ / mu_ - mu_ / 2) - PRECISE.exp(epsilon_) * tail(epsilon_ / mu_ + mu_ / 2)
    assume(exact > 1e-250)  # below it the 2^-60 of `gaussian_objective_delta` is all that counts
    assert PRECISE.mpf(gaussian_delta(epsilon, mu)) >= exact


@settings(deadline=None, max_examples=60)
@given(awkward(LEAST_SHARE, MOST_SHARE), st.one_of(st.integers(2, 40), st.integers(2, 65_535)))
@example(LEAST_SHARE, 65_535)
@example(MOST_SHARE, 65_535)
@example(30.0, 2)
@example(1e-9, 2)
def test_tickets_of_randomized_response_never_exceed_the_epsilon_asked_for(epsilon, n_answers):
    answer = RandomAnswer.of_epsilon("job", n_answers, epsilon)
    kept, *others = answer.distribution.weights.tolist()
    assert kept + sum(others) == TOTAL_WEIGHT
    ratio = Fraction(max(kept, *others), min(kept, *others))
    exact = PRECISE.log(PRECISE.mpf(ratio.numerator) / ratio.denominator)
    assert exact <= PRECISE.mpf(answer.local_epsilon) <= PRECISE.mpf(epsilon)


def test_an_epsilon_that_tickets_could_not_keep_is_refused():
    # At 4e-15 and 65,535 answers, rounding alone would have told 2.3e-10.
    with pytest.raises(ParameterError, match="must be from 1e-09, which tells nothing, to 30"):
        RandomAnswer.of_epsilon("job", 65_535, 4e-15)


@settings(deadline=None, max_examples=25)
@given(awkward(0.0021, 900.0), next_to(st.sampled_from([-1e9, 0.0, 1e-30])), next_to(st.sampled_from([1.0, 3.7e9])))
def test_tickets_of_laplace_noise_on_a_number_never_exceed_the_epsilon_asked_for(epsilon, low, high):
    column = LaplaceNoise(Schema([Numeric("x", low, high)], classes=["no", "yes"]), epsilon=epsilon).channel.columns[0]
    weights, steps = column.distribution.weights.astype(object), column.n_steps
    assert weights.sum() == TOTAL_WEIGHT
    middle, reach = len(weights) // 2, column.reach
    ratios = []
    for answer in (0, 1, steps // 2, steps, steps + reach - 1, 1 - reach):
        seen = weights[middle + answer - steps : middle + answer + 1]
        ratios.append(Fraction(int(seen.max()), int(seen.min())))
    border = np.cumsum(weights)
    ratios.append(Fraction(int(border[steps]), int(border[0])))
    worst = max(ratios)
    exact = PRECISE.log(PRECISE.mpf(worst.numerator) / worst.denominator)
    assert exact <= PRECISE.mpf(column.local_epsilon) <= PRECISE.mpf(epsilon)
