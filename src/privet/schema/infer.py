"""Reads a schema from the rows themselves: convenient, and a leak.

Domains that are read from rows can reveal a person (the one man aged 104), and no noise covers them. So every inferred
part is marked, and a model fitted with it says so. Remove a mark only where the domain is known from elsewhere.
"""

from typing import Any

import numpy as np

from privet.errors import DataError
from privet.schema.attribute import Attribute, Categorical
from privet.schema.days import Date, Day, days_of
from privet.schema.encoding import arrow_kind, numbers_of, without_dictionary
from privet.schema.labels import Label
from privet.schema.numeric import Numeric
from privet.schema.schema import Schema
from privet.schema.table import Column, as_arrow, as_matrix, column_names, columns_of


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
