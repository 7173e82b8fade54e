"""Lower bounds on epsilon: by hand, at the corners, and that they hold as often as they say."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from privet.attack.claim import (
    epsilon_of_guesses,
    epsilon_of_rates,
    epsilon_shown,
    greatest_rate,
    least_rate,
)
from privet.errors import ParameterError


def test_rates_of_three_to_one_take_an_epsilon_of_ln_3():
    assert epsilon_of_rates(0.75, 0.25, 0.0) == pytest.approx(math.log(3))


def test_the_absence_of_an_event_can_show_more_than_the_event():
    # 0.99 against 0.9 is little; 0.1 against 0.01 is ln 10.
    assert epsilon_of_rates(0.99, 0.9, 0.0) == pytest.approx(math.log(10))


def test_a_delta_is_taken_off_before_the_ratio():
    assert epsilon_of_rates(0.5, 0.1, 0.2) == pytest.approx(math.log(0.3 / 0.1))


def test_equal_rates_show_nothing_and_an_event_that_never_happens_otherwise_shows_everything():
    assert epsilon_of_rates(0.5, 0.5, 0.0) == 0.0
    assert epsilon_of_rates(0.5, 0.0, 0.0) == math.inf
    assert epsilon_of_rates(0.1, 0.0, 0.2) == 0.0


@pytest.mark.parametrize(("hits", "runs"), [(0, 10), (3, 10), (10, 10), (731, 1000)])
def test_bounds_on_a_rate_are_those_of_clopper_and_pearson(hits, runs):
    interval = binomtest(hits, runs).proportion_ci(0.95, "exact")
    assert least_rate(hits, runs, 0.025) == pytest.approx(interval.low)
    assert greatest_rate(hits, runs, 0.025) == pytest.approx(interval.high)


def test_more_runs_show_more_and_more_confidence_shows_less():
    shown = [epsilon_shown(int(0.73 * n), int(0.27 * n), n) for n in (100, 1_000, 10_000)]
    assert shown == sorted(shown)
    assert epsilon_shown(730, 270, 1_000, confidence=0.999) < shown[1] < math.log(73 / 27)


def test_a_bound_exceeds_the_truth_no_oftener_than_it_may():
    truth, runs = 1.0, 400
    rate = math.e / (1 + math.e)
    rng = np.random.default_rng(7)
    with_row, without = rng.binomial(runs, rate, 2_000), rng.binomial(runs, 1 - rate, 2_000)
    wrong = [epsilon_shown(*hits, runs, confidence=0.9) > truth for hits in zip(with_row, without, strict=True)]
    assert np.mean(wrong) <= 0.1
    guesses = [epsilon_of_guesses(int(right), runs, confidence=0.9) > truth for right in with_row]
    # The bound on guesses is exact, so it is wrong about as often as it may be, and at 1.2 times epsilon oftener.
    assert 0.03 < np.mean(guesses) <= 0.12
    too_many = rng.binomial(runs, math.exp(1.2) / (1 + math.exp(1.2)), 2_000)
    assert np.mean([epsilon_of_guesses(int(right), runs, confidence=0.9) > truth for right in too_many]) > 0.3


def test_guesses_no_better_than_a_coin_show_nothing():
    assert epsilon_of_guesses(500, 1_000) == 0.0
    assert epsilon_of_guesses(0, 0) == 0.0


@pytest.mark.parametrize("confidence", [0.0, 0.3, 1.0, math.nan])
def test_what_is_no_confidence_is_refused(confidence):
    with pytest.raises(ParameterError, match="must be at least 0.5 and below 1; 0.95 is usual"):
        epsilon_shown(5, 5, 10, confidence=confidence)


def test_what_is_no_delta_is_refused():
    with pytest.raises(ParameterError, match="delta=1.5 is no probability below 1; pass 0 for pure DP"):
        epsilon_shown(5, 5, 10, delta=1.5)
