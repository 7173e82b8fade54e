"""What attributes do to a score, point by point: splits of trees, their shapes, and the noise in them."""

import math
from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric, PrivateForestClassifier, Schema
from privet.central.weights.knots import FINE_HALVINGS, knot_values, with_cells
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.link import chances_of
from privet.central.weights.parts import (
    Points,
    Split,
    effects_in,
    evenly,
    first_axes,
    gram,
    leaf_shares,
    over_codes,
    split_tree,
)
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.shapes import brief, code_values, noise_moves, shapes_of
from privet.central.weights.trees import CODES_A_BIN, GRID, Axis, Trees
from tests.central.weights.problems import GROUPS, schema_of, soft_cells

OPEN = Schema(
    [
        Numeric("age", 0, 80),
        Categorical("job", ["nurse", "clerk", "cook"]),
        Numeric("pay", -10, 50, never_missing=True),
        Categorical("night", [False, True], never_missing=True),
        Numeric("rank", 0, 4, edges=[1, 2]),
    ],
    classes=["no", "yes"],
)


def soft(n_classes=2, seed=0):
    """Return a model of both stages, with soft numbers and attributes that are in several trees, and its schema."""
    schema, knots, later = soft_cells(Schema(OPEN.attributes, classes=["no", "yes", "maybe"][:n_classes]), 4)
    first = Trees.of([[0], [2], [4], [1, 3]], schema, knots)
    trees = first.with_later(Trees.later([[3, 0, 1], [0, 2, 1, 4], [1, 0]], schema, later))
    return of_trees(trees, n_classes, seed), schema


def of_trees(trees, n_classes=2, seed=0):
    weights = np.random.default_rng(seed).normal(size=(trees.n_leaves, 1 if n_classes == 2 else n_classes))
    return LeafWeights(trees, np.linspace(-1, 1, n_classes), weights, 1.0)


def forest(n_classes=2, groups=GROUPS):
    return of_trees(Trees.of(groups, schema_of(n_classes)), n_classes)


def released(model, *, noise_std=1.0, variance=0.5):
    n_trees = model.trees.n_trees
    return ReleasedWeights(
        model.trees, 1_000, np.array([400, 600]), np.zeros(model.weights.shape, dtype=np.int64), 0,
        np.full(n_trees, variance), np.full(n_trees, noise_std),
    )  # fmt: skip


def uneven(trees, seed=5):
    """Return how rows lie, unevenly."""
    rng = np.random.default_rng(seed)
    return {a: over_codes(axis, rng.dirichlet(np.ones(axis.n_bins))) for a, axis in first_axes(trees).items()}


def shapes(model, schema, shares=None, *, rows=100.0, **options):
    shares = uneven(model.trees) if shares is None else shares
    return shapes_of(model, schema, released(model, **options), shares, shares, rows=rows, are_released=True)


def random_codes(schema, n_rows=300):
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, a.n_values + (not a.never_missing), n_rows) for a in schema.attributes]
    return np.stack(codes, axis=1)


def points_of(model, schema, own):
    """Return, by hand, which codes of an attribute no tree of an effect tells apart."""
    trees = [axes for axes in model.trees.axes if set(own) <= {axis.attribute for axis in axes}]
    found = []
    for a in own:
        n_codes = schema.attributes[a].n_codes
        told = [tuple(int(x.cell_of[c]) for axes in trees for x in axes if x.attribute == a) for c in range(n_codes)]
        order = sorted(set(told))
        found.append(np.array([order.index(each) for each in told]))
    return found


@pytest.mark.parametrize("n_classes", [2, 3])
def test_where_rows_start_and_all_shapes_add_up_to_the_score(n_classes):
    model, schema = soft(n_classes)
    shares, codes = uneven(model.trees), random_codes(schema)
    start = Split.of(model, shares).start
    added = np.tile(start, (len(codes), 1))
    for shape in shapes(model, schema, shares):
        points = points_of(model, schema, shape.attributes)
        added += shape.weights[tuple(own[codes[:, a]] for own, a in zip(points, shape.attributes, strict=True))]
    assert_allclose(added, model.scores(codes), atol=1e-9)
    split = Split.of(model, shares)
    assert_allclose(start + split.contributions(codes).sum(axis=1), model.scores(codes), atol=1e-9)
    assert_allclose(model.chances(codes), chances_of(model.scores(codes), 1.0))


