"""Which attributes matter, from released weights alone."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric, PrivateForestClassifier, Schema
from privet.central.weights.histograms import Histogram
from privet.central.weights.importance import (
    Effect,
    TreeOfWeights,
    effects_of_trees,
    mean_curvature,
    over_number,
    shares_of_effects,
)
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.parts import first_axes, over_codes
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.trees import Axis, Trees
from tests.central.weights.problems import schema_of, soft_cells

CROWDED = Numeric("pay", 0, 16, edges=[1, 2, 3, 4, 6, 8, 12])


def number_tree(weights, *, noise_std=0.0, rows=100.0):
    """Return the tree of a number that crowds."""
    weights = np.asarray(weights, dtype=float).reshape(len(weights), -1)
    return TreeOfWeights((Axis(0, 8, "own"),), weights, np.eye(len(weights)), noise_std, rows)


def effects(weights, groups, *, noise_std=0.0, rows=100.0, variance=1.0, counts=None):
    """Return the effects of trees over the attributes of `schema_of`, by their attributes."""
    schema = schema_of()
    trees = Trees.of(groups, schema)
    model = LeafWeights(trees, np.zeros(2), np.asarray(weights, dtype=float).reshape(-1, 1), 1.0)
    released = ReleasedWeights(
        trees, 100, np.array([50, 50]), np.zeros((trees.n_leaves, 1), dtype=np.int64), 0,
        np.full(len(groups), variance), np.full(len(groups), noise_std),
    )  # fmt: skip
    histograms = None if counts is None else {a: Histogram(np.array(c), sum(c), 0.0) for a, c in counts.items()}
    found = effects_of_trees(model, schema, released, rows=rows, histograms=histograms)
    return {effect.attributes: effect for effect in found}


def test_the_size_of_an_effect_by_hand():
    # Three jobs of a third each, a mean of 1: deviations of 2, 0, -2; the missing value does not count.
    (effect,) = effects([3, 1, -1, 99], [[1]]).values()
    assert effect.attributes == (1,)
    assert effect.size == pytest.approx(np.sqrt(8 / 3))
    assert effect.stands_out


def test_a_cell_counts_by_its_released_share_the_missing_value_too():
    # Half of the rows at 1, half at -1, and none at 99: a mean of 0, deviations of 1.
    found = effects([1, 99, 99, -1], [[1]], counts={1: [50, 0, 0, 50]})
    assert found[1,] == Effect((1,), pytest.approx(1.0), True)


def test_what_two_do_together_is_an_effect_of_its_own():
    # Job does +-1 whatever the other, and both together +-2; no row has the other cells.
    table = np.full((4, 3), 50.0)
    table[:2, :2] = [[1 + 2, 1 - 2], [-1 - 2, -1 + 2]]
    found = effects(table, [[1, 3]], counts={1: [5, 5, 0, 0], 3: [7, 7, 0]})
    assert {own: round(effect.size, 9) for own, effect in found.items()} == {(1,): 1, (3,): 0, (1, 3): 2}


def test_what_trees_of_both_stages_say_of_an_attribute_is_added_up():
    schema, knots, few = soft_cells(
        Schema([Numeric("age", 0, 80), Categorical("job", ["a", "b"])], classes=["no", "yes"]), 4
    )
    trees = Trees.of([[0], [1]], schema, knots).with_later(Trees.later([[1, 0]], schema, few))
    weights = np.zeros((trees.n_leaves, 1))
    # In the first stage a has 1 and b has -1. The second stage takes it back, and age does nothing.
    weights[trees.starts[1] : trees.starts[1] + 2, 0] = 1, -1
    weights[trees.starts[2] :, 0] = np.repeat([-1.0, 1.0, 0.0], 4)
    model = LeafWeights(trees, np.zeros(2), weights, 1.0)
    released = ReleasedWeights(
        trees, 100, np.array([50, 50]), np.zeros((len(weights), 1), dtype=np.int64), 0, np.ones(3), np.zeros(3)
    )
    sizes = {e.attributes: e.size for e in effects_of_trees(model, schema, released, rows=1.0, histograms=None)}
    assert sizes == {
        (0,): pytest.approx(0, abs=1e-7),
        (1,): pytest.approx(0, abs=1e-7),
        (0, 1): pytest.approx(0, abs=1e-7),
    }
    # Of age alone the later tree has a line from -1 to 1 over its knots; the first stage sees it at its own knots.
    weights[trees.starts[2] :, 0] = np.tile([-1, -1 / 3, 1 / 3, 1], 3)
    counts = {0: np.zeros(trees.axes[0][0].n_bins, dtype=int), 1: np.array([5, 5, 0])}
    counts[0][[0, -2]] = 10
    histograms = {a: Histogram(own, int(own.sum()), 0.0) for a, own in counts.items()}
    found = effects_of_trees(replace(model, weights=weights), schema, released, rows=1.0, histograms=histograms)
    by_attributes = {effect.attributes: effect.size for effect in found}
    # Half of the rows near each end: a little less than 1, because codes near a knot belong to it.
    assert 0.85 < by_attributes[0,] < 1
    assert by_attributes[0, 1] == pytest.approx(0, abs=1e-7)


def test_a_number_that_is_never_missing_may_have_other_knots_in_the_second_stage():
    attributes = [Numeric("age", 0, 80, never_missing=True), Categorical("job", ["a", "b"])]
    schema, knots, few = soft_cells(Schema(attributes, classes=["no", "yes"]), 6)
    trees = Trees.of([[0], [1]], schema, knots).with_later(Trees.later([[1, 0]], schema, few))
    assert trees.axes[0][0] != trees.axes[2][1]
    weights = np.zeros((trees.n_leaves, 1))
    weights[trees.starts[2] :, 0] = np.tile([-1, -1 / 3, 1 / 3, 1], 3)
    released = ReleasedWeights(
        trees, 100, np.array([50, 50]), np.zeros((len(weights), 1), dtype=np.int64), 0, np.ones(3), np.zeros(3)
    )
    counts = {0: np.zeros(trees.axes[0][0].n_bins, dtype=int), 1: np.array([5, 5, 0])}
    counts[0][[0, -1]] = 10
    histograms = {a: Histogram(own, int(own.sum()), 0.0) for a, own in counts.items()}
    model = LeafWeights(trees, np.zeros(2), weights, 1.0)
    found = effects_of_trees(model, schema, released, rows=1.0, histograms=histograms)
    assert 0.85 < {effect.attributes: effect.size for effect in found}[0,] < 1


def test_shares_add_up_and_what_two_do_is_split_evenly():
    shares, told = shares_of_effects([Effect((0,), 1.0, False), Effect((0, 2), 4.0, True)], 4)
    assert_allclose(shares, [3 / 5, 0, 2 / 5, 0])
    assert_array_equal(told, [True, False, True, False])
    assert_array_equal(shares_of_effects([], 2)[0], [0, 0])
    assert_array_equal(shares_of_effects([Effect((0,), 0.0, False)], 2)[0], [0, 0])


@pytest.mark.parametrize(
    "attribute",
    [CROWDED, Numeric("x", -5, 9, edges=[-1, 0, 1]), Numeric("x", 3, 9, bins=300), Numeric("x", -1e150, 1e150, bins=4),
     Numeric("x", -9, 0, edges=[-8]), Numeric("x", 0, 1, edges=[])],
)  # fmt: skip
def test_the_ways_in_which_rows_may_lie_are_shares(attribute):
    ways = over_number(attribute)
    assert_allclose(ways.sum(axis=1), 1)
    assert (ways >= 0).all()
    assert_array_equal(ways[:, -1], 0)


def test_the_last_way_is_even_and_the_others_crowd_at_the_lower_bound():
    ways = over_number(CROWDED)
    assert_allclose(ways[-1], np.array([1, 1, 1, 1, 2, 2, 4, 4, 0]) / 16)
    # A slope of scale 1/16, one unit: 1 - 1/e of nine tenths lie in the first cell, and a sixteenth of the last.
    slope = ways[10 + 4]
    assert slope[0] == pytest.approx(0.9 * (1 - np.exp(-1)) + 0.1 / 16, abs=1e-4)


def test_cells_that_hold_against_the_noise_are_believed_to_have_rows():
    # The noise is large in the last five cells and not seen in the first three.
    rng = np.random.default_rng(3)
    held, moved = rng.normal(0, 0.1, 3), rng.laplace(0, 20, 5)
    own, ways = number_tree([*held, *moved, 0], noise_std=30.0, rows=2_000.0), over_number(CROWDED)
    believed = own.belief(ways) @ ways
    assert believed[:3].sum() > 0.6
    # Where all cells hold, rows are believed to be in all of them.
    everywhere = number_tree([*held, *rng.normal(0, 0.1, 5), 0], noise_std=30.0, rows=2_000.0)
    assert (everywhere.belief(ways) @ ways)[:3].sum() < believed[:3].sum() - 0.2


def test_a_cell_that_no_row_reaches_does_not_make_an_attribute_matter():
    # All that stands out is a weight that noise often makes as large where no row is.
    empty = effects([0.0, 0.0, 3.0, 0.0], [[1]], noise_std=10.0, rows=1_000.0)
    assert [effect.stands_out for effect in empty.values()] == [False]
    real = effects([-2.0, 0.0, 2.0, 0.0], [[1]], noise_std=0.5, rows=1_000.0)
    assert [effect.stands_out for effect in real.values()] == [True]


def noisy_table(n_rows=4_000):
    """Return rows of which age and job decide, beside crowded numbers and rare categories that do not."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"age": rng.uniform(20, 70, n_rows), "job": rng.choice(["cook", "nurse"], n_rows)})
    names = ["a", "b", "c", "d"]
    attributes = [Numeric("age", 0, 100), Categorical("job", ["cook", "nurse"])]
    for i in range(4):
        X[f"debt {i}"] = rng.exponential(200, n_rows).clip(0, 9_999)
        X[f"shop {i}"] = rng.choice(names[:3], n_rows, p=[0.9, 0.08, 0.02])
        attributes += [Numeric(f"debt {i}", 0, 10_000), Categorical(f"shop {i}", names)]
    score = (X["age"] - 45) / 6 + np.where(X["job"] == "cook", 1.5, -1.5)
    y = np.where(score + rng.logistic(size=n_rows) > 0, "yes", "no")
    return X, y, Schema(attributes, classes=["no", "yes"], rows=n_rows)


