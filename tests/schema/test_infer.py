import numpy as np
import pandas as pd
import polars as pl
import pytest

from privet.errors import DataError, SchemaError
from privet.schema import Categorical, Numeric, infer_schema

FRAME = pd.DataFrame({"age": [20, 60, 41], "sex": ["m", None, "f"], "paid": [True, False, True]})


@pytest.mark.parametrize("table", [FRAME, pl.from_pandas(FRAME)])
def test_every_inferred_part_is_marked(table):
    schema = infer_schema(table, ["yes", "no", "no"], target="outcome")
    assert schema.attributes == (
        Numeric("age", 20, 60, inferred=True),
        Categorical("sex", ["f", "m"], inferred=True),
        Categorical("paid", [False, True], inferred=True),
    )
    assert (schema.classes, schema.target, schema.classes_inferred) == (("no", "yes"), "outcome", True)
    assert schema.leaks == (
        "bounds of 'age'",
        "categories of 'sex'",
        "categories of 'paid'",
        "classes of 'outcome'",
    )


def test_the_number_of_rows_is_not_read_off():
    assert infer_schema(FRAME, ["yes", "no", "no"]).rows is None


def test_columns_without_names_are_numbered():
    assert infer_schema(np.zeros((2, 2)), [5, 9]).names == ("x0", "x1")


@pytest.mark.parametrize("column", [[7.0, 7.0], [np.nan, np.nan], [np.inf, 3.0], [1e300, 1e300], [5e-324, 0.0]])
def test_a_column_that_hardly_varies_still_gets_a_range(column):
    (attribute,) = infer_schema(pd.DataFrame({"x": column}), [5, 9]).attributes
    assert attribute.low < attribute.high


def test_the_order_of_the_rows_does_not_show():
    assert infer_schema(FRAME[::-1], ["no", "no", "yes"]) == infer_schema(FRAME, ["yes", "no", "no"])


def test_what_cannot_be_inferred_is_refused():
    with pytest.raises(SchemaError, match="'class' has one class"):
        infer_schema(FRAME, ["no", "no", "no"])
    with pytest.raises(SchemaError, match="needs attributes"):
        infer_schema(np.empty((3, 0)), ["no", "no", "yes"])
    with pytest.raises(DataError, match="column 'sex' mixes types"):
        infer_schema(FRAME.assign(sex=["m", 1, b"f"]), ["yes", "no", "no"])
    with pytest.raises(DataError, match="some column names are text and some are not"):
        infer_schema(FRAME.rename(columns={"age": 3}), ["yes", "no", "no"])
