"""Released weights brought into order: by hand, in several trees, and never against a direction."""

from dataclasses import replace

import numpy as np
import pytest

from privet import Categorical, Numeric, Schema
from privet.central.weights.combining import Scales
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.monotone import _codes, _least_rise, directions_of, monotone, slack_of
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.trees import Axis, Trees
from privet.errors import ParameterError
from tests.loops import loop_over

NO_NOISE = Scales(0.0, 0.0)
FINE = Axis(0, 9, "own", (0, 2, 4, 6, 8), 32)
# The number shared with a category, and with another number.
WITH_JOB = (Axis(0, 9, "middle", (0, 4, 8), 8, merged=True), Axis(1, 2, "own"))
WITH_PAY = (Axis(0, 9, "middle", (0, 4, 8), 8, merged=True), Axis(2, 9, "middle", (0, 8), 8, merged=True))
FIRST = Trees(((FINE,), (Axis(1, 2, "own"),), (Axis(2, 9, "never", (0, 4, 8), 32),)))
BOTH = FIRST.with_later(Trees((WITH_JOB, WITH_PAY), n_later=2))
HARD = Trees(((Axis(0, 4, "own"),),))


def released(trees, weights, cells=None):
    n = trees.n_trees
    return ReleasedWeights(
        trees, 1000, np.array([600, 400]), np.asarray(weights, dtype=np.int64).reshape(-1, 1), -10, np.ones(n),
        np.ones(n), cells,
    )  # fmt: skip


def is_monotone(own, directions):
    """Return whether no tree's leaves go against a direction anywhere, those of missing values aside."""
    weights = np.split(own.weights[:, 0], np.cumsum(own.trees.sizes)[:-1])
    for axes, part in zip(own.trees.axes, weights, strict=True):
        table = part.reshape([axis.n_leaves for axis in axes])
        for place, axis in enumerate(axes):
            rises = np.diff(np.take(table, range(axis.n_known), axis=place), axis=place)
            if (directions.get(axis.attribute, 0) * rises < 0).any():
                return False
    return True


def random_release(seed, trees=BOTH):
    return released(trees, np.random.default_rng(seed).normal(size=trees.n_leaves) * 2**11)


def test_weights_out_of_order_are_pooled_by_hand():
    # Leaves of equal shares: 5 and 3 meet in the middle, as do 9, 6 and 6; missing values stay.
    own = monotone(released(HARD, [5, 3, 7, 8, -50]), {0: 1}, NO_NOISE)
    assert own.weights.ravel().tolist() == [4, 4, 7, 8, -50]
    down = monotone(released(HARD, [5, 9, 6, 3, -50]), {0: -1}, NO_NOISE)
    assert down.weights.ravel().tolist() == [7, 7, 6, 3, -50]


def test_leaves_with_rows_move_less():
    # The first cell has all rows but a few: what is pooled stays near it.
    own = monotone(released(HARD, [8, 0, 20, 21, 5], np.array([997, 1, 1, 1, 0])), {0: 1}, NO_NOISE)
    assert own.weights.ravel().tolist() == [8, 8, 20, 21, 5]


def test_weights_in_order_and_other_attributes_stay_as_they_are():
    weights = [0, 1, 2, 3, -9]
    assert monotone(released(HARD, weights), {0: 1}, NO_NOISE).weights.ravel().tolist() == weights
    free = random_release(1)
    assert monotone(free, {}, NO_NOISE) is free
    only = monotone(free, {0: 1}, NO_NOISE)
    # The trees of the category and of the other number alone are those released.
    np.testing.assert_array_equal(only.weights[6:13], free.weights[6:13])


@pytest.mark.parametrize("directions", [{0: 1}, {0: -1, 2: 1}])
def test_no_score_goes_against_a_direction_whatever_was_released(directions):
    codes = np.stack(np.meshgrid(range(9), range(3), range(9), indexing="ij"), axis=-1)
    flat = codes.reshape(-1, 3)
    broken = 0
    for seed in range(40):
        free = random_release(seed)
        kept = monotone(free, directions, NO_NOISE)
        assert is_monotone(kept, directions)
        for own, is_kept in ((free, False), (kept, True)):
            model = LeafWeights(own.trees, np.zeros(2), own.weights * 2.0**-10, 1.0)
            scores = model.scores(flat)[:, 1].reshape(9, 3, 9)
            rises = min((d * np.diff(scores, axis=a)).min() for a, d in directions.items())
            assert not is_kept or rises >= 0
            broken += not is_kept and rises < 0
    # The search would find what goes the other way.
    assert broken == 40


def test_the_slowest_rise_by_hand():
    # Rises of 4, 2, 6, 1 over two codes each; coarse knots at 0, 4, 8: the least slopes are 1 and a half a code.
    at_coarse, at_fine = _least_rise(FINE, np.array([0.0, 4.0, 6.0, 12.0, 13.0]), WITH_JOB[0])
    assert at_coarse.tolist() == [0.0, 4.0, 6.0]
    assert at_fine.tolist() == [0.0, 2.0, 4.0, 5.0, 6.0]


def test_trees_that_weaken_an_effect_may_as_far_as_the_effect_goes():
    weights = np.zeros(BOTH.n_leaves)
    weights[:5] = [0, 400, 600, 1200, 1300]  # the effect of the number alone
    start = int(BOTH.starts[3])
    weights[start : start + 9] = [0, 0, 0, 0, -150, 0, 0, -200, 0]  # weaker for the second category
    free = released(BOTH, weights)
    kept = monotone(free, {0: 1}, NO_NOISE)
    for own in (free, kept):
        model = LeafWeights(own.trees, np.zeros(2), own.weights * 2.0**-10, 1.0)
        scores = model.scores(np.array([[code, 1, 4] for code in (0, 2, 4, 6, 8)]))[:, 1] * 2**11
        # Two trees share what the effect can make up for: 200 and 100, so that all of both falls is kept.
        np.testing.assert_allclose(scores, [0, 325, 450, 1025, 1100], atol=2)


