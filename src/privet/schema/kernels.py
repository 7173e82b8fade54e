"""Numbers to cell codes, compiled. The plain twin is in `reference`."""

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True)
def encode_numbers(
    values: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    per_unit: NDArray[np.float64],
    cut_start: NDArray[np.int64],
    cuts: NDArray[np.float64],
    position: NDArray[np.int64],
    stride: int,
    out: NDArray[np.unsignedinteger],
) -> None:
    """Write the code of every number to ``out[row * stride + position[column]]``.

    ``values`` is a row-major table with one column per entry of ``low``. The code is the number of cuts that are <= the
    clipped value, and the number of cells for a missing one. ``per_unit`` is cells per unit where all cells are equally
    wide, else 0.
    """
    n_columns = low.shape[0]
    n_rows = values.shape[0] // n_columns
    for column in range(n_columns):
        own_cuts = cuts[cut_start[column] : cut_start[column + 1]]
        least, most, rate, last = low[column], high[column], per_unit[column], own_cuts.shape[0]
        for row in range(n_rows):
            x = values[row * n_columns + column]
            if np.isnan(x):
                code = last + 1
            elif rate > 0.0:
                x = min(max(x, least), most)
                # Arithmetic lands in the cell or, by rounding, beside it: the cuts decide.
                code = min(int((x - least) * rate), last)
                while code > 0 and x < own_cuts[code - 1]:
                    code -= 1
                while code < last and x >= own_cuts[code]:
                    code += 1
            else:
                code = np.searchsorted(own_cuts, x, side="right")
            out[row * stride + position[column]] = code
