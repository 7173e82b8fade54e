import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from privet.errors import ParameterError
from privet.privacy import events
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip, permute_and_flip_each
from privet.rng import SeededNoise
from privet.tree.criteria import Score
from tests.central.selection import probabilities


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


def chosen_each(scores, allowed=None, *, n=1, seed=1, **options):
    lines = np.tile(scores, (n, 1))
    free = np.ones(lines.shape, dtype=bool) if allowed is None else np.tile(allowed, (n, 1))
    return permute_and_flip_each(lines, free, sensitivity=1, noise=SeededNoise(seed), **options)


@pytest.mark.parametrize(("monotone", "epsilon"), [(False, 0.8), (True, 0.8), (True, 3.0)])
def test_many_choices_at_once_follow_the_law_of_one_and_not_another(monotone, epsilon):
    scores = [12, 9, 11]
    chosen, _ = chosen_each(scores, n=20_000, epsilon=epsilon, monotone=monotone)
    counts, score = np.bincount(chosen, minlength=3), Score(lambda counts: counts, 1, monotone)
    assert chisquare(counts, 20_000 * probabilities(scores, score=score, epsilon=epsilon)).pvalue > 1e-6
    assert chisquare(counts, 20_000 * probabilities(scores, score=score, epsilon=1.2 * epsilon)).pvalue < 1e-6
    one_by_one = [
        permute_and_flip(scores, epsilon=epsilon, sensitivity=1, monotone=monotone, noise=noise)[0]
        for noise in [SeededNoise(2)]
        for _ in range(3_000)
    ]
    assert chisquare(np.bincount(one_by_one), 3_000 * counts / 20_000).pvalue > 1e-6


def test_lines_are_chosen_from_one_by_one_each_by_its_own_scores():
    scores = np.array([[900, 0, 0], [0, 0, 900], [0, 900, 0]])
    chosen, _ = permute_and_flip_each(scores, scores > -1, epsilon=100.0, sensitivity=1)
    assert chosen.tolist() == [0, 2, 1]


def test_what_is_not_allowed_is_never_chosen_however_good_it_is():
    chosen, event = chosen_each([900, 5, 9, 2**62], [False, True, True, False], n=2_000, epsilon=0.5)
    assert set(chosen.tolist()) == {1, 2}
    assert event.part.candidates == 2
    # The best that is allowed counts as the best: gaps are those of a choice among the two alone.
    law = probabilities([5, 9], score=Score(lambda counts: counts, 1, monotone=False), epsilon=0.5)
    assert chisquare(np.bincount(chosen)[1:], 2_000 * law).pvalue > 1e-6
    for epsilon in (1e-6, 1e6, math.inf):
        assert chosen_each([900, 5], [False, True], epsilon=epsilon)[0].tolist() == [1]


def test_without_noise_each_line_takes_a_best_allowed_score_by_lot_and_says_so():
    chosen, event = chosen_each([9, 5, 9, 20], [True, True, True, False], n=300, epsilon=math.inf, what="splits")
    assert set(chosen.tolist()) == {0, 2}
    assert event == events.NoNoise("splits")


def test_no_lines_have_no_choices_and_still_a_receipt():
    chosen, event = permute_and_flip_each(
        np.empty((0, 4), dtype=np.int64), np.empty((0, 4), dtype=bool), epsilon=0.5, sensitivity=2, monotone=True
    )
    assert chosen.shape == (0,)
    assert event == events.PermuteAndFlip("selection", 0.5, 2, 1, True, Fraction(1, 4))


def test_the_receipt_of_many_choices_is_that_of_one():
    scores = np.array([[5, 9, 7], [1, 2, 3]])
    _, each = permute_and_flip_each(scores, scores > 0, epsilon=0.3, sensitivity=2, what="split")
    _, one = permute_and_flip([5, 9, 7], epsilon=0.3, sensitivity=2, what="split")
    assert each == one
    _, seeded = chosen_each([5, 9], epsilon=0.3)
    assert isinstance(seeded, events.Seeded)


def test_parameters_of_many_choices_are_checked_too():
    with pytest.raises(ParameterError, match="epsilon=0 is out of range"):
        chosen_each([5, 9], epsilon=0)
    with pytest.raises(ParameterError, match="round to a grid and count the rounding in the sensitivity"):
        chosen_each([0.5, 0.9], epsilon=1.0)
