"""The forms in which a mark may be written: each a pattern of bytes, with the name of the encoding."""

import base64
import html
import json
import re
import struct
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote

from tests.leaks.marks import Kind, Mark

# As text, a number is told by its first digits, wherever points and commas stand: a few may be another's, many not.
_FEW_DIGITS, _MANY_DIGITS = 7, 11
_SHARE_DIGITS = 5


class Needle(NamedTuple):
    """One form of a mark: bytes as they stand, or a pattern that holds one of some bytes; and whether it is sure.

    A sure one is met by accident at less than one in 2**36 of the places where a number or a text begins.
    """

    encoding: str
    form: bytes | re.Pattern[bytes]
    holds: tuple[bytes, ...] = (b"",)
    sure: bool = False

    def is_in(self, data: bytes) -> bool:
        """Return whether the form occurs."""
        if isinstance(self.form, bytes):
            return self.form in data
        # Bytes are found far quicker than patterns.
        return any(own in data for own in self.holds) and self.form.search(data) is not None


@cache
def needles(mark: Mark) -> tuple[Needle, ...]:
    """Return every form of a mark."""
    forms = {Kind.TEXT: _texts, Kind.NUMBER: _numbers, Kind.COUNT: _counts, Kind.SHARE: _shares}[mark.kind]
    return tuple(dict.fromkeys(Needle(*named) for named in forms(mark.value)))


def _texts(text: str) -> Iterator[tuple[Any, ...]]:
    plain = {
        "utf-8": text.encode(),
        "utf-16, little endian": text.encode("utf-16-le"),
        "utf-16, big endian": text.encode("utf-16-be"),
        "latin-1": text.encode("latin-1"),
        "JSON": json.dumps(text)[1:-1].encode(),
        "repr in ASCII": ascii(text)[1:-1].encode(),
        "HTML": html.escape(text).encode(),
        "HTML in ASCII": html.escape(text).encode("ascii", "xmlcharrefreplace"),
        "address": quote(text).encode(),
        "address, slashes too": quote(text, safe="").encode(),
        "hexadecimal": text.encode().hex().encode(),
    }
    for name, form in (*plain.items(), *_in_base64(text.encode())):
        yield name, form, (b"",), True


def _in_base64(data: bytes) -> Iterator[tuple[Any, ...]]:
    """Yield the part of base64 that is the same whatever stands before and after, for each of three alignments."""
    for skipped in range(3):
        coded = base64.b64encode(b"\0" * skipped + data).rstrip(b"=")
        first = -(-skipped * 8 // 6)
        last = len(coded) - (1 if (skipped + len(data)) % 3 else 0)
        yield "base64", coded[first:last]
        yield "base64 for addresses", coded[first:last].translate(bytes.maketrans(b"+/", b"-_"))


def _numbers(number: float) -> Iterator[tuple[Any, ...]]:
    digits = f"{number:.15e}".replace(".", "").encode()
    # Between the second digit and the third there is nothing, or what groups thousands.
    holds = tuple(digits[1:2] + own for own in (digits[2:3], b",", b"_", b" ", b"."))
    for length, name in {_FEW_DIGITS: "digits", _MANY_DIGITS: "many digits"}.items():
        # 73519.02, 73,519.02, 7.351902e+04 and 73 519,02 are the same digits.
        pattern = rb"(?<![0-9])" + rb"[.,_ ]?".join(bytes([digit]) for digit in digits[:length])
        yield name, re.compile(pattern), holds, length == _MANY_DIGITS
    yield "hexadecimal float", number.hex().removeprefix("0x1.")[:12].encode(), (b"",), True
    for layout, name in {"<d": "float64, little endian", ">d": "float64, big endian"}.items():
        packed = struct.pack(layout, number)
        yield name, packed, (b"",), True
        yield f"{name}, in hexadecimal", packed.hex().encode(), (b"",), True
    yield "float32, little endian", struct.pack("<f", number)
    yield "float32, big endian", struct.pack(">f", number)


def _counts(count: int) -> Iterator[tuple[Any, ...]]:
    thousands, rest = divmod(count, 1_000)
    grouped = [f"{thousands}{mark}{rest:03d}" for mark in ("", ",", "_", " ", "'", ".")]
    written = rf"(?:{'|'.join(map(re.escape, grouped))})(?:\.0+)?"
    before, after = rb"(?<![0-9A-Za-z.,_+/-])", rb"(?![0-9A-Za-z_+/]|[.,][0-9])"
    yield "digits", re.compile(before + written.encode() + after), tuple(own.encode() for own in grouped)
    mantissa = f"{count / 1_000:.3f}".rstrip("0")
    exponent = rf"(?<![0-9]){re.escape(mantissa)}0*[eE]\+?0?3(?![0-9])"
    yield "digits with an exponent", re.compile(exponent.encode()), (mantissa.encode(),)
    yield "hexadecimal", re.compile(rf"0x0*{count:x}(?![0-9a-fA-F])".encode()), (b"0x",)
    for layout, name in {"<q": "int64, little endian", ">q": "int64, big endian"}.items():
        yield name, struct.pack(layout, count)
    # Alone in its place: four bytes inside a longer number are another number.
    alone = rb"(?<=\0)" + re.escape(struct.pack("<i", count)) + rb"(?!\0)"
    yield "int32, little endian", re.compile(alone, re.DOTALL), (struct.pack("<i", count),)
    for layout, name in {"<d": "float64, little endian", ">d": "float64, big endian"}.items():
        yield name, struct.pack(layout, float(count))


def _shares(share: float) -> Iterator[tuple[Any, ...]]:
    for places, number, name in ((_SHARE_DIGITS, share, "a share"), (_SHARE_DIGITS - 2, 100 * share, "per cent")):
        cut, rounded = f"{number:.12f}"[: f"{number:.12f}".index(".") + 1 + places], f"{number:.{places}f}"
        for form in sorted({cut, rounded}):
            yield name, re.compile(rb"(?<![0-9.])" + re.escape(form).encode()), (form.encode(),)
    yield "float64, little endian", struct.pack("<d", share)
    yield "float64, big endian", struct.pack(">d", share)
