"""Tables of any library as named columns: pandas, polars, Arrow, NumPy, lists of rows, whatever offers Arrow streams.

A column is a NumPy array of numbers or an Arrow array. Nothing here knows a domain. Errors name columns and types,
never values. Narwhals would replace three short functions: most of this module is about objects, pandas' categories,
NumPy matrices and lists of rows, which it passes to Arrow unchecked or does not take.
"""

import difflib
import math
import os
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError

# Types that Arrow either mixes correctly, such as whole numbers and floats, or refuses to mix.
_SAFE_TO_MIX = (str, bytes, bool, int, float, Decimal)
_MISSING = {"NoneType", "NAType", "NaTType"}

Column: TypeAlias = Any  # NDArray of numbers, pyarrow.Array or pyarrow.ChunkedArray: Arrow ships no types


def as_table(rows: Any) -> Any:
    """Return rows that are not a table yet as one, and all else as it is.

    A lazy frame is computed, once, and a stream of Arrow batches is read to its end.
    """
    if is_lazy(rows):
        try:
            return as_table(rows.collect())
        except Exception:
            raise DataError("the lazy frame cannot be computed; call its collect() to see why") from None
    if not _is_to_be_read(rows):
        return rows
    import pyarrow as pa

    try:
        return pa.table(rows)
    except Exception:
        raise DataError("the Arrow stream cannot be read as a table; convert it, such as by pyarrow.table") from None


def is_lazy(rows: Any) -> bool:
    """Return whether ``rows`` is a lazy frame, as those of polars: looking for its columns would compute them."""
    return hasattr(rows, "collect") and hasattr(rows, "lazy")


def may_have_column(rows: Any, name: str) -> bool:
    """Return whether ``rows`` can have a column; of what is no table yet, nobody knows before it is read."""
    return _is_to_be_read(rows) or name in (column_names(rows) or ())


def _is_to_be_read(rows: Any) -> bool:
    """Return whether ``rows`` is a lazy frame or a stream, and no table yet."""
    is_table = _home(rows) in {"pandas", "polars"} or hasattr(rows, "column_names")
    return is_lazy(rows) or (hasattr(rows, "__arrow_c_stream__") and not is_table)


def offers_arrow(rows: Any) -> bool:
    """Return whether ``rows`` is a stream of Arrow batches of another library than Arrow's own."""
    return hasattr(rows, "__arrow_c_stream__") and _home(rows) != "pyarrow"


def _home(rows: Any) -> str:
    return type(rows).__module__.partition(".")[0]


def columns_of(
    table: Any, names: Sequence[str], *, label: str | None = None, unit: str | None = None, others_allowed: bool = False
) -> list[Column]:
    """Return the columns called ``names``, by name where the table has names and by position where it has none.

    ``label`` does not belong in the table, and an error says so where it is there. ``unit`` may be there, and where
    others are allowed any column, which is not read.
    """
    table = as_table(table)
    found = column_names(table)
    if found is None:
        return _numpy_columns(table, len(names))
    check_present(found, names)
    if not others_allowed:
        _check_no_others([name for name in found if name != unit], names, label)
    return [_named_column(table, name) for name in names]


def column_of(table: Any, name: str) -> Column:
    """Return the column called ``name``."""
    found = column_names(table)
    if found is None:
        raise DataError(f"the table has no column names, so {name!r} cannot be found; pass a table with named columns")
    check_present(found, [name])
    return _named_column(table, name)


def column_names(table: Any) -> list[str] | None:
    """Return the table's column names, or None where columns have no names."""
    names = getattr(table, "column_names", None)  # Arrow
    if names is None:
        names = getattr(table, "columns", None)  # pandas, polars
    if names is None:
        return None
    names = list(names)
    # pandas numbers the columns of a frame that was given no names.
    return names if any(isinstance(name, str) for name in names) else None


def as_arrow(column: Any, name: str) -> Any:
    """Return ``column`` as an Arrow array; NaN and None become null."""
    import pyarrow as pa

    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    try:
        if type(column).__module__.startswith("polars"):
            return column.to_arrow()
        if hasattr(getattr(column, "dtype", None), "categories"):
            return _categories(column, name)
        return pa.array(_plain_objects(column, name), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, KeyError):
        # Arrow's message quotes the value, which must not be shown.
        raise _mixed(name) from None


def _mixed(name: str) -> DataError:
    return DataError(
        f"column {name!r} mixes types or holds objects that are neither text nor numbers; convert it to one type"
    )


def _categories(column: Any, name: str) -> Any:
    """Return a column of pandas' categories. The categories are checked like any other objects."""
    import pyarrow as pa

    codes = np.asarray(getattr(column, "array", column).codes)
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), as_arrow(column.dtype.categories, name))


