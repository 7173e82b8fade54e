"""Turns what was passed to a fit into rows, which are read here or counted in parts by an engine."""

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from privet.counting.engines.dask import DaskFrame
from privet.counting.engines.executor import OnExecutor, check_each_row
from privet.counting.engines.parts import PartitionedRows, Parts
from privet.counting.engines.spark import SparkFrame
from privet.counting.files import file_columns
from privet.counting.rows import BatchRows, Rows
from privet.counting.sources import Files, engine_of, source_of
from privet.errors import ParameterError
from privet.privacy.unit import Unit
from privet.schema.encoding import Encoder

_FRAMES: dict[str, Callable[[Any], Parts]] = {"dask": DaskFrame, "pyspark": SparkFrame}


def has_own_labels(table: Any) -> bool:
    """Return whether the labels are among the columns, as everywhere but in a table in memory."""
    return source_of(table) is not None or engine_of(table) is not None


def check_files_exist(table: Any) -> None:
    """Refuse a missing file before any file is opened."""
    source = source_of(table)
    for path in source.paths if isinstance(source, Files) else ():
        if not path.exists():
            file_columns(path)  # raises the error


def open_table(table: Any, encoder: Encoder, unit: Unit, executor: Executor | None) -> Rows:
    """Return the rows of a source that contains its labels, checked as far as possible before a row is read."""
    engine = engine_of(table)
    if engine is not None:
        check_each_row(unit)
        if executor is not None:
            raise ParameterError(f"a {engine} frame is counted by {engine} itself; leave the executor out")
        return PartitionedRows(_FRAMES[engine](table), encoder)
    source = source_of(table)
    if source is None:
        raise TypeError("a table in memory has its labels elsewhere")
    schema, person = encoder.schema, [] if unit.column is None else [unit.column]
    source.check(encoder, [*schema.names, schema.target, *person])
    if executor is None:
        return BatchRows(source, encoder, unit)
    return PartitionedRows(OnExecutor(source.partitions(), executor, getattr(source, "watch", None)), encoder)
