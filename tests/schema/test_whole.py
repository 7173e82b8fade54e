"""Whole numbers: their cells, their codes, their JSON."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.errors import SchemaError
from privet.schema import Categorical, Numeric, Schema
from privet.schema.encoding import Encoder


def whole(low, high, **options):
    return Numeric("age", low, high, whole=True, **options)


def codes_of(attribute, values):
    return Encoder(Schema([attribute], classes=["no", "yes"])).encode(np.array(values)[:, None])[:, 0]


def test_a_short_range_has_a_cell_for_each_number():
    kids = whole(-1, 3)
    assert_array_equal(kids.borders, [-1, 0, 1, 2, 3, 4])
    assert_array_equal(kids.middles, [-1, 0, 1, 2, 3])
    assert (kids.n_values, kids.uniform, kids.is_open) == (5, True, True)


def test_bins_part_the_range_at_whole_numbers_as_evenly_as_they_can():
    # 0..9 are ten numbers: 10/4 = 2.5, 5 and 7.5 are rounded up to whole numbers.
    assert_array_equal(whole(0, 9, bins=4).borders, [0, 3, 5, 8, 10])
    assert not whole(0, 9, bins=4).uniform
    assert whole(0, 9, bins=5).uniform
    assert_array_equal(whole(0, 3, bins=100).borders, whole(0, 3).borders)


def test_the_last_number_may_have_a_cell_of_its_own():
    assert_array_equal(whole(0, 9, edges=[1, 9]).middles, [0, 4.5, 9])
    with pytest.raises(SchemaError, match="edges must lie strictly between the bounds"):
        whole(0, 9, edges=[10])
    with pytest.raises(SchemaError, match="edges must lie strictly between the bounds"):
        Numeric("age", 0, 9, edges=[9])


@pytest.mark.parametrize(
    "attribute", [whole(16, 100), whole(0, 10**6), whole(-7, 90, bins=13), whole(0, 9, edges=[4, 9])]
)
def test_codes_are_those_of_the_numbers_without_their_fractions(attribute):
    values = np.random.default_rng(1).uniform(attribute.low - 5, attribute.high + 5, 3000)
    values = np.concatenate([values, attribute.cuts, attribute.cuts - 1e-9, [np.nan]])
    inside = np.clip(np.floor(values), attribute.low, attribute.high)
    twin = [attribute.n_values if x != x else sum(cut <= x for cut in attribute.cuts) for x in inside]
    assert_array_equal(codes_of(attribute, values), twin)


def test_the_largest_range_still_has_rising_whole_borders():
    for span in (whole(-(2**53) + 1, 2**53 - 1, bins=65_534), whole(0, 65_533, bins=65_533)):
        assert (np.diff(span.borders) >= 1).all()
        assert (span.borders % 1 == 0).all()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: whole(0.5, 9),
            "'age' is whole, so its bounds must be whole numbers below 2\\^53; round them, or take",
        ),
        (lambda: whole(0, 2**53), "'age' is whole, so its bounds must be whole numbers below"),
        (lambda: whole(0, 9, edges=[2.5]), "'age' is whole, so its edges must be whole numbers"),
        (lambda: Numeric("age", 0, 9, whole="yes"), "'age': whole must be true or false; write true, or leave it out"),
    ],
)
def test_what_is_not_whole_is_refused(make, sentence):
    with pytest.raises(SchemaError, match=sentence):
        make()


def test_the_file_says_whole_only_where_it_is_true(tmp_path):
    schema = Schema([whole(0, 9), Numeric("pay", 0, 9)], classes=["no", "yes"])
    written = schema.to_json()["attributes"]
    assert written[0] == {"name": "age", "type": "continuous", "bounds": [0, 9], "whole": True}
    assert "whole" not in written[1]
    schema.save(tmp_path / "schema.json")
    assert Schema.load(tmp_path / "schema.json") == schema


def test_categories_cannot_be_whole():
    data = Schema([Categorical("sex", ["f", "m"])], classes=["no", "yes"]).to_json()
    data["attributes"][0]["whole"] = True
    with pytest.raises(SchemaError, match="'sex' has an unknown key 'whole'"):
        Schema.from_json(data)
