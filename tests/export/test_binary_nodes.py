"""Binary nodes: the search among children, and trees that are a leaf alone."""

import numpy as np
import pytest

from privet import Categorical, Numeric
from privet.export.onnx_graph import AT_MOST, BELOW, BinaryNodes
from privet.schema.encoding import Encoder
from privet.tree.forest import LEAF, Forest
from tests.export.models import fitted, schema_of, table_of
from tests.tree.reference import route


def nodes_of(attribute, cut, n_trees, attributes):
    forest = Forest.from_nodes(np.array(attribute, np.int32), np.array(cut, np.int32), n_trees, attributes)
    return BinaryNodes.of(forest, borders(attributes))


def borders(attributes):
    return [a.cuts if isinstance(a, Numeric) else None for a in attributes]


def walk(nodes, tree, features):
    """Return the leaf that a row of features reaches, and the number of tests on the way."""
    node, steps = nodes.root[tree], 0
    while True:
        steps += 1
        value, split = features[nodes.feature[node]], nodes.split[node]
        is_true = value <= split if nodes.mode[node] == AT_MOST else value < split
        branch, is_leaf = (
            (nodes.branch_true, nodes.true_is_leaf) if is_true else (nodes.branch_false, nodes.false_is_leaf)
        )
        if is_leaf[node]:
            return branch[node], steps
        node = branch[node]


@pytest.mark.parametrize("n_categories", [1, 2, 3, 7, 8, 100])
def test_a_search_finds_every_child_in_few_steps(n_categories):
    attributes = [Categorical("place", list(range(n_categories)))]
    nodes = nodes_of([0, *[LEAF] * (n_categories + 1)], [-1] * (n_categories + 2), 1, attributes)
    found = [walk(nodes, 0, [float(code)]) for code in range(n_categories + 1)]
    assert [leaf for leaf, _ in found] == list(range(n_categories + 1))
    assert max(steps for _, steps in found) == int(np.ceil(np.log2(n_categories + 1)))


def test_65534_categories_take_sixteen_steps():
    attributes = [Categorical("place", list(range(65_534)))]
    nodes = nodes_of([0, *[LEAF] * 65_535], [-1] * 65_536, 1, attributes)
    for code in (0, 40_000, 65_534):
        leaf, steps = walk(nodes, 0, [float(code)])
        assert leaf == code
        assert steps <= 16


def test_a_numeric_node_compares_with_the_border_itself():
    attributes = [Numeric("x", 0, 3, bins=3)]
    nodes = nodes_of([0, 0, LEAF, LEAF, LEAF], [2, 0, -1, -1, -1], 1, attributes)
    assert nodes.split.tolist() == [np.inf, 1.0]
    assert nodes.mode.tolist() == [AT_MOST, BELOW]
    assert [walk(nodes, 0, [x])[0] for x in (0.9, 1.0, np.inf, -np.inf, np.nan)] == [1, 2, 2, 1, 0]


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 100])
def test_a_search_among_cells_goes_by_their_borders(bins):
    attributes = [Numeric("x", 0, bins, edges=range(1, bins))]
    nodes = nodes_of([0, *[LEAF] * (bins + 1)], [-1] * (bins + 2), 1, attributes)
    for cell in range(bins):
        assert walk(nodes, 0, [float(cell)])[0] == cell
        assert walk(nodes, 0, [np.nextafter(float(cell), -np.inf)])[0] == max(cell - 1, 0)
    assert [walk(nodes, 0, [x])[0] for x in (-np.inf, np.inf, np.nan)] == [0, bins - 1, bins]
    assert walk(nodes, 0, [np.nan])[1] <= int(np.ceil(np.log2(bins + 1)))


def test_a_lone_leaf_is_a_test_with_one_outcome():
    attributes = [Numeric("x", 0, 1)]
    nodes = nodes_of([LEAF, LEAF], [-1, -1], 2, attributes)
    assert [walk(nodes, tree, [x])[0] for tree in (0, 1) for x in (-1.0, 1.0, np.nan)] == [0, 0, 0, 1, 1, 1]
    assert nodes.tree_of_leaf.tolist() == [0, 1]


def test_binary_nodes_lead_where_the_forests_twin_leads():
    schema = schema_of([Numeric("x", 0, 1, bins=9), Categorical("c", [1, 2, 3, 4]), Categorical("d", [7])], [5, 9])
    forest = fitted(schema, n_trees=4, height=3).forest_
    table = table_of(schema, 300)
    codes = Encoder(schema).encode(table)
    nodes = BinaryNodes.of(forest, borders(schema.attributes))
    for tree in range(forest.n_trees):
        expected = np.empty(len(codes), dtype=np.uint32)
        route(
            forest.words,
            tree,
            forest.depth,
            forest.multiway,
            codes.reshape(-1),
            codes.shape[1],
            0,
            len(codes),
            expected,
        )
        features = [[x, float(c), float(d)] for x, c, d in zip(table["x"], codes[:, 1], codes[:, 2], strict=True)]
        assert [forest.leaves[walk(nodes, tree, row)[0]] for row in features] == expected.tolist()
