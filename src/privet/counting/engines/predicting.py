"""Predictions for a cluster's frame, partition by partition and when they are asked for.

The model, which holds released numbers alone, travels to the rows. Columns that the schema does not name are left as
they are, the label's among them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.schema.table import check_present

# The columns that a Spark frame gets, as Spark's own models call them.
PREDICTION, PROBABILITY = "prediction", "probability"
_SPARK_TYPES = {"U": "StringType", "i": "LongType", "u": "LongType", "f": "DoubleType", "b": "BooleanType"}


@dataclass(frozen=True)
class Predicting:
    """What is asked of each partition: ``answer`` takes the columns ``names`` and returns a line per row."""

    answer: Callable[[Any], NDArray[Any]]
    names: Sequence[str]
    classes: NDArray[Any]
    of_classes: bool

    def of_frame(self, frame: Any, engine: str) -> Any:
        """Return the predictions of a frame of dask or Spark, which computes them when it is asked to."""
        check_present(list(frame.columns), self.names)
        return self._of_dask(frame) if engine == "dask" else self._of_spark(frame)

    def _of_dask(self, frame: Any) -> Any:
        """Return a Series of classes, or a DataFrame of chances with a column for each class; the index stays."""
        chosen = frame[list(self.names)]
        # Dask is told what comes: otherwise it would ask for made-up rows.
        return chosen.map_partitions(self._of_pandas, meta=self._of_pandas(chosen._meta))  # noqa: SLF001 - no rows, types

    def _of_pandas(self, part: Any) -> Any:
        import pandas as pd

        if self.of_classes:
            found = self.answer(part) if len(part) else self.classes[:0]  # without rows there may be no types
            return pd.Series(found, index=part.index, name=PREDICTION)
        chances = self.answer(part) if len(part) else np.empty((0, len(self.classes)))
        return pd.DataFrame(chances, index=part.index, columns=self.classes)

    def _of_spark(self, frame: Any) -> Any:
        """Return the frame with one more column: the class, or an array of chances in the order of the classes."""
        added = PREDICTION if self.of_classes else PROBABILITY
        if added in frame.columns:
            raise ParameterError(f"the frame has a column {added!r} already; rename it, or drop it")
        from pyspark.sql import types

        kind = getattr(types, _SPARK_TYPES[self.classes.dtype.kind])()
        kind = kind if self.of_classes else types.ArrayType(types.DoubleType())
        schema = deepcopy(frame.schema).add(added, kind)  # Spark's add changes the schema that it is called on
        return frame.mapInArrow(self._answer_batches(added), schema)

    def _answer_batches(self, added: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
        def answer(batches: Iterable[Any]) -> Iterator[Any]:
            import pyarrow as pa

            for batch in batches:
                if batch.num_rows:
                    found = self.answer(batch.select(list(self.names)))
                    column = pa.array(found) if self.of_classes else pa.array(list(found), pa.list_(pa.float64()))
                    yield pa.RecordBatch.from_arrays([*batch.columns, column], names=[*batch.schema.names, added])

        return answer
