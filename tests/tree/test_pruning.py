"""Pruning by hand, on released counts alone."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import norm

from privet.schema import Categorical, Schema
from privet.tree.counted import CountedForest
from privet.tree.forest import LEAF, Forest
from privet.tree.pruning import cut_back, error_based, expected_errors, reliable_nodes, useful_splits

SCHEMA = Schema([Categorical("a", ["u"]), Categorical("b", ["p"]), Categorical("c", ["s"])], classes=["no", "yes"])


def forest_of(attribute, n_trees=1) -> Forest:
    nodes = np.array(attribute, dtype=np.int32)
    return Forest.from_nodes(nodes, np.full_like(nodes, LEAF), n_trees, SCHEMA.attributes)


# a at the root with two children, of which the first asks for b: nodes 0 root, 1 test of b, 2 leaf, 3 and 4 leaves.
TREE = forest_of([0, 1, LEAF, LEAF, LEAF])


def test_a_split_whose_children_are_no_purer_becomes_a_leaf():
    # Node 1: shares of 1/2 below and above it, impurity 1/2 both times. The root: 1/2, and below it (6/2 + 0) / 10.
    counts = np.array([[5, 5], [3, 3], [4, 0], [2, 2], [1, 1]])
    assert_array_equal(useful_splits(TREE, counts), [False, True, True, True, True])


def test_a_split_that_gains_stays_and_so_does_all_above_it():
    # The root's own children are no purer than it, but the leaves of its subtree are.
    counts = np.array([[4, 4], [2, 2], [2, 2], [2, 0], [0, 2]])
    assert_array_equal(useful_splits(TREE, counts), [False, False, True, True, True])


def test_a_whole_tree_may_fall_and_falls_from_below():
    counts = np.array([[8, 8], [4, 4], [4, 4], [2, 2], [2, 2]])
    assert_array_equal(useful_splits(TREE, counts), [True] * 5)


def test_a_node_is_weighed_by_its_own_released_counts_and_not_by_its_childrens_sums():
    # Own counts say that the node is pure, whatever the noise made of its children.
    own_is_pure = np.array([[0, 9], [0, 4], [0, 5], [9, 9], [0, 9]])
    assert useful_splits(TREE, own_is_pure)[1]
    own_is_mixed = own_is_pure.copy()
    own_is_mixed[1] = [4, 4]
    assert not useful_splits(TREE, own_is_mixed)[1]


def test_counts_below_zero_are_taken_as_zero_when_pruning():
    counts = np.array([[5, 5], [3, 3], [4, 0], [2, -7], [-7, 1]])
    assert_array_equal(useful_splits(TREE, counts), useful_splits(TREE, np.maximum(counts, 0)))
    assert not useful_splits(TREE, counts)[1]
    assert_array_equal(error_based(TREE, counts), error_based(TREE, np.maximum(counts, 0)))


def test_trees_of_a_forest_are_pruned_side_by_side():
    both = forest_of([0, LEAF, 1, LEAF, LEAF, LEAF], n_trees=2)
    counts = np.array([[5, 5], [7, 1], [3, 3], [4, 0], [2, 2], [1, 1]])
    assert_array_equal(useful_splits(both, counts), [False, True, True, True, True, True])


def test_what_lies_below_a_new_leaf_is_cut_off_and_the_rest_keeps_its_order():
    kept, nodes = cut_back(TREE, np.array([False, True, True, True, True]), SCHEMA)
    assert_array_equal(nodes, [0, 1, 2])
    assert_array_equal(kept.attribute, [0, LEAF, LEAF])
    whole, nodes = cut_back(TREE, TREE.attribute == LEAF, SCHEMA)
    assert_array_equal(nodes, range(5))
    assert_array_equal(whole.words, TREE.words)
    alone, nodes = cut_back(TREE, np.ones(5, dtype=bool), SCHEMA)
    assert_array_equal(nodes, [0])
    assert (alone.depth, alone.n_nodes) == (0, 1)


def test_cutting_one_tree_leaves_the_other():
    both = forest_of([0, 0, LEAF, LEAF, 1, LEAF, LEAF, LEAF], n_trees=2)
    is_leaf = both.attribute == LEAF
    is_leaf[0] = True
    kept, nodes = cut_back(both, is_leaf, SCHEMA)
    assert_array_equal(nodes, [0, 1, 4, 5, 6, 7])
    assert_array_equal(kept.attribute, [LEAF, 0, 1, LEAF, LEAF, LEAF])


def test_expected_errors_are_the_upper_end_of_wilsons_interval():
    z = norm.ppf(0.75)
    counts = np.array([[14, 0], [9, 5], [0, 0]], dtype=float)

    def upper(f, n):
        root = math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
        return (f + z * z / (2 * n) + z * root) / (1 + z * z / n)

    assert expected_errors(counts) == pytest.approx([14 * upper(0, 14), 14 * upper(5 / 14, 14), 0])
    # Without any error seen the interval is z^2 / (n + z^2) wide.
    assert expected_errors(counts)[0] == pytest.approx(14 * z * z / (14 + z * z))


def test_error_based_pruning_keeps_a_split_that_errs_less_and_no_other():
    # Both children say "no": split or not, 2 of 8 rows are wrong, and small leaves are trusted less.
    useless = np.array([[0, 0], [6, 2], [0, 50], [3, 1], [3, 1]])
    useless[0] = useless[1] + useless[2]
    assert_array_equal(error_based(TREE, useless), [False, True, True, True, True])
    useful = np.array([[6, 54], [6, 4], [0, 50], [6, 0], [0, 4]])
    assert_array_equal(error_based(TREE, useful), [False, False, True, True, True])


def counted(counts, epsilon_per_tree) -> CountedForest:
    """Return the tree with these counts, and noise of the paper's deviation in every leaf."""
    return CountedForest(TREE, counts, TREE.n_leaves_below, 2 / epsilon_per_tree**2)


def test_a_node_is_reliable_while_its_signal_is_no_weaker_than_its_noise():
    # At epsilon 1/2 a tree and factor 2: noise 2 sqrt(2 L) / (1/2), which is 5.66 sqrt(L) for L leaves below.
    counts = np.array([[6, 2], [4, 4], [3, 2], [6, 0], [1, 1]])
    kept = reliable_nodes(counted(counts, 0.5), noise_factor=2.0)
    # Node 1 has 8 rows and needs 8 at two leaves; leaf 2 has 5, leaf 3 6 and leaf 4 2 of 5.66.
    assert_array_equal(kept, [True, True, False, True, False])


def test_the_root_is_always_kept_and_nothing_below_a_node_that_is_not():
    counts = np.array([[0, 0], [1, 0], [90, 0], [90, 0], [90, 0]])
    kept = reliable_nodes(counted(counts, 0.5), noise_factor=2.0)
    assert_array_equal(kept, [True, False, True, False, False])


def test_a_smaller_factor_keeps_more_and_without_noise_every_row_counts():
    counts = np.array([[6, 2], [4, 2], [5, 0], [1, 0], [0, 0]])
    paper = reliable_nodes(counted(counts, 0.5), noise_factor=2.0)
    root = reliable_nodes(counted(counts, 0.5), noise_factor=math.sqrt(2))
    exact = reliable_nodes(counted(counts, math.inf), noise_factor=2.0)
    assert_array_equal(paper, [True, False, False, False, False])
    assert_array_equal(root, [True, True, True, False, False])
    assert_array_equal(exact, [True, True, True, True, False])