def test_there_is_one_shape_an_attribute_and_one_for_what_is_left_of_several():
    model, schema = soft()
    found = [shape.attributes for shape in shapes(model, schema)]
    wanted = {
        own
        for group in [(0,), (2,), (4,), (1, 3), (0, 1, 3), (0, 1, 2, 4), (0, 1)]
        for size in range(1, len(group) + 1)
        for own in combinations(group, size)
    }
    assert found == effects_in(model.trees) == sorted(wanted, key=lambda own: (len(own), own))
    assert shapes(model, schema)[0].title == "age"
    assert [shape.title for shape in shapes(model, schema)][5] == "age x job"


def test_the_parts_of_a_tree_by_hand():
    # Job is nurse for half of the rows and clerk for the other half, night is true for a quarter.
    axes = (Axis(1, 2, "never"), Axis(0, 2, "never"))
    shares = {1: np.array([0.5, 0.5, 0.0]), 0: np.array([0.75, 0.25, 0.0])}
    parts = split_tree(axes, np.array([[0.0], [4.0], [2.0], [10.0]]), shares)
    # Means: nurse 1, clerk 4, all 2.5; by night 1 and 7.
    assert parts[()].table == pytest.approx(2.5)
    assert_allclose(parts[1,].table[:, 0], [-1.5, 1.5])
    assert_allclose(parts[0,].table[:, 0], [-1.5, 4.5])
    # What is left, with the attributes in the order of the schema.
    assert_allclose(parts[0, 1].table[..., 0], [[0.5, -0.5], [-1.5, 1.5]])


def test_an_effect_has_a_mean_of_zero_over_each_of_its_attributes():
    model, schema = soft(3)
    shares = uneven(model.trees)
    for shape in shapes(model, schema, shares):
        for i, own in enumerate(shape.shares):
            assert_allclose(np.tensordot(shape.weights, own, (i, 0)), 0, atol=1e-9)
            assert own.sum() == pytest.approx(1)


def test_an_effect_of_a_tree_that_only_adds_is_that_of_each_attribute():
    model, schema = soft()
    own, axes = model.trees.starts[3], model.trees.axes[3]
    weights = np.zeros_like(model.weights)
    job, night = np.array([1.0, -2, 0.5, 3]), np.array([0.25, -1])
    weights[own : own + 8, 0] = (job[:, None] + night).ravel()
    found = {shape.title: shape for shape in shapes(LeafWeights(model.trees, model.offsets, weights, 1.0), schema)}
    shares = [leaf_shares(axis, uneven(model.trees)[axis.attribute]) for axis in axes]
    assert_allclose(found["job"].weights[:, 1], 0.5 * (job - shares[0] @ job))
    assert_allclose(found["night"].weights[:, 1], 0.5 * (night - shares[1] @ night))
    assert_allclose(found["job x night"].weights, 0, atol=1e-12)


def test_two_classes_have_weights_turned_round():
    model = forest()
    assert_allclose(model.by_class[:, 1] - model.by_class[:, 0], model.weights[:, 0])
    assert_allclose(model.by_class.sum(axis=1), 0, atol=1e-15)


def test_scores_of_many_rows_do_not_depend_on_blocks(monkeypatch):
    model, codes = forest(3), random_codes(schema_of(3))
    whole = model.scores(codes)
    monkeypatch.setattr("privet.central.weights.leaf_weights._BLOCK_ROWS", 7)
    assert_array_equal(model.scores(codes), whole)


def test_no_trees_score_by_the_offsets():
    model = LeafWeights(Trees.of([], schema_of()), np.array([-1.0, 1.0]), np.empty((0, 1)), 1.0)
    assert_array_equal(model.scores(random_codes(schema_of())[:3]), [[-1.0, 1.0]] * 3)
    assert shapes(model, schema_of(), {}) == []
    assert_array_equal(Split.of(model, {}).start, [-1, 1])


def test_shapes_have_names_points_and_values():
    model, schema = soft()
    found = {shape.title: shape for shape in shapes(model, schema)}
    assert found["job"].cells == (("nurse", "clerk", "cook", "missing"),)
    assert found["night"].cells == (("False", "True"),)
    assert found["rank"].cells == (("below 1", "1 to 2", "2 or more", "missing"),)
    assert found["rank"].values == (None,)
    age, pay = found["age"], found["pay"]
    assert age.cells[0][-1] == "missing"
    assert (age.values[0][0], age.values[0][-1], len(age.values[0])) == (0, 80, len(age.cells[0]) - 1)
    assert "missing" not in pay.cells[0]
    assert len(pay.values[0]) == len(pay.cells[0]) == len(pay.weights)
    # The second stage has missing ages in the middle, so what they do with others has no point of its own.
    pair = found["age x job"]
    assert "missing" not in pair.cells[0]
    assert len(pair.values[0]) == len(pair.cells[0])
    assert pair.noise_std.shape == pair.weights.shape[:2]


