import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.privacy.mechanisms.deviation import standard_deviation
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.rng import SeededNoise
from privet.tree.intervals import DEVIATIONS, RELIABLE, confidence_intervals, reach, stands_out, support_intervals

N_DRAWS = 20_000
# Of 20,000 draws, one in 20 wrong: so many deviations of chance below 95 % are allowed.
LEAST = 0.95 - 4 * math.sqrt(0.05 * 0.95 / N_DRAWS)


def noisy_nodes(exact, *, epsilon, n_leaves):
    """Return many releases of one node's class counts, each the sum of its leaves', and one leaf count's variance."""
    spread = np.zeros((N_DRAWS, n_leaves, len(exact)), dtype=np.int64)
    spread[:, 0] = exact
    noisy, event = discrete_laplace(spread, epsilon=epsilon, sensitivity=1, noise=SeededNoise(11))
    return noisy.sum(axis=1), standard_deviation(event.part) ** 2


def test_the_factor_is_the_95_percent_point_of_a_laplace_variable():
    scale = 1 / math.sqrt(2)  # of standard deviation 1
    assert math.exp(-DEVIATIONS / scale) == pytest.approx(0.05)


def test_what_stands_out_exceeds_three_deviations():
    assert RELIABLE == 3.0
    assert stands_out(np.array([6, 7, -9, 0, 1]), np.array([4.0, 4.0, 4.0, 0.0, 0.0])).tolist() == [
        False, True, False, False, True,
    ]  # fmt: skip


def test_of_what_is_noise_alone_fewer_than_one_in_a_hundred_stands_out():
    noisy, variance = noisy_nodes((0, 0), epsilon=0.5, n_leaves=1)
    share = stands_out(noisy.sum(axis=1), 2 * variance).mean()
    assert 0 < share < 0.01


def test_weighted_sums_of_laplace_variables_reach_no_further():
    # P(|aX + bY| > t) = (a^2 exp(-t/a) - b^2 exp(-t/b)) / (a^2 - b^2) for X, Y of scale 1.
    for share in np.linspace(0.01, 0.49, 25):
        a, b = math.sqrt((1 - share) / 2), math.sqrt(share / 2)
        tail = (a**2 * math.exp(-DEVIATIONS / a) - b**2 * math.exp(-DEVIATIONS / b)) / (a**2 - b**2)
        assert tail < 0.05


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0, 4.3])
@pytest.mark.parametrize("n_leaves", [1, 7])
@pytest.mark.parametrize("exact", [(400, 100), (30, 50, 20), (0, 90)])
def test_intervals_hold_the_exact_numbers_95_times_of_100(epsilon, n_leaves, exact):
    noisy, leaf_variance = noisy_nodes(exact, epsilon=epsilon, n_leaves=n_leaves)
    variance = np.full(N_DRAWS, n_leaves * leaf_variance)
    low, high = support_intervals(noisy, variance)
    assert ((low <= sum(exact)) & (sum(exact) <= high)).mean() >= LEAST
    for chosen in range(len(exact)):
        share = exact[chosen] / sum(exact)
        low, high = confidence_intervals(noisy, np.full(N_DRAWS, chosen), variance)
        assert ((low - 1e-12 <= share) & (share <= high + 1e-12)).mean() >= LEAST


def test_intervals_are_no_wider_than_they_need_be():
    noisy, variance = noisy_nodes((4000, 1000), epsilon=0.05, n_leaves=1)
    low, high = support_intervals(noisy, np.full(N_DRAWS, variance / 1.3))
    assert ((low <= 5000) & (high >= 5000)).mean() < LEAST
    low, high = confidence_intervals(noisy, np.zeros(N_DRAWS, dtype=int), np.full(N_DRAWS, variance / 1.6))
    assert ((low <= 0.8) & (high >= 0.8)).mean() < LEAST


def test_the_confidence_interval_solves_its_quadratic_by_hand():
    counts, variance = np.array([[300, 100]]), np.array([25.0])
    (low,), (high,) = confidence_intervals(counts, np.array([0]), variance)
    (w,) = reach(variance)
    for p in (low, high):
        assert (300 - p * 400) ** 2 == pytest.approx(w**2 * ((1 - p) ** 2 + p**2))
    assert low < 0.75 < high


def test_without_noise_intervals_are_points():
    counts, none = np.array([[3, 1], [0, 5]]), np.zeros(2)
    assert_array_equal(support_intervals(counts, none), [[4, 5], [4, 5]])
    assert_allclose(confidence_intervals(counts, np.array([0, 1]), none), [[0.75, 1], [0.75, 1]])


@pytest.mark.parametrize("counts", [(3, 2), (-4, 1), (0, 0), (-40, 10)])
def test_where_the_support_may_be_0_every_share_is_possible(counts):
    low, high = confidence_intervals(np.array([counts]), np.array([1]), np.array([50.0]))
    assert (low, high) == (0, 1)


def test_where_no_share_would_be_held_every_share_is_possible():
    # 900 of 600 rows: the others came out at -300, far beyond their noise.
    assert confidence_intervals(np.array([[900, -300]]), np.array([0]), np.array([4.0])) == (0, 1)


def test_large_counts_lose_no_digits():
    counts = np.array([[3 * 10**15, 10**15]])
    (low,), (high,) = confidence_intervals(counts, np.array([0]), np.array([100.0]))
    assert 0 < high - low < 1e-13
    assert low == pytest.approx(0.75, abs=1e-13)
