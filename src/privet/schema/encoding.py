"""Encoding: a table becomes one small record of codes per row, and labels become class codes.

A missing value, or one outside the domain, gets the attribute's `missing_code`. Where the schema declares an attribute
never missing, it is an error, unless the rows are to be predicted. Numbers are clipped to their bounds. A label must be
one of the schema's classes. A target that is a number is clipped to its bounds and becomes a whole number of steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError, SchemaError
from privet.schema.days import Date, days_of
from privet.schema.kernels import FEW_NUMBERS, encode_numbers, find_numbers
from privet.schema.labels import Label, as_kind_of, as_labels, label_kind
from privet.schema.numeric import Numeric
from privet.schema.schema import BOUNDS_NEEDED, Schema
from privet.schema.table import Column, as_arrow, columns_of

# VotingClassifier, StackingClassifier, BaggingClassifier and cross_val_predict fit to 0, 1, ... whatever labels are.
_IN_WRAPPERS = "; a wrapper of scikit-learn that numbers the classes needs schema.with_numbered_classes()"
# Rows that are encoded at a time: they stay in the cache, and a table of another type is never converted as a whole.
_BLOCK = 4_096
# A target that is a number is rounded to so many steps of its range: 0 is its lower bound. A power of two, so that
# shares of the range are exact as floats.
TARGET_STEPS = 2**12


@dataclass(frozen=True)
class _Cells:
    """Numeric attributes as the arrays that the kernel takes."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    per_unit: NDArray[np.float64]
    edge_start: NDArray[np.int64]
    edges: NDArray[np.float64]
    position: NDArray[np.int64]

    @classmethod
    def of(cls, numeric: dict[int, Numeric]) -> "_Cells":
        own = list(numeric.values())
        return cls(
            low=np.array([a.low for a in own], dtype=np.float64),
            high=np.array([a.high for a in own], dtype=np.float64),
            per_unit=np.array([_cells_per_unit(a) for a in own]),
            edge_start=np.cumsum([0, *(a.n_values + 1 for a in own)], dtype=np.int64),
            edges=np.concatenate([np.empty(0), *([-np.inf, *a.cuts, np.inf] for a in own)]),
            position=np.array(list(numeric), dtype=np.int64),
        )

    def write(self, values: NDArray[Any], codes: NDArray[Any]) -> None:
        """Write the codes of a block of numbers. Types other than float32 and float64 are converted first."""
        floats = values.dtype if values.dtype in (np.float32, np.float64) else np.float64
        values = np.ascontiguousarray(values, dtype=floats)
        encode_numbers(
            values.ravel(), self.low, self.high, self.per_unit, self.edge_start, self.edges, self.position,
            codes.shape[1], codes.reshape(-1),
        )  # fmt: skip


def _cells_per_unit(attribute: Numeric) -> float:
    """Return cells per unit where arithmetic finds the cell of a number up to one comparison with a cut, else 0."""
    if not attribute.uniform:
        return 0.0
    with np.errstate(all="ignore"):  # the ratio may overflow or underflow
        per_unit = float(np.float64(attribute.n_values) / (attribute.borders[-1] - attribute.low))
        places = (attribute.borders[1:] - attribute.low) * per_unit
    found = bool((np.abs(places - np.arange(1, attribute.n_values + 1)) <= 0.25).all())
    return per_unit if found else 0.0


