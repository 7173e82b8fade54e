"""Predictions and explanations as Arrow batches, and how they are written: CSV, Parquet or plain values."""

import csv
import io
import math
from abc import ABC, abstractmethod
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
from privet.schema import Label
from privet.schema.encoding import arrow_kind, without_dictionary

# Python quotes fields with these, and an empty one: a line of nothing is taken for no row at all.
_NEEDS_QUOTES = r'[",\r\n]|^$'


@dataclass(frozen=True)
class _RowAnswers(ABC):
    """What a model says about the rows of a file: a label and numbers for each. `batches` reads the file."""

    model: Any
    rows: Path
    keep: Sequence[str] = ()

    def __post_init__(self) -> None:
        taken = [name for name in self.keep if name in self._own_names]
        if taken:
            raise ParameterError(
                f"--keep {taken[0]!r} has the name of a column of the {type(self).__name__.lower()}; rename it in the "
                "table"
            )

    @property
    def names(self) -> list[str]:
        """The columns: those kept, and those of the answers."""
        return [*self.kept, *self._own_names]

    @property
    def kept(self) -> list[str]:
        """The columns that are copied from the table, each once."""
        return list(dict.fromkeys(self.keep))

    def batches(self, watch: Callable[[float], None] | None = None) -> Iterator[Any]:
        """Yield the answers for one batch of rows after the other."""
        read = self._names_to_read()
        names = [*read, *(name for name in self.kept if name not in read)]
        for batch in read_batches(self.rows, self.model.schema_, names, watch=watch):
            kept = [without_dictionary(batch.column(name)) for name in self.kept]
            yield self._batch(kept, *self._answer(batch.select(read)))

    def nothing(self) -> Any:
        """Return a batch without rows."""
        kept = [pa.array([], pa.string()) for _ in self.kept]
        return self._batch(kept, self._labels[:0], np.empty((0, len(self._own_names) - 1)))

    def to_json(self, batches: Iterable[Any]) -> dict[str, Any]:
        """Return all answers as values that JSON can hold."""
        table = pa.Table.from_batches(list(batches) or [self.nothing()])
        labels, *numbers = table.columns[len(self.kept) :]
        data = self._json(labels.to_pylist(), [column.to_numpy() for column in numbers])
        kept = {name: table.column(name).to_pylist() for name in self.kept}
        in_json = {name: [json_value(value) for value in values] for name, values in kept.items()}
        return {**data, "kept": in_json} if kept else data

    @cached_property
    def _labels(self) -> Any:
        return pa.array(self.model.classes_.tolist())

    def _names_to_read(self) -> list[str]:
        # A model of several parties can do without the columns of one of them.
        choose = getattr(self.model, "columns_in", None)
        return list(self.model.schema_.names) if choose is None else choose(file_columns(self.rows))

    def _batch(self, kept: list[Any], labels: Any, numbers: Any) -> Any:
        columns = [pa.array(np.ascontiguousarray(column)) for column in numbers.T]
        return pa.RecordBatch.from_arrays([*kept, labels, *columns], names=self.names)

    @property
    @abstractmethod
    def _own_names(self) -> list[str]:
        """The column of labels, and those of numbers."""

    @abstractmethod
    def _answer(self, table: Any) -> tuple[Any, Any]:
        """Return the label of every row, and its numbers."""

    @abstractmethod
    def _json(self, labels: list[Any], numbers: list[Any]) -> dict[str, Any]:
        """Return the answers to all rows."""


@dataclass(frozen=True)
class Predictions(_RowAnswers):
    """The class of every row, and with ``proba`` the probability of each class."""

    proba: bool = False

    @property
    def _own_names(self) -> list[str]:
        return ["prediction", *(f"P({label})" for label in self.model.schema_.classes if self.proba)]

    def _answer(self, table: Any) -> tuple[Any, Any]:
        probabilities = self.model.predict_proba(table)
        labels = self._labels.take(pa.array(probabilities.argmax(axis=1)))
        return labels, probabilities if self.proba else probabilities[:, :0]

    def _json(self, labels: list[Any], numbers: list[Any]) -> dict[str, Any]:
        data = {"classes": list(self.model.schema_.classes), "predictions": labels}
        return {**data, "probabilities": np.column_stack(numbers).tolist()} if self.proba else data


