import gzip
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from privet.counting import files
from privet.counting.rows import BatchRows, MemoryRows, exact_leaf_counts
from privet.counting.sources import Files
from privet.errors import DataError
from privet.schema import Categorical, Numeric, Schema
from privet.schema.encoding import Encoder
from tests.tree.forests import grown

SCHEMA = Schema(
    [
        Numeric("age", 0, 100),
        Categorical("job", ["NA", "nurse"]),
        Categorical("grade", [1, 2]),
        Categorical("in", [False, True]),
    ],
    classes=["no", "yes"],
    target="ill",
)
TEXT = """id,age,job,grade,in,ill
a,20,NA,1,true,no
b,,nurse,2,false,yes
c,99.5,,2,,yes
d,1e2,clerk,,True,no
"""
ENCODED = [[51, 0, 0, 1], [255, 1, 1, 0], [253, 2, 1, 2], [254, 2, 2, 1]]


def rows_of(path) -> tuple[list, list]:
    codes, labels = [], []
    for block, own_labels in BatchRows(Files(path), Encoder(SCHEMA)).blocks():
        codes += block.tolist()
        labels += own_labels.tolist()
    return codes, labels


@pytest.fixture(params=[1, 2], ids=["one core", "two cores"])
def cores(request):
    """How many cores Arrow reads with, which decides how it words an error."""
    before = pa.cpu_count()
    pa.set_cpu_count(request.param)
    yield request.param
    pa.set_cpu_count(before)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.csv").write_text(TEXT)
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    frame = pd.read_csv(
        tmp_path / "rows.csv", keep_default_na=False, na_values={"age": "", "job": "", "grade": "", "in": ""}
    )
    frame["in"] = frame["in"].map({"True": True, "true": True, "false": False, True: True, False: False})
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "rows.parquet", row_group_size=3)
    return tmp_path


@pytest.mark.parametrize("name", ["rows.csv", "bom.csv", "rows.csv.gz", "rows.parquet"])
def test_every_format_gives_the_same_rows_and_only_an_empty_field_is_missing(folder, name):
    assert rows_of(folder / name) == (ENCODED, [0, 1, 1, 0])
    assert BatchRows(Files(folder / name), Encoder(SCHEMA)).exact_size() == 4
    assert files.file_columns(folder / name)[:3] == ["id", "age", "job"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", ""])
def test_a_file_without_rows_has_none(tmp_path, line_end):
    (tmp_path / "rows.csv").write_bytes((TEXT.splitlines()[0] + line_end).encode())
    assert rows_of(tmp_path / "rows.csv") == ([], [])


@pytest.mark.parametrize(("name", "write"), [("rows.arrow", feather.write_feather), ("rows.parquet", pq.write_table)])
def test_a_file_without_columns_is_refused(tmp_path, name, write):
    write(pa.table({}), tmp_path / name)
    with pytest.raises(DataError, match="has no columns; pass a table that has one per attribute"):
        files.file_columns(tmp_path / name)


MARK = "marked-4711"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("rows.txt", TEXT, "cannot tell the format of .*; name it .csv"),
        ("rows.csv", "", "is empty; its first line must name the columns"),
        ("rows.csv", TEXT.replace("age", "Age"), "lacks the column 'age'; did you mean 'Age'"),
        ("rows.csv", TEXT.replace(",ill", ",sick"), "lacks the column 'ill'"),
        ("rows.csv", TEXT.replace("id,", "ill,"), "the table has the column 'ill' twice"),
        ("rows.csv", TEXT.replace("20", MARK), "column 'age' holds values that are not numbers"),
        ("rows.csv", TEXT.replace("true", MARK), "column 'in' holds values that are not true/false"),
        (
            "rows.csv",
            TEXT.replace("d,1e2", f"d,{MARK},1e2"),
            "its lines differ in their number of fields; write it again",
        ),
        ("rows.csv", TEXT.replace("yes", MARK), "'ill' has labels that are not in the schema's classes"),
        ("rows.csv", TEXT.replace("yes", ""), "'ill' has missing labels"),
        ("rows.csv", TEXT.replace("nurse", "\udcff"), "is not UTF-8 text; save it as UTF-8"),
        ("rows.csv", TEXT.replace("age", "\udcff"), "is not UTF-8 text; save it as UTF-8"),
        ("rows.csv", TEXT.replace(",", ";"), "seems to separate its fields by ';' and not by ','; pass --sep ';'"),
        ("rows.parquet", TEXT, "cannot be read to its end"),
        ("rows.csv.gz", TEXT, "cannot be read to its end"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_without_showing_a_value(tmp_path, cores, name, content, sentence):
    (tmp_path / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=sentence) as caught:
        rows_of(tmp_path / name)
    assert not re.search(MARK, str(caught.value))
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot read .*No such file.*; check the path"):
        rows_of(tmp_path / "rows.csv")


def test_a_file_that_ends_early_is_refused(folder):
    for name in ("rows.csv.gz", "rows.parquet"):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DataError, match="cannot be read to its end"):
            rows_of(folder / name)


def test_counts_do_not_depend_on_where_the_rows_are_or_on_threads(folder):
    forest = grown(np.random.default_rng(0), SCHEMA, height=2, n_trees=7)
    memory = MemoryRows(np.array(ENCODED, dtype=np.uint8), np.array([0, 1, 1, 0], dtype=np.uint16))
    expected = exact_leaf_counts(forest, memory, n_classes=2)
    assert expected.sum() == 7 * 4
    for name in ("rows.csv", "rows.parquet"):
        for n_jobs in (None, 2, 50):
            rows = BatchRows(Files(folder / name), Encoder(SCHEMA))
            assert_array_equal(exact_leaf_counts(forest, rows, n_classes=2, n_jobs=n_jobs), expected)


def test_a_table_and_labels_of_different_lengths_are_refused_without_numbers():

    with pytest.raises(DataError, match="^the table and its labels have different lengths; pass one label per row$"):
        MemoryRows(np.zeros((3, 2), dtype=np.uint8), np.zeros(4, dtype=np.uint16))


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.parquet"])
def test_whoever_watches_is_told_which_share_of_the_file_is_read(tmp_path, monkeypatch, name):
    monkeypatch.setattr("privet.counting.files._BLOCK_BYTES", 4_096)
    monkeypatch.setattr("privet.counting.files._BATCH_ROWS", 500)
    schema = Schema([Numeric("x", 0, 1)], classes=["no", "yes"])
    table = pd.DataFrame({"x": np.random.default_rng(3).random(5_000)})
    path = tmp_path / name
    _ = table.to_parquet(path) if name.endswith("parquet") else table.to_csv(path, index=False)
    shares = []
    batches = list(files.read_batches(path, schema, ["x"], watch=shares.append))
    assert len(shares) == len(batches) > 5
    assert shares == sorted(shares)
    assert shares[0] > 0
    assert shares[-1] == 1
