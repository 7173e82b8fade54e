"""Dates: attributes of days with a declared first and last one, which trees take for whole numbers."""

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError, SchemaError
from privet.schema.numeric import Numeric

_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
# Days from the first of January of the year 1, which is 1, to that of 1970.
_BEFORE_1970 = date(1970, 1, 1).toordinal()
# A day, or a day and a time, of which only the day is read.
_TEXT_DAY = r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]*)?(?:Z|[+-][0-9:]*)?\s*$"


class Day(float):
    """The number of a day in the calendar, as Python counts them. A plain number is refused where a date is meant."""

    def __repr__(self) -> str:
        return repr(date.fromordinal(int(self)).isoformat())


@dataclass(frozen=True)
class Date(Numeric):
    """An attribute of dates between two public ones.

    Parameters
    ----------
    name : str
        The column's name.
    low, high : str or date
        The first and last date that is publicly known to be possible, such as "2020-01-01". Dates beyond them are
        clipped.
    bins, edges, inferred, never_missing, accepted
        As of `Numeric`; edges are dates too.

    Notes
    -----
    Inside, a date is a whole number of days. Tables have dates as text that begins like "2020-01-31", or as dates or
    times of pandas, polars, NumPy and Arrow. Of a time with a time zone, the day there counts.
    """

    low: Any
    high: Any

    kind: ClassVar[str] = "date"

    def __post_init__(self) -> None:
        if self.scale != "linear":
            raise SchemaError(f"attribute {self.name!r}: dates have no log scale; leave scale out")
        object.__setattr__(self, "whole", True)
        super().__post_init__()
        object.__setattr__(self, "low", Day(self.low))
        object.__setattr__(self, "high", Day(self.high))

    def written(self, number: float) -> str:
        """Return a day as text."""
        return date.fromordinal(int(number)).isoformat()

    def domain_json(self) -> dict[str, Any]:
        """Return the bounds, bins and edges as plain JSON values."""
        data = super().domain_json()
        days = {key for key in ("bounds", "edges") if key in data}
        return {key: [self.written(day) for day in own] if key in days else own for key, own in data.items()}

    def _finite(self, value: object, which: str) -> float:
        if isinstance(value, np.datetime64):
            value = value.astype("datetime64[D]").item()
        if isinstance(value, datetime):
            value = value.date()
        if isinstance(value, date):
            return float(value.toordinal())
        if isinstance(value, Day) or (which == "every edge" and isinstance(value, float)):
            return float(value)
        try:
            if isinstance(value, str) and _ISO_DAY.fullmatch(value):
                return float(date.fromisoformat(value).toordinal())
        except ValueError:
            pass
        raise SchemaError(f'attribute {self.name!r}: {which} must be a date; write it like "2026-11-19"')


def days_of(column: Any, name: str) -> NDArray[np.float64]:
    """Return the number of each day in an Arrow column, NaN where null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from privet.schema.encoding import arrow_kind, without_dictionary

    column = without_dictionary(column)
    try:
        if arrow_kind(column.type) == "text":
            column = _parsed(column, name)
        elif pa.types.is_timestamp(column.type):
            column = (pc.local_timestamp(column) if column.type.tz else column).cast(pa.date32(), safe=False)
    except pa.ArrowException:  # it quotes a value
        raise _no_dates(name, "text that is no date") from None
    if not (pa.types.is_date(column.type) or pa.types.is_null(column.type)):
        raise _no_dates(name, arrow_kind(column.type))
    days = column.cast(pa.date32()).cast(pa.int32()).cast(pa.float64())
    numbers: NDArray[np.float64] = days.to_numpy(zero_copy_only=False) + _BEFORE_1970
    return numbers


def _parsed(column: Any, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.cast(pa.large_string())
    text = pc.if_else(pc.equal(pc.utf8_trim_whitespace(text), ""), None, text)
    if not pc.all(pc.match_substring_regex(text, _TEXT_DAY)).as_py() and pc.any(pc.is_valid(text)).as_py():
        raise _no_dates(name, "text that is no date")
    return pc.utf8_slice_codeunits(pc.utf8_trim_whitespace(text), 0, 10).cast(pa.date32())


def _no_dates(name: str, what: str) -> DataError:
    return DataError(
        f"column {name!r} holds {what}, but the schema calls it a date; write dates like 2026-11-19, or leave them "
        "empty where a value may be missing"
    )