def test_a_number_of_the_first_stage_is_a_straight_line_between_knots():
    schema, knots, _ = soft_cells(Schema([Numeric("age", 0, 80)], classes=["no", "yes"]), 4)
    (attribute,), n_values = schema.attributes, schema.attributes[0].n_values
    # Knots four codes apart: a straight line over values, to the last digit.
    every = tuple(range(0, n_values, CODES_A_BIN))
    (shape,) = shapes(of_trees(Trees.of([[0]], schema, {0: (every, GRID)})), schema)
    assert_allclose(shape.values[0], code_values(attribute))
    at, own = shape.values[0][list(every)], shape.weights[list(every), 1]
    assert_allclose(shape.weights[:-1, 1], np.interp(shape.values[0], at, own), atol=1e-12)
    # Others: a straight line over codes, but for half a part of the grid.
    codes = knots[0][0]
    (shape,) = shapes(of_trees(Trees.of([[0]], schema, knots)), schema)
    own = shape.weights[list(codes), 1]
    line = np.interp(np.arange(n_values), codes, own)
    assert np.abs(shape.weights[:-1, 1] - line).max() <= np.abs(np.diff(own)).max() * (0.5 / GRID + 1e-12)


@pytest.mark.parametrize(
    ("low", "high", "n_bins"), [(0, 100, 16), (-10, 50, 4), (17, 90, 9), (0, 7200, 16), (0, 1, 60), (-1e9, 5e9, 2)]
)
def test_the_values_of_codes_come_back_from_the_borders_between_them(low, high, n_bins):
    attribute = Numeric("x", low, high)
    (celled,) = with_cells(Schema([attribute], classes=["no", "yes"]), n_bins).attributes
    values = code_values(celled)
    # Every fourth code is where cells were made around, and the others lie evenly between two of these.
    wanted = knot_values(attribute, n_bins, FINE_HALVINGS)
    assert_allclose(values[::CODES_A_BIN], wanted, atol=1e-9 * (high - low))
    assert_allclose(
        values,
        np.interp(np.arange(len(values)) / CODES_A_BIN, np.arange(len(wanted)), wanted),
        atol=1e-9 * (high - low),
    )
    # A code stands where its cell is: the value has this code.
    assert_array_equal(np.searchsorted(celled.cuts, values, side="right"), np.arange(celled.n_values))


def test_codes_that_floats_did_not_tell_apart_stand_in_the_middle_of_their_cells():
    (celled,) = with_cells(Schema([Numeric("x", 1e16, 1e16 + 1024)], classes=["no", "yes"]), 64).attributes
    assert celled.n_values % CODES_A_BIN != 1
    borders = [celled.low, *celled.edges, celled.high]
    assert_array_equal(code_values(celled), [(a + b) / 2 for a, b in pairwise(borders)])


def test_codes_are_spread_over_what_is_nearest_and_their_shares_come_back():
    axis = Axis(0, 9, "own", (0, 4, 8), 4)
    shares = np.array([0.2, 0.5, 0.2, 0.1])
    codes = over_codes(axis, shares)
    # Two codes are in the first bin of the histogram, four in the second, three in the last.
    assert_allclose(codes, [0.1] * 2 + [0.125] * 4 + [0.2 / 3] * 3 + [0.1])
    leaves = leaf_shares(axis, codes)
    by_hand = [sum(codes[c] * max(0.0, 1 - abs(c / 4 - k)) for c in range(9)) for k in range(3)]
    assert_allclose(leaves, [*by_hand, 0.1])
    weights = np.array([1.0, -2.0, 4.0, 3.0])
    at_codes = np.append(np.interp(np.arange(9) / 4, np.arange(3), weights[:3]), 3.0)
    assert weights @ gram(axis, codes) @ weights == pytest.approx(codes @ at_codes**2)
    assert_allclose(leaf_shares(Axis(0, 3, "own"), evenly(Axis(0, 3, "own"))), [1 / 3, 1 / 3, 1 / 3, 0])
    assert len(over_codes(Axis(0, 9, "never", (0, 4, 8), 4), shares[:3])) == 10


def test_points_are_where_one_of_the_trees_tells_codes_apart():
    coarse, other = (Axis(0, 9, "middle", (0, 8), grid, merged=True) for grid in (2, 1))
    points = Points.of([coarse, other], has_missing=True)
    # Cells of the first end after codes 1 and 5, of the second after 3; missing values lie in the middle.
    told = list(zip(coarse.cell_of.tolist(), other.cell_of.tolist(), strict=True))
    assert points.point_of.tolist() == [sorted(set(told)).index(each) for each in told]
    assert len(points.first) == len(set(told)) == 4
    assert points.last(9).max() == 8


