"""The scanner finds what is planted, in every form and however it is wrapped; and nothing where nothing is."""

import base64
import gzip
import html
import json
import pickle
import sqlite3
import struct
import zipfile
from dataclasses import dataclass
from urllib.parse import quote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.leaks.marks import CATEGORY, PLANTINGS, Kind
from tests.leaks.needles import needles
from tests.leaks.scanner import Scanner

FIRST = PLANTINGS[0]
AGE, N_ROWS = FIRST.age, FIRST.n_rows
MARKS = (*FIRST.values, *FIRST.counts)
SCANNER = Scanner(MARKS)
TEXTS = {
    "as it is": f"before {CATEGORY} after",
    "utf-16": f"before {CATEGORY}".encode("utf-16"),
    "latin-1": CATEGORY.encode("latin-1"),
    "JSON": json.dumps({"sex": CATEGORY}),
    "repr": ascii(CATEGORY),
    "HTML": f"<td>{html.escape(CATEGORY)}</td>",
    "HTML in ASCII": html.escape(CATEGORY).encode("ascii", "xmlcharrefreplace"),
    "address": f"?sex={quote(CATEGORY)}",
    "hexadecimal": CATEGORY.encode().hex(),
    "base64": base64.b64encode(CATEGORY.encode()),
    "base64, shifted by one": base64.b64encode(b"1" + CATEGORY.encode() + b"the end"),
    "base64, shifted by two": base64.b64encode(b"12" + CATEGORY.encode() + b"the end"),
    "base64 for addresses": base64.urlsafe_b64encode(b"12" + CATEGORY.encode()),
}
NUMBERS = {
    "digits": f"age={AGE}",
    "thousands": f"{AGE:,.3f}",
    "other thousands": f"{AGE:_.3f}",
    "an exponent": f"{AGE:.8e}",
    "fewer digits": f"{AGE:.4f}",
    "hexadecimal float": AGE.hex(),
    "float64": b"xx" + struct.pack("<d", AGE),
    "float64, other end": struct.pack(">d", AGE) + b"x",
    "float32": np.array([1, AGE], dtype=np.float32).tobytes(),
    "as bytes in hexadecimal": struct.pack(">d", AGE).hex(),
    "an array": np.array([1.0, AGE]),
    "float32 in an array": np.array([1.0, AGE], dtype=np.float32),
}
WRITTEN_COUNTS = {
    "digits": f"{N_ROWS} rows",
    "thousands": f"of {N_ROWS:,}.",
    "a thin space": f"{N_ROWS:,}".replace(",", " "),
    "a float": f"n={float(N_ROWS)};",
    "an exponent": f"{N_ROWS:.3e}",
    "hexadecimal": hex(N_ROWS),
    "JSON": json.dumps({"n": N_ROWS}),
    "int64": np.array([3, N_ROWS]).tobytes(),
    "int64, other end": struct.pack(">q", N_ROWS),
    "int32": np.array([3, N_ROWS, 5], dtype="<i4").tobytes(),
    "float64": struct.pack("<d", N_ROWS),
    "pickle": pickle.dumps({"n": N_ROWS}),
    "a number": {"n": np.int64(N_ROWS)},
    "an array": np.array([[1, N_ROWS]], dtype=np.int32),
}
SHARE = FIRST.classes["no"] / N_ROWS
SHARES = {
    "share": f"{SHARE:.6f}",
    "per cent": f"{100 * SHARE:.3f} %",
    "float64": struct.pack("<d", SHARE),
    "raw": SHARE,
}


def found(thing):
    return {finding.mark.value for finding in SCANNER.search(thing)}


@pytest.mark.parametrize("rows", PLANTINGS, ids=lambda rows: rows.number)
def test_counts_are_what_they_say(rows):
    labels, sexes = rows.labels(), rows.sex_of_rows()
    assert len(labels) == len(sexes) == sum(rows.parts) == rows.n_rows
    assert {name: int((labels == name).sum()) for name in rows.classes} == rows.classes
    assert {name: int((sexes == name).sum()) for name in rows.sexes} == rows.sexes