@dataclass(frozen=True)
class Numbers(_RowAnswers):
    """The number that a regressor expects of every row."""

    @property
    def _own_names(self) -> list[str]:
        return ["prediction"]

    @cached_property
    def _labels(self) -> Any:
        return pa.array([], pa.float64())

    def _answer(self, table: Any) -> tuple[Any, Any]:
        return pa.array(self.model.predict(table)), np.empty((table.num_rows, 0))

    def _json(self, labels: list[Any], numbers: list[Any]) -> dict[str, Any]:  # noqa: ARG002
        return {"predictions": labels}


@dataclass(frozen=True)
class ExplainedNumbers(Numbers):
    """The number that a regressor expects of every row, and what each effect adds to its score."""

    @cached_property
    def _own_names(self) -> list[str]:
        effects = self.model.explained_names_[1:]
        return ["prediction", *(f"effect({name})" for name in ("start", *effects)), "score"]

    def _answer(self, table: Any) -> tuple[Any, Any]:
        effects = self.model.explain(table).to_numpy()
        return pa.array(self.model.predict(table)), np.column_stack([effects, effects.sum(axis=1)])

    def _json(self, labels: list[Any], numbers: list[Any]) -> dict[str, Any]:
        columns = {"columns": self._own_names[1:], "contributions": np.column_stack(numbers).tolist()}
        return {"predictions": labels, **columns}


@dataclass(frozen=True)
class Explanations(_RowAnswers):
    """What each tree of a forest of weights adds to the score of every row.

    ``class_`` is the class of the score; by default as in the model's `explain`.
    """

    class_: Label | None = None

    def __post_init__(self) -> None:
        if self.class_ is not None and self.class_ not in self.model.schema_.classes:
            known = ", ".join(str(label) for label in self.model.schema_.classes)
            raise ParameterError(f"--class {str(self.class_)!r} is none of the classes; choose from {known}")
        super().__post_init__()

    @cached_property
    def _own_names(self) -> list[str]:
        # The attributes themselves may be kept beside their effects.
        effects = self.model.explained_names_[1:]
        return ["explained", *(f"effect({name})" for name in ("start", *effects)), "score"]

    def _answer(self, table: Any) -> tuple[Any, Any]:
        effects = self.model.explain(table, self.class_).to_numpy()
        classes = self.model.classes_
        if self.class_ is None and len(classes) > 2:
            explained = self.model.predict(table)
        else:
            k = 1 if self.class_ is None else self.model.schema_.classes.index(self.class_)
            explained = np.repeat(classes[k : k + 1], len(effects))
        labels = pa.array(explained.tolist(), self._labels.type)
        return labels, np.column_stack([effects, effects.sum(axis=1)])

    def _json(self, labels: list[Any], numbers: list[Any]) -> dict[str, Any]:
        return {"explained": labels, "columns": self._own_names[1:], "contributions": np.column_stack(numbers).tolist()}


def write_csv(file: BinaryIO, names: Sequence[str], batches: Iterable[Any]) -> None:
    """Write batches as CSV; numbers as the shortest text that reads back as the same number."""
    waiting = iter(batches)
    first = list(islice(waiting, 1))  # rows that cannot be read are refused before anything is written
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(names)
    _write_all(file, header.getvalue().encode())
    for batch in chain(first, waiting):
        _write_all(file, _csv_lines(batch))


def write_parquet(file: BinaryIO, nothing: Any, batches: Iterable[Any]) -> None:
    """Write batches as Parquet, a row group a batch; ``nothing`` has the columns where there is no row."""
    waiting = iter(batches)
    first = next(waiting, nothing)
    with pq.ParquetWriter(file, first.schema) as writer:
        for batch in chain([first], waiting):
            writer.write_batch(batch)


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
