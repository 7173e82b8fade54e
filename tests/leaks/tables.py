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
from tests.leaks.marks import (
    AGE,
    CATEGORY,
    CLASSES,
    INDEX,
    LABEL,
    N_ROWS,
    NOTE,
    PARTS,
    PAY,
    PERSON,
    SEXES,
    labels,
    sexes,
)

SCHEMA = Schema(
    [Numeric("age", 0, 100_000), Numeric("pay", 0, 100_000, bins=16), Categorical("sex", list(SEXES))],
    classes=sorted(CLASSES),
    target="class",
    rows=8_000,
)
# A row that is marked in every column; what is said about it is said about one person.
_MARKED = 7


def frame() -> pd.DataFrame:
    """Return the attributes, each row with a name."""
    return _frame().copy()


@cache
def _frame() -> pd.DataFrame:
    rng = np.random.default_rng(13)
    age, pay = rng.uniform(0, 100_000, N_ROWS).round(), rng.uniform(0, 100_000, N_ROWS).round()
    age[_MARKED::40], pay[_MARKED::50] = AGE, PAY
    index = [f"{INDEX} {i}" for i in range(N_ROWS)]
    return pd.DataFrame({"age": age, "pay": pay, "sex": sexes()}, index=index)


@cache
def _whole() -> pd.DataFrame:
    """Return the attributes, the label, and columns that are in no schema."""
    persons = [f"{PERSON} {i // 2}" for i in range(N_ROWS)]
    return frame().assign(**{"class": labels(), "note": NOTE, "person": persons})


def in_order(n_rows: int = N_ROWS) -> pd.DataFrame:
    """Return what a file holds: no names of rows."""
    return _whole().reset_index(drop=True)[:n_rows].copy()


def _csv(folder: Path) -> Path:
    in_order().to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def _csv_gz(folder: Path) -> Path:
    (folder / "rows.csv.gz").write_bytes(gzip.compress(in_order().to_csv(index=False).encode(), 1))
    return folder / "rows.csv.gz"


def _parquet(folder: Path) -> Path:
    in_order().to_parquet(folder / "rows.parquet", row_group_size=PARTS[0])
    return folder / "rows.parquet"


def _folder(folder: Path) -> Path:
    (folder / "parts").mkdir(exist_ok=True)
    in_order(PARTS[0]).to_parquet(folder / "parts" / "a.parquet")
    in_order()[PARTS[0] :].to_parquet(folder / "parts" / "b.parquet")
    return folder / "parts"


def _arrow_file(folder: Path) -> Path:
    table = pa.Table.from_pandas(in_order())
    with pa.OSFile(str(folder / "rows.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return folder / "rows.arrow"


def batches() -> list[Any]:
    """Return the rows in two batches of Arrow."""
    table = pa.Table.from_pandas(in_order())
    return [table.slice(0, PARTS[0]), table.slice(PARTS[0])]


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
    "a number for a label": lambda: in_order().assign(**{"class": AGE}),
    "a number among labels": lambda: spoiled(**{"class": AGE}),
    "a missing label": lambda: spoiled(**{"class": None}),
    "text among numbers": lambda: spoiled(age=CATEGORY),
    "text for numbers": lambda: in_order().assign(age=CATEGORY),
    "a number among categories": lambda: spoiled(sex=AGE),
    "numbers for categories": lambda: in_order().assign(sex=in_order()["age"]),
    "objects": lambda: in_order().assign(sex=[{CATEGORY: PERSON}] * N_ROWS),
    "mixed objects": lambda: spoiled(sex=[CATEGORY]),
    "a number that is too long": lambda: spoiled(age=int(AGE) * 10**40),
    "times": lambda: in_order().assign(age=pd.Timestamp("2031-07-13")),
    "complex numbers": lambda: in_order().assign(age=AGE + 1j),
    "text that is not UTF-8": lambda: not_utf8(in_order()),
    "a column that is missing": lambda: in_order().rename(columns={"sex": "gender"}),
}
_HEADER = "age,pay,sex,class\n"
_LINES = "".join(f"{AGE},{PAY},female,no\n" for _ in range(20))
# Files that a fit refuses, as bytes.
FILE_FAULTS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a CSV with one field too many": ("rows.csv", lambda: f"{_HEADER}{_LINES}1,2,male,no,{NOTE}\n".encode()),
    "a CSV with an open quote": ("rows.csv", lambda: f'{_HEADER}{_LINES}1,2,"{CATEGORY},no\n'.encode()),
    "a CSV that is not UTF-8": ("rows.csv", lambda: f"{_HEADER}{_LINES}1,2,{CATEGORY},{LABEL}\n".encode("latin-1")),
    "a CSV with text among numbers": ("rows.csv", lambda: f"{_HEADER}{_LINES}{CATEGORY},2,male,no\n".encode()),
    "a CSV without a header": ("rows.csv", lambda: f"{AGE},{PAY},sex-{CATEGORY},class-{LABEL}\n{_LINES}".encode()),
    "a CSV whose header is a row that resembles it": ("rows.csv", lambda: f"age,{PAY},zyx,clas\n{_LINES}".encode()),
    "a CSV with a label that is not known": ("rows.csv", lambda: f"{_HEADER}{_LINES}1,2,male,{LABEL}\n".encode()),
    "a gzipped CSV that is cut short": ("rows.csv.gz", lambda: gzip.compress(in_order().to_csv().encode(), 1)[:-999]),
    "a Parquet file that is cut short": ("rows.parquet", lambda: _parquet_bytes(in_order())[:-99]),
    "a Parquet file with other types": ("rows.parquet", lambda: _parquet_bytes(in_order().assign(age=CATEGORY))),
    "a Parquet file with a label that is not known": (
        "rows.parquet",
        lambda: _parquet_bytes(spoiled(**{"class": LABEL})),
    ),
    "a Parquet file that is not UTF-8": ("rows.parquet", lambda: _parquet_bytes(not_utf8(in_order()))),
    "text that is called Parquet": ("rows.parquet", lambda: _LINES.encode()),
    "text that is called Arrow": ("rows.arrow", lambda: _LINES.encode()),
}


def _parquet_bytes(table: Any) -> bytes:
    plain = pa.Table.from_pandas(table, preserve_index=False) if isinstance(table, pd.DataFrame) else table
    sink = io.BytesIO()
    pq.write_table(plain, sink)
    return sink.getvalue()
