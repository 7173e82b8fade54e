"""What people sent: read from tables, and kept in model files as how often each cell was sent."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_number
from privet.errors import DataError, ModelFileError, ParameterError
from privet.local.channels.sampling.question import Support
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.model_file import MAX_COUNT
from privet.schema.persons import distinct_names
from privet.schema.table import column_of

_DAMAGED = "the numbers of sent cells are not what privet writes there; the file is damaged"


def read_answers(X: Any, columns: Sequence[str], person: str | None = None) -> Any:
    """Return the columns of answers of a table or a file, as a data frame; who is there twice is refused."""
    import pandas as pd

    if isinstance(X, (str, os.PathLike)):
        try:
            texts = dict.fromkeys(columns[1::2], str)
            X = pd.read_parquet(X) if str(X).endswith(".parquet") else pd.read_csv(X, dtype=texts)
        except (OSError, ValueError):
            # The library's message may quote a line.
            raise DataError(
                f"{str(X)!r} cannot be read as answers; pass the .csv or .parquet that they are in"
            ) from None
    if isinstance(X, np.ndarray) or not hasattr(X, "__getitem__"):
        raise ParameterError(f"answers must be a table with the columns {', '.join(columns)}, or the path of one")
    if person is not None:
        distinct_names(column_of(X, person), person)
    return pd.DataFrame({name: np.asarray(column_of(X, name)) for name in columns})


def checked_weights(weights: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return survey weights, scaled so that they add up to the number of equal answers that tell as much."""
    if weights is None:
        return None
    own = np.asarray(weights, dtype=np.float64)
    if own.shape != (n_rows,):
        raise DataError("sample_weight must be one number for each answer; pass as many as there are rows")
    if not (np.isfinite(own).all() and (own > 0).all()):
        raise DataError("sample_weight must be numbers above 0; leave out people who do not count")
    scaled: NDArray[np.float64] = own * (own.sum() / (own**2).sum())
    return scaled


def supports_to_json(supports: Sequence[Support]) -> list[dict[str, Any]]:
    """Return what was sent as plain JSON values."""
    return [{"n": own.n, "counts": own.counts.tolist()} for own in supports]


def supports_from_json(data: object, record: SampledFields) -> list[Support]:
    """Read what was sent back: it fits the questions, and each of their subsets is of the stated size."""
    if not isinstance(data, list) or len(data) != len(record.questions):
        raise ModelFileError(_DAMAGED)
    found = []
    for part, question in zip(data, record.questions, strict=True):
        if not isinstance(part, Mapping) or set(part) != {"n", "counts"} or not isinstance(part["counts"], list):
            raise ModelFileError(_DAMAGED)
        numbers = [part["n"], *part["counts"]]
        if len(numbers) != question.selection.cells + 1 or not all(map(_is_count, numbers)):
            raise ModelFileError(_DAMAGED)
        n, counts = part["n"], np.array(part["counts"])
        # Every answer has as many cells; survey weights are no whole numbers, and their sums are rounded.
        if abs(float(counts.sum()) - n * question.selection.size) > 1e-6 * (1 + n) or (counts > n * (1 + 1e-9)).any():
            raise ModelFileError(_DAMAGED)
        found.append(Support(n, counts, question.chances))
    if not any(own.n > 0 for own in found):
        raise ModelFileError(_DAMAGED)
    return found


def _is_count(number: object) -> bool:
    return is_number(number) and 0 <= number <= MAX_COUNT
