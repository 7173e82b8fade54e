"""The unit and the assumptions in words."""

import pytest

from privet.report.page import promise

ROW = {"unit": "row", "max_rows": 1, "assumptions": []}
VISIT = {"unit": "visit_id", "max_rows": 3, "assumptions": ["no 'visit_id' is in more than one batch"]}


@pytest.mark.parametrize(
    ("words", "row", "visit"),
    [
        (promise.one, "one row", "one 'visit_id'"),
        (promise.several, "several rows", "several values of 'visit_id'"),
        (promise.was_in, "one row was", "the rows of one 'visit_id' were"),
        (promise.provided, "", ", provided that no 'visit_id' is in more than one batch"),
    ],
)
def test_rows_and_columns_have_their_words(words, row, visit):
    assert (words(ROW), words(VISIT)) == (row, visit)


def test_one_row_of_each_is_a_column_all_the_same():
    assert promise.one({**VISIT, "max_rows": 1}) == "one 'visit_id'"


def test_whoever_has_several_is_protected_less():
    told = "Somebody with several values of 'visit_id' is protected less: with k of them at k times epsilon."
    assert promise.caveat(VISIT) == told
