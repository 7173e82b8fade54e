"""The code of a row depends on that row alone.

The proofs count how far one row more can move the counts; were it to change the codes of other rows, their sensitivity
would be wrong. So for every make of table: the codes of a table are the first codes of the table with a row more.
"""

from collections import deque
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Numeric, Schema
from privet.counting.rows import BatchRows
from privet.counting.sources import Files
from privet.errors import DataError
from privet.schema.encoding import Encoder
from tests.loops import loop_over

SCHEMA = Schema(
    [
        Numeric("x", 0, 10, bins=1000),
        Categorical("grade", [0.07, 0.29, 0.57, 1, 2]),
        Categorical("job", ["nurse", "clerk", "u"]),
    ],
    classes=["no", "yes"],
)
ROWS = [[i / 100, [0.07, 0.29, 0.57, 1, 2][i % 5], ["nurse", "clerk", "u", "u\0", None][i % 5]] for i in range(1000)]
EXTRA = [
    [5, 1, "nurse"],
    [None, None, None],
    [1e-36, 3, "\0"],
    [10**15 + 1, 0.1234567890123, "a" * 900],
    [-5, 1, "nurse\0"],
]


def frame(rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(SCHEMA.names)).astype(object)


def decimals(rows) -> pd.DataFrame:
    def as_decimal(value):
        return None if value is None else Decimal(str(value))

    return pd.DataFrame({"x": [as_decimal(row[0]) for row in rows], "grade": [as_decimal(row[1]) for row in rows],
                         "job": [row[2] for row in rows]}, dtype=object)  # fmt: skip


def halves(rows) -> list:
    """NumPy's numbers among Python's, as a table put together by hand may have them."""
    return [[np.float16(row[0]) if isinstance(row[0], float) else row[0], *row[1:]] for row in rows]


MAKES = {
    "a deque of rows": deque,
    "NumPy numbers in lists": halves,
    "pandas categories": lambda rows: frame(rows).astype("category"),
    "pandas categories of decimals": lambda rows: decimals(rows).astype("category"),
    "a list of rows": list,
    "NumPy objects": lambda rows: np.array(rows, dtype=object),
    "pandas objects": frame,
    "pandas": lambda rows: pd.DataFrame(rows, columns=list(SCHEMA.names)),
    "pandas decimals": decimals,
    "Arrow": lambda rows: pa.Table.from_pandas(pd.DataFrame(rows, columns=list(SCHEMA.names))),
    "Arrow decimals": lambda rows: pa.Table.from_pandas(decimals(rows)),
    "polars": lambda rows: pl.DataFrame(
        rows, schema=list(SCHEMA.names), orient="row", infer_schema_length=None, strict=False
    ),
}


@loop_over("extra", range(len(EXTRA)))
@pytest.mark.parametrize("make", MAKES)
def test_a_row_more_changes_no_other_rows_code(make, extra):
    encode = Encoder(SCHEMA).encode
    without, with_row = encode(MAKES[make](ROWS)), encode(MAKES[make]([EXTRA[extra], *ROWS]))
    assert_array_equal(with_row[1:], without)
    assert_array_equal(encode(MAKES[make]([*ROWS, EXTRA[extra]]))[:-1], without)


def test_the_test_can_fail():
    """Lists that share a type, and decimals that share a scale, are what would go wrong."""
    shared = np.array([["u\0", "v"]] * 2), np.array([["u\0", "v"]] * 2 + [[None, "v"]])
    assert shared[0][0, 0] != shared[1][0, 0]
    column = [Decimal("2.13"), Decimal("4.35")]
    casts = [pa.array(values).cast(pa.float64())[0].as_py() for values in (column, [*column, Decimal("1e-36")])]
    assert any(
        pa.array([value]).cast(pa.float64())[0].as_py()
        != pa.array([value, Decimal("1e-36")]).cast(pa.float64())[0].as_py()
        for value in [Decimal(i) / 100 for i in range(1000)]
    ), casts


def test_a_labels_code_depends_on_that_label_alone():
    encode = Encoder(Schema([Numeric("x", 0, 1)], classes=[5, 9])).encode_labels
    for labels in ([np.float16(5), 9, 5], [5, 9, 5], [5.0, 9, 5], pd.Series([5, 9, 5]), pl.Series([5, 9, 5])):
        assert_array_equal(encode(labels), [0, 1, 0])


@pytest.mark.parametrize("shift", range(0, 60, 7))
def test_a_csv_field_with_a_line_end_in_it_is_one_field_wherever_a_block_ends(tmp_path, monkeypatch, shift):
    monkeypatch.setattr("privet.counting.files._BLOCK_BYTES", 1000)
    header, row = "class,job,grade,x,note\n", 'yes,nurse,1,0.25,"line one\nno,clerk,2,0.5,forged"\n'
    (tmp_path / "rows.csv").write_text(header + f"no,clerk,2,0.5,{'a' * shift}\n" + row * 200)
    blocks = list(BatchRows(Files(tmp_path / "rows.csv"), Encoder(SCHEMA)).blocks())
    assert len(blocks) > 5
    labels = np.concatenate([own for _, own in blocks])
    assert_array_equal(labels, [0] + [1] * 200)


def test_a_carriage_return_in_a_category_is_refused_in_a_csv(tmp_path):
    schema = Schema([Categorical("job", ["a\r\nb", "c"])], classes=["no", "yes"])
    (tmp_path / "rows.csv").write_text("job,class\nc,no\n")
    with pytest.raises(DataError, match="'job' has a value with a carriage return, unsafe in a CSV; use Parquet"):
        list(BatchRows(Files(tmp_path / "rows.csv"), Encoder(schema)).blocks())
