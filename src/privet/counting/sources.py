"""What a fit may be given apart from a table in memory, told apart by what it is."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeGuard

from privet.counting.batch_stream import BatchStream
from privet.counting.engines.partition import Partition
from privet.counting.file_source import Files
from privet.schema import Schema
from privet.schema.encoding import Encoder


class Source(Protocol):
    """Arrow batches with the labels among their columns."""

    @property
    def once(self) -> bool:
        """Whether the first pass uses it up."""
        ...

    def check(self, encoder: Encoder, names: Sequence[str]) -> None:
        """Refuse what does not fit, as far as it can be seen before a row is read."""
        ...

    def batches(self, schema: Schema, names: Sequence[str]) -> Iterator[Any]:
        """Yield batches of the columns called ``names``."""
        ...

    def partitions(self) -> Sequence[Partition]:
        """Return parts that can be read apart."""
        ...


def source_of(rows: Any) -> Source | None:
    """Return where batches come from; None for a table in memory, and for a frame of a cluster."""
    if isinstance(rows, (Files, BatchStream)):
        return rows
    if _is_path(rows):
        return Files(rows)
    if isinstance(rows, (list, tuple)):
        if rows and all(map(_is_path, rows)):
            return Files(*rows)
        return BatchStream(rows) if rows and _is_batch(rows[0]) else None
    return BatchStream(rows) if _is_stream(rows) else None


def is_cluster_frame(rows: Any, engine: str) -> bool:
    """Return whether these are rows of ``engine``, "dask" or "pyspark", which is not imported for that."""
    return type(rows).__module__.partition(".")[0] == engine and hasattr(rows, "columns")


def _is_path(rows: Any) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(rows, (str, os.PathLike))


def _is_batch(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "pyarrow" and hasattr(table, "num_rows")


def _is_stream(rows: Any) -> bool:
    """Return whether batches come one after the other; a table has a length, an array or columns."""
    if hasattr(rows, "lazy"):  # a lazy frame, which computes its columns when asked
        return False
    if hasattr(rows, "__array__") or hasattr(rows, "__len__") or hasattr(rows, "columns"):
        return False
    return callable(rows) or hasattr(rows, "__iter__") or hasattr(rows, "scanner")