class Encoder:
    """Turns tables and labels into codes by a schema. The column ``unit`` may be in the table and is ignored."""

    def __init__(self, schema: Schema, unit: str | None = None) -> None:
        if unit is not None and unit in (*schema.names, schema.target):
            raise SchemaError(f"the unit's column {unit!r} is in the schema and would be learnt from; remove it there")
        self.schema = schema
        self.unit = unit
        widest = max(attribute.n_values + 1 for attribute in schema.attributes)
        self.dtype = np.dtype(np.uint8 if widest <= 256 else np.uint16)
        self._numeric = {j: a for j, a in enumerate(schema.attributes) if isinstance(a, Numeric)}

    @cached_property
    def _cells_of(self) -> dict[int, _Cells]:
        return {j: _Cells.of({j: a}) for j, a in self._numeric.items()}

    @cached_property
    def _all_cells(self) -> _Cells:
        return _Cells.of(self._numeric)

    def encode(self, table: Any, *, allow_missing: bool = False, others_allowed: bool = False) -> NDArray[Any]:
        """Return the codes of ``table``: one line per row, one column per attribute.

        With ``allow_missing`` rows may lack a value that is never missing: they are only looked at or predicted. Where
        others are allowed, columns that the schema lacks are not read.
        """
        if self._is_numeric_matrix(table):
            codes = self._encode_matrix(table)
        else:
            codes = self._encode_columns(table, others_allowed=others_allowed)
        if not allow_missing:
            self._check_complete(codes)
        return codes

    def encode_new(self, table: Any) -> NDArray[Any]:
        """Return the codes of rows to predict, which may have other columns and lack values."""
        return self.encode(table, allow_missing=True, others_allowed=True)

    def _check_complete(self, codes: NDArray[Any]) -> None:
        """Refuse a row that lacks a value which the schema declares never missing; trees have no branch for it."""
        for j, attribute in enumerate(self.schema.attributes):
            if attribute.never_missing and (codes[:, j] == attribute.missing_code).any():
                lacks = (
                    "missing numbers" if isinstance(attribute, Numeric) else "values that are missing or no category"
                )
                raise DataError(
                    f"column {attribute.name!r} has {lacks}, but the schema declares it never_missing; complete or "
                    "drop those rows, or take never_missing out of the schema"
                )

    def _encode_columns(self, table: Any, *, others_allowed: bool) -> NDArray[Any]:
        columns = columns_of(
            table, self.schema.names, label=self.schema.target, unit=self.unit, others_allowed=others_allowed
        )
        if len({len(column) for column in columns}) > 1:
            raise DataError("the table's columns have different lengths; pass one value per row in every column")
        codes = np.empty((len(columns[0]), len(columns)), dtype=self.dtype)
        for j, (attribute, column) in enumerate(zip(self.schema.attributes, columns, strict=True)):
            if isinstance(attribute, Numeric):
                self._write_numbers(self._cells_of[j], column, attribute, codes)
            else:
                positions = _positions(column, attribute.categories, attribute.name, noun="categories")
                codes[:, j] = np.where(positions < 0, attribute.missing_code, positions)
        return codes

    def encode_labels(self, labels: Any) -> NDArray[np.uint16]:
        """Return the position of every label in the schema's classes."""
        self.schema.require_classes()
        target = self.schema.target
        column = as_arrow(labels, target)
        if _has_missing(column):
            raise DataError(f"column {target!r} has missing labels (NaN or null); drop those rows")
        positions = _positions(column, self.schema.classes, target, noun="classes")
        if (positions < 0).any():
            raise DataError(
                f"column {target!r} has labels that are not in the schema's classes; add them there or drop the rows"
                f"{_IN_WRAPPERS if arrow_kind(column.type) == 'numbers' else ''}"
            )
        return positions.astype(np.uint16)

    def _is_numeric_matrix(self, table: Any) -> bool:
        return (
            len(self._numeric) == len(self.schema.attributes)
            and not any(isinstance(a, Date) for a in self.schema.attributes)
            and type(table) is np.ndarray
            and table.ndim == 2
            and table.dtype.kind in "fiu"
            and table.shape[1] == len(self.schema.attributes)
        )

    def _encode_matrix(self, table: NDArray[Any]) -> NDArray[Any]:
        codes = np.empty(table.shape, dtype=self.dtype)
        for start in range(0, len(table), _BLOCK):
            self._all_cells.write(table[start : start + _BLOCK], codes[start : start + _BLOCK])
        return codes

    @staticmethod
    def _write_numbers(cells: _Cells, column: Column, attribute: Numeric, codes: NDArray[Any]) -> None:
        for start in range(0, len(codes), _BLOCK):
            cells.write(values_of(column[start : start + _BLOCK], attribute), codes[start : start + _BLOCK])


def values_of(column: Column, attribute: Numeric) -> NDArray[Any]:
    """Return a column of numbers, or of dates as days, NaN where null."""
    if isinstance(attribute, Date):
        return days_of(as_arrow(column, attribute.name), attribute.name)
    return numbers_of(column, attribute.name)


