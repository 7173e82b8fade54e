"""Scores to chances and back."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import logsumexp

from privet.central.weights.link import chances_of, scores_of
from tests.loops import loop_over


def random_chances(seed, n_classes):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(n_classes, (0.2, 1.0, 20.0)[seed % 3])).clip(1e-9)


def expected_loss(scores, chances, margin):
    """Return the mean loss of rows whose classes have these ``chances`` and whose scores are all the same."""
    leads = scores - scores[:, None] + margin * (1 - np.eye(len(scores)))
    return float(chances @ logsumexp(leads, axis=1))


@loop_over("margin", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("n_classes", [2, 3, 7, 26, 300])
@loop_over("seed", range(6))
def test_scores_lead_back_to_their_chances(seed, n_classes, margin):
    chances = random_chances(seed, n_classes)
    chances /= chances.sum()
    scores = scores_of(chances, margin)
    assert scores.mean() == pytest.approx(0, abs=1e-12)
    assert_allclose(chances_of(scores[None, :], margin)[0], chances, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 26])
def test_the_scores_of_many_lines_are_those_of_each(n_classes):
    chances = np.array([random_chances(seed, n_classes) for seed in range(30)])
    each = np.array([scores_of(own, 1.0) for own in chances])
    assert_array_equal(scores_of(chances, 1.0), each)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@loop_over("seed", range(3))
def test_scores_minimise_the_loss_of_rows_that_have_nothing_else(seed, n_classes):
    chances = random_chances(seed, n_classes)
    chances /= chances.sum()
    scores = scores_of(chances, 1.0)
    best = minimize(expected_loss, np.zeros(n_classes), args=(chances, 1.0), tol=1e-14)
    assert expected_loss(scores, chances, 1.0) <= best.fun + 1e-12
    moved = [scores + 1e-3 * np.random.default_rng(i).normal(size=n_classes) for i in range(5)]
    assert all(expected_loss(near, chances, 1.0) >= expected_loss(scores, chances, 1.0) for near in moved)


def test_two_even_classes_have_no_score():
    assert_allclose(scores_of(np.array([0.5, 0.5]), 1.0), [0, 0], atol=1e-15)


def test_without_a_margin_it_is_the_softmax():
    chances = chances_of(np.log([[0.2, 0.3, 0.5]]), 0.0)
    assert_allclose(chances, [[0.2, 0.3, 0.5]])
    assert_allclose(scores_of(chances[0], 0.0), np.log([0.2, 0.3, 0.5]) - np.log([0.2, 0.3, 0.5]).mean())


def test_a_sure_score_by_hand():
    # v = (3/4, 1/4): v (1 - b v) with b = 1 - 1/e.
    bent = 1 - math.exp(-1)
    first, second = 0.75 * (1 - bent * 0.75), 0.25 * (1 - bent * 0.25)
    chances = chances_of(np.log([[0.75, 0.25]]), 1.0)
    assert_allclose(chances, [[first / (first + second), second / (first + second)]])


def test_chances_add_up_and_keep_the_order_of_scores_however_large():
    scores = np.array([[0.0, 1e4, -1e4], [5.0, 5.0, 4.9], [800.0, 0.0, 799.0]])
    chances = chances_of(scores, 1.0)
    assert_allclose(chances.sum(axis=1), 1)
    assert_array_equal(chances.argmax(axis=1), scores.argmax(axis=1))
    assert np.isfinite(chances).all()
