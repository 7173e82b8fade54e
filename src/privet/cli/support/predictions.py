"""Predictions as Arrow batches, and what becomes of them: CSV, Parquet or plain values."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from privet.counting.files import file_columns, read_batches
from privet.errors import DataError, ParameterError
from privet.schema.encoding import arrow_kind, without_dictionary

_PREDICTION = "prediction"
# Python quotes fields with these, and an empty one: a line of nothing is taken for no row at all.
_NEEDS_QUOTES = r'[",\r\n]|^$'


@dataclass(frozen=True)
class Predictions:
    """What a model says about the rows of a file; nothing is read before it is gone through."""

    model: Any
    rows: Path
    keep: Sequence[str] = ()
    proba: bool = False

    def __post_init__(self) -> None:
        taken = [name for name in self.keep if name in {_PREDICTION, *self._probability_names}]
        if taken:
            raise ParameterError(
                f"--keep {taken[0]!r} has the name of a column of the predictions; rename it in the table"
            )

    @property
    def names(self) -> list[str]:
        """The columns: those kept, the prediction, and if asked for one probability a class."""
        return [*self.kept, _PREDICTION, *self._probability_names]

    @property
    def kept(self) -> list[str]:
        """The columns that are copied from the table, each once."""
        return list(dict.fromkeys(self.keep))

    @property
    def _probability_names(self) -> list[str]:
        return [f"P({label})" for label in self.model.schema_.classes] if self.proba else []

    @cached_property
    def _labels(self) -> Any:
        return pa.array(self.model.classes_.tolist())

    def batches(self, watch: Callable[[float], None] | None = None) -> Iterator[Any]:
        """Yield the predictions of one batch of rows after the other."""
        schema, asked = self.model.schema_, self._asked()
        names = [*asked, *(name for name in self.kept if name not in asked)]
        for batch in read_batches(self.rows, schema, names, watch=watch):
            probabilities = self.model.predict_proba(batch.select(asked))
            kept = [without_dictionary(batch.column(name)) for name in self.kept]
            yield self._joined(kept, probabilities)

    def _asked(self) -> list[str]:
        """Return the columns that the model reads; one of parties may do without those of a party."""
        choose = getattr(self.model, "columns_in", None)
        return list(self.model.schema_.names) if choose is None else choose(file_columns(self.rows))

    def nothing(self) -> Any:
        """Return a batch without rows."""
        kept = [pa.array([], pa.string()) for _ in self.kept]
        return self._joined(kept, np.empty((0, len(self.model.schema_.classes))))

    def _joined(self, kept: list[Any], probabilities: Any) -> Any:
        predicted = self._labels.take(pa.array(probabilities.argmax(axis=1)))
        columns = [pa.array(np.ascontiguousarray(column)) for column in probabilities.T] if self.proba else []
        return pa.RecordBatch.from_arrays([*kept, predicted, *columns], names=self.names)


def write_csv(file: BinaryIO, names: Sequence[str], batches: Iterable[Any]) -> None:
    """Write the predictions as CSV; numbers as the shortest text that reads back as the same number."""
    waiting = iter(batches)
    first = list(islice(waiting, 1))  # rows that cannot be read are refused before anything is written
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(names)
    _write_all(file, header.getvalue().encode())
    for batch in chain(first, waiting):
        _write_all(file, _csv_lines(batch))


def write_parquet(file: BinaryIO, nothing: Any, batches: Iterable[Any]) -> None:
    """Write the predictions as Parquet, a row group a batch; ``nothing`` has the columns where there is no row."""
    waiting = iter(batches)
    first = next(waiting, nothing)
    with pq.ParquetWriter(file, first.schema) as writer:
        for batch in chain([first], waiting):
            writer.write_batch(batch)


def collected(predictions: Predictions, batches: Iterable[Any]) -> dict[str, Any]:
    """Return all predictions as values that JSON can hold."""
    table = pa.Table.from_batches([predictions.nothing()] if not (found := list(batches)) else found)
    data = {"classes": list(predictions.model.schema_.classes), "predictions": table.column(_PREDICTION).to_pylist()}
    if predictions.proba:
        shares = table.select(predictions.names[-len(data["classes"]) :])
        data["probabilities"] = np.stack([column.to_numpy() for column in shares.columns], axis=1).tolist()
    if predictions.kept:
        columns = {name: table.column(name).to_pylist() for name in predictions.kept}
        data["kept"] = {name: [json_value(value) for value in values] for name, values in columns.items()}
    return data


def _write_all(file: BinaryIO, data: bytes) -> None:
    # Where PYTHONUNBUFFERED is set, stdout takes as much as there is room for and raises nothing.
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _csv_lines(batch: Any) -> bytes:
    names = batch.schema.names
    columns = [_csv_column(column, name) for column, name in zip(batch.columns, names, strict=True)]
    texts = [column for column in columns if arrow_kind(column.type) == "text"]
    quoted = any(pc.any(pc.match_substring_regex(text, _NEEDS_QUOTES)).as_py() for text in texts)
    options = pa_csv.WriteOptions(include_header=False, quoting_style="needed" if quoted else "none")
    lines = pa.BufferOutputStream()
    pa_csv.write_csv(pa.RecordBatch.from_arrays(columns, names=names), lines, options)
    written: bytes = lines.getvalue().to_pybytes()
    return written


def _csv_column(column: Any, name: str) -> Any:
    """Return a column of text, whole numbers, floats or bools; other values become text."""
    if arrow_kind(column.type) in {"text", "true/false"} or pa.types.is_integer(column.type):
        return column
    if pa.types.is_float64(column.type) or pa.types.is_float32(column.type):
        return column
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(f"column {name!r} holds values that a CSV cannot hold; write a .parquet file instead") from None


def json_value(value: Any) -> Any:
    """Return a value of a table as one that JSON can hold."""
    if isinstance(value, float) and math.isnan(value):
        return None
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
