"""What a draft proposes: kinds, and round bounds."""

import pyarrow as pa
import pytest

from privet.schema import Categorical, Numeric
from privet.schema.infer import draft_schema, few_numbers, wider


def drafted(values, n=20):
    table = pa.table({"x": (list(values) * n)[:n], "beside": [True] * n, "label": ["no", "yes"] * (n // 2)})
    draft = draft_schema(table, "label")
    assert draft.schema.classes_inferred
    return draft.schema.attributes[0] if not draft.left_out else draft.left_out["x"]


def test_a_few_whole_numbers_are_categories_and_more_are_whole():
    assert drafted([0, 1]) == Categorical("x", [0, 1], inferred=True)
    assert drafted([1.0, None, 3.0, 2.0]) == Categorical("x", [1, 2, 3], inferred=True)
    assert drafted([1, 2, 3, 4, 5]).categories == (1, 2, 3, 4, 5)
    assert drafted([1, 2, 3, 4, 5, 6]) == Numeric("x", 1, 6, whole=True, inferred=True)


def test_in_a_small_table_few_numbers_are_no_categories():
    assert drafted([3, 7], n=6) == Numeric("x", 3, 7, whole=True, inferred=True)


def test_fractions_are_not_whole():
    assert drafted([0.5, 1.0, 2.0]) == Numeric("x", 0.5, 2, inferred=True)
    assert not drafted([2.0**60, 1.0, 5.0, 6.0, 7.0, 8.0, 9.0]).whole


def test_numbers_with_a_decimal_comma_are_left_out_with_the_option():
    assert drafted(["1,5", "22,75", "-3,0"]) == (
        "its numbers have a decimal comma; pass --decimal , and --sep as the file has it"
    )
    assert drafted(["1,5", "two"]).categories == ("1,5", "two")


@pytest.mark.parametrize("form", ["{:02}.12.2025", "12/{}/25", "2025/12/{:02}", "{:02}-12-2025 07:30"])
def test_dates_in_another_form_are_left_out_with_the_form_that_is_read(form):
    assert drafted([form.format(day) for day in range(1, 29)], n=280) == (
        "its texts look like dates; to use it, write them as in 2025-12-31"
    )


def test_texts_of_which_one_is_no_date_may_be_free_text():
    assert "like an identifier or free text" in drafted([*(f"{day}.12.2025" for day in range(1, 29)), "unknown"], n=30)
    assert drafted(["1.1.2025", "1.7.2025"]).categories == ("1.1.2025", "1.7.2025")


@pytest.mark.parametrize(
    ("bounds", "proposed"),
    [
        ((18, 94), (0, 100)),
        ((18.25, 118.75), (0, 200)),
        ((60, 94), (60, 100)),
        ((0, 72), (0, 80)),
        ((-7, 3), (-10, 10)),
        ((1990, 2024), (1990, 2030)),
        ((0, 1), (0, 1)),
    ],
)
def test_proposed_bounds_are_round_and_never_narrower(bounds, proposed):
    found = wider(Numeric("x", *bounds))
    assert (found.low, found.high) == proposed


def test_few_numbers_are_those_of_a_column_that_has_no_others():
    assert few_numbers(pa.chunked_array([[2, 1, None, 2]]), "x", 2) == [1, 2]
    assert few_numbers(pa.chunked_array([[2, 1, 3]]), "x", 2) is None
    assert few_numbers(pa.chunked_array([[2.5, 1.0]]), "x", 2) is None
    assert few_numbers(pa.chunked_array([[2, 2]]), "x", 2) is None
    assert few_numbers(pa.chunked_array([["2", "three"]]), "x", 2) is None
