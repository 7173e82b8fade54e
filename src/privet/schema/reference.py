"""The plain twin of `kernels`: the same arguments and results by another algorithm, for tests."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def encode_numbers(
    values: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    per_unit: NDArray[np.float64],
    cut_start: NDArray[np.int64],
    cuts: NDArray[np.float64],
    position: NDArray[np.int64],
    stride: int,
    out: NDArray[Any],
) -> None:
    """Write the code of every number to ``out[row * stride + position[column]]``."""
    table = values.reshape(-1, len(low))
    for column in range(len(low)):
        own_cuts = cuts[cut_start[column] : cut_start[column + 1]]
        clipped = np.clip(table[:, column], low[column], high[column])
        codes = np.searchsorted(own_cuts, clipped, side="right")
        codes[np.isnan(clipped)] = len(own_cuts) + 1
        out[position[column] :: stride][: len(table)] = codes
