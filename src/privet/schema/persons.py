"""Who is the same person: one rule for every table and file format.

A person is identified by a text or a whole number. A whole number is identified by its digits: 1, 1.0 and "1" are one
person. Other spellings of what may be one name, such as "01", " 1" or "Ann" beside "ann", are neither merged nor
separated. If one person were treated as two, their rows would count twice. If two were treated as one, they would share
one person's limit of rows. So a column with two such spellings is refused. Errors name the column, never a person.
"""

import re
import unicodedata
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.checks import look_of
from privet.errors import DataError
from privet.schema.encoding import arrow_kind, without_dictionary, without_view
from privet.schema.table import as_arrow

# What programs write for a missing value. All rows with such a name would share one person's bound.
_NOBODY = {"", "na", "n/a", "#n/a", "<na>", "nan", "nat", "none", "null"}
# The few texts to examine: odd spaces or quotes, anything but ASCII, and numbers not written as plain whole numbers.
_ODD = (
    r"^\s|\s$|\s\s|[^ -~]|^['\"]|['\"]$|[0-9],[0-9]"
    r"|^[+][0-9.]|^-?0[0-9]*$|^-?[0-9]*[.][0-9]*(?:e[+-]?[0-9]+)?$|^-?[0-9]+e[+-]?[0-9]+$"
)
# Invisible characters that are not format characters (Unicode's default ignorables, and an empty Braille cell).
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\ufe00-\ufe0f\uffa0]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?")


class Persons:
    """Numbers persons in order of appearance, column after column. Memory grows with the number of persons."""

    def __init__(self, column: str) -> None:
        self.column = column
        self._numbers: dict[str, int] = {}
        self._names: dict[str, str] = {}  # by the common form of all spellings of a name

    @property
    def names(self) -> list[str]:
        """The persons' names, by number."""
        return list(self._numbers)

    @property
    def common_forms(self) -> list[str]:
        """The common forms of the persons' names, by number."""
        return list(self._names or self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def number_rows(self, exact_persons: Any) -> NDArray[np.int64]:
        """Return a number for every row, the same for the rows of a person."""
        import pyarrow as pa

        column = as_arrow(exact_persons, self.column)
        if isinstance(column, pa.ChunkedArray):
            parts = [self.number_rows(chunk) for chunk in column.chunks]
            return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
        check_person_type(column.type, self.column)
        column = without_view(without_dictionary(column))
        if pa.types.is_decimal(column.type):  # Arrow cannot encode every width as a dictionary
            column = column.cast(pa.large_string())
        if column.null_count:
            raise DataError(self._missing)
        encoded = column.dictionary_encode()
        numbers = np.array(self._numbers_of(encoded.dictionary), dtype=np.int64)
        return numbers[np.asarray(encoded.indices, dtype=np.int64)]

    @property
    def _missing(self) -> str:
        return f"column {self.column!r} has missing values, and every row must belong to a person; drop those rows"

    def _numbers_of(self, distinct: Any) -> list[int]:
        """Return the number of each of these values, and a new number for a new person."""
        import pyarrow as pa

        if pa.types.is_null(distinct.type):
            return []
        if arrow_kind(distinct.type) == "text":
            names, alike = self._texts(distinct)
        else:
            names = alike = self._whole(distinct).cast(pa.string()).to_pylist()
        self._check_one_spelling(names, alike)
        return [self._numbers.setdefault(name, len(self._numbers)) for name in names]

    def _check_one_spelling(self, names: list[str], alike: list[str]) -> None:
        if not self._names and names == alike:
            return  # while all names are plain, two names are one person exactly if they are equal
        self._names = self._names or {name: name for name in self._numbers}
        if [self._names.setdefault(common, name) for common, name in zip(alike, names, strict=True)] != names:
            raise DataError(
                f"column {self.column!r} spells what may be one person in two ways, such as 1 and 01, or with "
                "different spaces or letter case; write each person's name in one way everywhere"
            )

    def _whole(self, distinct: Any) -> Any:
        """Return whole numbers, or refuse fractions and floats so large that they may stand for two numbers."""
        import pyarrow as pa

        if not pa.types.is_floating(distinct.type):
            return distinct
        numbers = distinct.to_numpy(zero_copy_only=False)
        if np.isnan(numbers).any():
            raise DataError(self._missing)
        exact = np.abs(numbers) < 2.0 ** (np.finfo(numbers.dtype).nmant + 1)
        if not (exact & (numbers == np.trunc(numbers))).all():
            raise DataError(
                f"column {self.column!r} holds numbers with decimals, or too long to be exact, and persons are "
                "identified by text or whole numbers; convert it at its source"
            )
        return pa.array(numbers.astype(np.int64))

    def _texts(self, distinct: Any) -> tuple[list[str], list[str]]:
        """Return the texts, and the common form of all spellings of each."""
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            lower = pc.utf8_lower(distinct)
            names, alike = distinct.to_pylist(), lower.to_pylist()
        except (pa.ArrowInvalid, UnicodeDecodeError):  # these errors quote bytes
            raise DataError(f"column {self.column!r} holds text that is not UTF-8; save it as UTF-8") from None
        for i in np.flatnonzero(pc.match_substring_regex(lower, _ODD)).tolist():
            # "\r\n" in a CSV may be read as "\r", depending on the rows before it.
            if "\r" in alike[i]:
                raise DataError(
                    f"column {self.column!r} has a value with a carriage return; give persons plainer names"
                )
            alike[i] = _common_form(alike[i])
        if not _NOBODY.isdisjoint(alike):
            raise DataError(f"{self._missing}; text such as NaN, NA or NULL counts as missing too")
        return names, alike


def distinct_names(column: Any, name: str) -> list[str]:
    """Return each person's name; refuse a column with a person in it twice."""
    persons = Persons(name)
    if len(persons.number_rows(column)) > len(persons):
        raise DataError(f"column {name!r} holds the same person twice; give each person one row")
    return persons.names


def check_person_type(arrow_type: Any, column: str) -> None:
    """Refuse a type that cannot identify persons across tables, before a row is read."""
    import pyarrow as pa

    if pa.types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    kind = arrow_kind(arrow_type)
    if pa.types.is_decimal(arrow_type) and arrow_type.scale != 0:
        kind = "numbers with decimals"
    if kind not in {"text", "numbers", "nothing"}:
        raise DataError(
            f"column {column!r} holds {kind}, and persons are identified by text or whole numbers; convert it to text"
        )


def _common_form(text: str) -> str:
    """Return the common form of all spellings: letters without case or form, single spaces, plain digits."""
    if text.isascii() and text.isdigit():
        return text.lstrip("0") or "0"
    letters = _UNSEEN.sub("", look_of(text))
    plain = " ".join("".join(c for c in letters if unicodedata.category(c) not in {"Cf", "Cc"} or c.isspace()).split())
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", plain.strip("'\""))
    if not _NUMBER.fullmatch(plain):
        return plain
    number = Decimal(plain)
    if not number:
        return "0"
    digits = f"{number:f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
