"""At most so many rows a person: the first ones, in the order of the table.

Which rows of a person are kept is decided by that person's rows alone, so one person more or less changes nothing
about the rows of another.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.schema.persons import Persons


class FirstRows:
    """Says which rows to keep, batch after batch. Memory grows with the number of persons, not of rows."""

    def __init__(self, column: str, max_rows: int) -> None:
        self.max_rows = max_rows
        self._persons = Persons(column)
        self._seen = np.zeros(0, dtype=np.int64)

    def keep(self, exact_persons: Any) -> NDArray[np.bool_]:
        """Return which of the next rows are among the first ``max_rows`` of their person."""
        numbers = self._persons.numbered(exact_persons)
        newcomers = len(self._persons) - len(self._seen)
        self._seen = np.concatenate([self._seen, np.zeros(newcomers, dtype=np.int64)])
        earlier = self._seen[numbers] + _earlier_in_batch(numbers)
        self._seen += np.bincount(numbers, minlength=len(self._seen))
        return earlier < self.max_rows


def _earlier_in_batch(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for every row how many rows of the same number stand before it."""
    order = np.argsort(numbers, kind="stable")
    ranked = numbers[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])[: len(ranked)])
    earlier = np.empty(len(numbers), dtype=np.int64)
    earlier[order] = np.arange(len(numbers)) - np.repeat(starts, np.diff(np.append(starts, len(numbers))))
    return earlier
