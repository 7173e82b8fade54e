"""Rows that lack a value which is never missing are answered by the node that asks for it."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Numeric, Schema
from privet.tree import kernels
from privet.tree.counted import CountedForest
from privet.tree.forest import LEAF, Forest, with_missing_branches
from privet.tree.random_structure import random_structure
from privet.tree.vote import MostConfident, SummedCounts

SEX = Categorical("sex", ["female", "male"], never_missing=True)
AGE = Numeric("age", 0, 100, bins=4, never_missing=True)


def forest_of(attribute, cut, attributes, n_trees=1):
    return Forest.from_nodes(np.array(attribute, np.int32), np.array(cut, np.int32), n_trees, attributes)


def plain_node(forest, attributes, row):
    """Return the node of each tree at which a row ends: its leaf, or the first node that asks for what it lacks."""
    ends = []
    for root in range(forest.n_trees):
        node = root
        while forest.attribute[node] != LEAF:
            tested = attributes[forest.attribute[node]]
            code = row[forest.attribute[node]]
            if tested.never_missing and code == tested.missing_code:
                break
            cut = forest.cut[node]
            node = forest.first_child[node] + (code if cut < 0 else int(code > cut))
        ends.append(int(node))
    return ends


def test_one_more_child_stands_for_the_node_where_each_code_has_its_own():
    forest = forest_of([0, LEAF, LEAF], [-1, -1, -1], [SEX])
    open_forest, stands_for = with_missing_branches(forest, [SEX])
    assert open_forest.attribute.tolist() == [0, LEAF, LEAF, LEAF]
    assert stands_for.tolist() == [0, 1, 2, 0]


def test_a_cut_that_only_a_missing_value_exceeds_stands_before_the_first_cut_of_a_path():
    # age <= cell 1, and below it again age <= cell 0.
    forest = forest_of([0, 0, LEAF, LEAF, LEAF], [1, 0, -1, -1, -1], [AGE])
    open_forest, stands_for = with_missing_branches(forest, [AGE])
    assert open_forest.attribute.tolist() == [0, 0, LEAF, 0, LEAF, LEAF, LEAF]
    assert open_forest.cut.tolist() == [3, 1, -1, 0, -1, -1, -1]
    assert stands_for.tolist() == [0, 0, 0, 1, 2, 3, 4]


def test_a_forest_without_such_attributes_stays_as_it_is():
    attributes = [replace(SEX, never_missing=False), AGE]
    forest = forest_of([0, LEAF, LEAF, LEAF], [-1] * 4, attributes)
    same, stands_for = with_missing_branches(forest, attributes)
    assert same is forest
    assert stands_for.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("binned", [False, True])
def test_rows_end_where_a_plain_walk_ends(binned):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        attributes = [
            Categorical(f"c{j}", range(int(rng.integers(1, 4))), never_missing=bool(rng.integers(2))) for j in range(3)
        ] + [
            Numeric(f"x{j}", 0, 1, bins=int(rng.integers(1, 6)), never_missing=bool(rng.integers(2))) for j in range(2)
        ]
        schema = Schema(attributes, classes=[5, 9])
        forest = random_structure(schema, n_trees=3, height=4, public_rng=rng, binned=binned)
        own = np.arange(forest.n_nodes)[:, None] + 1.0  # what each node says is its number
        codes = np.stack([rng.integers(0, a.n_values + 1, 50) for a in attributes], axis=1).astype(np.uint8)
        for tree in range(forest.n_trees):
            vote = MostConfident(forest, np.array([tree]), np.zeros(1), own).with_missing_branches(attributes)
            leaves = np.empty(len(codes), dtype=np.uint32)
            kernels.route(
                vote.forest.words, tree, vote.forest.depth, vote.forest.multiway, codes.reshape(-1), codes.shape[1], 0,
                len(codes), leaves,
            )  # fmt: skip
            wanted = [plain_node(forest, attributes, row)[tree] + 1 for row in codes]
            assert_array_equal(vote.of_nodes[leaves, 0], wanted, err_msg=f"seed {seed}")


def test_a_sum_of_counts_takes_the_mean_of_the_leaves_below():
    # Leaves of 3 and 1, and of 5 and 4; on average 4 and 2.5, which is rounded to an even number.
    forest = forest_of([0, LEAF, LEAF], [-1, -1, -1], [SEX])
    nodes = CountedForest.of_leaves(forest, np.array([[3, 1], [5, 4]]), 0.0)
    vote = SummedCounts.of(nodes).with_missing_branches([SEX])
    assert vote.probabilities(np.array([[0], [1], [2]], np.uint8)).tolist() == [
        [3 / 4, 1 / 4],
        [5 / 9, 4 / 9],
        [4 / 6, 2 / 6],
    ]
