"""Small trees: which cell a row falls into, and what leaves have of it."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Numeric, Schema
from privet.central.weights.trees import GRID, Axis, Trees, coarse_axes
from tests.central.weights.problems import GROUPS, plain_place, plain_shares, schema_of
from tests.loops import loop_over


def test_sizes_count_every_combination_and_missing_values():
    trees = Trees.of(GROUPS, schema_of())
    assert trees.sizes.tolist() == [5, 3, 12]
    assert trees.starts.tolist() == [0, 5, 8]
    assert (trees.n_trees, trees.n_leaves) == (3, 20)


def test_a_row_reaches_the_leaf_of_its_cells():
    trees = Trees.of(GROUPS, schema_of())
    # age cell 3, job clerk, pay missing, night True; then all missing.
    codes = np.array([[3, 1, 2, 1], [4, 3, 2, 2]], dtype=np.uint8)
    assert trees.cells(codes).tolist() == [[3, 2, 1 * 3 + 1], [4, 2, 11]]


def test_the_places_of_cells_lead_back_to_the_cells():
    trees = Trees.of([[1, 3, 0]], schema_of())
    places = trees.cell_places(0)
    codes = np.zeros((len(places[0]), 4), dtype=np.uint8)
    codes[:, [1, 3, 0]] = np.stack(places, axis=1)
    assert_array_equal(trees.cells(codes)[:, 0], np.arange(trees.cell_sizes[0]))


@pytest.mark.parametrize(("n_values", "n_cells"), [(1, 2), (255, 256), (256, 256), (1000, 256), (65_534, 256)])
def test_an_attribute_has_at_most_255_cells_and_one_for_missing_values(n_values, n_cells):
    schema = Schema([Categorical("zip", range(n_values))], classes=[5, 9])
    trees = Trees.of([[0]], schema)
    ((axis,),) = trees.axes
    assert (axis.n_cells, axis.n_leaves) == (n_cells, n_cells)
    cell_of = axis.cell_of
    assert len(cell_of) == n_values + 1
    assert (np.diff(cell_of) >= 0).all()
    assert set(cell_of.tolist()) == set(range(n_cells))
    widths = np.bincount(cell_of[:-1])
    assert widths.max() - widths.min() <= 1
    codes = np.arange(n_values + 1, dtype=np.uint16)[:, None]
    assert_array_equal(trees.cells(codes)[:, 0], cell_of)
    assert trees.cells(codes).dtype == np.uint8


def test_leaves_take_two_bytes_where_a_tree_has_more_than_256():
    schema = Schema([Categorical("a", range(16)), Categorical("b", range(15))], classes=[5, 9])
    trees = Trees.of([[0, 1]], schema)  # 17 x 16
    leaves = trees.cells(np.array([[16, 15]], dtype=np.uint8))
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
    axes = [axis for own in trees.axes for axis in own]
    assert [axis.n_cells for axis in axes] == [2, 4, 5]
    assert trees.sizes.tolist() == [8, 5]
    assert [axis.cell_of.tolist() for axis in axes[:2]] == [[0, 1], [0, 1, 2, 3]]
    assert trees.cells(np.array([[1, 3, 4]], dtype=np.uint8)).tolist() == [[1 * 4 + 3, 4]]
    # Of a x b, only the fourth cell of b is of missing values.
    assert trees.known(0).tolist() == [True, True, True, False] * 2
    assert trees.with_missing_leaves() == Trees.of(
        [[0, 1], [2]], schema.with_attributes(replace(a, never_missing=False) for a in attributes)
    )


def test_leaves_take_four_bytes_where_cells_for_missing_values_make_more_than_65_536():
    schema = Schema([Categorical(name, range(40), never_missing=True) for name in "abc"], classes=[5, 9])
    trees = Trees.of([[0, 1, 2]], schema)
    assert trees.cells(np.full((1, 3), 39, dtype=np.uint8)).dtype == np.uint16
    leaves = trees.with_missing_leaves().cells(np.full((1, 3), 40, dtype=np.uint8))
    assert (leaves.dtype, leaves.tolist()) == (np.uint32, [[41**3 - 1]])


def test_no_trees_have_no_leaves():
    trees = Trees.of([], schema_of())
    assert (trees.n_trees, trees.n_leaves) == (0, 0)
    assert trees.cells(np.zeros((3, 4), dtype=np.uint8)).shape == (3, 0)


# Soft trees.


def test_shares_between_knots_by_hand():
    axis = Axis(0, 5, "own", (0, 4), 4)
    assert (axis.n_cells, axis.n_leaves, axis.n_known) == (6, 3, 2)
    assert axis.shares.toarray().tolist() == [[4, 0, 0], [3, 1, 0], [2, 2, 0], [1, 3, 0], [0, 4, 0], [0, 0, 4]]
    assert axis.nearest.tolist() == [0, 0, 1, 1, 1, 2]
    assert axis.cell_of.tolist() == [0, 1, 2, 3, 4, 5]
    middle = Axis(0, 5, "middle", (0, 4), 4, merged=True)
    assert (middle.n_cells, middle.n_leaves, middle.cell_of.tolist()) == (5, 2, [0, 1, 2, 3, 4, 2])


def test_shares_of_two_attributes_are_products_by_hand():
    trees = Trees(((Axis(0, 3, "middle", (0, 2), 2, merged=True), Axis(1, 3, "middle", (0, 2), 2, merged=True)),), 1)
    assert trees.grids.tolist() == [4]
    # In the middle of both: a quarter of each leaf; then a knot of the first and the middle of the second.
    assert trees.whole_shares(0).toarray()[4].tolist() == [1, 1, 1, 1]
    assert trees.whole_shares(0).toarray()[1].tolist() == [2, 2, 0, 0]


def random_trees(seed):
    """Return trees of any knots, grids and ways to miss, in one to three attributes."""
    rng = np.random.default_rng(seed)

    def axis(a):
        missing = str(rng.choice(["own", "middle", "never"]))
        if rng.random() < 0.3:
            return Axis(a, int(rng.integers(1, 6)), "own" if missing == "middle" else missing)
        n_values = int(rng.integers(2, 40))
        knots = np.sort(rng.choice(n_values, int(rng.integers(1, min(n_values, 6) + 1)), replace=False))
        merged = missing == "middle" or bool(rng.random() < 0.5)
        return Axis(a, n_values, missing, tuple(knots.tolist()), 2 ** int(rng.integers(0, 5)), merged)

    return Trees(tuple(tuple(axis(a) for a in range(rng.integers(1, 4))) for _ in range(rng.integers(1, 4))))


@loop_over("seed", range(25))
def test_shares_are_on_the_simplex_and_multiples_of_a_power_of_two(seed):
    trees = random_trees(seed)
    shares = trees.shares.toarray()
    assert (shares >= 0).all()
    assert_array_equal(shares.sum(axis=1), 1.0)
    for t, grid in enumerate(trees.grids.tolist()):
        whole = trees.whole_shares(t)
        assert whole.dtype == np.int64
        assert grid & (grid - 1) == 0
        assert_array_equal(whole.toarray().sum(axis=1), grid)
        cells = slice(trees.cell_starts[t], trees.cell_starts[t] + trees.cell_sizes[t])
        assert np.delete(shares[cells], np.r_[trees.starts[t] : trees.starts[t] + trees.sizes[t]], axis=1).sum() == 0


@loop_over("seed", range(10))
def test_shares_are_those_of_the_plain_twin(seed):
    trees = random_trees(seed)
    assert_array_equal(trees.shares.toarray(), plain_shares(trees))


@loop_over("seed", range(10))
def test_what_cells_have_of_leaves_is_adjoint_to_what_leaves_have_of_cells(seed):
    trees, rng = random_trees(seed), np.random.default_rng(seed)
    weights, sums = rng.integers(-99, 99, (trees.n_leaves, 2)), rng.integers(-99, 99, (trees.shares.shape[0], 2))
    of_cells, of_leaves = trees.of_cells(weights.astype(float)), trees.of_leaves(sums.astype(float))
    assert_array_equal((of_cells * sums).sum(axis=0), (weights * of_leaves).sum(axis=0))


@loop_over("seed", range(15))
def test_every_code_falls_into_a_cell_and_values_stay_in_order(seed):
    for axis in (axis for own in random_trees(seed).axes for axis in own):
        cells = axis.cell_of
        assert len(cells) == axis.n_values + (axis.missing != "never")
        assert (np.diff(cells[: axis.n_values]) >= 0).all()
        assert 0 <= cells.min() <= cells.max() < axis.n_cells
        if axis.own_missing:
            assert cells[-1] == axis.n_cells - 1 not in cells[:-1]


@loop_over("seed", range(15))
def test_codes_lie_where_the_plain_twin_says(seed):
    for axis in (axis for own in random_trees(seed).axes for axis in own if axis.knots):
        places = [plain_place(axis, code) * axis.grid for code in range(axis.n_values)]
        assert axis.places.tolist() == places
        if axis.merged:
            assert axis.cell_of[: axis.n_values].tolist() == places
        known = axis.nearest[: axis.n_known_cells].tolist()
        of_cells = range(axis.n_known_cells) if axis.merged else places
        assert known == [math.floor(Fraction(place, axis.grid) + Fraction(1, 2)) for place in of_cells]


def test_codes_outside_of_all_knots_are_the_outermost_knots_own():
    axis = Axis(0, 7, "never", (2, 4), 2)
    assert axis.shares.toarray().tolist() == [[2, 0], [2, 0], [2, 0], [1, 1], [0, 2], [0, 2], [0, 2]]
    assert Axis(0, 3, "own", (1,), GRID).shares.toarray().tolist() == [[GRID, 0]] * 3 + [[0, GRID]]


def test_codes_that_are_not_shared_are_the_lower_knots():
    axis = Axis(0, 7, "never", (0, 3, 5), 1)
    assert axis.nearest.tolist() == [0, 0, 0, 1, 1, 2, 2]
    # One cell for all codes that no leaf tells apart: each goes to the nearest knot, halves upwards.
    assert Axis(0, 7, "never", (0, 3, 5), 1, merged=True).cell_of.tolist() == [0, 0, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("gap", [*range(1, 12), 31, 32, 33, 64, 100, 128])
def test_a_number_of_the_first_stage_is_shared_in_parts_of_the_grid(gap):
    assert GRID & (GRID - 1) == 0
    schema = Schema([Numeric("x", 0, 1, bins=gap + 1, never_missing=True)], classes=[5, 9])
    trees = Trees.of([[0]], schema, {0: ((0, gap), GRID)})
    exact = np.arange(gap + 1) / gap
    shares = trees.shares.toarray()
    # Rounded to the nearest part, so by half a part at most, and not at all where parts are as fine as codes.
    assert np.abs(shares[:, 1] - exact).max() <= (0 if GRID % gap == 0 else 0.5 / GRID)
    assert_array_equal(shares * GRID, np.rint(shares * GRID))
    assert trees.grids.tolist() == [GRID]


def test_bins_of_a_histogram_have_four_codes_around_each_fourth_one():
    axis = Axis(0, 13, "own", (0, 5), GRID)
    assert axis.bin_of_cell.tolist() == [0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4]
    assert axis.n_bins == 5
    assert Axis(0, 13, "never", (0, 5), GRID).n_bins == 4
    # Whichever knots there are; without any, a bin is a leaf.
    assert_array_equal(Axis(0, 13, "own", (3, 4, 9), 1).bin_of_cell, axis.bin_of_cell)
    assert Axis(0, 3, "own").bin_of_cell.tolist() == [0, 1, 2, 3]
    assert Axis(0, 3, "never").bin_of_cell.tolist() == [0, 1, 2]


@loop_over("seed", range(10))
def test_the_first_code_of_each_cell_is_in_it_and_none_before_it_is(seed):
    for axis in (axis for own in random_trees(seed).axes for axis in own if not axis.merged):
        assert axis.first_codes.tolist() == [axis.cell_of.tolist().index(cell) for cell in range(axis.n_cells)]


KNOTS = (0, 43, 86, 128)
FOUR_KNOTS = dict.fromkeys(range(4), (KNOTS, GRID))


def later_schema(n_numbers=4):
    numbers = [Numeric(f"x{j}", 0, 1, edges=[(i + 0.5) / 128 for i in range(128)]) for j in range(n_numbers)]
    return Schema([*numbers, Categorical("job", range(200))], classes=[5, 9])


@pytest.mark.parametrize(("n_numbers", "grid", "n_cells"), [(1, 8, 25), (2, 8, 625), (3, 4, 2197), (4, 2, 2401)])
def test_trees_of_the_second_stage_have_at_most_4096_cells(n_numbers, grid, n_cells):
    axes = coarse_axes(list(range(n_numbers)), later_schema(), FOUR_KNOTS)
    assert {axis.grid for axis in axes} == {grid}
    assert {(axis.knots, axis.n_known, axis.missing, axis.merged) for axis in axes} == {(KNOTS, 4, "middle", True)}
    assert math.prod(axis.n_cells for axis in axes) == n_cells


def test_many_categories_leave_numbers_of_the_second_stage_no_cells_between_knots():
    trees = Trees.later([[0, 1, 4], [0, 1]], later_schema(), FOUR_KNOTS)
    assert [own[0].grid for own in trees.axes] == [1, 8]
    assert trees.is_later(0)
    assert trees.sizes.tolist() == [4 * 4 * 201, 16]


def test_the_stages_are_kept_apart():
    schema = later_schema()
    first, later = Trees.of([[0], [1], [4]], schema, FOUR_KNOTS), Trees.later([[0, 4]], schema, FOUR_KNOTS)
    assert [own[0].knots for own in first.axes] == [KNOTS, KNOTS, ()]
    assert [own[0].grid for own in first.axes] == [GRID, GRID, 1]
    both = first.with_later(later)
    assert (both.first, both.n_later, both.kept) == (first, 1, [0, 1, 4])
    assert [both.is_later(t) for t in range(4)] == [False, False, False, True]
