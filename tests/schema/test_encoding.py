"""Tables of every make give the same codes; what does not fit is refused without showing a value."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from privet.errors import DataError
from privet.schema import Categorical, Numeric, Schema
from privet.schema.encoding import Encoder, _cells_per_unit
from tests.loops import loop_over

SCHEMA = Schema(
    [
        Numeric("age", 0, 100, bins=10),
        Categorical("sex", ["female", "male"]),
        Categorical("code", [1, 2, 5]),
        Categorical("member", [False, True]),
    ],
    classes=["no", "yes"],
)
FRAME = pd.DataFrame(
    {
        "age": [0.0, 9.99, 10.0, np.nan, 250.0, -3.0],
        "sex": ["male", "female", None, "other", "male", "female"],
        "code": [1.0, 5.0, 2.0, np.nan, 3.0, 1.0],
        "member": pd.array([True, False, None, True, False, True], dtype="boolean"),
    }
)
CODES = [[0, 1, 0, 1], [0, 0, 2, 0], [1, 2, 1, 2], [10, 2, 3, 1], [9, 1, 3, 0], [0, 0, 0, 1]]

TABLES = {
    "pandas": FRAME,
    "pandas with object columns": FRAME.astype(object),
    "pandas with categories": FRAME.astype({"sex": "category", "code": "category"}),
    "pandas in another order": FRAME[["member", "code", "age", "sex"]],
    "polars": pl.from_pandas(FRAME),
    "polars with categories": pl.from_pandas(FRAME).with_columns(pl.col("sex").cast(pl.Categorical)),
    "Arrow": pa.Table.from_pandas(FRAME),
    "Arrow in chunks": pa.concat_tables([pa.Table.from_pandas(FRAME[:2]), pa.Table.from_pandas(FRAME[2:])]),
    "an Arrow batch": pa.RecordBatch.from_pandas(FRAME),
    "NumPy objects": FRAME.astype(object).to_numpy(),
    "a list of rows": [[None if value is pd.NA else value for value in row] for row in FRAME.astype(object).to_numpy()],
}


@pytest.mark.parametrize("make", TABLES)
def test_tables_of_every_make_give_the_same_codes(make):
    codes = Encoder(SCHEMA).encode(TABLES[make])
    assert codes.dtype == np.uint8
    assert_array_equal(codes, CODES)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8, np.int8])
def test_a_matrix_of_any_number_type_and_memory_order_gives_the_same_codes(dtype):
    schema = Schema([Numeric("a", 0, 10, bins=10), Numeric("b", 0, 64, edges=[1, 2, 30])], classes=[5, 9])
    values = np.array([[0, 0], [3, 1], [10, 30], [9, 29], [5, 64]], dtype=dtype)
    expected = [[0, 0], [3, 1], [9, 3], [9, 2], [5, 3]]
    for table in (values, np.asfortranarray(values), values[::-1][::-1], values.astype(object)):
        assert_array_equal(Encoder(schema).encode(table), expected)


def test_many_values_take_two_bytes():
    wide = Schema([Categorical("zip", range(65_534)), Numeric("x", 0, 1)], classes=["no", "yes"])
    codes = Encoder(wide).encode(pd.DataFrame({"zip": [0, 65_533, -1], "x": [0.0, 1.0, np.nan]}))
    assert codes.dtype == np.uint16
    assert_array_equal(codes, [[0, 0], [65_533, 254], [65_534, 255]])


def test_infinite_numbers_are_clipped_like_any_other():
    schema = Schema([Numeric("x", 0, 1, bins=4)], classes=["no", "yes"])
    assert_array_equal(Encoder(schema).encode(np.array([[np.inf], [-np.inf]])), [[3], [0]])


def test_an_empty_table_has_no_codes():
    for table in (FRAME[:0], pa.Table.from_pandas(FRAME[:0]), FRAME.astype(object).to_numpy()[:0]):
        assert Encoder(SCHEMA).encode(table).shape == (0, 4)


def test_a_missing_value_is_an_error_where_none_can_be_unless_rows_are_to_be_predicted():
    complete = Encoder(SCHEMA.with_attributes(replace(a, never_missing=True) for a in SCHEMA.attributes))
    sentence = "column '{}' has {}, but the schema declares it never_missing; complete or drop those"
    full = FRAME.dropna().head(1)
    assert_array_equal(complete.encode(full), Encoder(SCHEMA).encode(full))
    for name, value, lacks in (
        ("age", None, "missing numbers"), ("sex", None, "values that are missing or no category"),
        ("sex", "x", "values that are missing or no category"),
    ):  # fmt: skip
        lacking = full.assign(**{name: value})
        with pytest.raises(DataError, match=sentence.format(name, lacks)):
            complete.encode(lacking)
        assert_array_equal(complete.encode(lacking, allow_missing=True), Encoder(SCHEMA).encode(lacking))


def test_a_column_of_nothing_but_missing_values_is_missing():
    frame = FRAME.assign(sex=None, age=None, member=None)
    assert_array_equal(Encoder(SCHEMA).encode(frame)[:, [0, 1, 3]], [[10, 2, 2]] * 6)


@given(
    values=arrays(np.float64, (7, 2), elements=st.floats(-1e3, 1e3, width=64)),
    bounds=st.tuples(st.floats(-100, 0), st.floats(1, 100)),
    bins=st.integers(1, 300),
)
@settings(max_examples=200, deadline=None)
def test_a_code_counts_the_cuts_at_or_below_the_clipped_value(values, bounds, bins):
    attribute = Numeric("x", *bounds, bins=bins)
    schema = Schema([attribute, Numeric("y", -5, 5, edges=[-1, 0, 3.25])], classes=["no", "yes"])
    values[0, 0] = attribute.cuts[bins // 2 - 1] if bins > 1 else 0.0  # a value on a border
    codes = Encoder(schema).encode(values)
    for column, own in enumerate(schema.attributes):
        clipped = np.clip(values[:, column], own.low, own.high)
        assert_array_equal(codes[:, column], (own.cuts[None, :] <= clipped[:, None]).sum(axis=1))


@pytest.mark.parametrize(
    "labels",
    [
        ["yes", "no", "yes"],
        np.array(["yes", "no", "yes"]),
        np.array(["yes", "no", "yes"], dtype=object),
        pd.Series(["yes", "no", "yes"]),
        pd.Series(["yes", "no", "yes"], dtype="category"),
        pl.Series(["yes", "no", "yes"]),
        pa.array(["yes", "no", "yes"]),
        pa.chunked_array([["yes"], ["no", "yes"]]),
    ],
)
def test_labels_of_every_make_give_the_same_class_codes(labels):
    assert_array_equal(Encoder(SCHEMA).encode_labels(labels), [1, 0, 1])


@pytest.mark.parametrize(
    ("classes", "labels"),
    [([5, 9], [9, 5]), ([-1, 1], [1.0, -1.0]), ([False, True], [True, False]), ([0.5, 1.5], [1.5, 0.5])],
)
def test_labels_may_be_of_any_type(classes, labels):
    assert_array_equal(Encoder(Schema([Numeric("x", 0, 1)], classes=classes)).encode_labels(labels), [1, 0])


MARK = "marked-4711"


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (FRAME.rename(columns={"age": "Age"}), "lacks the column 'age'; did you mean 'Age'"),
        (FRAME.drop(columns="code"), "lacks the column 'code'; add it, or correct the name"),
        (FRAME.assign(**{"class": "no"}), "the label's column 'class' is among the attributes; drop it from the table"),
        (pl.from_pandas(FRAME).lazy().with_columns(pl.lit(MARK).cast(pl.Int8)), "the lazy frame cannot be computed"),
        (FRAME.assign(id=MARK), "has a column 'id' that the schema lacks; drop it"),
        (
            FRAME.assign(age=pd.arrays.SparseArray([0.0, 1] * 3)),
            "'age' is sparse; pass it dense, such as",
        ),
        (pd.concat([FRAME, FRAME[["age"]]], axis=1), "has the column 'age' twice"),
        (FRAME.assign(age=MARK), "'age' holds text, but the schema calls it continuous"),
        (FRAME.assign(sex=4711), "'sex' holds numbers, but its categories in the schema are text"),
        (
            FRAME.assign(code=MARK),
            "'code' holds text that is not a number, but its categories in the schema are numbers",
        ),
        (FRAME.assign(member=MARK), "'member' holds values other than 0, 1, true and false, but its categories"),
        (FRAME.assign(sex=pd.Timestamp("1947-11-07")), r"'sex' holds values of type timestamp\[\w+\]"),
        (FRAME.assign(age=[1, MARK, 3, 4, 5, 6]), "'age' mixes types"),
        (FRAME.assign(age=[{MARK: 3}] * 6), "'age' holds nested values"),
        (FRAME.assign(sex=pd.Series(["\ud800"] * 6, dtype=object)), "'sex' mixes types"),
        (np.zeros((2, 3)), "X has 3 features, but Schema is expecting 4 features as input"),
        (np.zeros(4), "Reshape your data"),
        (np.ma.masked_less(np.zeros((2, 4)), 1), "masked arrays are not supported; fill masked values"),
        ([[1, 2], [1]], "the rows have different lengths"),
        (np.zeros((2, 4), dtype=complex), "Complex data not supported"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_without_showing_a_value(table, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        Encoder(SCHEMA).encode(table)
    shown = "".join(str(error) for error in (caught.value, caught.value.__cause__))
    assert not re.search(f"{MARK}|4711|1947", shown)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["yes", None], "'class' has missing labels"),
        (pl.Series(["yes", None]), "'class' has missing labels"),
        (["yes", MARK], "'class' has labels that are not in the schema's classes; add them"),
        ([4711, 4712], "'class' holds numbers, but its classes in the schema are text"),
    ],
)
def test_labels_that_do_not_fit_are_refused_without_showing_a_value(labels, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        Encoder(SCHEMA).encode_labels(labels)
    assert not re.search(f"{MARK}|4711", str(caught.value))


@pytest.mark.parametrize("missing", [[5, np.nan], pl.Series([5.0, float("nan")]), pa.array([5.0, float("nan")])])
def test_nan_labels_are_missing_labels(missing):
    with pytest.raises(DataError, match="'class' has missing labels"):
        Encoder(Schema([Numeric("x", 0, 1)], classes=[5, 9])).encode_labels(missing)


def test_minus_zero_is_zero():
    schema = Schema([Categorical("x", [-0.0, 1.0])], classes=[0.0, 9.0])
    assert_array_equal(Encoder(schema).encode(pd.DataFrame({"x": [0.0, -0.0, 1.0]})), [[0], [0], [1]])
    assert_array_equal(Encoder(schema).encode_labels([-0.0, 0.0, 9.0]), [0, 0, 1])


@loop_over("bins", [1, 2, 3, 7, 255, 65_534])
@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 1), (-0.1, 0.3), (1e9, 1e9 + 1), (2.0**52, 2.0**52 + 150_000), (-(2.0**1022), 2.0**1022), (0, 1e-310)],
)
def test_numbers_on_a_cut_and_next_to_it_have_the_codes_that_the_cuts_give(low, high, bins):
    # Rounding is at its worst where bounds are large and cells narrow, and where a ratio leaves the range of floats.
    attribute = Numeric("x", low, high, bins=bins)
    around = np.concatenate([np.nextafter(attribute.cuts, where) for where in (-np.inf, np.inf)])
    values = np.concatenate([attribute.cuts, around, [low, high, 2 * low - high, 2 * high - low]])
    codes = Encoder(Schema([attribute], classes=["no", "yes"])).encode(values[:, None])
    assert_array_equal(codes[:, 0], np.searchsorted(attribute.cuts, np.clip(values, low, high), side="right"))


def test_cells_that_rounding_has_moved_are_looked_up():
    assert _cells_per_unit(Numeric("x", 0, 1, bins=5)) == 5.0
    assert _cells_per_unit(Numeric("x", 0, 1, edges=[0.5])) == 0.0
    # Only whole numbers are floats here, so the cuts of cells that are 1.5 wide are up to half a unit off.
    assert _cells_per_unit(Numeric("x", 2.0**53, 2.0**53 + 12, bins=4)) == 0.0
    assert _cells_per_unit(Numeric("x", 0, 1e-310, bins=2)) == 0.0