def test_what_trees_of_the_second_stage_may_fall_is_shared_among_them():
    own = released(FIRST, np.concatenate([[0, 400, 600, 1200, 1300, 7], np.zeros(6)]))
    found = slack_of(own, {0: 1}, Trees((WITH_JOB, WITH_PAY), n_later=2))
    # The least rises are 400 and 200 of 2**-10, for two trees.
    assert {a: (each * 2**10).tolist() for a, each in found.items()} == {0: [200.0, 100.0]}
    assert slack_of(own, {2: 1}, Trees((WITH_JOB,), n_later=1)) == {}


@loop_over("seed", range(5))
def test_bringing_into_order_twice_changes_nothing_of_the_first_stage(seed):
    once = monotone(random_release(seed, FIRST), {0: 1, 2: -1}, NO_NOISE)
    np.testing.assert_array_equal(monotone(once, {0: 1, 2: -1}, NO_NOISE).weights, once.weights)


# An ordered category of 4 values alone, and shared with another one; and one of so many that neighbours share a leaf.
ALONE, OTHER = Axis(0, 4, "own"), Axis(1, 2, "own")
ORDERED = Trees(((ALONE,), (OTHER,))).with_later(Trees(((ALONE, OTHER),), n_later=1))
MANY = Axis(0, 510, "own")


@pytest.mark.parametrize("axis", [ALONE, replace(ALONE, missing="never"), replace(ALONE, missing="middle"), MANY])
def test_a_curve_over_categories_rises_no_faster_than_itself(axis):
    # Every step is between two leaves, so all of the effect can be moved, less where it starts.
    values = np.sort(np.random.default_rng(3).normal(size=axis.n_known))
    for curve in _least_rise(axis, values, axis):
        np.testing.assert_allclose(curve, values - values[0], atol=1e-12)
    assert _codes(axis).tolist() == [int(np.argmax(axis.cell_of == leaf)) for leaf in range(axis.n_known)]


def test_an_effect_of_categories_makes_up_for_what_a_shared_tree_weakens_by_hand():
    weights = np.zeros(ORDERED.n_leaves)
    weights[:5] = [0, 100, 150, 350, -70]
    shared = int(ORDERED.starts[2]) + np.array([1, 4, 7, 10])  # of the second value of the other one
    weights[shared] = [0, -80, -90, -290]
    kept = monotone(released(ORDERED, weights), {0: 1}, NO_NOISE).weights.ravel()
    # All of the effect is moved; sums of 0, 20, 60, 60 rise by themselves. Missing values stay.
    assert kept[:5].tolist() == [0, 0, 0, 0, -70]
    assert kept[shared].tolist() == [0, 20, 60, 60]
    assert kept[shared - 1].tolist() == [0, 100, 150, 350]


def test_what_a_shared_tree_of_categories_may_fall_is_the_effect_by_hand():
    own = released(Trees(((ALONE,), (OTHER,))), [0, 100, 150, 350, -70, 0, 0, 0])
    found = slack_of(own, {0: 1}, Trees(((ALONE, OTHER),), n_later=1))
    assert (found[0] * 2**10).tolist() == [100.0, 50.0, 200.0]


@loop_over("seed", range(20))
@pytest.mark.parametrize("direction", [1, -1])
def test_no_score_of_categories_goes_against_a_direction_whatever_was_released(seed, direction):
    free = random_release(seed, ORDERED)
    kept = monotone(free, {0: direction}, NO_NOISE)
    assert is_monotone(kept, {0: direction})
    codes = np.array([[a, b] for a in range(4) for b in range(3)])
    least = []
    for own in (free, kept):
        scores = LeafWeights(own.trees, np.zeros(2), own.weights * 2.0**-10, 1.0).scores(codes)[:, 1].reshape(4, 3)
        least.append((direction * np.diff(scores, axis=0)).min())
    # What noise released does go against it.
    assert least[0] < 0 <= least[1]


def test_an_attribute_that_shares_its_first_tree_is_only_brought_into_order():
    trees = Trees(((ALONE, OTHER),)).with_later(Trees(((OTHER, ALONE),), n_later=1))
    kept = monotone(random_release(2, trees), {0: 1}, NO_NOISE)
    assert is_monotone(kept, {0: 1})


SCHEMA = Schema(
    [
        Numeric("age", 0, 99),
        Categorical("job", ["cook", "nurse"]),
        Categorical("size", ["s", "m", "l"], ordered=True),
    ],
    classes=["no", "yes"],
)


def test_directions_are_found_by_name():
    assert directions_of({"age": -1}, SCHEMA) == {0: -1}
    assert directions_of({"size": 1}, SCHEMA) == {2: 1}
    assert directions_of({"age": 0}, SCHEMA) == {}
    assert directions_of(None, SCHEMA) == {}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"pay": 1}, "names 'pay', which is no attribute of the schema; correct the name"),
        ({"job": 1}, "names 'job', whose categories have no order; declare it ordered, or leave it out"),
    ],
)
def test_what_has_no_direction_is_refused(wanted, message):
    with pytest.raises(ParameterError, match=message):
        directions_of(wanted, SCHEMA)


def test_more_classes_are_refused():
    three = replace(SCHEMA, classes=("no", "perhaps", "yes"))
    with pytest.raises(ParameterError, match="monotonic_cst is for two classes, and the schema has 3; leave it out"):
        directions_of({"age": 1}, three)
