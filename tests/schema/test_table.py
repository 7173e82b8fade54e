"""Columns of any objects: one type, or an error in which no value stands; never the end of the process."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privet.errors import DataError
from privet.schema.table import as_arrow

# Every pair of kinds of objects, as objects and as categories; Arrow ends the process at some of them.
PAIRS = """
import datetime as dt, decimal, enum, itertools, uuid
import numpy as np, pandas as pd
from privet.errors import DataError
from privet.schema.table import as_arrow

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
