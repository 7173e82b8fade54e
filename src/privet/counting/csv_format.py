"""How the CSV files of this command are written: what separates fields, the decimal mark, the encoding.

Files are named in many places and opened in one, so the format is that of the process. Parts of a file that are counted
elsewhere carry it along.
"""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from privet.errors import ParameterError

_NAMES = {"tab": "\t", "\\t": "\t"}


@dataclass(frozen=True)
class CsvFormat:
    """How a CSV is written.

    Parameters
    ----------
    sep : str
        What separates fields: one character, or "tab".
    decimal : str
        The decimal mark, "." or ",".
    encoding : str
        Of the text, as Python names it, such as "latin-1".
    """

    sep: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sep", _NAMES.get(self.sep, self.sep))
        if len(self.sep) != 1 or not self.sep.isascii() or self.sep in '"\r\n.' or self.sep.isalnum():
            raise ParameterError(
                f"--sep {self.sep!r} must be one character that is in no number or word, such as ';', '|' or tab"
            )
        if self.decimal not in (".", ","):
            raise ParameterError(f"--decimal {self.decimal!r} must be '.' or ','")
        if self.decimal == self.sep:
            raise ParameterError(
                "--decimal and --sep are the same mark; say what separates the fields, such as --sep ';'"
            )
        try:
            "".encode(self.encoding)
        except (LookupError, ValueError):  # not known, or no encoding of text
            raise ParameterError(
                f"--encoding {self.encoding!r} is not known; choose one that Python knows, such as latin-1 or cp1252"
            ) from None

    @property
    def is_utf8(self) -> bool:
        """Whether the text is UTF-8, with or without a byte order mark."""
        return codecs.lookup(self.encoding).name in {"utf-8", "utf-8-sig", "ascii"}

    @property
    def arrow_encoding(self) -> str:
        """The encoding as Arrow names it, which reads UTF-8 without a detour."""
        return "utf8" if self.is_utf8 else self.encoding


_of_process = CsvFormat()


def format_of_process() -> CsvFormat:
    """Return the format of this process."""
    return _of_process


@contextmanager
def reading_csv(chosen: CsvFormat) -> Iterator[None]:
    """Read CSV files in this format for a while, in all threads."""
    global _of_process
    before, _of_process = _of_process, chosen
    try:
        yield
    finally:
        _of_process = before
