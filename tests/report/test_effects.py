"""Effects: what is shown of released weights."""

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet import Numeric
from privet.errors import ParameterError
from privet.report.page.effects import borders, effects_of, places, score_of
from tests.report.people import people
from tests.report.weighty import exact_weights, grouped, weights


def test_values_are_what_explain_adds():
    X, _ = people()
    model = exact_weights()
    told = model.explain(X)
    for effect in effects_of(model):
        cell = model._encoder.encode(X)[:, list(model.schema_.names).index(effect.names[0])]
        assert_allclose(effect.values[cell, 0], told[effect.title])


def test_of_two_classes_the_score_is_the_second_ones_and_the_firsts_turned_round():
    (second, *_), (first, *_) = effects_of(exact_weights()), effects_of(exact_weights(), "no")
    assert (second.classes, first.classes) == (("yes",), ("no",))
    assert_allclose(first.values, -second.values)
    assert score_of(second, ("no", "yes")) == "score of yes against no"
    assert score_of(first, ("no", "yes")) == "score of no against yes"


def test_of_more_classes_all_are_shown_or_the_one_that_is_asked_for():
    model = grouped(1, classes=("no", "yes", "maybe"))
    assert effects_of(model)[0].classes == model.schema_.classes == ("maybe", "no", "yes")
    assert effects_of(model, "maybe")[0].values.shape[-1] == 1
    assert score_of(effects_of(model, "maybe")[0], model.schema_.classes) == "score of maybe"
    with pytest.raises(ParameterError, match=r"class_='none' is none of the classes; choose from \['maybe', 'no'"):
        effects_of(model, "none")


def test_values_average_to_zero_over_cells_that_are_not_missing():
    for effect in effects_of(grouped(2)):
        known = effect.values[tuple(slice(0, -1) for _ in effect.cells)]
        assert_allclose(known.mean(axis=tuple(range(len(effect.cells)))), 0.0, atol=1e-12)


def test_the_most_important_come_first():
    effects = effects_of(exact_weights())
    assert [effect.names for effect in effects] == [("age",), ("country",)]
    assert effects[0].share > effects[1].share


def test_noise_is_larger_where_no_row_comes_and_nothing_without_noise():
    for effect in effects_of(weights(unsafe_seeded_noise=True)):
        assert (effect.rare_noise > 2 * effect.noise).all()
        assert (effect.noise > 0).all()
    assert all(effect.rare_noise.max() == 0 for effect in effects_of(exact_weights()))


def test_the_strongest_cells_are_the_largest_values():
    (effect,) = [each for each in effects_of(grouped(3)) if len(each.names) == 3]
    (cells, k), *_ = effect.strongest(5)
    assert abs(effect.values[(*cells, k)]) == np.abs(effect.values).max()
    assert len(effect.strongest(5)) == 5


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


def test_narrow_cells_are_stretched_and_wide_ones_stay_in_order():
    stands = places(Numeric("x", 0, 100, edges=[0.01, 50]))
    assert stands[0] == 0
    assert stands[-1] == pytest.approx(1)
    # A sixth of the width at least, before all are made to fit: 1/6 of 1/6 + 0.4999 + 0.5.
    assert stands[1] == pytest.approx((1 / 6) / (1 / 6 + 0.4999 + 0.5))
    even = places(Numeric("x", 0, 4, edges=[1, 2, 3]))
    assert_allclose(even, [0, 0.25, 0.5, 0.75, 1])


def test_an_infinite_epsilon_is_no_obstacle():
    assert all(math.isfinite(effect.share) for effect in effects_of(exact_weights()))
