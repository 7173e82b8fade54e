"""The variance of estimates from one question: by hand, by adding up all possible answers, by drawing them."""

from itertools import combinations

import numpy as np
import pytest

from privet.local.channels.sampling.subset_selection import SubsetSelection
from privet.local.planning.question_design import variance_of_sum


def by_all_answers(weights, shares, size, kept, other):
    """Add up over true cells and sent sets what the estimate is, weighted by their chances."""
    k = len(weights)
    sets = [np.isin(np.arange(k), chosen) for chosen in combinations(range(k), size)]
    mean, square = 0.0, 0.0
    for true, share in enumerate(shares):
        holding = [sent for sent in sets if sent[true]]
        for sent in sets:
            chance = kept / len(holding) if sent[true] else (1 - kept) / (len(sets) - len(holding))
            estimate = float((weights * (sent - other)).sum()) / (kept - other)
            mean += share * chance * estimate
            square += share * chance * estimate**2
    return square - mean**2


def test_by_hand_a_cell_is_sent_by_a_binomial_number_of_people():
    # Of three answers the true one has 1/2, each other one 1/4: all three are sent equally often, by 1/3.
    noise, spread = variance_of_sum(np.array([1.0, 0, 0]), np.full(3, 1 / 3), 0.5, 0.25)
    assert noise + spread == pytest.approx((1 / 3) * (2 / 3) / 0.25**2)
    assert spread == pytest.approx(2 / 9)


def test_by_hand_a_share_of_everybody_is_known_exactly():
    assert variance_of_sum(np.ones(4), np.full(4, 0.25), 0.7, 0.1) == pytest.approx((0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_it_agrees_with_all_possible_answers(seed):
    rng = np.random.default_rng(seed)
    cells = int(rng.integers(2, 7))
    size = int(rng.integers(1, cells))
    chosen = SubsetSelection.of_epsilon(cells, float(rng.uniform(0.2, 4)), size)
    weights, shares = rng.normal(size=cells), rng.dirichlet(np.ones(cells))
    found = sum(variance_of_sum(weights, shares, *chosen.chances))
    assert found == pytest.approx(by_all_answers(weights, shares, size, *chosen.chances))


def test_it_is_the_variance_of_drawn_answers_and_independent_cells_would_not_be():
    rng, selection, weights = np.random.default_rng(4), SubsetSelection.of_epsilon(6, 1.0), np.array([1.0, 0] * 3)
    shares, n = np.full(6, 1 / 6), 200_000
    kept, other = selection.chances
    sent = selection.draw(rng.integers(0, 6, n), lambda k: rng.integers(0, 2**64, (n, k), dtype=np.uint64))
    drawn = (weights[sent].sum(axis=1) - other * weights.sum()) / (kept - other)
    assert drawn.var() == pytest.approx(sum(variance_of_sum(weights, shares, kept, other)), rel=0.02)
    one = sum(variance_of_sum(np.eye(6)[0], shares, kept, other))
    assert abs(3 * one / drawn.var() - 1) > 0.2  # the planted fault: cells as if each were sent by itself
