"""A number and its text are one category, by one rule for data frames and files."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from privet.counting.files import read_batches, table_of
from privet.errors import DataError
from privet.schema import Categorical, Schema
from privet.schema.encoding import Encoder
from privet.schema.labels import numbers_in_text

MANY = [str(i) for i in range(40)]


def codes_of(categories, values, *, path=None):
    schema = Schema([Categorical("flag", categories)], classes=["no", "yes"])
    if path is None:
        return Encoder(schema).encode(pd.DataFrame({"flag": values}))[:, 0].tolist()
    pd.DataFrame({"flag": values, "class": "no"}).to_csv(path, index=False)
    batch = table_of(list(read_batches(path, schema, ["flag"])))
    return Encoder(schema).encode(batch)[:, 0].tolist()


@pytest.mark.parametrize(
    ("categories", "values", "codes"),
    [
        (["0", "1"], [0, 1, 7], [0, 1, 2]),
        (["0", "1"], ["0", "1.0", "00"], [0, 2, 2]),
        (["0", "1", "unknown"], [1, 0, 5], [1, 0, 3]),
        (MANY, [39, 40, 3], [39, 40, 3]),
        ([0, 1], ["0", "1.0", "-0"], [0, 1, 0]),
        ([0, 1], [" 1", "", None], [1, 2, 2]),
        ([5, 2.5], ["2.5", "5e0", "7"], [1, 0, 2]),
        ([False, True], [0, 1, 1], [0, 1, 1]),
        ([False, True], ["true", "FALSE", "1"], [1, 0, 1]),
    ],
)
def test_a_data_frame_and_its_csv_have_the_same_codes(categories, values, codes, tmp_path):
    assert codes_of(categories, values) == codes
    assert codes_of(categories, values, path=tmp_path / "rows.csv") == codes


@pytest.mark.parametrize(
    ("categories", "values", "codes"),
    [
        (["0", "1"], [0.0, 1.0, -0.0], [0, 1, 0]),
        (["0", "1"], [0.0, None, 1.0], [0, 2, 1]),
        (["0.5", "-2"], [0.5, -2.0, 2.0], [0, 1, 2]),
        (MANY, [39.0, None, 3.5], [39, 40, 40]),
        ([False, True], [0.0, None, 1.0], [0, 2, 1]),
    ],
)
def test_whole_numbers_that_a_missing_one_made_floats_of_are_the_same_categories(categories, values, codes):
    assert codes_of(categories, values) == codes


@pytest.mark.parametrize("make", [pd.Series, pl.Series, pa.array, lambda v: pd.Series(v, dtype="category")])
def test_columns_of_every_make_are_read_by_that_rule(make):
    for categories, values in ((["0", "1"], [1, 0, 1]), ([0, 1], ["1", "0", "1"]), ([False, True], ["1", "0", "1"])):
        schema = Schema([Categorical("flag", categories)], classes=["no", "yes"])
        frame = pa.table({"flag": make(values)}) if make is pa.array else {pl.Series: pl, pd.Series: pd}.get(
            make, pd
        ).DataFrame({"flag": make(values)})  # fmt: skip
        assert_array_equal(Encoder(schema).encode(frame)[:, 0], [1, 0, 1])


def test_a_number_with_two_possible_spellings_is_never_guessed():
    for categories in (["07", "8"], ["7.0", "8"], ["1,000", "8"], ["1e3", "8"], [" 7", "8"], ["+7", "8"]):
        assert numbers_in_text(tuple(categories)) is None
        with pytest.raises(DataError, match="'flag' holds numbers, but its categories in the schema are text"):
            codes_of(categories, [7, 8])
        assert codes_of(categories, [categories[0], "8"]) == [0, 1]


def test_words_are_no_numbers():
    assert numbers_in_text(("a", "b")) is None
    assert numbers_in_text(("a", "3", "nan")) == [None, 3.0, None]
    with pytest.raises(DataError, match="'flag' holds numbers, but its categories in the schema are text"):
        codes_of(["a", "b"], [1, 2])


@pytest.mark.parametrize(
    ("categories", "values", "sentence"),
    [
        (
            [0, 1],
            ["0", "4711x"],
            "'flag' holds text that is not a number, but its categories in the schema are numbers",
        ),
        ([False, True], [0, 4711], "'flag' holds values other than 0, 1, true and false, but its categories"),
        ([False, True], ["yes", "4711"], "'flag' holds values other than 0, 1, true and false"),
        (["0", "1"], [True, False], "'flag' holds true/false, but its categories in the schema are text"),
        ([0, 1], [True, False], "'flag' holds true/false, but its categories in the schema are numbers"),
    ],
)
def test_what_cannot_be_read_is_refused_without_its_value(categories, values, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        codes_of(categories, values)
    assert "4711" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_one_row_never_changes_how_another_is_read():
    values = ["1", "1.0", "01", "x", None]
    together = codes_of(["0", "1"], values)
    assert together == [codes_of(["0", "1"], [value])[0] for value in values] == [1, 2, 2, 2, 2]


def test_classes_keep_their_type():
    schema = Schema([Categorical("flag", [0, 1])], classes=["0", "1"])
    with pytest.raises(DataError, match="'class' holds numbers, but its classes in the schema are text"):
        Encoder(schema).encode_labels(np.array([0, 1]))
