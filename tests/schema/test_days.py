"""Dates: read from every kind of table, clipped to declared ones, and days inside."""

from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from privet.attack.neighbours import worst_cases
from privet.counting.files import read_batches, table_of
from privet.errors import DataError, SchemaError
from privet.schema import Categorical, Date, Schema, infer_schema
from privet.schema.encoding import Encoder
from privet.schema.infer import draft_schema, wider

# Four cells: up to the last of February, March, April to May, June on.
DAY = Date("day", "2024-02-28", "2024-06-30", edges=["2024-03-01", "2024-04-01", "2024-06-01"])
SCHEMA = Schema([DAY, Categorical("sex", ["f", "m"])], classes=["no", "yes"])
DAYS = [date(2024, 2, 29), date(2024, 3, 1), None, date(2024, 6, 1), date(1999, 1, 1), date(2031, 1, 1)]
CODES = [0, 1, 4, 3, 0, 3]
TEXTS = [None if day is None else day.isoformat() for day in DAYS]
TIMES = [None if day is None else datetime(day.year, day.month, day.day, 23, 59) for day in DAYS]
COLUMNS = {
    "text": pa.array(TEXTS),
    "text with times": pa.array([None if text is None else f"{text}T23:59:00+02:00" for text in TEXTS]),
    "text, and empty": pa.array([text or "" for text in TEXTS]),
    "a dictionary": pa.array(TEXTS).dictionary_encode(),
    "dates": pa.array(DAYS, pa.date32()),
    "dates in milliseconds": pa.array(DAYS, pa.date64()),
    "times": pa.array(TIMES, pa.timestamp("ns")),
    "times of a zone": pa.array(TIMES, pa.timestamp("us")).cast(pa.timestamp("us", "UTC")),
}


def frame(column):
    return pa.table({"day": column, "sex": ["f"] * len(column)})


@pytest.mark.parametrize("make", COLUMNS)
def test_dates_of_every_make_give_the_same_codes(make):
    assert_array_equal(Encoder(SCHEMA).encode(frame(COLUMNS[make]))[:, 0], CODES)


def test_dates_of_pandas_polars_and_numpy_objects_give_the_same_codes():
    for column in (
        pd.Series(pd.to_datetime(TEXTS)),
        pd.Series(DAYS),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype="category"),
    ):
        table = pd.DataFrame({"day": column, "sex": "f"})
        assert_array_equal(Encoder(SCHEMA).encode(table)[:, 0], CODES)
    table = pl.DataFrame({"day": DAYS, "sex": ["f"] * 6})
    assert_array_equal(Encoder(SCHEMA).encode(table)[:, 0], CODES)
    assert_array_equal(Encoder(SCHEMA).encode(np.array([[text, "f"] for text in TEXTS], dtype=object))[:, 0], CODES)


def test_a_csv_is_read_as_text_is(tmp_path):
    pd.DataFrame({"day": TEXTS, "sex": "f", "class": "no"}).to_csv(tmp_path / "rows.csv", index=False)
    table = table_of(list(read_batches(tmp_path / "rows.csv", SCHEMA, ["day", "sex"])))
    assert_array_equal(Encoder(SCHEMA).encode(table)[:, 0], CODES)


def test_the_day_of_a_time_with_a_zone_is_the_day_there():
    late = pa.array([datetime(2024, 2, 29, 23, 30)], pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))
    there = late.cast(pa.timestamp("us", "Europe/Berlin"))
    encoder = Encoder(SCHEMA)
    assert encoder.encode(frame(late))[0, 0] == 0
    assert encoder.encode(frame(there))[0, 0] == 1


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (
            pa.array(["4711-99-99"]),
            "'day' holds text that is no date, but the schema calls it a date; write dates like",
        ),
        (pa.array(["29.02.2024"]), "'day' holds text that is no date"),
        (pa.array([4711.0]), "'day' holds numbers, but the schema calls it a date"),
        (pa.array([True]), "'day' holds true/false, but the schema calls it a date"),
    ],
)
def test_what_is_no_date_is_refused_without_its_value(column, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        Encoder(SCHEMA).encode(frame(column))
    assert "4711" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_matrix_of_numbers_is_never_taken_for_days():
    schema = Schema([DAY], classes=["no", "yes"])
    with pytest.raises(DataError, match="'day' holds numbers, but the schema calls it a date"):
        Encoder(schema).encode(np.array([[738_945.0]]))


def test_cells_are_days_and_have_their_names():
    week = Date("day", "2024-02-26", "2024-03-03")
    assert [week.written(day) for day in week.borders[:-1]] == [
        "2024-02-26", "2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02", "2024-03-03",
    ]  # fmt: skip
    assert Date("day", date(2024, 2, 26), np.datetime64("2024-03-03")) == week
    assert Date("day", "0001-01-01", "9999-12-31").n_values == 255
    assert repr(week).startswith("Date(name='day', low='2024-02-26', high='2024-03-03'")


def test_the_file_has_dates(tmp_path):
    data = SCHEMA.to_json()["attributes"][0]
    assert data == {
        "name": "day", "type": "date", "bounds": ["2024-02-28", "2024-06-30"],
        "edges": ["2024-03-01", "2024-04-01", "2024-06-01"],
    }  # fmt: skip
    SCHEMA.save(tmp_path / "schema.json")
    assert Schema.load(tmp_path / "schema.json") == SCHEMA


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Date("day", 2020, 2025), "'day': low must be a date; write it like \"2026-11-19\""),
        (lambda: Date("day", "2020-13-01", "2025-01-01"), "'day': low must be a date"),
        (lambda: Date("day", "2020-01-01", "1.1.2025"), "'day': high must be a date"),
        (lambda: Date("day", "2025-01-01", "2020-01-01"), "'day': low must be below high"),
        (lambda: Date("day", "2020-01-01", "2025-01-01", edges=["2026-01-01"]), "edges must lie strictly between"),
        (
            lambda: Schema.from_json({**SCHEMA.to_json(), "attributes": [{"name": "x", "type": "day"}]}),
            "'x': type must",
        ),
    ],
)
def test_what_is_no_range_of_dates_is_refused(make, sentence):
    with pytest.raises(SchemaError, match=sentence):
        make()


def test_dates_are_drafted_by_whole_years():
    table = pa.table({"day": pa.array(DAYS[:2] * 3, pa.date32()), "ill": ["no", "yes"] * 3})
    assert draft_schema(table, "ill").schema.attributes == (Date("day", "2024-01-01", "2024-12-31", inferred=True),)
    inferred = infer_schema(table.drop_columns(["ill"]), table.column("ill"))
    assert inferred.attributes == (Date("day", "2024-02-29", "2024-03-01", inferred=True),)
    assert inferred.leaks[0] == "first and last date of 'day'"
    assert wider(inferred.attributes[0]) == Date("day", "2024-01-01", "2024-12-31", inferred=True)


def test_an_audit_makes_rows_with_the_first_and_the_last_date():
    rows = worst_cases(SCHEMA)[1].with_row.X
    assert set(Encoder(SCHEMA).encode(rows)[:, 0].tolist()) == {0, 3}
