"""Pruning by minimum description length: one bit a leaf, two a split, one an error."""

import numpy as np
from numpy.testing import assert_array_equal

from privet.local.reconstruction.interval_growth import nodes_to_cut
from privet.schema import Categorical, Numeric
from privet.tree.forest import LEAF, Forest

NUMBERS = [Numeric("x", 0, 1, bins=8)]


def tree(attribute, cut, attributes=NUMBERS):
    return Forest.from_nodes(np.array(attribute, dtype=np.int32), np.array(cut, dtype=np.int32), 1, attributes)


def pruned(forest, leaf_counts):
    return nodes_to_cut(forest, forest.sums_of_leaves(np.array(leaf_counts)))


def test_a_split_must_save_more_errors_than_its_bits():
    stump = tree([0, LEAF, LEAF], [3, LEAF, LEAF])
    # A leaf costs 1 + its errors, the split 2 + 1 + 1: it must save more than 3.
    assert_array_equal(pruned(stump, [[10, 0], [0, 3]]), [True, True, True])
    assert_array_equal(pruned(stump, [[10, 0], [0, 4]]), [False, True, True])


def test_a_whole_subtree_goes_where_its_leaves_together_save_too_little():
    deep = tree([0, LEAF, 0, LEAF, LEAF], [1, LEAF, 5, LEAF, LEAF])
    # The lower split: a leaf of 2 errors costs 3, the split 2 + 2 + 1. The root: 1 + 6 errors against 2 + 1 + 3.
    assert_array_equal(pruned(deep, [[9, 0], [1, 6], [1, 0]]), [False, True, True, True, True])
    # Here the lower split pays for itself, 5 against 4, and the root, 5 against 2 + 1 + 4, does not pay for it.
    assert_array_equal(pruned(deep, [[20, 0], [0, 4], [4, 0]]), [True, True, False, True, True])


def test_a_useless_split_stays_above_a_useful_one():
    # An exclusive or: the root saves nothing by itself, and is needed.
    xor = tree([0, 0, 0, LEAF, LEAF, LEAF, LEAF], [3, 1, 5, LEAF, LEAF, LEAF, LEAF])
    assert_array_equal(pruned(xor, [[9, 0], [0, 9], [0, 9], [9, 0]])[:3], [False, False, False])


def test_every_branch_of_a_category_is_paid_for():
    colour = [Categorical("colour", ["red", "green", "blue"])]
    forest = tree([0, LEAF, LEAF, LEAF, LEAF], [LEAF] * 5, colour)
    # 1 + errors against 2 + 4 leaves, one of them for missing values.
    assert pruned(forest, [[9, 0], [0, 5], [2, 0], [0, 0]])[0]
    assert not pruned(forest, [[9, 0], [0, 6], [2, 0], [0, 0]])[0]


def test_a_root_alone_is_a_leaf():
    assert_array_equal(pruned(tree([LEAF], [LEAF]), [[3, 4]]), [True])