def _plain_objects(column: Any, name: str) -> Any:
    """Return a column of objects with NumPy's numbers as Python's, or refuse types that do not mix.

    Arrow infers one type for all objects. With NumPy's numbers among them it may round every value to a whole number
    because one is whole. With dates among numbers it confuses the two, or ends the process.
    """
    if getattr(column, "dtype", None) not in (None, np.dtype(object)):
        return column
    values = list(column)
    if any(issubclass(kind, np.generic) for kind in set(map(type, values))):
        values = [v.item() if isinstance(v, np.generic) and v.dtype.kind not in "mM" else v for v in values]
    kinds = {kind for kind in set(map(type, values)) if kind.__name__ not in _MISSING}
    others = {kind for kind in kinds if not issubclass(kind, _SAFE_TO_MIX)}
    if others and len(kinds) > 1:
        given = [value for value in values if type(value) in kinds]
        if len({type(value) for value in given if not (isinstance(value, float) and math.isnan(value))}) > 1:
            raise _mixed(name)
    return values


def as_matrix(table: Any) -> NDArray[Any]:
    """Return a table without names as a two-dimensional NumPy array."""
    if isinstance(table, (str, os.PathLike)):
        raise DataError("a path is not a table here; read the file first, or predict with `privet predict`")
    if hasattr(table, "toarray") and hasattr(table, "nnz"):
        raise DataError(
            "sparse tables are not supported; pass a dense one, such as table.toarray(), and categories as they are: "
            "trees need no column for each"
        )
    array = as_numpy(table)
    if array.ndim == 1 and array.dtype == object and any(isinstance(row, (list, tuple)) for row in array):
        raise DataError("the rows have different lengths; pass one value per column in every row")
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported; pass the real and imaginary parts as two columns")
    if array.ndim != 2:
        raise DataError(
            f"expected a table with rows and columns, got an array of dimension {array.ndim}. Reshape your data: "
            "array.reshape(1, -1) for a single row, array.reshape(-1, 1) for a single column"
        )
    return array


def as_numpy(values: Any) -> NDArray[Any]:
    """Return ``values`` as a NumPy array.

    Lists become objects, so that one row never affects the type of another row's values.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise DataError("masked arrays are not supported; fill masked values with NaN or None, such as by filled()")
    if hasattr(values, "__array__"):
        return np.asarray(values)
    try:
        return np.array(values, dtype=object)
    except ValueError:
        raise DataError("the rows have different lengths; pass one value per column in every row") from None


def _numpy_columns(table: Any, n_columns: int) -> list[Column]:
    matrix = as_matrix(table)
    if matrix.shape[1] != n_columns:
        raise DataError(
            f"X has {matrix.shape[1]} features, but Schema is expecting {n_columns} features as input; pass every "
            "column of the schema, in its order"
        )
    return [matrix[:, j] for j in range(n_columns)]


def _named_column(table: Any, name: str) -> Column:
    column = table.column(name) if hasattr(table, "column_names") else table[name]
    dtype = getattr(column, "dtype", None)
    if type(dtype).__name__ == "SparseDtype":
        raise DataError(f"column {name!r} is sparse; pass it dense, such as by table.sparse.to_dense()")
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return column.to_numpy()
    return as_arrow(column, name)


def check_present(found: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a table that lacks a wanted column or has it twice. Other columns are allowed."""
    missing = [name for name in wanted if name not in set(found)]
    if missing:
        # Where every column is missing, the first line may be a person's row instead of a header.
        headed = len(missing) < len(wanted) or len(wanted) == 1
        close = difflib.get_close_matches(missing[0], [str(n) for n in found if headed and n not in set(wanted)], n=1)
        hint = (
            "add it, or correct the name" if headed else "it has none of the wanted columns: does it name its columns?"
        )
        hint = f"did you mean {close[0]!r}? Rename one of the two" if close else hint
        raise DataError(f"the table lacks the column {missing[0]!r}; {hint}")
    repeated = [name for name in wanted if list(found).count(name) > 1]
    if repeated:
        raise DataError(f"the table has the column {repeated[0]!r} twice; drop or rename one")


def _check_no_others(found: Sequence[str], wanted: Sequence[str], label: str | None) -> None:
    extra = [name for name in found if name not in set(wanted)]
    if label in extra:
        raise DataError(f"the label's column {label!r} is among the attributes; drop it from the table")
    if extra:
        raise DataError(f"the table has a column {extra[0]!r} that the schema lacks; drop it, or add it to the schema")


def without_column(table: Any, name: str) -> Any:
    """Return the table without the column ``name``."""
    if hasattr(table, "column_names"):
        return table.select([other for other in table.column_names if other != name])
    return table[[other for other in table.columns if other != name]]