def test_a_mark_is_another_number_at_every_planting():
    assert len(FIRST.counts) > 14
    for marks in zip(*((*rows.values, *rows.counts) for rows in PLANTINGS), strict=True):
        assert len({mark.what for mark in marks}) == 1
        for mark in marks if marks[0].kind is not Kind.TEXT else ():
            others = [other.value for other in marks if other != mark]
            assert len(others) == len(PLANTINGS) - 1
            assert Scanner([mark]).search([others, repr(others)]) == []


@pytest.mark.parametrize("written", TEXTS)
def test_marked_text_is_found(written):
    assert found(TEXTS[written]) == {CATEGORY}


@pytest.mark.parametrize("written", NUMBERS)
def test_a_marked_number_is_found(written):
    assert found(NUMBERS[written]) == {AGE}


@pytest.mark.parametrize("written", WRITTEN_COUNTS)
def test_an_exact_count_is_found(written):
    assert found(WRITTEN_COUNTS[written]) == {N_ROWS}


@pytest.mark.parametrize("written", SHARES)
def test_an_exact_share_is_found(written):
    assert found(SHARES[written]) == {SHARE}


@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: mark.what)
def test_every_mark_is_found_by_every_plain_form_of_it(mark):
    plain = [needle.form for needle in needles(mark) if isinstance(needle.form, bytes)]
    assert plain
    for form in plain:
        assert mark.value in found(b"..." + form + b"...")


def test_what_is_packed_is_taken_out(tmp_path):
    text = f"nothing here, and then {CATEGORY}"
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.gz", gzip.compress(text.encode()))
    book = sqlite3.connect(tmp_path / "a.db")
    with book:
        book.execute("create table t (body blob)")
        book.execute("insert into t values (?)", [gzip.compress(text.encode())])
    book.close()
    pq.write_table(pa.table({"x": [text] * 3}), tmp_path / "a.parquet", compression="zstd")
    (tmp_path / "a.html").write_text(f"<script>{base64.b64encode(gzip.compress(text.encode())).decode()}</script>")
    (tmp_path / "a.pickle").write_bytes(pickle.dumps({"deep": [gzip.compress(text.encode())]}))
    with (
        pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file,
        pa.ipc.new_file(file, pa.schema({"x": "string"})) as writer,
    ):
        writer.write_table(pa.table({"x": [text]}))
    for path in tmp_path.iterdir():
        assert found(path) == {CATEGORY}, path.name
    assert found(tmp_path) == {CATEGORY}


@dataclass
class Holder:
    kept: object


class Slotted:
    __slots__ = ("kept",)

    def __init__(self, kept):
        self.kept = kept


@pytest.mark.parametrize(
    "thing",
    [
        Holder(Slotted([{"a": (np.array([CATEGORY], dtype=object),)}])),
        Holder(pd.DataFrame({"x": [1]}, index=[CATEGORY])),
        Holder(pd.DataFrame({"x": [CATEGORY]})),
        Holder(pa.table({"x": [CATEGORY]})),
        ValueError(CATEGORY),
        UnicodeDecodeError("utf-8", CATEGORY.encode(), 0, 1, "no"),
        {CATEGORY: 1},
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_objects_are_searched_part_by_part(thing):
    assert CATEGORY in found(thing)


def test_objects_that_hold_themselves_come_to_an_end():
    circle = Holder(None)
    circle.kept = [circle, CATEGORY]
    assert found(circle) == {CATEGORY}


class MadeAnew:
    """Makes its parts when it is asked for them, so that they are gone after the search of it."""

    __slots__ = ("texts",)

    def __init__(self, texts):
        self.texts = tuple(texts)

    def to_pylist(self):
        return [{"text": text} for text in self.texts]


def test_parts_that_are_made_anew_are_all_searched():
    made = [MadeAnew(["plain"]) for _ in range(50)]
    assert found([*made, MadeAnew([CATEGORY]), *made]) == {CATEGORY}


def test_a_file_name_is_searched_too(tmp_path):
    (tmp_path / "zyx-note-ø<&>.txt").write_text("nothing")
    assert found(tmp_path) == {"zyx-note-ø<&>"}


def test_other_numbers_and_words_are_no_findings():
    others = ["17919 79190 7919a 7.9191 a7919", "0.7919", "73519", "73519.13", "zyx", b"\x1f\x8bno gzip"]
    assert SCANNER.search([*others, np.arange(500), 0.569, {"7920": 7920}]) == []
