"""What epsilon means for an attacker."""

import math

import numpy as np
import pytest

from privet.privacy.guarantee import right_guesses
from privet.report.page.odds import belief, detection_rate, odds_table

LN_3 = math.log(3)


def test_beliefs_by_hand():
    # Odds of 1 : 9 become at most 3 : 9 and at least 1 : 27.
    moved = belief(0.1, LN_3)
    assert moved.highest == pytest.approx(3 / 12)
    assert moved.lowest == pytest.approx(1 / 28)


def test_certainty_and_impossibility_stay_what_they_are():
    assert (belief(0.0, 2.0).highest, belief(1.0, 2.0).lowest) == (0.0, 1.0)


def test_beliefs_are_those_of_bayes_rule_for_randomized_response():
    # The answer "yes" with chance 3/4 for a member and 1/4 for others is exactly ln 3-DP.
    prior = 0.2
    after_yes = prior * 0.75 / (prior * 0.75 + (1 - prior) * 0.25)
    after_no = prior * 0.25 / (prior * 0.25 + (1 - prior) * 0.75)
    assert belief(prior, LN_3).highest == pytest.approx(after_yes)
    assert belief(prior, LN_3).lowest == pytest.approx(after_no)


def test_detection_rates_by_hand():
    # The smaller one of 3 * 0.1 + 0.01 and 1 - 0.89 / 3, then of 3 * 0.9 + 0.01 and 1 - 0.09 / 3.
    assert detection_rate(0.1, LN_3, 0.01) == pytest.approx(0.31)
    assert detection_rate(0.9, LN_3, 0.01) == pytest.approx(0.97)
    assert detection_rate(1.0, LN_3, 0.0) == 1.0
    assert detection_rate(0.0, LN_3, 0.0) == 0.0


def test_right_guesses_by_hand():
    assert right_guesses(LN_3) == pytest.approx(3 / 4)
    assert right_guesses(LN_3, 0.2) == pytest.approx(3.2 / 4)
    assert right_guesses(math.inf) == 1.0


@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_the_best_guess_is_the_best_test_at_even_odds(epsilon, delta):
    alarms = np.linspace(0, 1, 20_001)
    best = max((detection_rate(alarm, epsilon, delta) + 1 - alarm) / 2 for alarm in alarms)
    assert right_guesses(epsilon, delta) == pytest.approx(best, abs=1e-3)


def test_no_likelihood_ratio_test_on_laplace_noise_beats_the_bounds():
    # Counts 0 and 1 with noise of scale 2: all tests of the form "noisy count >= t".
    x = np.arange(-400, 401)
    noise = np.exp(-np.abs(x) / 2)
    without = (noise / noise.sum())[::-1].cumsum()[::-1]
    with_row = np.concatenate([[1.0], without[:-1]])
    for alarms, found in zip(without, with_row, strict=True):
        assert found <= detection_rate(alarms, 0.5) + 1e-12
        assert (found + 1 - alarms) / 2 <= right_guesses(0.5) + 1e-12


def test_a_very_large_epsilon_overflows_nothing():
    table = odds_table(5_000.0, 0.0)
    assert table["factor"] == math.inf
    assert table["right_guesses"] == 1.0
    assert all(0 <= row["detection_rate"] <= 1 for row in table["tests"])


def test_with_a_delta_beliefs_and_groups_are_left_out():
    table = odds_table(1.0, 1e-6)
    assert (table["beliefs"], table["groups"]) == ([], [])
    assert len(table["tests"]) == 3


def test_a_group_costs_as_often_as_it_has_units():
    groups = {group["size"]: group for group in odds_table(0.5, 0.0)["groups"]}
    assert groups[4]["epsilon"] == 2.0
    assert groups[4]["right_guesses"] == right_guesses(2.0)


def test_a_value_of_a_known_member_is_bounded_at_twice_epsilon():
    # At ln 3 twice over odds are 9 : 1.
    assert odds_table(LN_3, 0.0)["right_guesses_of_a_value"] == pytest.approx(0.9)
    assert odds_table(LN_3, 1e-6)["right_guesses_of_a_value"] is None
