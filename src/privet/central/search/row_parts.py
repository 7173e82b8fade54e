"""Rows split by secret coins: each row, or each person with all their rows, is in one part. See private_search.md."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.counting.opening import has_own_labels
from privet.counting.rows import rows_of_weight_1
from privet.counting.sources import Source, source_of
from privet.errors import DataError
from privet.privacy.unit import Unit
from privet.rng import SystemNoise
from privet.schema import Schema
from privet.schema.encoding import encoder_of
from privet.schema.persons import Persons
from privet.schema.table import as_arrow, column_of, columns_of


class RowParts:
    """The rows of a table in parts. Every pass finds the same rows in the same part.

    Nobody may know the coins: who does, and sees what was fitted to a part, knows which rows can have changed it, and
    a row more or less moves the coins of all rows behind it. So they are drawn anew in each fit and kept nowhere else.
    """

    def __init__(self, batches: Callable[[], Iterator[Any]], n_parts: int, unit: Unit) -> None:
        self._batches, self._n_parts, self._unit = batches, n_parts, unit
        self._coins = np.zeros(0, dtype=np.uint32)

    def part(self, number: int) -> Iterator[Any]:
        """Yield Arrow batches of the rows of one part."""
        import pyarrow as pa

        seen, persons = 0, None if self._unit.column is None else Persons(self._unit.column)
        for batch in self._batches():
            if persons is None:
                units = np.arange(seen, seen + batch.num_rows)
                seen += batch.num_rows
            else:
                units = persons.number_rows(batch.column(persons.column))
            table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
            yield table.filter(pa.array(self._part_of(units) == number))

    def _part_of(self, units: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Return the part of each unit, by its number in the order of the table."""
        lacking = int(units.max(initial=-1)) + 1 - len(self._coins)
        if lacking > 0:
            # The last words below 2^32 favour the first parts by less than one in a billion, which costs nothing.
            self._coins = np.concatenate([self._coins, SystemNoise().words(lacking) % np.uint32(self._n_parts)])
        return self._coins[units]


class SameRows:
    """Batches of a source, in which every pass must find the same rows in the same order, by their codes.

    A coin is a row's by its place: a function that shuffles would put a row into several parts.
    """

    def __init__(self, source: Source, schema: Schema, unit: Unit) -> None:
        self._source, self._schema, self._encoder = source, schema, encoder_of(schema, unit.column)
        self._persons = None if unit.column is None else Persons(unit.column)
        self._digest: bytes | None = None

    def __call__(self) -> Iterator[Any]:
        """Yield the batches; refuse them at their end where they are not those of the first pass."""
        names, target = list(self._schema.names), self._schema.target
        person = [] if self._persons is None else [self._persons.column]
        rows, labels, persons = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
        for batch in self._source.batches(self._schema, [*names, target, *person]):
            rows.update(self._encoder.encode(batch.select(names)).tobytes())
            labels.update(self._encoder.encode_labels(batch.column(target)).tobytes())
            if self._persons is not None:
                persons.update(self._persons.number_rows(batch.column(self._persons.column)).tobytes())
            yield batch
        found = rows.digest() + labels.digest() + persons.digest()
        if self._digest not in (None, found):
            raise DataError(
                "the rows differed, or came in another order, when they were read again, and a search must find each "
                "in the same part; return the same ones every time"
            )
        self._digest = found


def batches_of(X: Any, y: Any, schema: Schema, unit: Unit, sample_weight: Any = None) -> Callable[[], Iterator[Any]]:
    """Return what yields the rows of files, of batches or of a table in memory, their labels and persons with them.

    Of a table in memory those of weight 0 are left out.
    """
    import pyarrow as pa

    person = [] if unit.column is None else [unit.column]
    names = [*schema.names, schema.target, *person]
    if has_own_labels(X):
        source = source_of(X)
        assert source is not None  # noqa: S101 - a cluster's frame was refused
        return SameRows(source, schema, unit)
    columns = columns_of(X, schema.names, label=schema.target, unit=unit.column)
    columns = [*columns, y, *(column_of(X, name) for name in person)]
    table = pa.table([as_arrow(own, name) for own, name in zip(columns, names, strict=True)], names=names)
    if sample_weight is not None:
        table = table.filter(pa.array(rows_of_weight_1(sample_weight, table.num_rows)))
    return lambda: iter([table])
