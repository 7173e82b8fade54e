"""Columns of any objects: one type, or an error in which no value stands; never the end of the process."""

import subprocess
import sys

import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privet.errors import DataError
from privet.schema.table import as_arrow, as_table, columns_of

# Every pair of kinds of objects, as objects and as categories; Arrow ends the process at some of them.
PAIRS = """
import datetime as dt, decimal, enum, itertools, uuid
import numpy as np, pandas as pd
from privet.errors import DataError
from privet.schema.table import as_arrow, as_table, columns_of

day, moment = dt.date(2020, 1, 2), dt.datetime(2020, 1, 2)
kinds = [
    "a", b"a", 1, -3, 2**63, 1.5, True, None, 1j, decimal.Decimal("1.5"), day, moment, dt.time(3), dt.timedelta(1),
    np.str_("b"), np.int8(5), np.uint64(2**64 - 1), np.float16(2.5), np.bool_(False), np.datetime64("2020-01-02"),
    np.datetime64("2020-01-02", "ns"), np.datetime64("2020-01-02", "Y"), np.timedelta64(5, "s"), pd.Timestamp(moment),
    pd.Timestamp(moment, tz="UTC"), pd.Timedelta(1), pd.Period("2020-01"), pd.Interval(0, 1), pd.NaT, pd.NA,
    (1, 2), frozenset("ab"), uuid.UUID(int=7), enum.Enum("E", "A").A, object(), type("T", (str,), {})("c"),
]
refused = taken = 0
for pair in itertools.product(kinds, kinds):
    objects = np.empty(2, dtype=object)
    objects[:] = pair
    columns = [objects, pd.Series(objects, dtype=object)]
    try:
        columns.append(pd.Series(pd.Categorical.from_codes([0, 1, 0, -1], categories=pd.Index(objects, dtype=object))))
    except (ValueError, TypeError, OverflowError):
        pass  # pandas takes no such categories
    for column in columns:
        try:
            taken += len(as_arrow(column, "c")) > 0
        except DataError as error:
            assert "column 'c' mixes types" in str(error)
            refused += 1
print(taken > 100, refused > 1000)
"""


def test_no_pair_of_objects_ends_the_process():
    ended = subprocess.run([sys.executable, "-c", PAIRS], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "True True\n"), ended.stderr


DATES_AND_NUMBERS = [np.datetime64("2020-01-02"), np.int8(3)]


def test_dates_among_numbers_are_refused_without_showing_one():
    for column in (
        pd.Series(DATES_AND_NUMBERS, dtype=object),
        pd.Series([pd.Timestamp("2020-01-02"), 3], dtype=object),
        pd.Series([3, pd.Timestamp("2020-01-02")], dtype=object),
    ):
        with pytest.raises(DataError, match="^column 'c' mixes types or holds objects .* convert it to one type$"):
            as_arrow(column, "c")


def test_categories_are_read_as_the_values_they_stand_for():
    kinds = {"text": ["no", "yes"], "numbers": [5, 9], "mixed numbers": [5, 9.5], "bools": [False, True]}
    for categories in kinds.values():
        column = pd.Categorical.from_codes([1, -1, 0, 1], categories=categories)
        expected = [categories[1], None, categories[0], categories[1]]
        for made in (column, pd.Series(column), pd.CategoricalIndex(column)):
            assert as_arrow(made, "c").to_pylist() == expected


def test_missing_values_mix_with_every_kind():
    moment = pd.Timestamp("2020-01-02")
    assert as_arrow(pd.Series(["a", np.nan, None, pd.NA], dtype=object), "c").to_pylist() == ["a", None, None, None]
    dates = as_arrow(pd.Series([moment, np.nan, None, pd.NaT], dtype=object), "c")
    assert pa.types.is_timestamp(dates.type)
    assert dates.null_count == 3


class Stream:
    """What another library offers: a stream of Arrow batches and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Broken:
    def __arrow_c_stream__(self, requested_schema=None):
        raise ValueError("age=41 is too old")


TABLE = pa.table({"age": [1.0, 2.0], "job": ["cook", None]})


@pytest.mark.parametrize(
    "rows",
    [
        Stream(TABLE),
        TABLE.to_reader(),
        pl.from_arrow(TABLE).lazy(),
        pl.from_arrow(TABLE).lazy().filter(pl.col("age") > 0),
        narwhals.from_native(pl.from_arrow(TABLE).lazy()),
        narwhals.from_native(TABLE.to_pandas()),
    ],
    ids=["stream", "reader", "lazy", "lazy and filtered", "narwhals, lazy", "narwhals"],
)
def test_what_is_no_table_yet_becomes_one(rows):
    table = as_table(rows)
    ages, jobs = columns_of(table, ["age", "job"])
    assert as_arrow(ages, "age").to_pylist() == [1.0, 2.0]
    assert as_arrow(jobs, "job").to_pylist() == ["cook", None]


@pytest.mark.parametrize(
    "rows", [TABLE, TABLE.to_batches()[0], TABLE.to_pandas(), pl.from_arrow(TABLE), np.ones((2, 2))]
)
def test_tables_stay_as_they_are(rows):
    assert as_table(rows) is rows


def test_a_stream_or_lazy_frame_that_fails_shows_no_value():
    with pytest.raises(DataError, match="the Arrow stream cannot be read as a table; convert it") as caught:
        as_table(Broken())
    assert caught.value.__cause__ is None
    failing = pl.LazyFrame({"age": ["forty-one"]}).with_columns(pl.col("age").cast(pl.Int8))
    with pytest.raises(DataError, match=r"the lazy frame cannot be computed; call its collect\(\)") as caught:
        as_table(failing)
    assert "forty-one" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_other_columns_are_not_read_where_they_are_allowed_and_refused_elsewhere():
    table = TABLE.append_column("note", [["a", "b"]])
    assert len(columns_of(table, ["age"], others_allowed=True)) == 1
    with pytest.raises(DataError, match="has a column 'job' that the schema lacks; drop it"):
        columns_of(table, ["age"])
    with pytest.raises(DataError, match="lacks the column 'ago'; did you mean 'age'"):
        columns_of(table, ["ago"], others_allowed=True)


def test_a_column_that_is_wanted_itself_is_not_taken_for_a_missing_one():
    with pytest.raises(DataError, match="lacks the column 'ages'; add it, or correct the name"):
        columns_of(TABLE, ["ages", "age"], others_allowed=True)
