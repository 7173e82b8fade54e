"""Tables of answers as the estimator reads them."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError, ParameterError
from privet.schema.persons import distinct_names
from privet.schema.table import column_of


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
