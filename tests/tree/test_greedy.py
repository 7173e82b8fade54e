"""The grower of greedy trees: what it is told to split is split, and a path uses an attribute once."""

import numpy as np
from numpy.testing import assert_array_equal

from privet.schema import Categorical, Numeric, Schema
from privet.tree.forest import LEAF
from privet.tree.greedy import Growth

SCHEMA = Schema(
    [Categorical("a", ["u", "v"]), Numeric("x", 0, 4, bins=4), Categorical("b", ["p"])], classes=["no", "yes"]
)  # fmt: skip


def roots(n_trees=2) -> Growth:
    return Growth.roots(SCHEMA.attributes, n_trees)


def test_roots_alone_are_leaves_with_all_attributes_left():
    growth = roots(3)
    assert_array_equal(growth.forest.attribute, [LEAF] * 3)
    assert growth.forest.n_trees == 3
    assert_array_equal(growth.last_level, [0, 1, 2])
    assert growth.available.all()
    assert_array_equal(growth.tree, [0, 1, 2])


def test_a_split_has_a_child_for_every_code_and_uses_its_attribute_up():
    growth = roots()
    parent = growth.split(np.array([0, 1]))  # three codes with the missing one, and five
    assert_array_equal(parent, [0] * 3 + [1] * 5)
    assert_array_equal(growth.tree, parent)
    assert_array_equal(growth.available, [[False, True, True]] * 3 + [[True, False, True]] * 5)
    assert_array_equal(growth.last_level, range(2, 10))
    assert_array_equal(growth.forest.n_children[:2], [3, 5])
    assert_array_equal(growth.forest.cut, [-1] * 10)


def test_nodes_that_are_not_split_stay_leaves_and_the_others_grow_on():
    growth = roots()
    growth.split(np.array([LEAF, 0]))
    parent = growth.split(np.array([LEAF, 2, 1]))  # the second tree's children: b for v, x for missing
    assert_array_equal(parent, [1] * 2 + [2] * 5)
    assert_array_equal(growth.tree, [1] * 7)
    assert_array_equal(growth.available, [[False, True, False]] * 2 + [[False, False, True]] * 5)
    forest = growth.forest
    assert_array_equal(forest.attribute, [LEAF, 0, LEAF, 2, 1, *[LEAF] * 7])
    assert_array_equal(forest.parent, [-1, -1, 1, 1, 1, 3, 3, 4, 4, 4, 4, 4])
    assert_array_equal(growth.last_level, range(5, 12))


def test_where_nothing_is_split_an_empty_level_follows():
    growth = roots()
    assert len(growth.split(np.array([LEAF, LEAF]))) == 0
    assert len(growth.split(np.array([], dtype=np.int64))) == 0
    assert len(growth.last_level) == 0
    assert growth.available.shape == (0, 3)
    assert_array_equal(growth.forest.attribute, [LEAF, LEAF])
