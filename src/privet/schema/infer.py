"""Reads a schema from the rows themselves: convenient, and a leak.

Domains that are read from rows can reveal a person (the one man aged 104), and no noise covers them. So every inferred
part is marked, and a model fitted with it says so. Remove a mark only where the domain is known from elsewhere.

A draft proposes kinds and round bounds: a few whole numbers are drafted as categories, others as whole numbers, and
dates from the first to the last day of years.
"""

import math
import re
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np

from privet.errors import DataError
from privet.schema.attribute import Attribute, Categorical
from privet.schema.days import Date, Day, days_of
from privet.schema.encoding import arrow_kind, numbers_of, without_dictionary
from privet.schema.labels import Label
from privet.schema.numeric import Numeric
from privet.schema.schema import Schema
from privet.schema.table import Column, as_arrow, as_matrix, check_present, column_names, columns_of

# More distinct texts than this look like names or free text; no domain of that kind is publicly known.
MANY_VALUES = 1_000
# Below it, a text column of a small table may have a new value in every row without being an identifier.
FEW_VALUES = 20
# Up to so many whole numbers are drafted as categories: flags, grades, answers on a scale of five.
FEW_NUMBERS = 5
# In a table of few rows any number is one of few.
_ROWS_A_VALUE = 4
# Up to so many are proposed as categories in a review.
MOST_PROPOSED = 12
# Not the form that CSVs are read with: 31.12.2025, 12/31/25, 2025/12/31; a time of day may follow.
_OTHER_DATE = re.compile(r"(?:\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./]\d{1,2}[./]\d{1,2})(?: [\d:]+)?")
_DECIMAL_COMMA = re.compile(r"\s*-?\d+,\d+\s*")


def infer_schema(
    table: Any, labels: Any, *, target: str = "class", unit: str | None = None, is_number: bool = False
) -> Schema:
    """Return a schema with the domains that occur in ``table`` and ``labels``, each marked as inferred.

    The column ``unit`` identifies people and is not an attribute. With ``is_number`` the target has bounds, no classes.
    """
    found = column_names(table)
    names = found if found is not None else [f"x{j}" for j in range(as_matrix(table).shape[1])]
    names = [name for name in names if name != unit]
    columns = columns_of(table, names, unit=unit)
    attributes = [infer_attribute(name, column) for name, column in zip(names, columns, strict=True)]
    if is_number:
        return Schema(attributes, target=Numeric(target, *bounds_in(as_arrow(labels, target), target), inferred=True))
    return Schema(attributes, classes=distinct_labels(labels, target), target=target, classes_inferred=True)


def infer_attribute(name: str, column: Column) -> Attribute:
    """Return an attribute with the domain that occurs in a column, marked as inferred."""
    if not isinstance(name, str):
        raise DataError("some column names are text and some are not; rename the columns so that all are text")
    kind = "numbers" if isinstance(column, np.ndarray) and column.dtype.kind in "iuf" else None
    kind = kind or arrow_kind(as_arrow(column, name).type)
    if kind in {"text", "true/false"}:
        return Categorical(name, distinct_labels(column, name), inferred=True)
    if kind.startswith(("values of type date", "values of type timestamp")):
        return _dates(column, name)
    low, high = bounds_in(column, name)
    return Numeric(name, low, high, inferred=True)


def _dates(column: Column, name: str) -> Date:
    days = days_of(as_arrow(column, name), name)
    known = days[~np.isnan(days)]
    if not len(known):
        raise DataError(f"column {name!r} has no date; leave it out, or declare its first and last date")
    low, high = (Day(day) for day in (known.min(), known.max()))
    return Date(name, low, high if low < high else Day(high + 1), inferred=True)


def bounds_in(column: Column, name: str) -> tuple[float, float]:
    """Return a range that holds the numbers of a column."""
    numbers = np.asarray(numbers_of(column, name), dtype=np.float64)
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    # A constant column also needs a range that can be cut into cells, at any magnitude.
    return (low, high) if _can_be_cut(low, high) else (low - max(1.0, abs(low)), high + max(1.0, abs(high)))


def _can_be_cut(low: float, high: float) -> bool:
    return high - low > 1e-9 * max(abs(low), abs(high), np.finfo(np.float64).tiny)


