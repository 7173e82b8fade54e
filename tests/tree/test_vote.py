import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.tree.counted import CountedForest
from privet.tree.vote import (
    SHARE_GRID,
    MostConfident,
    SummedCounts,
    class_shares,
    confidence_weights,
    most_confident,
    nearest_nonempty,
    node_shares,
)
from tests.tree.forests import by_hand, grown, random_codes, random_schema


def of_leaves(forest, shares):
    """Return shares of all nodes, of which inner ones say nothing."""
    every = np.zeros((forest.n_nodes, shares.shape[1]))
    every[forest.leaves] = shares
    return every


def test_counts_of_the_leaves_that_a_row_reaches_are_added_up_and_negative_ones_count_as_zero():
    _, forest = by_hand()
    noisy_counts = np.array([[3, -9], [1, 2], [-4, -4], [0, 8], [5, 5]])  # leaves 1, 2, 4, 5, 6
    vote = SummedCounts.of(CountedForest.of_leaves(forest, noisy_counts, 0.0))
    rows = np.array([[0, 0], [3, 1], [3, 0]], dtype=np.uint8)
    assert_allclose(vote.probabilities(rows), [[4 / 6, 2 / 6], [3 / 11, 8 / 11], [1.0, 0.0]])


def test_where_no_count_is_left_the_class_totals_decide():
    _, forest = by_hand()
    noisy_counts = np.array([[-1, 0], [6, 2], [-4, -4], [0, 8], [5, 0]])
    row = np.array([[3, 0]], dtype=np.uint8)  # leaves 1 and 4
    vote = SummedCounts.of(CountedForest.of_leaves(forest, noisy_counts, 0.0))
    assert_allclose(vote.probabilities(row), [[6 / 12, 6 / 12]])


def test_where_even_the_totals_are_negative_all_classes_are_equally_likely():
    assert_allclose(class_shares(np.array([[-5, 1, -2], [2, -3, 0]])), [1 / 3] * 3)
    assert_allclose(class_shares(np.array([[-5, 3, 1]])), [0, 3 / 4, 1 / 4])


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_threads_do_not_change_the_result(n_jobs):
    rng = np.random.default_rng(2)
    schema = random_schema(rng, n_attributes=4, wide=False)
    forest = grown(rng, schema, height=3, n_trees=5)
    counts = rng.integers(-5, 9, (len(forest.leaves), len(schema.classes)))
    vote = SummedCounts.of(CountedForest.of_leaves(forest, counts, 0.0))
    codes = random_codes(rng, schema, 20_011, np.uint8)
    assert_array_equal(vote.probabilities(codes, n_jobs=n_jobs), vote.probabilities(codes))


def test_the_surest_tree_decides_and_probabilities_add_up_to_one():
    _, forest = by_hand()
    leaf_shares = np.array([[0.4, 0.6], [0.7, 0.3], [0.1, 0.9], [0.5, 0.5], [0.0, 0.0]])  # leaves 1, 2, 4, 5, 6
    vote = MostConfident.of(forest, of_leaves(forest, leaf_shares), np.array([0.2, 0.8]))
    rows = np.array([[0, 0], [3, 0]], dtype=np.uint8)  # leaves 2 and 1, then 4 and 1
    # First "no" leads with 0.7 against 0.6, then "yes" leads both trees, with 0.9 the surest.
    assert_allclose(vote.probabilities(rows), [[0.7 / 1.3, 0.6 / 1.3], [0.0, 1.0]], atol=1e-9)


def test_equal_confidences_are_decided_by_the_sum_of_all():
    _, forest = by_hand()
    leaf_shares = np.array([[0.25, 0.75, 0.0], [0.75, 0.0, 0.25], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
    row = np.zeros((1, 2), dtype=np.uint8)
    # 0.75 for both; all confidences come to 1 and 0.75.
    vote = MostConfident.of(forest, of_leaves(forest, leaf_shares), np.full(3, 1 / 3))
    assert vote.probabilities(row)[0].argmax() == 0
    other = leaf_shares.copy()
    other[0], other[1] = [0.0, 0.75, 0.25], [0.75, 0.25, 0.0]
    vote = MostConfident.of(forest, of_leaves(forest, other), np.full(3, 1 / 3))
    assert vote.probabilities(row)[0].argmax() == 1


def test_where_no_share_is_left_the_released_totals_decide():
    _, forest = by_hand()
    vote = MostConfident.of(forest, np.zeros((forest.n_nodes, 2)), np.array([0.2, 0.8]))
    assert_allclose(vote.probabilities(np.zeros((1, 2), dtype=np.uint8)), [[0.2, 0.8]])


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_do_not_change_the_vote_of_the_surest(n_jobs):
    rng = np.random.default_rng(4)
    schema = random_schema(rng, n_attributes=3, wide=False)
    forest = grown(rng, schema, height=2, n_trees=4)
    vote = MostConfident.of(
        forest, node_shares(rng.integers(-2, 9, (forest.n_nodes, len(schema.classes)))),
        np.full(len(schema.classes), 1 / len(schema.classes)),
    )  # fmt: skip
    codes = random_codes(rng, schema, 10_000, np.uint8)
    assert_array_equal(vote.probabilities(codes, n_jobs=n_jobs), vote.probabilities(codes))


def test_shares_of_a_node_leave_negative_counts_out():
    assert_allclose(node_shares(np.array([[3, 1], [-5, 2], [0, 0], [-1, -1]])), [[0.75, 0.25], [0, 1], [0, 0], [0, 0]])


def test_a_leaf_votes_for_its_majority_alone_and_the_first_of_equal_classes():
    weights = confidence_weights(np.array([[0.75, 0.25], [0.5, 0.5], [0.0, 0.0], [0.0, 1.0]]))
    assert_array_equal(weights / SHARE_GRID, [[0.75, 0], [0.5, 0], [0, 0], [0, 1]])


def test_the_surest_kept_node_of_a_path_speaks_and_of_equal_ones_the_highest():
    _, forest = by_hand()
    shares = np.zeros((7, 2))
    shares[:, 0] = [0.6, 0.5, 0.9, 0.6, 0.7, 0.6, 0.8]
    everything, none_below = np.ones(7, dtype=bool), np.array([True, True, *[False] * 5])
    assert_array_equal(most_confident(forest, shares, everything), [0, 1, 2, 0, 4, 0, 6])
    assert_array_equal(most_confident(forest, shares, none_below), [0, 1, 0, 0, 0, 0, 0])


def test_an_empty_node_is_stood_in_for_by_its_nearest_ancestor_with_counts():
    _, forest = by_hand()
    shares = np.zeros((7, 2))
    shares[[0, 5], 1] = 1.0
    assert_array_equal(nearest_nonempty(forest, shares), [0, 1, 0, 0, 0, 5, 0])
    shares[3, 0] = 0.5
    assert_array_equal(nearest_nonempty(forest, shares), [0, 1, 0, 3, 3, 5, 3])
