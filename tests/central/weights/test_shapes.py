"""What a tree says, cell by cell."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.link import chances_of
from privet.central.weights.shapes import cell_names, shape_of
from privet.central.weights.trees import Trees
from tests.central.weights.problems import GROUPS, schema_of


def forest(n_classes=2, seed=0, groups=GROUPS):
    rng = np.random.default_rng(seed)
    trees = Trees.of(groups, schema_of(n_classes))
    weights = rng.normal(size=(trees.n_leaves, 1 if n_classes == 2 else n_classes))
    return LeafWeights(trees, np.linspace(-1, 1, n_classes), weights, 1.0)


def shapes_of(model, n_classes=2, **options):
    given = {"noise_std": 1.0, "variance": 0.5, "rows_per_leaf": 10.0, **options}
    return [shape_of(model, t, schema_of(n_classes), **given) for t in range(model.trees.n_trees)]


def all_rows():
    grid = np.meshgrid(*(np.arange(n + 1) for n in (4, 3, 2, 2)), indexing="ij")
    return np.stack([axis.ravel() for axis in grid], axis=1).astype(np.uint8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_offsets_and_what_every_shape_adds(n_classes):
    model, codes = forest(n_classes), all_rows()
    age, pay, pair = shapes_of(model, n_classes)
    added = age.weights[codes[:, 0]] + pay.weights[codes[:, 2]] + pair.weights[codes[:, 1], codes[:, 3]]
    assert_allclose(model.scores(codes), model.offsets + added)
    assert_allclose(model.start + model.contributions(codes).sum(axis=1), model.scores(codes))
    # Beside a tree's level, the mean over cells that are not missing.
    assert_allclose(model.contributions(codes)[:, 0], age.weights[codes[:, 0]] - age.weights[:-1].mean(axis=0))
    assert_allclose(model.chances(codes), chances_of(model.scores(codes), 1.0))


def test_two_classes_have_weights_turned_round():
    model = forest()
    assert_allclose(model.by_class[:, 1] - model.by_class[:, 0], model.weights[:, 0])
    assert_allclose(model.by_class.sum(axis=1), 0, atol=1e-15)


def test_scores_of_many_rows_do_not_depend_on_blocks(monkeypatch):
    model, codes = forest(3), all_rows()
    whole = model.scores(codes)
    monkeypatch.setattr("privet.central.weights.leaf_weights._BLOCK_ROWS", 7)
    assert_array_equal(model.scores(codes), whole)


def test_no_trees_score_by_the_offsets():
    model = LeafWeights(Trees.of([], schema_of()), np.array([-1.0, 1.0]), np.empty((0, 1)), 1.0)
    assert_array_equal(model.scores(all_rows()[:3]), [[-1.0, 1.0]] * 3)


def test_shapes_have_names_cells_and_a_title():
    age, _, pair = shapes_of(forest())
    assert (age.title, pair.title, pair.attributes) == ("age", "job x night", (1, 3))
    assert age.cells == (("below 25", "25 to 50", "50 to 75", "75 or more", "missing"),)
    assert pair.cells == (("nurse", "clerk", "cook", "missing"), ("False", "True", "missing"))
    assert (pair.weights.shape, pair.noise_std.shape) == ((4, 3, 2), (4, 3))


def test_the_band_by_hand():
    # Categories are strangers: (1 / variance + rows)^-1 times the noise, and half of it for each of two classes.
    model = forest(groups=[[1]])
    (shape,) = shapes_of(model, variance=0.5, rows_per_leaf=8.0, noise_std=3.0)
    assert_allclose(shape.noise_std, np.full(4, 0.5 * 3 / (2 + 8)), rtol=1e-5)
    (wide,) = shapes_of(forest(3, groups=[[1]]), 3, variance=0.5, rows_per_leaf=8.0, noise_std=3.0)
    assert_allclose(wide.noise_std, np.full(4, 3 / (2 + 8)), rtol=1e-5)


@pytest.mark.parametrize(
    ("attribute", "names"),
    [
        (Numeric("x", 0, 1, edges=[]), ("any", "missing")),
        (Numeric("x", 0, 1, edges=[0.5]), ("below 0.5", "0.5 or more", "missing")),
        (Categorical("x", [True, False]), ("True", "False", "missing")),
        (Categorical("x", ["<b>"]), ("<b>", "missing")),
        (Categorical("x", ["<b>"], never_missing=True), ("<b>",)),
        (Numeric("x", 0, 1, bins=2, never_missing=True), ("below 0.5", "0.5 or more")),
    ],
)
def test_cell_names_say_what_the_cells_are(attribute, names):
    assert cell_names(attribute) == names


@pytest.mark.parametrize("n_values", [255, 256, 300, 1000, 65_534])
def test_cell_names_of_a_long_list_are_those_of_the_cells_rows_fall_into(n_values):
    attribute = Categorical("zip", range(n_values))
    trees = Trees(((0,),), (n_values,), (False,))
    named = []
    for name in cell_names(attribute)[:-1]:
        first, _, last = name.partition(" to ")
        named.append(range(int(first), int(last or first) + 1))
    cell_of = trees.cell_of(0)
    assert [cell for cell, own in enumerate(named) for _ in own] == cell_of[:-1].tolist()
    assert [code for own in named for code in own] == list(range(n_values))


def test_numbers_that_are_near_each_other_have_names_of_their_own():
    names = cell_names(Numeric("year", 1_999_990, 2_000_010, bins=4))
    assert len(set(names)) == len(names)


def test_the_noise_of_an_exact_fit_is_none():
    (own, *_) = shapes_of(forest(), noise_std=0.0, rows_per_leaf=0.0)
    assert_array_equal(own.noise_std, 0)
    assert math.isfinite(own.weights.sum())
