"""Damage to tables that know their format: cells, quotes, encodings and columns; Arrow's types and metadata."""

import gzip
import io
import zlib
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from tests.hostile.choices import Choices

_CELLS = (
    b"", b" ", b'"', b'""', b'"a', b'a"b', b"'", b"nan", b"NaN", b"inf", b"-inf", b"1e400", b"-0", b"0x10", b"1_000",
    b"1,5",
    b"1;5", b"\t", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"true", b"null", b"NULL", b"=1+1", b"9" * 400,
    b"x" * 70_000,
    b'"' + b"y" * 140_000 + b'"', b"\r", b"\r\n", b'"\n"', b'"\r\n"', b"nurse", b"no", b"maybe",
)  # fmt: skip
_HEADERS = (
    b"age,job,pay,class", b"class,pay,job,age", b"age,age,job,pay,class", b"age,job,pay", b"", b",,,",
    b"age;job;pay;class",
    b"\xef\xbb\xbfage,job,pay,class", b"a" * 140_000 + b",job,pay,class", b'"age","job","pay","class"',
    b'"age,job,pay,class',
    b"\xff\xfea\0g\0e\0", b"age,job,pay,class,more", b"Age,Job,Pay,Class", b"age\0,job,pay,class",
)  # fmt: skip
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig")
_COLUMNS: tuple[Any, ...] = (
    [None] * 20, [float("nan")] * 20, [float("inf"), -0.0] * 10, [2**62] * 20, [Decimal("1.5")] * 20, ["nurse"] * 20,
    ["\ud7ff"] * 20, [b"nurse", b"\xff"] * 10, [True, None] * 10, [[1], []] * 10, [{"a": 1}, None] * 10,
    ["x" * 9_000] * 20,
    [date(2026, 1, 1)] * 20, [datetime(2026, 1, 1, tzinfo=UTC)] * 20, pa.array([1.5] * 20, pa.float16()),
    pa.array([300] * 20, pa.uint64()), pa.array(["cook", None] * 10).dictionary_encode(), pa.nulls(20),
    pa.array(["no", "yes"] * 10, pa.string_view()), pa.array(["no", "yes"] * 10, pa.large_string()),
    pa.array([1, 2] * 10, pa.decimal256(70, 3)), pa.array([1, 2] * 10, pa.duration("s")),
    pa.array([1.0, 2.0] * 10).dictionary_encode(), pa.array(["no", "maybe"] * 10),
)  # fmt: skip
_METADATA = (
    {},
    {b"pandas": b"{"},
    {b"pandas": b'{"index_columns": 7}'},
    {b"ARROW:schema": b"AAAA"},
    {b"x": b"y" * 9_000},
)


def damaged_csv(content: bytes, choices: Choices) -> bytes:
    """Return a CSV with one to three cells, lines or its header changed, or in another encoding."""
    lines = [line.split(b",") for line in content.split(b"\n")]
    for _ in range(1 + choices.below(3)):
        line = choices.pick(lines)
        what = choices.below(10)
        if what < 5:
            line[choices.below(len(line))] = choices.pick(_CELLS)
        elif what == 5:
            lines[0] = [choices.pick(_HEADERS)]
        elif what == 6:
            line.append(choices.pick(_CELLS))
        elif what == 7:
            del line[choices.below(len(line)) :]
            line.append(b"")
        elif what == 8:
            lines[choices.below(len(lines)) :] = []
            lines = lines or [[b""]]
        else:
            lines += [list(line) for _ in range(choices.below(300))]
    changed = b"\n".join(b",".join(line) for line in lines)
    if choices.chance(0.05):
        changed = changed.decode("latin-1").encode(choices.pick(_ENCODINGS), "replace")
    return changed


def damaged_packed_csv(content: bytes, choices: Choices) -> bytes:
    """Return a packed CSV, damaged inside, twice packed, of several parts, or of other settings."""
    inside = damaged_csv(zlib.decompress(content, 31), choices)
    what = choices.below(6)
    if what == 0:
        return gzip.compress(gzip.compress(inside))
    if what == 1:
        return gzip.compress(inside) + gzip.compress(inside)
    if what == 2:
        return gzip.compress(inside) + inside
    return gzip.compress(inside, choices.below(10), mtime=0)


def damaged_arrow(content: bytes, name: str, choices: Choices) -> bytes:
    """Return a Parquet or Arrow file with columns of other types, names, metadata, codings or cuts."""
    table = _read(content, name)
    for _ in range(1 + choices.below(2)):
        what, at = choices.below(8), choices.below(table.num_columns)
        field = choices.pick([*table.column_names, "age", "", "x" * 3_000, "more", "a.b", "é"])
        if what < 4:
            column = choices.pick(_COLUMNS)
            column = column if isinstance(column, pa.Array) else pa.array(column)
            table = table.slice(0, 20).set_column(
                at, field if what == 3 else table.column_names[at], column[: len(table)]
            )
        elif what == 4 and table.num_columns > 1:
            table = table.remove_column(at)
        elif what == 5:
            table = table.append_column(field, table.column(at))
        elif what == 6:
            table = table.replace_schema_metadata(choices.pick(_METADATA))
        else:
            table = table.slice(0, choices.below(20))
    return _written(table, name, choices)


def _read(content: bytes, name: str) -> Any:
    if name.endswith(".parquet"):
        return pq.read_table(io.BytesIO(content))
    opened = pa.ipc.open_file if name.endswith(".arrow") else pa.ipc.open_stream
    return opened(io.BytesIO(content)).read_all()


def _written(table: Any, name: str, choices: Choices) -> bytes:
    sink = io.BytesIO()
    if name.endswith(".parquet"):
        pq.write_table(
            table, sink, row_group_size=1 + choices.below(30), use_dictionary=choices.chance(0.5),
            compression=choices.pick(["none", "snappy", "gzip", "zstd", "brotli", "lz4"]),
            data_page_version=choices.pick(["1.0", "2.0"]), write_statistics=choices.chance(0.5),
            store_schema=choices.chance(0.5),
        )  # fmt: skip
    elif name.endswith(".arrow"):
        feather.write_feather(table, sink, compression=choices.pick(["uncompressed", "lz4", "zstd"]))
    else:
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table, max_chunksize=1 + choices.below(30))
    return sink.getvalue()