def test_what_decides_is_told_apart_and_what_does_not_seldom_is():
    X, y, schema = noisy_table()
    models = [
        PrivateForestClassifier(schema, epsilon=1.0, random_state=seed, unsafe_seeded_noise=True).fit(X, y)
        for seed in range(36)
    ]
    told = np.array([model.told_apart_ for model in models])
    assert told[:, :2].mean() > 0.9
    assert told[:, 2:].mean() < 0.15
    for model in models:
        shares = model.feature_importances_
        assert (shares >= 0).all()
        assert shares.sum() == pytest.approx(1)
        shares[:] = 0  # a copy, which nobody else sees
        assert model.feature_importances_.sum() == pytest.approx(1)


def model_of(weights, n_classes=2, groups=((0,), (1, 3))):
    schema = schema_of(n_classes)
    trees = Trees.of(groups, schema)
    columns = 1 if n_classes == 2 else n_classes
    offsets = np.zeros(n_classes) if n_classes == 2 else np.arange(n_classes) - 1.0
    return LeafWeights(trees, offsets, np.broadcast_to(weights, (trees.n_leaves, columns)).astype(float), 1.0)


def shares_of(model, counts):
    axes = first_axes(model.trees)
    return {a: over_codes(axes[a], np.array(own) / sum(own)) for a, own in counts.items()}


