"""A forest with the released counts of its nodes."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.errors import ParameterError
from privet.schema import Categorical, Schema
from privet.tree.counted import CountedForest
from privet.tree.forest import LEAF, Forest

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
