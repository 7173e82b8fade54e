"""Arrow batches that somebody else reads: a list, a reader, a dataset, any iterable, or a function that opens one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from privet.counting.engines.partition import TablePartition
from privet.errors import DataError, ParameterError
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.schema.persons import check_person_type
from privet.schema.table import check_present

_SLICE_ROWS = 65_536


class BatchStream:
    """Arrow batches or tables, labels among their columns; an iterator can be gone through once."""

    def __init__(self, given: Iterable[Any] | Callable[[], Iterable[Any]]) -> None:
        self.given, self._used = given, False
        self._n_rows: int | None = None

    @property
    def once(self) -> bool:
        """Whether the first pass uses it up."""
        return hasattr(self.given, "__next__") or hasattr(self.given, "read_next_batch")

    def check(self, encoder: Encoder, names: Sequence[str]) -> None:
        """Refuse what lacks a column, or persons who cannot be matched; of a generator that is seen when they come."""
        import pyarrow as pa

        known = self.given if isinstance(self.given, (list, tuple)) else [self.given]
        if encoder.unit is None and len(set(map(id, known))) < len(known):
            raise DataError("a batch is in the list twice, and its rows would be counted twice; pass each batch once")
        for types in (getattr(batches, "schema", None) for batches in known):
            if isinstance(types, pa.Schema):
                check_present(types.names, names)
                if encoder.unit is not None:
                    check_person_type(types.field(encoder.unit).type, encoder.unit)

    def batches(self, schema: Schema, names: Sequence[str]) -> Iterator[Any]:  # noqa: ARG002 - they have types
        """Yield the batches' columns called ``names``."""
        if self.once and self._used:
            raise DataError(used_up())
        self._used, n_rows = True, 0
        for table in _arrow_errors(self._opened(names)):
            _check_batch(table)
            check_present(table.schema.names, names)
            n_rows += table.num_rows
            for start in range(0, table.num_rows, _SLICE_ROWS):
                yield table.slice(start, _SLICE_ROWS).select(list(names))
        # A function may hand out an iterator that another pass has used up.
        if self._n_rows not in (None, n_rows):
            raise DataError("the batches were others when they were read again; return the same ones every time")
        self._n_rows = n_rows

    def partitions(self) -> list[TablePartition]:
        """Return a part for each batch of a list."""
        if not isinstance(self.given, (list, tuple)):
            raise ParameterError(
                "an executor counts rows in parts, and a stream of batches has none; pass files, a list of batches or "
                "a table, or leave the executor out"
            )
        for table in self.given:
            _check_batch(table)
        return [TablePartition(f"{i}", table) for i, table in enumerate(self.given)]

    def _opened(self, names: Sequence[str]) -> Iterator[Any]:
        given: Any = self.given() if callable(self.given) else self.given
        if hasattr(given, "scanner"):  # a dataset; read ahead, it would fill the memory
            check_present(given.schema.names, names)
            scanner = given.scanner(
                columns=list(names), batch_size=_SLICE_ROWS, batch_readahead=2, fragment_readahead=1
            )
            return iter(scanner.to_batches())
        if not hasattr(given, "__iter__"):
            raise DataError("the function returned no iterable of Arrow batches; let it return a list or a generator")
        return iter(given)


def used_up() -> str:
    """Return what is wrong with an iterator for a method that reads the rows more than once."""
    return (
        "this fit goes through the rows more than once, and an iterator is used up by the first time; pass a list of "
        "batches, or a function that returns a new iterator"
    )


def _check_batch(table: Any) -> None:
    import pyarrow as pa

    if not isinstance(table, (pa.RecordBatch, pa.Table)):
        raise DataError(
            "a batch is neither a RecordBatch nor a Table of Arrow; convert it, such as by pyarrow.Table.from_pandas"
        )


def _arrow_errors(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches; Arrow's errors, which quote values, in words that do not."""
    import pyarrow as pa

    try:
        yield from batches
    except (pa.ArrowException, OSError):
        raise DataError(
            "the batches cannot be read to their end: their source is cut short or damaged; write it again"
        ) from None
