"""At most so many rows a person: the first ones, in the order of the table.

Which rows of a person are kept is decided by that person's rows alone, so one person more or less changes nothing
about the rows of another.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError
from privet.schema.encoding import arrow_kind, without_dictionary
from privet.schema.table import as_arrow


class FirstRows:
    """Says which rows to keep, batch after batch. Memory grows with the number of persons, not of rows."""

    def __init__(self, column: str, max_rows: int) -> None:
        self.column, self.max_rows = column, max_rows
        self._numbers: dict[Any, int] = {}
        self._seen = np.zeros(0, dtype=np.int64)

    def keep(self, exact_persons: Any) -> NDArray[np.bool_]:
        """Return which of the next rows are among the first ``max_rows`` of their person."""
        numbers = self._numbered(exact_persons)
        self._seen = np.concatenate([self._seen, np.zeros(len(self._numbers) - len(self._seen), dtype=np.int64)])
        earlier = self._seen[numbers] + _earlier_in_batch(numbers)
        self._seen += np.bincount(numbers, minlength=len(self._seen))
        return earlier < self.max_rows

    def _numbered(self, exact_persons: Any) -> NDArray[np.int64]:
        """Return a number for every row, the same for the rows of a person."""
        import pyarrow as pa

        column = as_arrow(exact_persons, self.column)
        if isinstance(column, pa.ChunkedArray):
            parts = [self._numbered(chunk) for chunk in column.chunks]
            return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
        column = without_dictionary(column)
        if pa.types.is_string_view(column.type):  # few of Arrow's functions take it
            column = column.cast(pa.large_string())
        self._check(column)
        encoded = column.dictionary_encode()
        try:
            values = encoded.dictionary.to_pylist()
        except UnicodeDecodeError:  # it would quote bytes
            raise DataError(f"column {self.column!r} holds text that is not UTF-8; save it as UTF-8") from None
        known = [self._numbers.setdefault(value, len(self._numbers)) for value in values]
        return np.array(known, dtype=np.int64)[np.asarray(encoded.indices, dtype=np.int64)]

    def _check(self, column: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        # Rows without a person would all become one; floats may take two long numbers for one.
        if column.null_count:
            raise DataError(f"column {self.column!r} has missing values, and a row must be somebody's; drop those rows")
        is_text = arrow_kind(column.type) == "text"
        if not is_text and not pa.types.is_integer(column.type) and len(column):
            raise DataError(
                f"column {self.column!r} holds {arrow_kind(column.type)}, and persons are told apart by text or whole "
                "numbers; convert it to text"
            )
        # A CSV's "\r\n" may be read as "\r", depending on the rows before it.
        if is_text and pc.any(pc.match_substring(column, "\r")).as_py():
            raise DataError(f"column {self.column!r} has a value with a carriage return; give persons plainer names")


def _earlier_in_batch(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for every row how many rows of the same number stand before it."""
    order = np.argsort(numbers, kind="stable")
    ranked = numbers[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])[: len(ranked)])
    earlier = np.empty(len(numbers), dtype=np.int64)
    earlier[order] = np.arange(len(numbers)) - np.repeat(starts, np.diff(np.append(starts, len(numbers))))
    return earlier
