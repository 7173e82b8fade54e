"""Rows of a file with their labels, read whole."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privet.schema import Schema


def read_labelled(rows: Path, schema: "Schema", more: Sequence[str] = ()) -> "tuple[Any, NDArray[np.uint16]] | None":
    """Return the columns of a schema and ``more``, and the labels as positions in its classes; None if there is no row.

    Columns are those of an Arrow table.
    """
    import pyarrow as pa

    from privet.counting.files import read_batches
    from privet.schema.encoding import Encoder

    others = [name for name in more if name not in schema.names]
    if schema.target in others:
        raise DataError(f"{schema.target!r} is the class itself; name another column")
    batches = list(read_batches(rows, schema, [*schema.names, schema.target, *others]))
    if not batches:
        return None
    table = pa.Table.from_batches(batches)
    return table.drop_columns([schema.target]), Encoder(schema).encode_labels(table.column(schema.target))