def test_the_band_by_hand():
    # Categories are strangers: noise times (1 / variance + rows)^-1, half of it for each of two classes. Of four leaves
    # of a quarter each, a weight less the mean has 3/4 of a weight's variance.
    schema, even = schema_of(), {1: np.full(4, 0.25)}
    (shape,) = shapes(forest(groups=[[1]]), schema, even, variance=0.5, rows=32.0, noise_std=3.0)
    assert_allclose(shape.noise_std, np.full(4, 0.5 * 3 / (2 + 8) * math.sqrt(0.75)), rtol=1e-4)
    (wide,) = shapes(forest(3, groups=[[1]]), schema_of(3), even, variance=0.5, rows=32.0, noise_std=3.0)
    assert_allclose(wide.noise_std, 2 * shape.noise_std)


def test_the_noise_of_an_effect_is_that_of_all_trees_that_have_it():
    # A plain twin: noise is drawn, moves the weights of each tree as their inverse Hessian says, and is split.
    model, schema = soft()
    shares, rng = uneven(model.trees), np.random.default_rng(3)
    found = shapes(model, schema, shares, rows=40.0, noise_std=2.0)
    moves = [noise_moves(model, t, schema, 0.5, 40.0, shares) for t in range(model.trees.n_trees)]
    drawn = []
    for _ in range(400):
        weights = np.concatenate([own @ rng.laplace(scale=math.sqrt(2), size=(len(own), 1)) for own in moves])
        moved = LeafWeights(model.trees, model.offsets, weights, 1.0)
        drawn.append([shape.weights[..., 1] for shape in shapes(moved, schema, shares, noise_std=0.0)])
    for i, shape in enumerate(found):
        seen = np.std([each[i] for each in drawn], axis=0)
        assert_allclose((seen / shape.noise_std).mean(), 1, atol=0.1)
    # The noise of the first stage alone is not enough.
    alone = shapes(of_trees(model.trees.first), schema, shares, rows=40.0, noise_std=2.0)
    assert (np.std([each[0] for each in drawn], axis=0) / alone[0].noise_std).mean() > 1.1


def test_the_noise_of_an_exact_fit_is_none():
    for shape in shapes(*soft(), noise_std=0.0, rows=0.0):
        assert_array_equal(shape.noise_std, 0)
        assert math.isfinite(shape.weights.sum())


@pytest.mark.parametrize("n_values", [255, 256, 300, 1000, 65_534])
def test_points_of_a_long_list_are_named_as_the_cells_rows_fall_into(n_values):
    schema = Schema([Categorical("zip", range(n_values))], classes=["no", "yes"])
    model = of_trees(Trees.of([[0]], schema))
    (shape,) = shapes(model, schema)
    named = []
    for name in shape.cells[0][:-1]:
        first, _, last = name.partition(" to ")
        named.append(range(int(first), int(last or first) + 1))
    cell_of = model.trees.axes[0][0].cell_of
    assert [cell for cell, own in enumerate(named) for _ in own] == cell_of[:-1].tolist()
    assert [code for own in named for code in own] == list(range(n_values))


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([0, 31.6, 100], ["0", "31.6", "100"]),
        ([0, 1 / 3, 2 / 3], ["0", "0.333", "0.667"]),
        ([31.61, 31.62], ["31.61", "31.62"]),
        ([1_999_990, 1_999_995.25], ["1999990", "1999995"]),
        ([-0.5, 1e-20], ["-0.5", "1e-20"]),
        ([1e150, 2e150], ["1e+150", "2e+150"]),
    ],
)
def test_values_are_written_with_as_few_digits_as_tell_them_apart(values, names):
    assert brief(np.array(values, dtype=float)) == names


