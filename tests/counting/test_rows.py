"""At most so many rows a person, whoever else is in the table."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from privet.counting.rows import FirstRows
from privet.errors import DataError


def kept(persons, max_rows=2):
    return FirstRows("person", max_rows).keep(pa.array(persons)).tolist()


def by_hand(persons, max_rows):
    """The plain twin: walk the rows and count."""
    seen = {}
    keep = []
    for person in persons:
        seen[person] = seen.get(person, 0) + 1
        keep.append(seen[person] <= max_rows)
    return keep


def test_the_first_rows_of_each_person_are_kept():
    assert kept(["ann", "bob", "ann", "ann", "bob", "cy", "bob"]) == [True, True, True, False, True, True, False]
    assert kept([5, 5, 9], max_rows=1) == [True, False, True]
    assert kept(pa.array([], pa.string())) == []


@given(st.lists(st.integers(0, 6)), st.integers(1, 4), st.integers(1, 5))
def test_it_agrees_with_its_twin_however_the_rows_are_batched(persons, max_rows, batch):
    first_rows = FirstRows("person", max_rows)
    parts = [first_rows.keep(pa.array(persons[i : i + batch], pa.int64())) for i in range(0, len(persons), batch)]
    assert [keep for part in parts for keep in part.tolist()] == by_hand(persons, max_rows)


@given(st.lists(st.integers(0, 6)), st.integers(1, 4), st.data())
def test_a_person_more_changes_nothing_about_the_others(persons, max_rows, data):
    newcomer = 99
    longer = list(persons)
    for _ in range(data.draw(st.integers(0, 6))):
        longer.insert(data.draw(st.integers(0, len(longer))), newcomer)
    before, after = kept(pa.array(persons, pa.int64()), max_rows), kept(pa.array(longer, pa.int64()), max_rows)
    assert [keep for person, keep in zip(longer, after, strict=True) if person != newcomer] == before
    assert sum(keep for person, keep in zip(longer, after, strict=True) if person == newcomer) <= max_rows


@pytest.mark.parametrize(
    "persons",
    [
        pd.Series(["ann", "bob", "ann"]),
        pd.Series(["ann", "bob", "ann"], dtype="category"),
        pd.Series([5, 9, 5], dtype="Int64"),
        np.array([5, 9, 5], dtype=np.uint8),
        pa.chunked_array([["ann"], ["bob", "ann"]]),
        pa.array(["ann", "bob", "ann"], pa.string_view()),
    ],
    ids=["text", "category", "Int64", "uint8", "chunks", "view"],
)
def test_columns_of_every_make_are_read_alike(persons):
    assert_array_equal(FirstRows("person", 1).keep(persons), [True, True, False])


@pytest.mark.parametrize(
    ("persons", "sentence"),
    [
        (["ann", None], "column 'person' has missing values, and every row must belong to a person; drop those rows"),
        ([1.0, 2.5], "column 'person' holds numbers with decimals, or too long to be exact"),
        ([True, False], "column 'person' holds true/false"),
        (["ann\r\n"], "column 'person' has a value with a carriage return"),
    ],
)
def test_columns_that_cannot_tell_persons_apart_are_refused(persons, sentence):
    with pytest.raises(DataError, match=sentence):
        kept(persons)
