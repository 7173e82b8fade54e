"""Explanations as Arrow batches: what each tree adds to the score of every row."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from privet.cli.support.predictions import json_value
from privet.counting.files import read_batches
from privet.errors import ParameterError
from privet.schema import Label
from privet.schema.encoding import without_dictionary

_CLASS, _START, _SCORE = "explained", "start", "score"


@dataclass(frozen=True)
class Explanations:
    """What a forest of weights says about the rows of a file; nothing is read before it is gone through.

    ``class_`` is whose score is explained; by default as in the model's `explain`.
    """

    model: Any
    rows: Path
    keep: Sequence[str] = ()
    class_: Label | None = None

    def __post_init__(self) -> None:
        if self.class_ is not None and self.class_ not in self.model.schema_.classes:
            known = ", ".join(str(label) for label in self.model.schema_.classes)
            raise ParameterError(f"--class {str(self.class_)!r} is none of the classes; choose from {known}")
        taken = [name for name in self.keep if name in self._own_names]
        if taken:
            raise ParameterError(
                f"--keep {taken[0]!r} has the name of a column of the explanations; rename it in the table"
            )

    @property
    def names(self) -> list[str]:
        """The columns: those kept, whose score it is, the class balance, a tree each, and the sum."""
        return [*self.kept, *self._own_names]

    @property
    def kept(self) -> list[str]:
        """The columns that are copied from the table, each once."""
        return list(dict.fromkeys(self.keep))

    @cached_property
    def _own_names(self) -> list[str]:
        schema = self.model.schema_
        trees = self.model.trees_.titles(schema.names)
        # Named apart from the attributes themselves, which may be kept beside them.
        return [_CLASS, *(f"effect({name})" for name in (_START, *trees)), _SCORE]

    def batches(self, watch: Callable[[float], None] | None = None) -> Iterator[Any]:
        """Yield the explanations of one batch of rows after the other."""
        schema = self.model.schema_
        names = [*schema.names, *(name for name in self.kept if name not in schema.names)]
        for batch in read_batches(self.rows, schema, names, watch=watch):
            table = batch.select(list(schema.names))
            kept = [without_dictionary(batch.column(name)) for name in self.kept]
            parts = self.model.explain(table, self.class_).to_numpy()
            yield self._joined(kept, self._explained(table, len(parts)), parts)

    def nothing(self) -> Any:
        """Return a batch without rows."""
        kept = [pa.array([], pa.string()) for _ in self.kept]
        n_parts = len(self._own_names) - 2
        return self._joined(kept, self.model.classes_[:0], np.empty((0, n_parts)))

    def _explained(self, table: Any, n_rows: int) -> Any:
        classes = self.model.classes_
        if self.class_ is None and len(classes) > 2:
            return self.model.predict(table)
        k = 1 if self.class_ is None else self.model.schema_.classes.index(self.class_)
        return np.repeat(classes[k : k + 1], n_rows)

    def _joined(self, kept: list[Any], explained: Any, parts: Any) -> Any:
        labels = pa.array(explained.tolist(), pa.array(self.model.classes_.tolist()).type)
        columns = [pa.array(np.ascontiguousarray(column)) for column in parts.T]
        return pa.RecordBatch.from_arrays([*kept, labels, *columns, pa.array(parts.sum(axis=1))], names=self.names)


def collected(explanations: Explanations, batches: Iterable[Any]) -> dict[str, Any]:
    """Return all explanations as values that JSON can hold."""
    table = pa.Table.from_batches(list(batches) or [explanations.nothing()])
    own = table.select(range(len(explanations.kept), table.num_columns))
    values = np.column_stack([column.to_numpy() for column in own.columns[1:]])
    data: dict[str, Any] = {
        "explained": own.column(0).to_pylist(),
        "columns": own.column_names[1:],
        "contributions": values.tolist(),
    }
    if explanations.kept:
        columns = {name: table.column(name).to_pylist() for name in explanations.kept}
        data["kept"] = {name: [json_value(value) for value in values] for name, values in columns.items()}
    return data