def test_the_curvature_of_a_model_that_says_nothing_is_that_of_the_margin():
    model = model_of(0.0)
    # The own class is behind by the margin of 1 in every row: q = 1 / (1 + e), whatever the class.
    q = 1 / (1 + np.e)
    shares = shares_of(model, {0: [9, 1, 0, 0, 0], 1: [5, 5, 0, 0], 3: [1, 1, 0]})
    found, curved = mean_curvature(model, shares)
    assert found == pytest.approx(q * (1 - q))
    for a, own in shares.items():
        assert_allclose(curved[a], own)


def test_the_curvature_is_that_of_rows_in_the_cells_that_are_reached():
    # All rows are in one cell of each attribute, and the weights of all others are huge.
    weights = np.full((5 + 12, 3), [50.0, 0, -50])
    weights[2], weights[5 + 1 * 3 + 0] = [0.5, -0.5, 0], [0.25, 0.25, -0.5]
    model = model_of(weights, 3)
    found, _ = mean_curvature(model, shares_of(model, {0: [0, 0, 7, 0, 0], 1: [0, 3, 0, 0], 3: [4, 0, 0]}))
    scores = model.offsets + weights[2] + weights[8]
    powers = np.exp(scores)
    chances = powers / powers.sum() * (1 - (1 - np.exp(-1)) * powers / powers.sum())
    chances /= chances.sum()
    total = 0.0
    for c in range(3):
        own = np.exp(scores - np.eye(3)[c])
        own /= own.sum()
        total += chances[c] * sum(q * (1 - q) for q in own) / 3
    assert found == pytest.approx(total)


def test_rows_that_are_predicted_well_hold_less_than_others():
    # Half of the rows are of one job, of which all is known, and half of another, of which nothing is.
    weights = np.zeros((5 + 12, 1))
    weights[5:8] = 8.0
    model = model_of(weights)
    shares = shares_of(model, {0: [1, 0, 0, 0, 0], 1: [5, 5, 0, 0], 3: [1, 0, 0]})
    mean, curved = mean_curvature(model, shares)
    known, unknown = mean * curved[1][:2] / shares[1][:2]
    q, far = 1 / (1 + np.e), 1 / (1 + np.exp(7))
    assert unknown == pytest.approx(q * (1 - q), rel=1e-2)
    assert known == pytest.approx(far * (1 - far), abs=2e-3)
