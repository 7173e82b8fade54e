"""Small trees: which leaf a row reaches."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Numeric, Schema
from privet.central.weights.trees import Trees, checked_trees
from privet.errors import ModelFileError
from tests.central.weights.problems import GROUPS, schema_of


def test_sizes_count_every_combination_and_missing_values():
    trees = Trees.of(GROUPS, schema_of())
    assert trees.sizes.tolist() == [5, 3, 12]
    assert trees.starts.tolist() == [0, 5, 8]
    assert (trees.n_trees, trees.n_leaves) == (3, 20)


def test_a_row_reaches_the_leaf_of_its_cells():
    trees = Trees.of(GROUPS, schema_of())
    # age cell 3, job clerk, pay missing, night True; then all missing.
    codes = np.array([[3, 1, 2, 1], [4, 3, 2, 2]], dtype=np.uint8)
    assert trees.leaves(codes).tolist() == [[3, 2, 1 * 3 + 1], [4, 2, 11]]


def test_the_cells_of_leaves_lead_back_to_the_leaves():
    trees = Trees.of([[1, 3, 0]], schema_of())
    cells = trees.cells(0)
    codes = np.zeros((len(cells[0]), 4), dtype=np.uint8)
    codes[:, [1, 3, 0]] = np.stack(cells, axis=1)
    assert_array_equal(trees.leaves(codes)[:, 0], np.arange(trees.sizes[0]))


@pytest.mark.parametrize(("n_values", "n_cells"), [(1, 2), (255, 256), (256, 256), (1000, 256), (65_534, 256)])
def test_an_attribute_has_at_most_255_cells_and_one_for_missing_values(n_values, n_cells):
    schema = Schema([Categorical("zip", range(n_values))], classes=[5, 9])
    trees = Trees.of([[0]], schema)
    assert trees.n_cells(0) == n_cells
    cell_of = trees.cell_of(0)
    assert len(cell_of) == n_values + 1
    assert (np.diff(cell_of) >= 0).all()
    assert set(cell_of.tolist()) == set(range(n_cells))
    widths = np.bincount(cell_of[:-1])
    assert widths.max() - widths.min() <= 1
    codes = np.arange(n_values + 1, dtype=np.uint16)[:, None]
    assert_array_equal(trees.leaves(codes)[:, 0], cell_of)
    assert trees.leaves(codes).dtype == np.uint8


def test_leaves_take_two_bytes_where_a_tree_has_more_than_256():
    schema = Schema([Categorical("a", range(16)), Categorical("b", range(15))], classes=[5, 9])
    trees = Trees.of([[0, 1]], schema)  # 17 x 16
    leaves = trees.leaves(np.array([[16, 15]], dtype=np.uint8))
    assert leaves.dtype == np.uint16
    assert leaves.tolist() == [[271]]


def test_an_attribute_that_is_never_missing_has_no_cell_for_it():
    attributes = [
        Categorical("a", range(2), never_missing=True),
        Categorical("b", range(3)),
        Numeric("x", 0, 1, bins=4),
    ]
    schema = Schema(attributes, classes=[5, 9])
    trees = Trees.of([[0, 1], [2]], schema)
    assert [trees.n_cells(a) for a in range(3)] == [2, 4, 5]
    assert (trees.sizes.tolist(), trees.cell_of(0).tolist(), trees.cell_of(1).tolist()) == (
        [8, 5],
        [0, 1],
        [0, 1, 2, 3],
    )
    assert trees.leaves(np.array([[1, 3, 4]], dtype=np.uint8)).tolist() == [[1 * 4 + 3, 4]]
    # Of a x b, only the fourth cell of b is of missing values.
    assert trees.known(0).tolist() == [True, True, True, False] * 2
    assert trees.with_missing_cells() == Trees.of(
        [[0, 1], [2]], schema.with_attributes(replace(a, never_missing=False) for a in attributes)
    )


def test_no_trees_have_no_leaves():
    trees = Trees.of([], schema_of())
    assert (trees.n_trees, trees.n_leaves) == (0, 0)
    assert trees.leaves(np.zeros((3, 4), dtype=np.uint8)).shape == (3, 0)


def test_trees_of_a_file_are_read_back():
    assert checked_trees([[0], [3, 1]], schema_of(), most_leaves=17) == Trees.of([[0], [3, 1]], schema_of())
    assert checked_trees([], schema_of(), most_leaves=17) == Trees.of([], schema_of())


@pytest.mark.parametrize("data", [None, "0", {}, [0], [[]], [[0, 1, 2, 3]], [["0"], 1]])
def test_trees_of_another_form_are_refused(data):
    with pytest.raises(ModelFileError, match="the trees are not what privet writes there; the file is damaged"):
        checked_trees(data, schema_of(), most_leaves=4096)


@pytest.mark.parametrize("data", [[[4]], [[-1]], [[0.0]], [[True]], [["age"]], [[0], [0]], [[1, 1]], [[None]]])
def test_trees_of_strange_attributes_are_refused(data):
    with pytest.raises(ModelFileError, match="ask for attributes that are not there, or twice for one"):
        checked_trees(data, schema_of(), most_leaves=4096)


def test_trees_that_nobody_fits_are_refused():
    attributes = [Categorical(f"a{j}", range(255)) for j in range(3)] + [Numeric("x", 0, 1)]
    wide = Schema(attributes, classes=[5, 9])
    for data in ([[0, 1, 2]], [[0], [1]]):
        with pytest.raises(ModelFileError, match="the trees have more leaves than privet fits; the file is damaged"):
            checked_trees(data, wide, most_leaves=511)
    assert checked_trees([[0], [1]], wide, most_leaves=512).attributes == ((0,), (1,))
