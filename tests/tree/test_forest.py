import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.errors import ModelFileError
from privet.schema import Categorical, Numeric
from privet.tree.forest import LEAF, Forest
from tests.loops import loop_over
from tests.tree.forests import by_hand, grown, random_schema


def test_children_and_levels_follow_from_the_nodes():
    _, forest = by_hand()
    assert_array_equal(forest.n_children, [2, 0, 0, 3, 0, 0, 0])
    assert_array_equal(forest.first_child[[0, 3]], [2, 4])
    assert_array_equal(forest.parent, [-1, -1, 0, 0, 3, 3, 3])
    assert_array_equal(forest.level_start, [0, 2, 4, 7])
    assert_array_equal(forest.leaves, [1, 2, 4, 5, 6])
    assert (forest.depth, forest.n_nodes) == (2, 7)


def test_inner_counts_are_the_sums_of_their_leaves():
    _, forest = by_hand()
    leaf_counts = np.array([[9, 9], [1, 0], [0, 2], [3, 0], [-1, 4]])
    sums = forest.sums_of_leaves(leaf_counts)
    assert_array_equal(sums, [[3, 6], [9, 9], [1, 0], [2, 6], [0, 2], [3, 0], [-1, 4]])


@loop_over("seed", range(20))
def test_sums_over_random_trees_agree_with_adding_up_one_leaf_at_a_time(seed):
    rng = np.random.default_rng(seed)
    forest = grown(rng, random_schema(rng, n_attributes=4, wide=False), height=3, n_trees=3)
    leaf_counts = rng.integers(-9, 9, (len(forest.leaves), 2))
    expected = np.zeros((forest.n_nodes, 2), dtype=np.int64)
    for leaf, counts in zip(forest.leaves, leaf_counts, strict=True):
        node = leaf
        while node >= 0:
            expected[node] += counts
            node = forest.parent[node]
    assert_array_equal(forest.sums_of_leaves(leaf_counts), expected)


ATTRIBUTES = (Numeric("x", 0, 4, bins=4), Categorical("c", ["a", "b"]))


@pytest.mark.parametrize(
    ("attribute", "cut", "n_trees", "sentence"),
    [
        ([], [], 0, "different lengths or hold no root"),
        ([LEAF], [-1, -1], 1, "different lengths or hold no root"),
        ([LEAF], [-1], 2, "different lengths or hold no root"),
        ([2, LEAF, LEAF], [-1, -1, -1], 1, "tests an attribute that the schema lacks"),
        ([-2], [-1], 1, "tests an attribute that the schema lacks"),
        ([0, LEAF, LEAF], [4, -1, -1], 1, "cut lies outside its attribute's cells"),
        ([0, LEAF, LEAF], [-1, -1, -1], 1, "too many or too few nodes"),
        ([1, LEAF, LEAF, LEAF], [0, -1, -1, -1], 1, "cut lies outside its attribute's cells"),
        ([LEAF], [0], 1, "cut lies outside its attribute's cells"),
        ([0, LEAF, LEAF], [-5, -1, -1], 1, "cut lies outside its attribute's cells"),
        ([0, LEAF], [1, -1], 1, "too many or too few nodes"),
        ([0, LEAF, LEAF, LEAF], [1, -1, -1, -1], 1, "too many or too few nodes"),
        # Three leaves and an orphan that would be its own parent.
        ([0, LEAF, LEAF, 0, LEAF], [1, -1, -1, 1, -1], 1, "too many or too few nodes"),
    ],
)
def test_nodes_that_form_no_forest_are_refused(attribute, cut, n_trees, sentence):
    with pytest.raises(ModelFileError, match=sentence):
        Forest.from_nodes(np.array(attribute, np.int32), np.array(cut, np.int32), n_trees, ATTRIBUTES)
