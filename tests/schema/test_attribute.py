import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.errors import SchemaError
from privet.schema import Categorical, Numeric


def test_a_categorical_has_one_code_per_category_and_one_for_missing():
    sex = Categorical("sex", ["female", "male"])
    assert (sex.n_values, sex.missing_code, sex.branches, sex.domain_size) == (2, 2, 3, 2)


def test_what_is_never_missing_has_no_code_for_it_among_the_rows_of_a_fit():
    for attribute in (Categorical("sex", ["female", "male"]), Numeric("age", 0, 10, bins=5)):
        complete = replace(attribute, never_missing=True)
        assert (attribute.n_codes, complete.n_codes) == (attribute.n_values + 1, attribute.n_values)
        assert (complete.missing_code, complete.domain_size) == (attribute.missing_code, attribute.domain_size)
    assert Categorical("sex", ["female", "male"], never_missing=True).branches == 2


def test_a_numeric_without_bins_has_as_many_cells_as_a_byte_allows():
    age = Numeric("age", 0, 255)
    assert (age.n_values, age.missing_code, age.branches, age.domain_size) == (255, 255, 2, 2)
    assert_array_equal(age.cuts, np.arange(1.0, 255.0))


def test_bins_cut_the_range_into_equal_widths():
    assert_array_equal(Numeric("age", 0, 10, bins=5).cuts, [2.0, 4.0, 6.0, 8.0])


def test_edges_are_the_cuts():
    assert_array_equal(Numeric("age", 0, 10, edges=[1, 7]).cuts, [1.0, 7.0])


def test_bounds_may_span_the_whole_range_of_floats():
    assert np.all(np.isfinite(Numeric("x", -(2.0**1022), 2.0**1022).cuts))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Categorical("", ["a"]), "needs a name"),
        (lambda: Categorical(3, ["a"]), "needs a name"),
        (lambda: Categorical("sex", []), "'sex': categories is empty; list every value"),
        (lambda: Categorical("sex", ["m", "f", "m"]), "'sex': categories holds the same value twice"),
        (lambda: Categorical("sex", [1, 1.0]), "'sex': categories holds the same value twice"),
        (lambda: Categorical("sex", ["m", 1]), "'sex': categories must be all text, all numbers"),
        (lambda: Categorical("sex", [True, 2]), "'sex': categories must be all text, all numbers"),
        (
            lambda: Categorical("sex", ["m", None]),
            "'sex': categories must be text.*a missing value needs no entry",
        ),
        (lambda: Categorical("sex", [1.0, math.nan]), "'sex': categories must be text"),
        (lambda: Categorical("sex", [2**60, 1]), "'sex': categories must be text"),
        (lambda: Categorical("sex", ["\ud800"]), "'sex': categories must be text"),
        (lambda: Categorical("sex", "mf"), "'sex': categories must be a list"),
        (lambda: Categorical("zip", range(70_000)), "'zip' has more than 65,534 categories; merge rare ones"),
        (lambda: Numeric("age", 5, 5), "'age': low must be below high"),
        (lambda: Numeric("age", 9, 5), "'age': low must be below high"),
        (lambda: Numeric("age", math.nan, 5), "'age': low must be finite"),
        (lambda: Numeric("age", 0, math.inf), "'age': high must be finite"),
        (lambda: Numeric("age", 0, 10**400), "'age': high must be finite"),
        (lambda: Numeric("age", "0", 5), "'age': low must be a number"),
        (lambda: Numeric("age", False, 5), "'age': low must be a number"),
        (lambda: Numeric("age", 0, 9, edges=[5, 3]), "'age': edges must increase; sort them"),
        (lambda: Numeric("age", 0, 9, edges=[3, 3]), "'age': edges must increase"),
        (lambda: Numeric("age", 0, 9, edges=[0, 3]), "'age': edges must lie strictly between the bounds"),
        (lambda: Numeric("age", 0, 9, edges=[3, 9]), "'age': edges must lie strictly between the bounds"),
        (lambda: Numeric("age", 0, 9, edges="35"), "'age': edges must be a list of numbers"),
        (lambda: Numeric("age", 0, 9, edges=[3], bins=2), "'age': give bins or edges, not both"),
        (lambda: Numeric("age", 0, 9, bins=0), "'age': it needs between 1 and 65,534 cells"),
        (lambda: Numeric("age", 0, 9, bins=70_000), "'age': it needs between 1 and 65,534 cells"),
        (lambda: Numeric("age", 0, 9, bins=2.5), "'age': bins must be a whole number"),
        (lambda: Numeric("age", 1e16, 1e16 + 4, bins=100), "'age': its bounds are too close together"),
    ],
)
def test_a_wrong_domain_is_refused_with_its_column_and_the_way_out(make, sentence):
    with pytest.raises(SchemaError, match=sentence):
        make()
