"""Effects: what is shown of released weights."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet import Categorical, Numeric
from privet.errors import ParameterError
from privet.report.page.effects import Effect, borders, effects_of, is_stretched, places, score_of, shown_range, ticks
from privet.report.page.pictures import effect_of_pair
from tests.report.people import people
from tests.report.weighty import exact_weights, grouped, weights, without_shares


def test_values_are_what_explain_adds():
    X, _ = people()
    model = exact_weights()
    told = model.explain(X)
    for effect in effects_of(model)[:2]:
        code = model._encoder.encode(X)[:, list(model.schema_.names).index(effect.names[0])]
        assert_allclose(effect.values[code, 0], told[effect.title], atol=1e-12)


def test_of_two_classes_the_score_is_the_second_ones_and_the_firsts_turned_round():
    model = exact_weights()
    (second, *_), (first, *_) = effects_of(model), effects_of(model, "no")
    assert (second.classes, first.classes) == (("yes",), ("no",))
    assert_allclose(first.values, -second.values)
    assert score_of(second, model.schema_) == "score of yes against no"
    assert score_of(first, model.schema_) == "score of no against yes"


def test_of_more_classes_all_are_shown_or_the_one_that_is_asked_for():
    model = grouped(1, classes=("no", "yes", "maybe"))
    assert effects_of(model)[0].classes == model.schema_.classes == ("maybe", "no", "yes")
    assert effects_of(model, "maybe")[0].values.shape[-1] == 1
    assert score_of(effects_of(model, "maybe")[0], model.schema_) == "score of maybe"
    with pytest.raises(ParameterError, match=r"class_='none' is none of the classes; choose from \['maybe', 'no'"):
        effects_of(model, "none")


def test_values_average_to_zero_over_rows():
    for effect in effects_of(grouped(2)):
        for i, own in enumerate(effect.row_shares):
            assert_allclose(np.tensordot(effect.values, own, (i, 0)), 0.0, atol=1e-9)


def test_attributes_come_first_and_then_what_stands_out_of_what_several_do():
    effects = effects_of(exact_weights())
    assert [effect.names for effect in effects] == [("age",), ("country",), ("age", "country")]
    assert effects[0].share > effects[1].share
    assert sum(effect.share for effect in effects) == pytest.approx(1)
    order = [(len(effect.names) > 1, not effect.is_shown, -effect.share) for effect in effects_of(grouped(3))]
    assert order == sorted(order)


def test_noise_without_rows_is_told_where_it_is_not_released_how_rows_lie():
    model = weights(unsafe_seeded_noise=True)
    assert all((effect.noise > 0).any() and effect.rare_noise is None for effect in effects_of(model))
    for effect in effects_of(without_shares(model)):
        known = tuple(slice(0, len(own) - last) for own, last in zip(effect.cells, effect.has_missing, strict=True))
        assert (effect.rare_noise[known] > 1.5 * effect.noise[known]).all()
        assert (effect.noise > 0).all()
    assert all(effect.noise.max() == 0 for effect in effects_of(exact_weights()))


def test_the_strongest_cells_are_the_largest_values_that_rows_have():
    (effect,) = [each for each in effects_of(grouped(3)) if len(each.names) == 3 and "price" not in each.names]
    (cells, k), *_ = effect.strongest(5)
    assert abs(effect.values[(*cells, k)]) == np.abs(effect.values[effect.seen]).max()
    assert len(effect.strongest(5)) == 5


def test_missing_values_are_left_out_where_none_were_seen():
    for effect in effects_of(weights(epsilon=5.0, unsafe_seeded_noise=True)):
        seen = effect.of_seen()
        assert seen.values.shape[:-1] == seen.noise.shape == tuple(map(len, seen.cells))
        if len(effect.names) == 1:
            assert effect.has_missing == (True,)
            assert effect.without_missing == [effect.names[0]]
            assert not seen.has_missing[0]
            assert "missing" not in seen.cells[0]


def test_plain_values_can_be_told():
    effect = effects_of(grouped(2))[0]
    told = json.loads(json.dumps(effect.to_json(), allow_nan=False))
    assert np.shape(told["values"]) == (*(len(own) for own in effect.cells), 1)
    assert told["attributes"] == list(effect.names)


def test_borders_are_the_ends_of_the_cells():
    assert borders(Numeric("x", 0, 10, edges=[2, 4, 8])).tolist() == [0, 2, 4, 8, 10]
    many = borders(Numeric("x", 0, 1000, bins=1000))
    assert (many[0], many[-1], len(many)) == (0, 1000, 256)
    assert many[1] == 4  # the first of 255 cells takes four of the thousand bins


def effect_of(attribute, *, points=None, row_shares=None):
    """Return a flat effect of a number."""
    n_points = len(borders(attribute)) - 1 if points is None else len(points)
    return Effect(
        0, (attribute.name,), (attribute,), (tuple(map(str, range(n_points))),),
        (None if points is None else np.array(points, dtype=float),), (False,), ("yes",), np.zeros((n_points, 1)),
        np.zeros(n_points), None, None if row_shares is None else (np.array(row_shares, dtype=float),), 1.0, True,
    )  # fmt: skip


def test_narrow_cells_are_stretched_and_wide_ones_stay_in_order():
    stands = places(effect_of(Numeric("x", 0, 100, edges=[0.01, 50])))
    assert stands[0] == 0
    assert stands[-1] == pytest.approx(1)
    # A sixth of the width at least, before all are made to fit: 1/6 of 1/6 + 0.4999 + 0.5.
    assert stands[1] == pytest.approx((1 / 6) / (1 / 6 + 0.4999 + 0.5))
    even = places(effect_of(Numeric("x", 0, 4, edges=[1, 2, 3])))
    assert_allclose(even, [0, 0.25, 0.5, 0.75, 1])


def test_a_curve_is_stretched_where_rows_crowd_and_not_where_they_lie_evenly():
    attribute, points = Numeric("x", 0, 100), [0, 1, 2, 50, 100]
    even = effect_of(attribute, points=points, row_shares=[0.01, 0.01, 0.24, 0.5, 0.24])
    assert not is_stretched(even)
    assert_allclose(places(even), np.array(points) / 100)
    assert ticks(even) == [0, 20, 40, 60, 80, 100]
    crowded = effect_of(attribute, points=points, row_shares=[0.4, 0.4, 0.2, 0, 0])
    assert is_stretched(crowded)
    # Between the points are 0.6, 0.3, 0.1 and 0 of the rows, of which at most 0.75 each has a part of half the width.
    assert_allclose(
        np.diff(places(crowded)), 0.5 * np.array([0.01, 0.01, 0.48, 0.5]) + 0.5 * np.array([0.6, 0.3, 0.1, 0])
    )
    assert ticks(crowded) == [0, 1, 2, 5, 10, 20, 50, 100]
    assert shown_range(replace(crowded, values=np.array([[1.0], [2], [3], [99], [-99]]))) == (0, 3)


def test_below_whole_numbers_stand_whole_numbers():
    for points, row_shares in (([0, 1], [0.5, 0.5]), ([0, 1, 2, 9], [0.8, 0.2, 0, 0])):
        most = points[-1]
        assert any(tick % 1 for tick in ticks(effect_of(Numeric("x", 0, most), points=points, row_shares=row_shares)))
        whole = effect_of(Numeric("x", 0, most, whole=True), points=points, row_shares=row_shares)
        assert {0, 1, most} <= set(ticks(whole)) <= {*range(most + 1)}


def test_a_curve_is_sure_where_rows_are():
    effect = effect_of(Numeric("x", 0, 4), points=range(5), row_shares=[0.5, 0.3, 0, 0.2, 0])
    assert effect.sure_runs == [slice(0, 2)]
    assert effect_of(Numeric("x", 0, 4), points=range(5)).sure_runs == [slice(0, 5)]


def test_an_infinite_epsilon_is_no_obstacle():
    assert all(math.isfinite(effect.share) for effect in effects_of(exact_weights()))


def pair_effect(*row_shares):
    """Return the effect of two attributes of three and two categories, strong everywhere and without noise."""
    attributes = (Categorical("job", ["nurse", "cook", "clerk"]), Categorical("sex", ["f", "m"]))
    values = np.arange(1.0, 7).reshape(3, 2, 1)
    return Effect(
        0, ("job", "sex"), attributes, (("nurse", "cook", "clerk"), ("f", "m")), (None, None), (False, False), ("yes",),
        values, np.zeros((3, 2)), None, tuple(map(np.array, row_shares)) or None, 1.0, True,
    )  # fmt: skip


def test_squares_without_sure_rows_are_crossed_out_and_no_others():
    # No clerk was released: both squares of clerks are crossed out, as hand and eye would have it.
    picture = effect_of_pair(pair_effect([0.6, 0.4, 0.0], [0.5, 0.5]), "map", [1])
    crossed = [mark for mark in picture.marks if mark.fields.get("class") == "void"]
    coloured = [mark for mark in picture.marks if str(mark.fields.get("class")).startswith("class-")]
    assert (len(crossed), len(coloured)) == (2, 4)
    assert {mark.tag for mark in crossed} == {"path"}
    # The map is turned so that it is wide: clerks are the last column, and below the names of columns are two rows.
    lefts = {float(mark.fields["d"][1:].split()[0]) for mark in crossed}
    assert len(lefts) == 1
    assert lefts.pop() > max(float(mark.fields["x"]) for mark in coloured)
    whole = effect_of_pair(pair_effect([0.6, 0.3, 0.1], [0.5, 0.5]), "map", [1])
    unknown = effect_of_pair(pair_effect(), "map", [1])
    assert not [mark for own in (whole, unknown) for mark in own.marks if mark.fields.get("class") == "void"]


def test_colours_are_not_faded_by_squares_that_nobody_is_in():
    values = np.array([[[1.0], [1.0]], [[1.0], [1.0]], [[100.0], [100.0]]])
    picture = effect_of_pair(replace(pair_effect([0.6, 0.4, 0.0], [0.5, 0.5]), values=values), "map", [1])
    shown = {mark.fields["fill-opacity"] for mark in picture.marks if "fill-opacity" in mark.fields}
    assert shown == {"1.00"}
