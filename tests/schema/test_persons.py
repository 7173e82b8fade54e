"""Who is the same person, whatever the tables are kept in."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import DataError
from privet.schema.persons import Persons, check_person_type


def numbers(*columns):
    persons = Persons("pid")
    return [persons.number_rows(column).tolist() for column in columns]


# Each holds the persons 7, 9 and 7.
MAKES = {
    "int64": pa.array([7, 9, 7]),
    "uint8": pa.array([7, 9, 7], pa.uint8()),
    "float64": pa.array([7.0, 9.0, 7.0]),
    "float16": np.array([7, 9, 7], dtype=np.float16),
    "text": pa.array(["7", "9", "7"]),
    "large text": pa.array(["7", "9", "7"], pa.large_string()),
    "text view": pa.array(["7", "9", "7"], pa.string_view()),
    "dictionary": pa.array(["7", "9", "7"]).dictionary_encode(),
    "chunks": pa.chunked_array([[7], [9, 7]]),
    "decimal128": pa.array([Decimal(7), Decimal(9), Decimal(7)], pa.decimal128(38, 0)),
    "decimal32": pa.array([Decimal(7), Decimal(9), Decimal(7)], pa.decimal32(5, 0)),
    "NumPy": np.array([7, 9, 7]),
    "NumPy's text": np.array(["7", "9", "7"]),
    "pandas": pd.Series([7, 9, 7]),
    "pandas Int64": pd.Series([7, 9, 7], dtype="Int64"),
    "pandas objects": pd.Series(["7", "9", "7"], dtype=object),
    "pandas category": pd.Series(["7", "9", "7"], dtype="category"),
    "pandas category of numbers": pd.Series([7, 9, 7], dtype="category"),
    "polars": pl.Series([7, 9, 7]),
    "polars text": pl.Series(["7", "9", "7"]),
    "polars category": pl.Series(["7", "9", "7"], dtype=pl.Categorical),
}


@pytest.mark.parametrize("make", MAKES)
def test_a_person_is_the_same_in_every_make_of_table(make):
    assert numbers(pa.array([5, 7, 9]), MAKES[make]) == [[0, 1, 2], [1, 2, 1]]


def test_numbers_that_a_float_cannot_tell_apart_are_matched_as_whole_numbers_and_text():
    long = 2**64 - 1
    column = pa.array([long, long - 1], pa.uint64())
    assert numbers(column, pa.array([f"{long}"]), pa.array([Decimal(long)], pa.decimal128(38, 0))) == [[0, 1], [0], [0]]
    assert numbers(pa.array([-0.0]), pa.array([0])) == [[0], [0]]


INTEGERS = [pa.int64(), pa.int32(), pa.float64(), pa.string(), pa.large_string(), pa.decimal128(20, 0)]


@given(st.lists(st.tuples(st.lists(st.integers(-5, 5)), st.sampled_from(INTEGERS)), max_size=6))
def test_they_agree_with_a_plain_dictionary_of_digits(batches):
    known = {}
    by_hand = [[known.setdefault(str(person), len(known)) for person in persons] for persons, _ in batches]
    assert numbers(*(pa.array(persons, pa.int64()).cast(make) for persons, make in batches)) == by_hand


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1], ["01"]),
        ([1], ["1.0"]),
        ([1], [" 1"]),
        ([1], ["+1"]),
        ([0], ["-0"]),
        ([1000], ["1e3"]),
        ([1], ["\uff11"]),
        ([1], ["\u0661"]),
        (["1.5"], ["1.50"]),
        (["1" * 5000], ["0" + "1" * 5000]),
        (["Ann"], ["ann"]),
        (["ann smith"], ["ann  smith"]),
        (["ann"], ["ann\u200b"]),
        (["Zo\u00eb"], ["Zoe\u0308"]),
        (["stra\u00dfe"], ["STRASSE"]),
        ([1], ["'1"]),  # as spreadsheets write a number that is text
        ([1], ['"1"']),
        ([1000], ["1,000"]),
        ([-1], ["\u22121"]),
        (["p-1"], ["p\u20101"]),
        (["anna"], ["\u0430nna"]),  # a Cyrillic letter
        (["ann"], ["ann\ufe0f"]),
    ],
)
def test_two_spellings_of_what_may_be_one_person_are_refused_in_any_order(first, second):
    for columns in ([first, second], [second, first]):
        with pytest.raises(DataError, match="column 'pid' spells what may be one person in two ways") as error:
            numbers(*map(pa.array, columns))
        assert not any(value in str(error.value) for value in map(str, [*first, *second]) if len(value) > 2)
    # Either by itself is as good a name as any.
    assert numbers(pa.array(first), pa.array(first)) == numbers(pa.array(second), pa.array(second)) == [[0], [0]]


def test_names_that_only_resemble_one_another_are_different_persons():
    names = ["P1", "P01", "1e9999999999", "1_0", "10", "a b", "ab", "0x1", "1-0", "007", "2020-01-02", "2020-1-2"]
    assert numbers(pa.array(names)) == [list(range(len(names)))]


@pytest.mark.parametrize("name", ["", "  ", "nan", "NaN", "NA", "None", "NULL", "<NA>", "NaT"])
def test_text_that_stands_for_nobody_is_no_person(name):
    with pytest.raises(DataError, match="column 'pid' has missing values, and every row must belong to a person"):
        numbers(pa.array(["ann", name]))


NO_NAMES = {
    "true/false": pa.bool_(),
    "values of type binary": pa.binary(),
    "values of type date32": pa.date32(),
    "values of type timestamp": pa.timestamp("ns", "Europe/Berlin"),
    "numbers with decimals": pa.decimal128(10, 2),
    "nested values": pa.list_(pa.int64()),
}


@pytest.mark.parametrize("kind", NO_NAMES)
def test_a_type_that_cannot_be_matched_is_refused_without_a_row(kind):
    with pytest.raises(DataError, match=f"column 'pid' holds {kind}.*identified by text or whole numbers"):
        check_person_type(NO_NAMES[kind], "pid")
    with pytest.raises(DataError, match=f"column 'pid' holds {kind}"):
        numbers(pa.nulls(0, pa.dictionary(pa.int8(), NO_NAMES[kind]) if kind != "nested values" else NO_NAMES[kind]))


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (pa.array([1.0, 1.5]), "numbers with decimals, or too long to be exact"),
        (pa.array([2.0**53]), "too long to be exact"),
        (pa.array([2.0**24], pa.float32()), "too long to be exact"),
        (pa.array([np.inf]), "too long to be exact"),
        (pa.array([1.0, np.nan]), "has missing values"),
        (pd.Series([1.0, np.nan]), "has missing values"),
        (pa.array([1, None]), "has missing values"),
        (pa.array(["ann\r"]), "carriage return"),
        (pd.Series([7, "7"], dtype=object), "column 'pid' mixes types"),
        (pd.Series([dt.date(2020, 1, 2)]), "holds values of type date32"),
    ],
)
def test_values_that_cannot_be_matched_are_refused(column, sentence):
    with pytest.raises(DataError, match=sentence):
        numbers(column)


def test_names_are_told_by_number_with_what_other_spellings_have_in_common():
    persons = Persons("pid")
    persons.number_rows(pa.array([7, 9]))
    persons.number_rows(pa.array(["Ann", "007a", "7"]))
    assert persons.names == ["7", "9", "Ann", "007a"]
    assert persons.common_forms == ["7", "9", "ann", "007a"]
    assert len(persons) == 4
