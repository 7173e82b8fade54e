"""Nodes taken together."""

import numpy as np

from privet.schema import Numeric, Schema
from privet.tree.counted import CountedForest
from privet.tree.forest import LEAF, Forest
from privet.tree.merging import merged_nodes, single_nodes
from privet.tree.rules import RuleTable
from tests.tree.forests import by_hand

AGE = Schema([Numeric("age", 0, 100, edges=[20, 40, 60])], classes=["no", "yes"])
# Leaves of the forest drawn by hand: the lone root, x < 2, c = a, c = b, c missing.
COUNTS = np.array([[7, 6], [8, 2], [2, 0], [0, 8], [1, 3]])


def cells(*leaf_counts):
    """Return a tree that branches on the four cells of an age and on its missing value."""
    forest = Forest.from_nodes(
        np.array([0, *[LEAF] * 5], np.int32), np.full(6, -1, dtype=np.int32), 1, AGE.attributes
    )  # fmt: skip
    return CountedForest.of_leaves(forest, np.array(leaf_counts), 4.0)


def test_single_nodes_are_all_nodes_as_they_are():
    _, forest = by_hand()
    groups = single_nodes(CountedForest.of_leaves(forest, COUNTS, 1.0))
    assert groups.node.tolist() == list(range(7))
    assert groups.counts[:4].tolist() == [[11, 13], [7, 6], [8, 2], [3, 11]]
    assert groups.n_draws.tolist() == [4, 1, 1, 3, 1, 1, 1]
    assert groups.codes == {}


def test_categories_of_one_class_become_one_group_with_the_sum_of_counts_and_draws():
    _, forest = by_hand()
    groups = merged_nodes(CountedForest.of_leaves(forest, COUNTS, 1.0))
    assert groups.node.tolist() == [0, 1, 2, 3, 4, 5]
    assert groups.counts[-2:].tolist() == [[2, 0], [1, 11]]
    assert groups.n_draws.tolist() == [4, 1, 1, 3, 1, 2]
    assert groups.codes == {5: (1, 2)}


def test_both_sides_of_a_cut_become_one_only_where_all_below_agrees():
    _, forest = by_hand()
    agreeing = np.array([[7, 6], [8, 2], [2, 0], [9, 8], [4, 3]])
    groups = merged_nodes(CountedForest.of_leaves(forest, agreeing, 1.0))
    assert (groups.node.tolist(), groups.is_leaf.tolist(), groups.codes) == ([0, 1], [True, True], {})


def test_neighbouring_cells_of_one_class_become_an_interval_and_others_are_joined_by_or():
    counted = cells([9, 1], [1, 9], [2, 8], [7, 3], [0, 5])
    groups = merged_nodes(counted)
    assert groups.codes == {1: (0, 3), 2: (1, 2, 4)}
    assert groups.counts.tolist() == [[19, 26], [16, 4], [3, 22]]
    assert [rule.text for rule in RuleTable.of(counted, AGE, merge=True).rules()] == [
        "always yes",
        "if age < 20 or age >= 60 then no",
        "if 20 <= age < 60 or missing then yes",
    ]


def test_one_odd_cell_splits_the_others_where_it_stands():
    counted = cells([1, 9], [9, 1], [1, 9], [2, 9], [3, 9])
    assert [rule.text for rule in RuleTable.of(counted, AGE, merge=True).rules()][1:] == [
        "if age < 20 or age >= 40 or missing then yes",
        "if 20 <= age < 40 then no",
    ]


def test_groups_are_taken_with_all_their_parts():
    groups = merged_nodes(cells([9, 1], [1, 9], [2, 8], [7, 3], [0, 5])).take(np.array([False, False, True]))
    assert (groups.node.tolist(), groups.counts.tolist(), groups.n_draws.tolist()) == ([2], [[3, 22]], [3])
    assert groups.codes[2] == (1, 2, 4)