class TargetEncoder(Encoder):
    """An encoder whose labels are a number: steps of its range."""

    def __init__(self, schema: Schema, unit: str | None = None) -> None:
        if schema.number is None:
            raise SchemaError(BOUNDS_NEEDED)
        super().__init__(schema, unit)
        self._number = schema.number

    def encode_labels(self, labels: Any) -> NDArray[np.uint16]:
        """Return how many of `TARGET_STEPS` every number is above the lower bound; beyond the bounds it is clipped."""
        name, low, high = self._number.name, self._number.low, self._number.high
        column = as_arrow(labels, name)
        if (kind := arrow_kind(column.type)) not in {"numbers", "nothing"}:
            raise DataError(f"column {name!r} holds {kind}, but the schema's target is a number; convert it to numbers")
        numbers = np.asarray(numbers_of(column, name), dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise DataError(f"column {name!r} has missing or infinite numbers (NaN, null, inf); drop those rows")
        # Halves first: the range may be wider than the largest float.
        shares = (np.clip(numbers, low, high) / 2 - low / 2) / (high / 2 - low / 2)
        return np.rint(np.clip(shares, 0.0, 1.0) * TARGET_STEPS).astype(np.uint16)


def encoder_of(schema: Schema, unit: str | None = None) -> Encoder:
    """Return the encoder for rows whose label is what the schema says: one of its classes, or a number."""
    return Encoder(schema, unit) if schema.number is None else TargetEncoder(schema, unit)


def numbers_of(column: Column, name: str) -> NDArray[Any]:
    """Return a column of numbers as NumPy values, NaN where null."""
    import pyarrow as pa

    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return column
    column = as_arrow(column, name)
    kind = arrow_kind(column.type)
    if kind not in {"numbers", "true/false", "nothing"}:
        raise DataError(
            f"column {name!r} holds {kind}, but the schema calls it continuous; convert it to numbers, or declare it "
            "categorical"
        )
    numbers: NDArray[Any] = _as_type(column, pa.float64()).to_numpy(zero_copy_only=False)
    return numbers


def _positions(column: Column, labels: Sequence[Label], name: str, *, noun: str) -> NDArray[np.int64]:
    """Return each value's position in ``labels``, -1 for null and for a value that is not there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = as_arrow(column, name)
    if isinstance(column, pa.ChunkedArray):
        parts = [_positions(chunk, labels, name, noun=noun) for chunk in column.chunks]
        return np.concatenate(parts) if parts else _positions(pa.array([], column.type), labels, name, noun=noun)
    if pa.types.is_dictionary(column.type):
        # Only the few distinct values are looked up. A null index points to the appended -1.
        table = np.append(_positions(column.dictionary, labels, name, noun=noun), -1)
        indices = column.indices.cast(pa.int64()).fill_null(len(table) - 1)
        return table.take(np.asarray(indices))
    column, known = _comparable(column, labels, name, noun)
    values = _as_type(column, known.type)
    if pa.types.is_floating(known.type) and len(labels) <= FEW_NUMBERS:
        positions = np.empty(len(values), dtype=np.int64)
        find_numbers(values.to_numpy(zero_copy_only=False), known.to_numpy(zero_copy_only=False), positions)
        return positions
    if pa.types.is_floating(known.type):  # Arrow distinguishes -0.0 from 0.0
        values, known = pc.add(values, 0.0), pc.add(known, 0.0)
    found = pc.index_in(values, value_set=known, skip_nulls=True)
    return np.asarray(found.cast(pa.int64()).fill_null(-1))


def _comparable(column: Any, labels: Sequence[Label], name: str, noun: str) -> tuple[Any, Any]:
    """Return a column and labels as Arrow arrays of one kind. Classes keep theirs, because predictions are classes."""
    import pyarrow as pa

    found, wanted = arrow_kind(column.type), label_kind(labels[0])
    if pa.types.is_decimal(column.type):
        column = _as_type(column, pa.float64())
    if noun != "classes":
        both = as_kind_of(column, found, tuple(labels), name)
    else:
        both = (column, as_labels(labels)) if found in {wanted, "nothing"} else None
    if both is None:
        raise DataError(
            f"column {name!r} holds {found}, but its {noun} in the schema are {wanted}; "
            f"read the column as {wanted}, or write the {noun} as {found}"
            f"{_IN_WRAPPERS if (noun, found) == ('classes', 'numbers') else ''}"
        )
    return both


def without_dictionary(column: Any) -> Any:
    """Return a dictionary column as its values; others as they are."""
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def without_view(column: Any) -> Any:
    """Return a column of string views as large strings, since few Arrow functions take views; others as they are."""
    import pyarrow as pa

    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column


def _as_type(column: Any, arrow_type: Any) -> Any:
    """Cast a column so that the result for a value never depends on another row.

    Arrow gives a whole column of decimals one scale, and rounds differently at different scales. Cast through text,
    each value becomes the nearest float.
    """
    import pyarrow as pa

    column = without_dictionary(column)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    return column.cast(arrow_type, safe=False)


def arrow_kind(arrow_type: Any) -> str:
    """Return in words what a column of this Arrow type holds."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(arrow_type):
        return arrow_kind(arrow_type.value_type)
    if types.is_string(arrow_type) or types.is_large_string(arrow_type) or types.is_string_view(arrow_type):
        return "text"
    if types.is_integer(arrow_type) or types.is_floating(arrow_type) or types.is_decimal(arrow_type):
        return "numbers"
    if types.is_boolean(arrow_type):
        return "true/false"
    if types.is_nested(arrow_type):  # the names of its fields may come from the rows
        return "nested values"
    return "nothing" if types.is_null(arrow_type) else f"values of type {arrow_type}"


def _has_missing(column: Column) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count:
        return True
    return bool(pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py())
