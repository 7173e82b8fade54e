"""JSON documents from strangers: read within bounds, or refused before they cost memory or time."""

import json
import os
import re
from pathlib import Path
from typing import Any, BinaryIO

# Longer ones are refused before they are parsed: models and what parties send; then what people write or keep.
MAX_BYTES, MAX_SHORT_BYTES = 2**29, 2**27
# Parsed, a list or an object takes fifty times its bytes; what privet writes has few of them.
_MAX_NESTS, _MAX_VALUES = 10**6, 2**26
# Far above what privet writes, and far below where Python's own calls run out.
_MAX_DEPTH = 200
_CHUNK = 2**20
# Possessive, so that it takes linear time; a text that never ends, which is not JSON, is all of the rest.
_TEXTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class TooLarge(ValueError):
    """More bytes or parts than any document that privet writes."""


def open_for_reading(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading; a pipe that nobody writes to reads as empty, and is not waited for."""
    return Path(path).open("rb") if os.name != "posix" else open(path, "rb", opener=_without_waiting)


def read_bounded(file: BinaryIO, most: int = MAX_BYTES) -> bytes:
    """Return the file's content, unless it is more than ``most`` bytes: a device or an archive may have no end."""
    data = bytearray()
    while chunk := file.read(_CHUNK):
        data += chunk
        if len(data) > most:
            raise TooLarge
    return bytes(data)


def read_json(path: str | os.PathLike[str]) -> Any:
    """Return the document in a file, or raise OSError or ValueError."""
    with open_for_reading(path) as file:
        return parse_json(read_bounded(file, MAX_SHORT_BYTES))


def parse_json(data: bytes) -> Any:
    """Return the JSON document in ``data``, which is UTF-8.

    ValueError is raised if it is not JSON, if an object has a key twice, which readers take differently, and if a text
    is half a surrogate pair, which cannot be written again.
    """
    nests = data.count(b"[") + data.count(b"{")
    if len(data) > MAX_BYTES or nests > _MAX_NESTS or data.count(b",") > _MAX_VALUES:
        raise TooLarge
    if nests > _MAX_DEPTH and _is_too_deep(data):
        raise ValueError
    document = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_without_repeats)
    if b"\\u" in data:
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    return document


def _without_waiting(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    return descriptor


def _is_too_deep(data: bytes) -> bool:
    """Return whether brackets outside of texts nest too deep."""
    depth = 0
    for bracket in _TEXTS.sub(b"", data).translate(None, _ALL_BUT_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        if depth > _MAX_DEPTH:
            return True
    return False


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError
    return document
