"""Which attributes matter, from released weights alone."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric, PrivateForestClassifier, Schema
from privet.central.weights.histograms import Histogram
from privet.central.weights.importance import Effect, TreeOfWeights, mean_curvature, over_number, shares_of_effects
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.trees import Trees
from tests.central.weights.problems import schema_of

CROWDED = Numeric("pay", 0, 16, edges=[1, 2, 3, 4, 6, 8, 12])


def tree(weights, *, attributes=(1,), n_cells=None, noise_std=0.0, rows=100.0, variance=1.0):
    weights = np.asarray(weights, dtype=float).reshape(len(weights), -1)
    n_cells = (len(weights),) if n_cells is None else n_cells
    return TreeOfWeights(attributes, n_cells, weights, variance * np.eye(len(weights)), noise_std, rows)


def of_number(weights, **options):
    schema = Schema([CROWDED], classes=["no", "yes"])
    return tree(weights, attributes=(0,), **options), schema


def test_the_size_of_an_effect_by_hand():
    # Three jobs of a third each, a mean of 1: deviations of 2, 0, -2; the missing value does not count.
    (effect,) = tree([3, 1, -1, 99]).effects(schema_of())
    assert effect.attributes == (1,)
    assert effect.size == pytest.approx(np.sqrt(8 / 3))
    assert effect.stands_out


def test_a_cell_counts_by_its_released_share_the_missing_value_too():
    # Half of the rows at 1, half at -1, and none at 99: a mean of 0, deviations of 1.
    histogram = Histogram(np.array([50, 0, 0, 50]), 100, 0.0)
    own = TreeOfWeights((1,), (4,), np.array([[1.0], [99.0], [99.0], [-1.0]]), np.eye(4), 0.0, 20.0, (histogram,))
    (effect,) = own.effects(schema_of())
    assert effect == Effect((1,), pytest.approx(1.0), True)


def test_what_two_do_together_is_an_effect_of_its_own():
    # Job does +-1 whatever the other, and both together +-2; the missing values do not count.
    table = np.full((3, 3), 50.0)
    table[:2, :2] = [[1 + 2, 1 - 2], [-1 - 2, -1 + 2]]
    effects = tree(table.ravel(), attributes=(1, 3), n_cells=(3, 3)).effects(schema_of())
    assert {effect.attributes: round(effect.size, 9) for effect in effects} == {(1,): 1, (3,): 0, (1, 3): 2}


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
    own, schema = of_number([*held, *moved, 0], noise_std=30.0, rows=2_000.0)
    ways = over_number(schema.attributes[0])
    believed = own.belief(ways) @ ways
    assert believed[:3].sum() > 0.6
    # Where all cells hold, rows are believed to be in all of them.
    everywhere, _ = of_number([*held, *rng.normal(0, 0.1, 5), 0], noise_std=30.0, rows=2_000.0)
    assert (everywhere.belief(ways) @ ways)[:3].sum() < believed[:3].sum() - 0.2


def test_a_cell_that_no_row_reaches_does_not_make_an_attribute_matter():
    # All that stands out is a weight that noise often makes as large where no row is.
    empty = tree([0.0, 0.0, 3.0, 0.0], noise_std=10.0, rows=1_000.0)
    assert [effect.stands_out for effect in empty.effects(schema_of())] == [False]
    real = tree([-2.0, 0.0, 2.0, 0.0], noise_std=0.5, rows=1_000.0)
    assert [effect.stands_out for effect in real.effects(schema_of())] == [True]


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
        for seed in range(12)
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


def histograms_of(model, counts):
    return {a: Histogram(np.array(own), sum(own), 0.0) for a, own in counts.items()}


def test_the_curvature_of_a_model_that_says_nothing_is_that_of_the_margin():
    model = model_of(0.0)
    # The own class is behind by the margin of 1 in every row: q = 1 / (1 + e), whatever the class.
    q = 1 / (1 + np.e)
    found = mean_curvature(model, histograms_of(model, {0: [9, 1, 0, 0, 0], 1: [5, 5, 0, 0], 3: [1, 1, 0]}))
    assert found == pytest.approx(q * (1 - q))


def test_the_curvature_is_that_of_rows_in_the_cells_that_are_reached():
    # All rows are in one cell of each attribute, and the weights of all others are huge.
    weights = np.full((5 + 12, 3), [50.0, 0, -50])
    weights[2], weights[5 + 1 * 3 + 0] = [0.5, -0.5, 0], [0.25, 0.25, -0.5]
    model = model_of(weights, 3)
    found = mean_curvature(model, histograms_of(model, {0: [0, 0, 7, 0, 0], 1: [0, 3, 0, 0], 3: [4, 0, 0]}))
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