def distinct_values(column: Column, name: str) -> list[Any]:
    """Return the distinct values of a column, missing ones left out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = without_dictionary(as_arrow(column, name))
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    try:
        values = pc.unique(column).to_pylist()
    except pa.ArrowException:
        raise DataError(
            f"column {name!r} holds {arrow_kind(column.type)}, which cannot be compared; convert it"
        ) from None
    except UnicodeDecodeError:  # it quotes the bytes
        raise DataError(f"column {name!r} holds text that is not UTF-8; save it as UTF-8") from None
    return [value for value in values if value is not None and value == value]


def distinct_labels(column: Column, name: str) -> list[Label]:
    """Return the distinct texts, numbers or truths of a column, sorted."""
    known = distinct_values(column, name)
    if not all(isinstance(value, (str, int, float, bool)) for value in known):
        raise DataError(f"column {name!r} holds values that are neither text nor numbers; convert it")
    # Sorted, so that the result does not reveal the order of the rows.
    return sorted(known)


@dataclass(frozen=True)
class Draft:
    """A schema as the rows suggest it, and why some columns are left out."""

    schema: Schema
    left_out: dict[str, str]


def draft_schema(table: Any, target: str, *, is_number: bool = False) -> Draft:
    """Return a schema that was read from an Arrow table, label included; ``is_number``: it has bounds, no classes."""
    reasons = {name: _why_left_out(name, table) for name in dict.fromkeys(table.column_names) if name != target}
    left_out = {name: why for name, why in reasons.items() if why is not None}
    labels = _only(table, target) if is_number else _labels(table, target)
    names = [name for name in reasons if name not in left_out]
    attributes = [_of_kind(infer_attribute(name, table.column(name)), table.column(name)) for name in names]
    if is_number:
        number = Numeric(target, *bounds_in(labels, target), inferred=True)
        return Draft(Schema(attributes, target=_round_bounds(number)), left_out)
    classes = distinct_labels(labels, target)
    return Draft(Schema(attributes, classes=classes, target=target, classes_inferred=True), left_out)


def few_numbers(column: Any, name: str, most: int) -> list[int] | None:
    """Return the whole numbers in a column if there are no others, and at most so many of them."""
    found = distinct_values(column, name)
    if not 2 <= len(found) <= most or not all(_is_integer(value) for value in found):
        return None
    return sorted(map(int, found))


def _is_integer(value: Any) -> bool:
    return not isinstance(value, str) and float(value).is_integer()


def wider(attribute: Numeric) -> Numeric:
    """Return an attribute with rounder bounds: 0 where the lower one is near it, and one digit of the range."""
    if isinstance(attribute, Date):
        return _years(attribute)
    low, high = attribute.low, attribute.high
    low = 0.0 if 0 < low <= high / 2 else _one_digit(low, high - low, ROUND_FLOOR)
    high = _one_digit(high, high - low, ROUND_CEILING)
    return replace(attribute, low=low, high=high)


def _of_kind(attribute: Attribute, column: Any) -> Attribute:
    if isinstance(attribute, Date):
        return _years(attribute)
    if not isinstance(attribute, Numeric):
        return attribute
    few = few_numbers(column, attribute.name, FEW_NUMBERS)
    if few is not None and len(column) >= _ROWS_A_VALUE * len(few):
        return Categorical(attribute.name, few, inferred=True)
    return _round_bounds(replace(attribute, whole=_is_whole(column)))


def _is_whole(column: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(column.type):
        return bool(abs(pc.max(column).as_py() or 0) < 2**52 and abs(pc.min(column).as_py() or 0) < 2**52)
    numbers = column.cast(pa.float64(), safe=False)
    exact = pc.and_(pc.equal(numbers, pc.floor(numbers)), pc.less(pc.abs(numbers), 2.0**52))
    return bool(pc.all(pc.fill_null(exact, True)).as_py()) and column.null_count < len(column)


def _why_left_out(name: str, table: Any) -> str | None:
    if not name:
        return "it has no name (the index of a data frame?); name it if it matters"
    column = _only(table, name)
    kind = arrow_kind(column.type)
    if kind == "nothing":
        return "it is empty"
    if kind.startswith(("values of type date", "values of type timestamp")):
        return None if column.null_count < len(column) else "it is empty"
    if kind not in {"text", "numbers", "true/false"}:
        return "it holds neither text, numbers nor dates; convert it"
    if kind != "text":
        return None
    found = distinct_values(column, name)
    if found and all(_DECIMAL_COMMA.fullmatch(text) for text in found):
        return "its numbers have a decimal comma; pass --decimal , and --sep as the file has it"
    if len(found) > FEW_VALUES and all(_OTHER_DATE.fullmatch(text) for text in found):
        return "its texts look like dates; to use it, write them as in 2025-12-31"
    if len(found) > min(MANY_VALUES, max(FEW_VALUES, len(column) // 2)):
        return "it has very many different texts, like an identifier or free text; group them if it matters"
    return None


def _labels(table: Any, target: str) -> Any:
    labels = _only(table, target)
    if len(distinct_values(labels, target)) > MANY_VALUES:
        raise DataError(
            f"column {target!r} has too many different values for classes; choose another with --target, or pass "
            "--number where it is a number to be predicted"
        )
    return labels


def _only(table: Any, name: str) -> Any:
    check_present(table.column_names, [name])
    return table.column(name)


def _years(attribute: Date) -> Date:
    first, last = (attribute.written(day)[:4] for day in (attribute.low, attribute.high))
    return replace(attribute, low=f"{first}-01-01", high=f"{last}-12-31")


def _round_bounds(attribute: Numeric) -> Numeric:
    low, high = Decimal(repr(attribute.low)), Decimal(repr(attribute.high))
    # Two significant digits of the range: the extremes themselves are somebody's values.
    digit = (high - low).adjusted() - 1
    return replace(attribute, low=_rounded(low, digit, ROUND_FLOOR), high=_rounded(high, digit, ROUND_CEILING))


def _one_digit(number: float, size: float, rounding: str) -> float:
    return _rounded(Decimal(repr(number)), math.floor(math.log10(size)), rounding)


def _rounded(number: Decimal, digit: int, rounding: str) -> float:
    return float(number.scaleb(-digit).to_integral_value(rounding).scaleb(digit))