def customers(n_rows=6_000):
    """Return rows of a table such as churn is predicted from, and its schema."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "tenure": rng.exponential(20, n_rows).clip(0, 72),
            "charge": rng.normal(70, 25, n_rows).clip(18, 120),
            "contract": rng.choice(["month", "year", "two"], n_rows, p=[0.55, 0.25, 0.2]),
            "age": rng.normal(45, 15, n_rows).clip(18, 90),
        }
    )
    months = np.select([X["contract"] == "month", X["contract"] == "year"], [0.9, -0.2], -1.0)
    score = 1 - 0.6 * np.log1p(X["tenure"]) + 0.02 * (X["charge"] - 70) + months
    y = np.where(score + rng.logistic(size=n_rows) > 0, "yes", "no")
    attributes = [
        Numeric("tenure", 0, 72), Numeric("charge", 18, 120), Categorical("contract", ["month", "year", "two"]),
        Numeric("age", 18, 90),
    ]  # fmt: skip
    return X, y, Schema(attributes, classes=["no", "yes"], rows=n_rows)


@pytest.fixture(scope="module")
def fits():
    X, y, schema = customers()
    return [
        PrivateForestClassifier(schema, epsilon=1.0, random_state=seed, unsafe_seeded_noise=True).fit(X, y)
        for seed in range(64)  # of 16, what lies in a band says little: from 0.81 to 1, where 64 have 0.95
    ]


@pytest.fixture(scope="module")
def shapes_of_fits(fits):
    return [{shape.title: shape for shape in model.shapes()} for model in fits]


def coverage(shapes_of_fits, title, n_deviations):
    """Return how often the band holds the mean over fits, and so what all fits agree on, weighted by rows.

    What all points share is taken off: it moves with the noise of the released shares, and says nothing.
    """
    found = [shapes[title] for shapes in shapes_of_fits]
    rows = np.mean([shape.shares[0] for shape in found], axis=0)
    values = np.array([shape.weights[..., 1] - rows @ shape.weights[..., 1] for shape in found])
    inside = np.abs(values - values.mean(axis=0)) <= n_deviations * np.array([shape.noise_std for shape in found])
    return float(inside.mean(axis=0) @ rows)


@pytest.mark.parametrize("title", ["tenure", "charge", "contract", "age"])
def test_bands_of_two_deviations_hold_about_95_fits_of_100(shapes_of_fits, title):
    assert coverage(shapes_of_fits, title, 2.0) > 0.85
    # Bands of a third of that size would fail, and those of a tenth by far.
    assert coverage(shapes_of_fits, title, 2 / 3) < 0.8
    assert coverage(shapes_of_fits, title, 0.2) < 0.4


def test_an_explanation_has_a_column_an_effect_and_adds_up(fits, shapes_of_fits):
    X, _, _ = customers()
    X = pd.concat([X[:500], pd.DataFrame([dict.fromkeys(X.columns)])])
    for model, shapes in zip(fits[:4], shapes_of_fits, strict=False):
        told, titles = model.explain(X), list(shapes)
        assert told.columns.tolist() == ["(start)", *titles] == model.explained_names_
        assert titles[:4] == ["tenure", "charge", "contract", "age"]
        scores = model.leaf_weights_.scores(model._encoder.encode(X))
        assert_allclose(told.sum(axis=1), scores[:, 1] - scores[:, 0], atol=1e-9)


def test_missing_values_that_no_row_has_have_no_share(shapes_of_fits):
    # Noise shows one in a hundred all the same.
    names = ["tenure", "charge", "contract", "age"]
    shares = [shapes[name].shares[0][-1] for shapes in shapes_of_fits for name in names]
    assert np.mean(np.array(shares) == 0) > 0.9
    X, y, schema = customers()
    X.loc[X.index[::4], "age"] = np.nan
    model = PrivateForestClassifier(schema, epsilon=1.0, random_state=1, unsafe_seeded_noise=True).fit(X, y)
    (age,) = [shape for shape in model.shapes() if shape.title == "age"]
    assert age.shares[0][-1] > 0.1


def test_a_row_without_a_value_that_never_is_missing_can_be_explained():
    model, schema = soft()
    closed = ReleasedWeights(
        model.trees, 100, np.array([50, 50]), np.round(8 * model.weights).astype(np.int64), -3,
        np.full(model.trees.n_trees, 0.5), np.zeros(model.trees.n_trees),
    )  # fmt: skip
    trees, weights = closed.with_missing_leaves()
    opened = LeafWeights(trees, model.offsets, weights / 8, 1.0)
    shares, codes = (
        uneven(model.trees),
        np.array(list(product([0, 3], [3], [0, schema.attributes[2].n_values], [0, 2], [1]))),
    )
    split = Split.of(opened, shares)
    assert_allclose(split.start + split.contributions(codes).sum(axis=1), opened.scores(codes), atol=1e-9)
    # What is shown of known values is the same with and without the leaf of missing ones.
    plain = LeafWeights(model.trees, model.offsets, closed.weights / 8, 1.0)
    known = random_codes(schema)
    assert_allclose(Split.of(plain, shares).contributions(known), split.contributions(known), atol=1e-12)
