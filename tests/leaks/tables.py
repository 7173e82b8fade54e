"""The planted rows by every road into a fit: tables in memory, files, batches, parts; and tables that are refused."""

import gzip
import io
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from privet import Categorical, Numeric, Schema
from tests.leaks.marks import CATEGORY, INDEX, LABEL, NOTE, PERSON, PLANTINGS, Planting, planted

SCHEMA = Schema(
    [Numeric("age", 0, 100_000), Numeric("pay", 0, 100_000, bins=16), Categorical("sex", list(PLANTINGS[0].sexes))],
    classes=sorted(PLANTINGS[0].classes),
    target="class",
    rows=8_000,
)
# A row that is marked in every column; what is said about it is said about one person.
_MARKED = 7


def labels() -> np.ndarray:
    """Return the classes of all rows."""
    return planted().labels()


def frame() -> pd.DataFrame:
    """Return the attributes, each row with a name."""
    return _frame(planted()).copy()


@cache
def _frame(rows: Planting) -> pd.DataFrame:
    rng = np.random.default_rng(13)
    age, pay = rng.uniform(0, 100_000, rows.n_rows).round(), rng.uniform(0, 100_000, rows.n_rows).round()
    age[_MARKED::40], pay[_MARKED::50] = rows.age, rows.pay
    index = [f"{INDEX} {i}" for i in range(rows.n_rows)]
    return pd.DataFrame({"age": age, "pay": pay, "sex": rows.sex_of_rows()}, index=index)


@cache
def _whole(rows: Planting) -> pd.DataFrame:
    """Return the attributes, the label, and columns that are in no schema."""
    persons = [f"{PERSON} {i // 2}" for i in range(rows.n_rows)]
    return _frame(rows).assign(**{"class": rows.labels(), "note": NOTE, "person": persons})


def in_order(n_rows: int | None = None) -> pd.DataFrame:
    """Return what a file holds: no names of rows."""
    return _whole(planted()).reset_index(drop=True)[:n_rows].copy()


def parts() -> list[slice]:
    """Return which rows are in each of two parts."""
    first = planted().parts[0]
    return [slice(None, first), slice(first, None)]


def _csv(folder: Path) -> Path:
    in_order().to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def _csv_gz(folder: Path) -> Path:
    (folder / "rows.csv.gz").write_bytes(gzip.compress(in_order().to_csv(index=False).encode(), 1))
    return folder / "rows.csv.gz"


def _parquet(folder: Path) -> Path:
    in_order().to_parquet(folder / "rows.parquet", row_group_size=planted().parts[0])
    return folder / "rows.parquet"


def _folder(folder: Path) -> Path:
    (folder / "parts").mkdir(exist_ok=True)
    for name, part in zip("ab", parts(), strict=True):
        in_order()[part].to_parquet(folder / "parts" / f"{name}.parquet")
    return folder / "parts"


