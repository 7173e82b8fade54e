"""Rows of a file with their labels, read whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError

if TYPE_CHECKING:
    from privet.schema import Schema


@dataclass(frozen=True)
class LabelledRows:
    """All rows in memory.

    Attributes
    ----------
    schema : Schema
    table : Arrow table
        The schema's columns, and others that were asked for; no label.
    truth : array
        Labels as positions in the schema's classes; or numbers, clipped to their bounds as a fit clips them.
    """

    schema: "Schema"
    table: Any
    truth: NDArray[Any]

    @property
    def features(self) -> Any:
        """The columns that a model is fitted to."""
        return self.table.select(list(self.schema.names))

    @property
    def labels(self) -> NDArray[Any]:
        """The labels as a fit takes them."""
        return self.truth if self.schema.number is not None else np.array(self.schema.classes)[self.truth]


def read_labelled(rows: Path, schema: "Schema", more: Sequence[str] = ()) -> LabelledRows:
    """Return the rows of a file with the columns of a schema and ``more``, or refuse a file without rows."""
    import pyarrow as pa

    from privet.counting.files import read_batches
    from privet.schema.encoding import encoder_of, numbers_of

    others = [name for name in more if name not in schema.names]
    if schema.target in others:
        raise DataError(f"{schema.target!r} is the label itself; name another column")
    batches = list(read_batches(rows, schema, [*schema.names, schema.target, *others]))
    if not batches:
        raise DataError(f"{str(rows)!r} has no rows; pass rows with their labels")
    table = pa.Table.from_batches(batches)
    target, number = table.column(schema.target), schema.number
    truth: NDArray[Any] = encoder_of(schema).encode_labels(target)  # refuses what a fit would
    if number is not None:
        truth = np.clip(numbers_of(target, schema.target), number.low, number.high)
    return LabelledRows(schema, table.drop_columns([schema.target]), truth)
