import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

from privet.privacy.mechanisms.permute_and_flip import permute_and_flip

SCORES = [12, 9, 11]


def probabilities(scores, rate):
    """Add up all orders of the candidates."""
    heads = [math.exp(-rate * (max(scores) - score)) for score in scores]
    law = np.zeros(len(scores))
    for order in itertools.permutations(range(len(scores))):
        still = 1 / math.factorial(len(scores))
        for candidate in order:
            law[candidate] += still * heads[candidate]
            still *= 1 - heads[candidate]
    return law


def choices(scores, n, **parameters):
    return np.bincount([permute_and_flip(scores, **parameters)[0] for _ in range(n)], minlength=len(scores))


def p_of(counts, rate, scores=SCORES):
    return chisquare(counts, probabilities(scores, rate) * counts.sum()).pvalue


def test_three_candidates_by_hand():
    # Gaps 0, 1, 2 at rate ln 2: heads of 1, 1/2, 1/4. P(i) = p_i E[1 / (1 + heads among the others)].
    first = 3 / 8 + 1 / 2 / 2 + 1 / 8 / 3
    second = 1 / 2 * (3 / 4 / 2 + 1 / 4 / 3)
    third = 1 / 4 * (1 / 2 / 2 + 1 / 2 / 3)
    assert (first, second, third) == pytest.approx((2 / 3, 11 / 48, 5 / 48))
    assert probabilities([2, 1, 0], math.log(2)) == pytest.approx([first, second, third])


@pytest.mark.parametrize(("monotone", "rate"), [(False, 0.4), (True, 0.8)])
def test_choices_follow_the_stated_rate_and_not_another(monotone, rate):
    counts = choices(SCORES, 12_000, epsilon=0.8, sensitivity=1, monotone=monotone)
    assert p_of(counts, rate) > 1e-9
    assert p_of(counts, 0.8 * rate) < 1e-6
    assert p_of(counts, 1.25 * rate) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("scores", [SCORES, [0, 0, 5, 3], [-7, 1, 0, 2, 2]])
def test_many_choices_follow_the_stated_rate_and_not_another(scores):
    counts = choices(scores, 200_000, epsilon=3.0, sensitivity=5)
    assert p_of(counts, 0.3, scores) > 1e-9
    assert p_of(counts, 0.27, scores) < 1e-6
    assert p_of(counts, 0.33, scores) < 1e-6


def test_ties_are_broken_evenly_without_noise():
    counts = choices([5, 9, 9, 9], 4_000, epsilon=math.inf, sensitivity=1)
    assert counts[0] == 0
    assert chisquare(counts[1:]).pvalue > 1e-9


def test_the_odds_on_neighbouring_scores_stay_within_epsilon():
    # The worst neighbours: one score up by 1, all others down by 1.
    before, after = probabilities([3, 2, 2], 0.5), probabilities([2, 3, 1], 0.5)
    assert np.abs(np.log(before / after)).max() <= 1.0 + 1e-12


def test_choices_agree_with_opendp(opendp_choices):
    theirs = opendp_choices(SCORES, 12_000, scale=2.5)  # its scale is 1 / rate
    ours, others = (choices(SCORES, 12_000, epsilon=2 * rate, sensitivity=1) for rate in (0.4, 0.6))
    assert chi2_contingency([ours, theirs]).pvalue > 1e-9
    assert chi2_contingency([others, theirs]).pvalue < 1e-6


@pytest.fixture
def opendp_choices():
    import opendp.prelude as dp

    dp.enable_features("contrib")

    def draw(scores, n, scale):
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
        choose = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale)
        return np.bincount([choose(scores) for _ in range(n)], minlength=len(scores))

    return draw
