import json
import os
import threading

import pytest

from privet.files.documents import MAX_BYTES, TooLarge, open_for_reading, parse_json, read_bounded, read_json


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def test_a_document_is_read_as_it_is_written(tmp_path):
    (tmp_path / "d.json").write_text('{"name": "Zoë", "counts": [1, -2.5, null, true]}', encoding="utf-8")
    assert read_json(tmp_path / "d.json") == {"name": "Zoë", "counts": [1, -2.5, None, True]}


def test_a_mark_at_the_beginning_of_a_text_is_read_over():
    assert parse_json(b"\xef\xbb\xbf[5, 9]") == [5, 9]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[1",
        b"\xff\xfe[\x00]\x00",
        b'{"a": 1, "a": 2}',
        b'[{"b": {"a": 1, "a": 1}}]',
        b'["\\ud800"]',
        b'{"\\udfff": 1}',
        b"9" * 5_000,
        nested(201),
        nested(100_000),
        b'{"a":' * 100_000,
    ],
)
def test_what_is_no_document_is_a_value_error(data):
    with pytest.raises(ValueError):
        parse_json(data)


def test_a_pair_of_surrogates_is_a_character():
    assert parse_json(b'"\\ud83c\\udf33"') == "🌳"


def test_two_hundred_levels_are_read_and_brackets_in_texts_are_none():
    assert parse_json(nested(200)) == json.loads(nested(200))
    assert parse_json(json.dumps(["[{" * 500, '\\"[' * 500]).encode()) == ["[{" * 500, '\\"[' * 500]


@pytest.mark.parametrize(("piece", "n"), [(b"[],", 1_000_001), (b"1,", 2**26 + 1)])
def test_more_parts_than_privet_writes_are_not_parsed(piece, n):
    with pytest.raises(TooLarge):
        parse_json(b"[" + piece * n + b"1]")


class Endless:
    """A file that goes on for ever, and counts what was taken."""

    def __init__(self) -> None:
        self.taken = 0

    def read(self, n: int) -> bytes:
        self.taken += n
        return b"0" * n


@pytest.mark.parametrize("most", [2**21, MAX_BYTES // 8])
def test_a_file_without_end_is_read_to_the_bound_and_no_further(most):
    file = Endless()
    with pytest.raises(TooLarge):
        read_bounded(file, most)
    assert file.taken <= most + 2**20


def test_a_pipe_without_a_writer_reads_as_empty(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with open_for_reading(tmp_path / "pipe") as file:
        assert file.read() == b""


def test_a_pipe_with_a_writer_is_read_to_its_end(tmp_path):
    """As the shell hands over ``<(command)``: both ends are open, and what is written may come later."""
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb") as file:
            file.write(b'{"a": [1]}')

    with open_for_reading(f"/dev/fd/{reading}") as file:
        os.close(reading)
        later = threading.Timer(0.05, write)
        later.start()
        assert parse_json(read_bounded(file)) == {"a": [1]}
        later.join()


def test_a_folder_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="directory"):
        open_for_reading(tmp_path)


def test_a_text_that_never_ends_behind_many_brackets_is_refused_in_time_that_grows_with_it():
    # With a way back this would take hours: the test would not end.
    with pytest.raises(ValueError):
        parse_json(b"[" * 201 + b'"' + b'\\"' * 500_000)
