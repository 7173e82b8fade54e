"""What is inside a file or a text: packed, coded or tabled content, taken out again and again."""

import base64
import binascii
import gzip
import io
import pickletools
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

# Shorter runs of letters are words.
_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_DAMAGED = (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, sqlite3.Error, pa.ArrowException, KeyError)


def inside(data: bytes) -> Iterator[tuple[str, Any]]:
    """Yield what ``data`` holds beside its own bytes, each with the name of the wrapping."""
    for start, (name, opened) in _OPENERS.items():
        if data.startswith(start):
            try:
                yield from ((name, part) for part in opened(data))
            except _DAMAGED:  # it only looks so, or was cut short: the bytes themselves are searched all the same
                continue
    for run in _BASE64.finditer(data):
        try:
            yield "base64", base64.b64decode(run[0])
        except binascii.Error:
            continue


def _unzipped(data: bytes) -> Iterator[bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            yield entry.filename.encode()
            yield archive.read(entry)


def _rows_of_book(data: bytes) -> Iterator[Any]:
    book = sqlite3.connect(":memory:")
    try:
        book.deserialize(data)
        tables = [name for (name,) in book.execute("select name from sqlite_master where type = 'table'")]
        for table in tables:
            yield [list(row) for row in book.execute(f'select * from "{table}"')]  # noqa: S608 - our own file
    finally:
        book.close()


def _arrow_of(table: Any) -> Iterator[Any]:
    yield str(table.schema)
    for column in table.columns:
        yield column.to_pylist()


def _parquet(data: bytes) -> Iterator[Any]:
    yield str(pq.read_metadata(pa.BufferReader(data)))
    yield from _arrow_of(pq.read_table(pa.BufferReader(data)))


def _arrow(data: bytes) -> Iterator[Any]:
    yield from _arrow_of(pa.ipc.open_file(pa.BufferReader(data)).read_all())


def _constants(data: bytes) -> Iterator[Any]:
    """Yield what a pickle builds its objects of; nothing in it is run."""
    yield [argument for _, argument, _ in pickletools.genops(data) if argument is not None]


_OPENERS: dict[bytes, tuple[str, Callable[[bytes], Any]]] = {
    b"\x1f\x8b": ("gzip", lambda data: [gzip.decompress(data)]),
    b"\x78\x9c": ("zlib", lambda data: [zlib.decompress(data)]),
    b"PK\x03\x04": ("zip", _unzipped),
    b"SQLite format 3\0": ("SQLite", _rows_of_book),
    b"PAR1": ("Parquet", _parquet),
    b"ARROW1": ("Arrow", _arrow),
    b"\x80\x04": ("pickle", _constants),
    b"\x80\x05": ("pickle", _constants),
}
