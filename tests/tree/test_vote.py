import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.errors import ParameterError
from privet.tree.threads import n_threads
from privet.tree.vote import SummedCounts, class_shares
from tests.tree.forests import by_hand, grown, random_codes, random_schema


def test_counts_of_the_leaves_that_a_row_reaches_are_added_up_and_negative_ones_count_as_zero():
    _, forest = by_hand()
    noisy_counts = np.array([[3, -9], [1, 2], [-4, -4], [0, 8], [5, 5]])  # leaves 1, 2, 4, 5, 6
    vote = SummedCounts.of(forest, noisy_counts)
    rows = np.array([[0, 0], [3, 1], [3, 0]], dtype=np.uint8)
    assert_allclose(vote.probabilities(rows), [[4 / 6, 2 / 6], [3 / 11, 8 / 11], [1.0, 0.0]])


def test_where_no_count_is_left_the_class_totals_decide():
    _, forest = by_hand()
    noisy_counts = np.array([[-1, 0], [6, 2], [-4, -4], [0, 8], [5, 0]])
    row = np.array([[3, 0]], dtype=np.uint8)  # leaves 1 and 4
    assert_allclose(SummedCounts.of(forest, noisy_counts).probabilities(row), [[6 / 12, 6 / 12]])


def test_where_even_the_totals_are_negative_all_classes_are_equally_likely():
    assert_allclose(class_shares(np.array([[-5, 1, -2], [2, -3, 0]])), [1 / 3] * 3)
    assert_allclose(class_shares(np.array([[-5, 3, 1]])), [0, 3 / 4, 1 / 4])


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_threads_do_not_change_the_result(n_jobs):
    rng = np.random.default_rng(2)
    schema = random_schema(rng, n_attributes=4, wide=False)
    forest = grown(rng, schema, height=3, n_trees=5)
    vote = SummedCounts.of(forest, rng.integers(-5, 9, (len(forest.leaves), len(schema.classes))))
    codes = random_codes(rng, schema, 20_011, np.uint8)
    assert_array_equal(vote.probabilities(codes, n_jobs=n_jobs), vote.probabilities(codes))


def test_n_jobs_counts_as_in_scikit_learn():
    assert n_threads(None) == 1
    assert n_threads(3) == 3
    assert n_threads(-1) >= 1
    for wrong in (0, 1.5, True, "2"):
        with pytest.raises(ParameterError, match="n_jobs=.* must be a whole number other than 0"):
            n_threads(wrong)
