"""Who is the same person: one rule for every table, whatever it is kept in.

A person goes by a text or a whole number, and a whole number goes by its digits: 1, 1.0 and "1" are one person. Other
spellings of what may be one name, such as "01", " 1" or "Ann" beside "ann", are neither merged nor told apart: a person
taken for two would be counted twice, and two taken for one would share the rows that one may have. Where two of them
occur the column is refused. Errors name the column, never a person.
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

# What programs write where there is nobody; all rows of such a name would share one person's bound.
_NOBODY = {"", "na", "n/a", "#n/a", "<na>", "nan", "nat", "none", "null"}
# Spaces to drop, anything but ASCII, and numbers that are not spelled as a whole number is: the few texts to look into.
_ODD = (
    r"^\s|\s$|\s\s|[^ -~]|^['\"]|['\"]$|[0-9],[0-9]"
    r"|^[+][0-9.]|^-?0[0-9]*$|^-?[0-9]*[.][0-9]*(?:e[+-]?[0-9]+)?$|^-?[0-9]+e[+-]?[0-9]+$"
)
# Characters that show nothing and are no format characters (Unicode's default ignorables, and an empty Braille cell).
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\ufe00-\ufe0f\uffa0]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?")


class Persons:
    """Numbers persons in the order in which they are met, column after column; memory grows with the persons."""

    def __init__(self, column: str) -> None:
        self.column = column
        self._numbers: dict[str, int] = {}
        self._names: dict[str, str] = {}  # by what spellings of one name have in common

    @property
    def names(self) -> list[str]:
        """The persons' names, by number."""
        return list(self._numbers)

    @property
    def alike(self) -> list[str]:
        """What other spellings of the persons' names would have in common with them, by number."""
        return list(self._names or self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def numbered(self, exact_persons: Any) -> NDArray[np.int64]:
        """Return a number for every row, the same for the rows of a person."""
        import pyarrow as pa

        column = as_arrow(exact_persons, self.column)
        if isinstance(column, pa.ChunkedArray):
            parts = [self.numbered(chunk) for chunk in column.chunks]
            return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
        check_person_type(column.type, self.column)
        column = without_view(without_dictionary(column))
        if pa.types.is_decimal(column.type):  # which Arrow does not look up in all widths
            column = column.cast(pa.large_string())
        if column.null_count:
            raise DataError(self._missing)
        encoded = column.dictionary_encode()
        numbers = np.array(self._numbers_of(encoded.dictionary), dtype=np.int64)
        return numbers[np.asarray(encoded.indices, dtype=np.int64)]

    @property
    def _missing(self) -> str:
        return f"column {self.column!r} has missing values, and a row must be somebody's; drop those rows"

    def _numbers_of(self, distinct: Any) -> list[int]:
        """Return the number of each of these values, a new one for a person who is new."""
        import pyarrow as pa

        if pa.types.is_null(distinct.type):
            return []
        if arrow_kind(distinct.type) == "text":
            names, alike = self._texts(distinct)
        else:
            names = alike = self._whole(distinct).cast(pa.string()).to_pylist()
        self._check_spelled_once(names, alike)
        return [self._numbers.setdefault(name, len(self._numbers)) for name in names]

    def _check_spelled_once(self, names: list[str], alike: list[str]) -> None:
        if not self._names and names == alike:
            return  # as long as all names are plain, equal ones are one person and others are not
        self._names = self._names or {name: name for name in self._numbers}
        if [self._names.setdefault(common, name) for common, name in zip(alike, names, strict=True)] != names:
            raise DataError(
                f"column {self.column!r} spells what may be one person in two ways, such as 1 and 01, or with other "
                "spaces or letter case; write each person's name in one way everywhere"
            )

    def _whole(self, distinct: Any) -> Any:
        """Return numbers as whole ones, or refuse those that are not, and floats that may stand for two."""
        import pyarrow as pa

        if not pa.types.is_floating(distinct.type):
            return distinct
        numbers = distinct.to_numpy(zero_copy_only=False)
        if np.isnan(numbers).any():
            raise DataError(self._missing)
        exact = np.abs(numbers) < 2.0 ** (np.finfo(numbers.dtype).nmant + 1)
        if not (exact & (numbers == np.trunc(numbers))).all():
            raise DataError(
                f"column {self.column!r} holds numbers with decimals, or too long to be exact, and persons are told "
                "apart by text or whole numbers; convert it where it comes from"
            )
        return pa.array(numbers.astype(np.int64))

    def _texts(self, distinct: Any) -> tuple[list[str], list[str]]:
        """Return texts, and what spellings of one name have in common."""
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            lower = pc.utf8_lower(distinct)
            names, alike = distinct.to_pylist(), lower.to_pylist()
        except (pa.ArrowInvalid, UnicodeDecodeError):  # they would quote bytes
            raise DataError(f"column {self.column!r} holds text that is not UTF-8; save it as UTF-8") from None
        for i in np.flatnonzero(pc.match_substring_regex(lower, _ODD)).tolist():
            # A CSV's "\r\n" may be read as "\r", depending on the rows before it.
            if "\r" in alike[i]:
                raise DataError(
                    f"column {self.column!r} has a value with a carriage return; give persons plainer names"
                )
            alike[i] = _in_one_way(alike[i])
        if not _NOBODY.isdisjoint(alike):
            raise DataError(f"{self._missing}; text such as NaN, NA or NULL is taken for a missing value too")
        return names, alike


def distinct_names(column: Any, name: str) -> list[str]:
    """Return each person's name, and refuse a column in which one is there twice."""
    persons = Persons(name)
    if len(persons.numbered(column)) > len(persons):
        raise DataError(f"column {name!r} holds the same person twice; give each person one row")
    return persons.names


def check_person_type(arrow_type: Any, column: str) -> None:
    """Refuse a type by which persons cannot be matched from table to table, before a row is read."""
    import pyarrow as pa

    if pa.types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    kind = arrow_kind(arrow_type)
    if pa.types.is_decimal(arrow_type) and arrow_type.scale != 0:
        kind = "numbers with decimals"
    if kind not in {"text", "numbers", "nothing"}:
        raise DataError(
            f"column {column!r} holds {kind}, and persons are told apart by text or whole numbers; convert it to text"
        )


def _in_one_way(text: str) -> str:
    """Return what spellings have in common: letters without case or form, single spaces, a number's own digits."""
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
