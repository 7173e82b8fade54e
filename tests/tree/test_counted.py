"""A forest with the released counts of its nodes."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.errors import ParameterError
from privet.schema import Categorical, Numeric, Schema
from privet.tree.counted import CountedForest, gini_importances
from privet.tree.forest import LEAF, Forest
from tests.tree.forests import by_hand

SCHEMA = Schema([Categorical("c", ["a"]), Categorical("d", ["p"])], classes=["no", "yes"])


def a_forest():
    """One tree: c at the root, d below its first branch."""
    attribute = np.array([0, 1, LEAF, LEAF, LEAF], dtype=np.int32)
    return Forest.from_nodes(attribute, np.full(5, -1, dtype=np.int32), 1, SCHEMA.attributes)


def test_inner_nodes_add_up_their_leaves_and_their_noise():
    counted = CountedForest.of_leaves(a_forest(), np.array([[1, 2], [3, 4], [5, 6]]), 4.0)
    assert_array_equal(counted.counts, [[9, 12], [8, 10], [1, 2], [3, 4], [5, 6]])
    assert_array_equal(counted.n_draws, [3, 2, 1, 1, 1])
    assert_array_equal(counted.variance, [12, 8, 4, 4, 4])


@pytest.mark.parametrize("value", [-1.0, math.inf, math.nan])
def test_a_variance_that_no_noise_has_is_refused(value):
    with pytest.raises(ParameterError, match="must be finite and at least 0"):
        CountedForest.of_leaves(a_forest(), np.zeros((3, 2), dtype=np.int64), value)


def test_importances_are_the_falls_in_gini_impurity_by_hand():
    _, forest = by_hand()
    # Leaves: the lone root, x <= 1, c = a, c = b, c missing. n*gini: root 20 - 200/20 = 10, x <= 1: 10 - 68/10 = 3.2,
    # the test of c: 10 - 68/10 = 3.2, below it 0. So x lets it fall by 10 - 6.4 = 3.6 and c by 3.2.
    counts = np.array([[7, 7], [8, 2], [2, 0], [0, 8], [0, 0]])
    assert_allclose(
        gini_importances(CountedForest.of_leaves(forest, counts, 0.0), n_attributes=2), [3.6 / 6.8, 3.2 / 6.8]
    )


def test_noise_alone_has_no_importance_and_the_correction_is_what_removes_it():
    schema = Schema([Categorical("wide", range(50)), Numeric("x", 0, 1, bins=2)], classes=["no", "yes"])
    attribute = np.array([0, 1, *[-1] * 53], dtype=np.int32)
    cut = np.array([-1, 0, *[-1] * 53], dtype=np.int32)
    forest = Forest.from_nodes(attribute, cut, 2, schema.attributes)
    rng = np.random.default_rng(3)
    truth = np.vstack([np.full((51, 2), 100), [[3000, 2100], [2100, 3000]]])
    noisy = truth + rng.normal(0, 30, truth.shape).round().astype(int)
    corrected = gini_importances(CountedForest.of_leaves(forest, noisy, 900.0), n_attributes=2)
    naive = gini_importances(CountedForest.of_leaves(forest, noisy, 0.0), n_attributes=2)
    assert corrected[1] > 0.9
    assert naive[0] > 0.5


def test_nothing_but_noise_gives_all_zeros():
    _, forest = by_hand()
    counts = np.array([[3, -2], [1, 1], [0, -4], [2, 0], [1, -1]])
    assert_allclose(gini_importances(CountedForest.of_leaves(forest, counts, 1e6), n_attributes=2), [0, 0])
