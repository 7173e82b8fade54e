"""Damage that knows nothing of a file's format: bytes flipped, cut, put in, moved, taken from another file."""

import re

from tests.hostile.choices import Choices
from tests.hostile.seeds import Seed

_LONGEST_COPY = 256
_DIGITS = re.compile(rb"[0-9]")
_STRANGE = (
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\r\n",
    b'"',
    b"\\u0000",
    b"\x1f\x8b",
    b"PAR1",
    b"-",
    b"1e999",
    b"[" * 999,
)


def damaged_bytes(content: bytes, others: list[Seed], choices: Choices) -> bytes:
    """Return ``content`` damaged once to four times."""
    for _ in range(1 + choices.below(4)):
        content = choices.pick(_DAMAGES)(content, others, choices)
    return content


def _flipped(content: bytes, others: list[Seed], choices: Choices) -> bytes:
    at = choices.below(len(content) + 1)
    changed = bytes([content[at] ^ (1 << choices.below(8))]) if at < len(content) else b""
    return content[:at] + changed + content[at + 1 :]


def _replaced(content: bytes, others: list[Seed], choices: Choices) -> bytes:
    at = choices.below(len(content) + 1)
    return content[:at] + choices.taken(1) + content[at + 1 :]


def _other_digit(content: bytes, others: list[Seed], choices: Choices) -> bytes:
    """Text stays text: most of what comes out is still parsed."""
    start = choices.below(len(content) + 1)
    found = _DIGITS.search(content, start) or _DIGITS.search(content)
    if found is None:
        return content
    return content[: found.start()] + choices.pick([b"0", b"1", b"9", b"-", b"7", b"99999"]) + content[found.end() :]


def _cut(content: bytes, others: list[Seed], choices: Choices) -> bytes:
    return content[: choices.below(len(content) + 1)]


def _removed(content: bytes, others: list[Seed], choices: Choices) -> bytes:
    at = choices.below(len(content) + 1)
    return content[:at] + content[at + 1 + choices.below(16) :]


def _inserted(content: bytes, others: list[Seed], choices: Choices) -> bytes:
    at = choices.below(len(content) + 1)
    return content[:at] + choices.pick(_STRANGE) + content[at:]


def _repeated(content: bytes, others: list[Seed], choices: Choices) -> bytes:
    at = choices.below(len(content) + 1)
    piece = content[at : at + 1 + choices.below(_LONGEST_COPY)]
    return content[:at] + piece * (1 + choices.below(20)) + content[at:]


def _spliced(content: bytes, others: list[Seed], choices: Choices) -> bytes:
    """Return the beginning of this file and the end of another one."""
    other = choices.pick(others).content
    return content[: choices.below(len(content) + 1)] + other[choices.below(len(other) + 1) :]


def _swapped(content: bytes, others: list[Seed], choices: Choices) -> bytes:
    """Return a file of another kind under this one's name."""
    return choices.pick(others).content if choices.chance(0.1) else _flipped(content, others, choices)


_DAMAGES = (
    _flipped, _replaced, _other_digit, _other_digit, _other_digit, _cut, _removed, _inserted, _repeated, _spliced,
    _swapped,
)  # fmt: skip
