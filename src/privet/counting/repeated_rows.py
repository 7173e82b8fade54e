"""Rows that are there more than once in what a fit was given, as far as that can be seen.

Where a row is the unit of privacy, noise covers a row that is counted once. A table does not say whether two equal rows
are two people or one that was drawn twice; weights, an index and rows that are one object do.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError, ParameterError, PrivacyLeakWarning
from privet.schema.table import as_numpy


def drawn_once(sample_weight: Any, n_rows: int) -> NDArray[np.bool_]:
    """Return which rows have the weight 1, and not 0; refuse any other weight: it would multiply a row's price."""
    weights = as_numpy(sample_weight)
    if weights.shape != (n_rows,):
        raise ParameterError("sample_weight must have one weight per row, 0 or 1; leave it out")
    if not np.isin(weights, (0, 1)).all():
        raise ParameterError(
            "sample_weight may leave rows out (0) or take them once (1): a row that counts for more would cost more "
            "than is charged. Bagging draws rows repeatedly unless bootstrap=False; boosting and class weights need "
            "weights that privet does not take"
        )
    if len(weights) and not weights.any():
        raise ParameterError("sample_weight is zero for every row; give the rows to take the weight 1")
    return weights.astype(bool)


def check_each_once(table: Any, y: Any, codes: NDArray[Any], labels: NDArray[np.uint16]) -> None:
    """Refuse a table, with labels ``y``, in which a row is seen to be there twice; warn where only an index says so.

    The encoded rows tell a sample with replacement from several tables put together, each with an index of its own.
    """
    if isinstance(table, list):
        rows = [id(row) for row in table if isinstance(row, (list, np.ndarray))]
        if len(set(rows)) < len(rows):
            raise DataError(
                "one row is in the list more than once, as the very same object, and would be counted as several; pass "
                "each row once, or copies where they are different people"
            )
    indices = [getattr(given, "index", None) for given in (table, y)]
    repeating = [index for index in indices if not getattr(index, "is_unique", True)]
    if not repeating:
        return
    first = _first_of_each(repeating[0])
    if (codes == codes[first]).all() and (labels == labels[first]).all():
        raise DataError(
            "rows are in the table more than once: entries of its index repeat, and the rows under them are the same; "
            "pass each row once, or name the column that says whose rows they are with unit; if they are different "
            "people, say so by reset_index(drop=True)"
        )
    warnings.warn(
        "entries of the table's index repeat. If that means rows of the same people, the promise covers one row of "
        "theirs, not all: name the column that says whose they are with unit; if not, reset_index(drop=True) says so",
        PrivacyLeakWarning, stacklevel=6,  # the caller of fit
    )  # fmt: skip


def _first_of_each(index: Any) -> NDArray[np.int64]:
    """Return for every row the first one with the same entry."""
    import pandas as pd

    entries = pd.factorize(index, use_na_sentinel=False)[0]
    return np.unique(entries, return_index=True)[1][entries]
