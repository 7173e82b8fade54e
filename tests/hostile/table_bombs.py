"""Bombs that are tables of rows: CSV, Parquet and Arrow."""

import io
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from privet import PrivateRDTClassifier
from privet.counting.files import read_batches
from privet.errors import PrivetError
from privet.schema.encoding import Encoder
from tests.hostile.bomb import BOMBS, ENDLESS, Runs, Variants, bomb, packed
from tests.hostile.seeds import SCHEMA


def _fit(path: Path) -> Any:
    return PrivateRDTClassifier(SCHEMA, n_trees=1, height=1, random_state=1).fit(path)


@bomb
def _a_packed_csv_of_one_endless_line(folder: Path) -> Any:
    return _fit(packed(folder / "rows.csv.gz", b"age,", ENDLESS))


@bomb
def _a_packed_csv_of_one_endless_field(folder: Path) -> Any:
    return _fit(packed(folder / "rows.csv.gz", b"9", ENDLESS, b"age,job,pay,class\n"))


@bomb
def _a_packed_csv_of_one_endless_quote(folder: Path) -> Any:
    return _fit(packed(folder / "rows.csv.gz", b"x\n", ENDLESS, b'age,job,pay,class\n1,"'))


@bomb
def _a_csv_with_a_hundred_thousand_columns(folder: Path) -> Any:
    (folder / "rows.csv").write_text(
        ",".join(["age", "job", "pay", "class", *(f"x{i}" for i in range(100_000))]) + "\n"
    )
    return _fit(folder / "rows.csv")


@bomb
def _a_parquet_with_twenty_thousand_columns(folder: Path) -> Any:
    names = [*SCHEMA.names, SCHEMA.target, *(f"x{i}" for i in range(20_000))]
    texts = {"job", SCHEMA.target}
    pq.ParquetWriter(
        folder / "rows.parquet", pa.schema([(name, pa.string() if name in texts else pa.float64()) for name in names])
    ).close()
    return _fit(folder / "rows.parquet")


def _rows(n: int) -> pa.Table:
    """Return rows without gaps: a page of numbers has then 8 bytes for each, and nothing else."""
    types = {"age": pa.float64(), "job": pa.string(), "pay": pa.float64(), "class": pa.string()}
    columns = [np.arange(n) % 97.0, ["cook"] * n, np.ones(n), ["no", "yes"] * (n // 2)]
    return pa.table(columns, schema=pa.schema([pa.field(*own, nullable=False) for own in types.items()]))


def _varint(value: int) -> bytes:
    """Return a whole number as Parquet's footer spells it."""
    value, spelled = 2 * value, b""
    while value >= 128:
        spelled, value = spelled + bytes([value % 128 + 128]), value // 128
    return spelled + bytes([value])


def _lying_parquet(path: Path, truth: bytes, lie: bytes) -> Variants:
    """Replace each place where a Parquet file says ``truth``, one at a time, and read what comes out."""
    sink = io.BytesIO()
    pq.write_table(_rows(10_000), sink, compression="none", use_dictionary=["job"])
    content, at, n_variants, n_read = sink.getvalue(), -1, 0, 0
    while (at := content.find(truth, at + 1)) >= 0:
        path.write_bytes(content[:at] + lie + content[at + len(truth) :])
        n_variants, n_read = n_variants + 1, n_read + _is_read(path)
    return Variants(n_read, n_variants - n_read)


def _is_read(path: Path) -> bool:
    encoder = Encoder(SCHEMA)
    try:
        for batch in read_batches(path, SCHEMA, SCHEMA.names):
            encoder.encode(batch)
    except PrivetError:
        return False
    return True


@bomb
def _a_parquet_that_lies_about_its_rows(folder: Path) -> Variants:
    return _lying_parquet(folder / "rows.parquet", _varint(10_000), b"\xff\xff\x7f")


@bomb
def _a_parquet_that_lies_about_its_pages(folder: Path) -> Variants:
    return _lying_parquet(folder / "rows.parquet", _varint(80_000), b"\xfe\xff\x7f")


@bomb
def _a_parquet_with_lying_statistics(folder: Path) -> Variants:
    return _lying_parquet(folder / "rows.parquet", np.float64(96.0).tobytes(), np.float64(-1e300).tobytes())


@bomb
def _a_parquet_with_a_pickle_in_its_metadata(folder: Path) -> Any:
    rows = _rows(40).replace_schema_metadata({b"pandas": pickle.dumps(Runs()), b"ARROW:extension": b"x"})
    pq.write_table(rows, folder / "rows.parquet")
    return _fit(folder / "rows.parquet")


for _ending in ("csv", "parquet", "arrow", "csv.gz"):
    for _name, _make in {
        "a pipe": os.mkfifo,
        "a device": lambda path: path.symlink_to("/dev/zero"),
        "a folder": lambda path: path.mkdir(),
        "nothing": lambda path: path.touch(),
    }.items():

        def _drop(folder: Path, make: Any = _make, ending: str = _ending) -> Any:
            make(folder / f"rows.{ending}")
            return _fit(folder / f"rows.{ending}")

        BOMBS[f"{_name} by the name of a {_ending}"] = _drop
