"""The Bayes iteration by hand, against a twin that goes one answer at a time, and where it has little to go by."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2

from privet.local.reconstruction.bayes_iteration import chi_square_threshold, iterate, posterior
from tests.loops import loop_over

KEEP = np.array([[0.75, 0.25], [0.25, 0.75]])
EVEN = np.array([0.5, 0.5])


def one_by_one(matrix, counts, start, n_steps):
    """Equation 1 of the paper, an answer at a time."""
    shares = start / start.sum()
    answers = np.repeat(np.arange(len(counts)), counts)
    for _ in range(n_steps):
        shares = np.mean([matrix[s] * shares / (matrix[s] @ shares) for s in answers], axis=0)
    return shares


def test_one_step_by_hand():
    # Three of four answers say 0. Of each, 3/4 and 1/4 go to 0 and 1: 3/4 * 3/4 + 1/4 * 1/4 = 5/8.
    found = iterate(KEEP, np.array([[3.0, 1.0]]), EVEN, max_steps=1)
    assert_allclose(found.shares, [[0.625, 0.375]])
    assert_array_equal(found.n_steps, [1])
    assert not found.converged[0]


def test_many_steps_come_to_the_maximum_likelihood():
    # 0.6 = 0.75 p + 0.25 (1 - p) gives p = 0.7.
    found = iterate(KEEP, np.array([[6.0, 4.0]]), EVEN, tolerance=1e-20)
    assert_allclose(found.shares, [[0.7, 0.3]], atol=1e-6)
    assert found.converged[0]


@loop_over("seed", range(20))
def test_steps_agree_with_one_answer_at_a_time(seed):
    rng = np.random.default_rng(seed)
    n_answers, n_cells = rng.integers(2, 9, 2)
    matrix, start = rng.dirichlet(np.ones(n_answers), n_cells).T, rng.dirichlet(np.ones(n_cells))
    counts = rng.integers(0, 5, n_answers) + (np.arange(n_answers) == 0)
    found = iterate(matrix, counts[None, :], start, max_steps=7, tolerance=0.0)
    assert_allclose(found.shares[0], one_by_one(matrix, counts, start, 7), rtol=1e-9, atol=1e-15)


def test_samples_are_reconstructed_each_by_itself_and_stop_each_at_its_own_step():
    counts = np.array([[900.0, 100.0], [5.0, 5.0], [30.0, 70.0]])
    together = iterate(KEEP, counts, EVEN)
    alone = [iterate(KEEP, own[None, :], EVEN) for own in counts]
    assert_allclose(together.shares, np.concatenate([each.shares for each in alone]), rtol=1e-12)
    assert_array_equal(together.n_steps, [each.n_steps[0] for each in alone])
    assert together.n_steps[0] > together.n_steps[2] > together.n_steps[1] == 1


def test_it_stops_at_the_stated_share_of_the_chi_square_threshold():
    counts, size = np.array([[600.0, 400.0]]), 1000
    for tolerance in (0.3, 0.01, 1e-4):
        n_steps = int(iterate(KEEP, counts, EVEN, tolerance=tolerance).n_steps[0])
        last, before, earlier = (
            iterate(KEEP, counts, EVEN, max_steps=n, tolerance=0.0).shares[0] if n > 0 else EVEN
            for n in (n_steps, n_steps - 1, n_steps - 2)
        )
        enough = tolerance * chi2.ppf(0.95, 1)
        assert size * ((last - before) ** 2 / before).sum() < enough
        assert size * ((before - earlier) ** 2 / earlier).sum() >= enough


def test_the_threshold_is_that_of_the_chi_square_test():
    assert chi_square_threshold(1) == pytest.approx(3.841459)
    assert chi_square_threshold(99) == pytest.approx(123.2252)


def test_more_rows_take_more_steps_for_the_same_shares():
    few, many = iterate(KEEP, np.array([[60.0, 40.0], [6e6, 4e6]]), EVEN).n_steps
    assert many > few


def test_answers_that_no_cell_can_give_drop_out():
    matrix = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    assert_allclose(iterate(matrix, np.array([[3.0, 1.0, 8.0]]), EVEN).shares, [[0.75, 0.25]])
    assert_allclose(iterate(matrix, np.array([[0.0, 0.0, 8.0]]), EVEN).shares, [EVEN])


def test_one_cell_has_everything_and_no_sample_has_nothing():
    found = iterate(np.ones((3, 1)), np.array([[1.0, 2.0, 3.0]]), np.ones(1))
    assert_array_equal(found.shares, [[1.0]])
    assert found.converged[0]
    assert iterate(KEEP, np.empty((0, 2)), EVEN).shares.shape == (0, 2)


def test_the_posterior_by_hand():
    # P(0 | answer 0) = 0.75 * 0.7 / (0.75 * 0.7 + 0.25 * 0.3) = 0.875.
    assert_allclose(posterior(KEEP, np.array([0.7, 0.3])), [[0.875, 0.125], [0.4375, 0.5625]])


def test_the_posterior_of_an_answer_that_cannot_be_is_the_estimate():
    assert_allclose(posterior(np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([0.7, 0.3]))[1], [0.7, 0.3])
