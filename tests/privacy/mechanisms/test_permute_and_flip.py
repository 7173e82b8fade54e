import math
from fractions import Fraction

import numpy as np
import pytest

from privet.errors import ParameterError
from privet.privacy import events
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip


def test_the_receipt_says_what_was_asked_and_what_was_used():
    index, event = permute_and_flip([5, 9, 7], epsilon=0.3, sensitivity=2, what="split")
    assert index in {0, 1, 2}
    assert type(index) is int
    assert (event.what, event.epsilon, event.sensitivity, event.candidates) == ("split", 0.3, 2, 3)
    assert event.rate <= Fraction(0.3) / 4
    assert float(event.rate) == pytest.approx(0.075, rel=1e-6)


def test_a_monotone_score_is_chosen_at_twice_the_rate():
    _, event = permute_and_flip([5, 9], epsilon=1.0, sensitivity=1, monotone=True)
    assert event == events.PermuteAndFlip("selection", 1.0, 1, 2, True, Fraction(1))


def test_a_sharp_choice_takes_the_best_score():
    assert {permute_and_flip([5, 9, 7], epsilon=1e6, sensitivity=1)[0] for _ in range(50)} == {1}


def test_an_infinite_epsilon_takes_a_best_score_by_lot_and_says_so():
    chosen = [permute_and_flip([9, 5, 9, 9], epsilon=math.inf, sensitivity=1, what="split") for _ in range(200)]
    assert {index for index, _ in chosen} == {0, 2, 3}
    assert {event for _, event in chosen} == {events.NoNoise("split")}


def test_gaps_as_wide_as_the_integers_are_told_apart():
    scores = np.array([-(2**62), 2**62, 2**62 - 1])
    assert {permute_and_flip(scores, epsilon=100.0, sensitivity=1)[0] for _ in range(50)} == {1}
    assert {permute_and_flip(scores, epsilon=1e-6, sensitivity=1)[0] for _ in range(50)} == {1, 2}


def test_one_candidate_is_always_chosen():
    assert permute_and_flip([-3], epsilon=1.0, sensitivity=1)[0] == 0


@pytest.mark.parametrize("scores", [np.array([], dtype=np.int64), [], [[5, 9]], 5])
def test_scores_that_offer_no_choice_are_refused(scores):
    with pytest.raises(ParameterError, match=r"scores of shape .* offer no choice; pass one score for each"):
        permute_and_flip(scores, epsilon=1.0, sensitivity=1)


def test_scores_that_are_no_integers_are_refused():
    with pytest.raises(ParameterError, match="round to a grid and count the rounding in the sensitivity"):
        permute_and_flip([0.5, 0.9], epsilon=1.0, sensitivity=1)


def test_parameters_out_of_range_are_refused():
    with pytest.raises(ParameterError, match="epsilon=0 is out of range"):
        permute_and_flip([5, 9], epsilon=0, sensitivity=1)
    with pytest.raises(ParameterError, match="sensitivity=0 must be a whole number"):
        permute_and_flip([5, 9], epsilon=1.0, sensitivity=0)
    with pytest.raises(ParameterError, match="pass a larger epsilon, or count in coarser units"):
        permute_and_flip([5, 9], epsilon=1e-6, sensitivity=2**30)