def _arrow_file(folder: Path) -> Path:
    table = pa.Table.from_pandas(in_order())
    with pa.OSFile(str(folder / "rows.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return folder / "rows.arrow"


def batches() -> list[Any]:
    """Return the rows in two batches of Arrow."""
    table = pa.Table.from_pandas(in_order())
    first = planted().parts[0]
    return [table.slice(0, first), table.slice(first)]


def _dask(_: Path) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(in_order(), npartitions=2)


# Each returns what a fit takes: X with y, or X that holds its labels.
ROUTES: dict[str, Callable[[Path], tuple[Any, ...]]] = {
    "pandas": lambda _: (frame(), labels()),
    "pandas, labels with names": lambda _: (frame(), pd.Series(labels(), index=frame().index, name="class")),
    "polars": lambda _: (pl.from_pandas(frame()), labels()),
    "Arrow": lambda _: (pa.Table.from_pandas(frame(), preserve_index=False), pa.array(labels())),
    "NumPy": lambda _: (frame().to_numpy(dtype=object), labels()),
    "lists": lambda _: (frame().to_numpy(dtype=object).tolist(), labels().tolist()),
    "CSV": lambda folder: (_csv(folder),),
    "CSV, gzipped": lambda folder: (_csv_gz(folder),),
    "Parquet": lambda folder: (_parquet(folder),),
    "a folder of Parquet": lambda folder: (_folder(folder),),
    "an Arrow file": lambda folder: (_arrow_file(folder),),
    "batches of Arrow": lambda _: (batches(),),
    "a function that opens batches": lambda _: (batches,),
    "dask": lambda folder: (_dask(folder),),
}


@contextmanager
def threads() -> Iterator[dict[str, Any]]:
    """Yield what a fit is told so that parts are counted by an executor."""
    with ThreadPoolExecutor(1) as executor:
        yield {"executor": executor}


def spoiled(**columns: Any) -> pd.DataFrame:
    """Return all columns with the marked row's values replaced."""
    table = in_order()
    for name, value in columns.items():
        own = table[name].astype(object)
        own[_MARKED] = value
        table[name] = own
    return table


def not_utf8(table: pd.DataFrame) -> Any:
    """Return an Arrow table whose marked category is no text."""
    bad = CATEGORY.encode("latin-1")
    values = [str(own).encode() for own in table["sex"]]
    values[_MARKED] = bad
    data, ends = b"".join(values), np.cumsum([0, *map(len, values)]).astype(np.int32)
    column = pa.Array.from_buffers(pa.string(), len(values), [None, pa.py_buffer(ends), pa.py_buffer(data)])
    plain = pa.Table.from_pandas(table, preserve_index=False)
    return plain.set_column(plain.schema.get_field_index("sex"), "sex", column)


# Tables that a fit or a prediction refuses, labels among their columns.
FAULTS: dict[str, Callable[[], Any]] = {
    "a label that is not known": lambda: spoiled(**{"class": LABEL}),
    "a number for a label": lambda: in_order().assign(**{"class": planted().age}),
    "a number among labels": lambda: spoiled(**{"class": planted().age}),
    "a missing label": lambda: spoiled(**{"class": None}),
    "text among numbers": lambda: spoiled(age=CATEGORY),
    "text for numbers": lambda: in_order().assign(age=CATEGORY),
    "a number among categories": lambda: spoiled(sex=planted().age),
    "numbers for categories": lambda: in_order().assign(sex=in_order()["age"]),
    "objects": lambda: in_order().assign(sex=[{CATEGORY: PERSON}] * planted().n_rows),
    "mixed objects": lambda: spoiled(sex=[CATEGORY]),
    "a number that is too long": lambda: spoiled(age=int(planted().age) * 10**40),
    "times": lambda: in_order().assign(age=pd.Timestamp("2031-07-13")),
    "complex numbers": lambda: in_order().assign(age=planted().age + 1j),
    "text that is not UTF-8": lambda: not_utf8(in_order()),
    "a column that is missing": lambda: in_order().rename(columns={"sex": "gender"}),
}
_HEADER = "age,pay,sex,class\n"


def _first() -> str:
    return f"{planted().age},{planted().pay}"


def _lines() -> str:
    return f"{_first()},female,no\n" * 20


# Files that a fit refuses, as bytes.
FILE_FAULTS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a CSV with one field too many": ("rows.csv", lambda: f"{_HEADER}{_lines()}1,2,male,no,{NOTE}\n".encode()),
    "a CSV with an open quote": ("rows.csv", lambda: f'{_HEADER}{_lines()}1,2,"{CATEGORY},no\n'.encode()),
    "a CSV that is not UTF-8": ("rows.csv", lambda: f"{_HEADER}{_lines()}1,2,{CATEGORY},{LABEL}\n".encode("latin-1")),
    "a CSV with text among numbers": ("rows.csv", lambda: f"{_HEADER}{_lines()}{CATEGORY},2,male,no\n".encode()),
    "a CSV without a header": ("rows.csv", lambda: f"{_first()},sex-{CATEGORY},class-{LABEL}\n{_lines()}".encode()),
    "a CSV whose header is a row that resembles it": (
        "rows.csv",
        lambda: f"age,{planted().pay},zyx,clas\n{_lines()}".encode(),
    ),
    "a CSV with a label that is not known": ("rows.csv", lambda: f"{_HEADER}{_lines()}1,2,male,{LABEL}\n".encode()),
    "a gzipped CSV that is cut short": ("rows.csv.gz", lambda: gzip.compress(in_order().to_csv().encode(), 1)[:-999]),
    "a Parquet file that is cut short": ("rows.parquet", lambda: _parquet_bytes(in_order())[:-99]),
    "a Parquet file with other types": ("rows.parquet", lambda: _parquet_bytes(in_order().assign(age=CATEGORY))),
    "a Parquet file with a label that is not known": (
        "rows.parquet",
        lambda: _parquet_bytes(spoiled(**{"class": LABEL})),
    ),
    "a Parquet file that is not UTF-8": ("rows.parquet", lambda: _parquet_bytes(not_utf8(in_order()))),
    "text that is called Parquet": ("rows.parquet", lambda: _lines().encode()),
    "text that is called Arrow": ("rows.arrow", lambda: _lines().encode()),
}


def _parquet_bytes(table: Any) -> bytes:
    plain = pa.Table.from_pandas(table, preserve_index=False) if isinstance(table, pd.DataFrame) else table
    sink = io.BytesIO()
    pq.write_table(plain, sink)
    return sink.getvalue()
