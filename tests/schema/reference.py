"""The plain twins of `kernels`: the same arguments and results by another algorithm, for tests."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def encode_numbers(
    values: NDArray[np.floating[Any]],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    per_unit: NDArray[np.float64],
    edge_start: NDArray[np.int64],
    edges: NDArray[np.float64],
    position: NDArray[np.int64],
    stride: int,
    out: NDArray[Any],
) -> None:
    """Write the code of every number to ``out[row * stride + position[column]]``."""
    table = values.reshape(-1, len(low))
    for column in range(len(low)):
        cuts = edges[edge_start[column] : edge_start[column + 1]][1:-1]
        clipped = np.clip(table[:, column].astype(np.float64), low[column], high[column])
        codes = np.count_nonzero(cuts[None, :] <= clipped[:, None], axis=1)
        codes[np.isnan(clipped)] = len(cuts) + 1
        out[position[column] :: stride][: len(table)] = codes


def find_numbers(values: NDArray[np.float64], known: NDArray[np.float64], positions: NDArray[np.int64]) -> None:
    """Write where each value stands among ``known``, -1 for another value and for NaN."""
    places = {float(number): place for place, number in enumerate(known)}
    positions[:] = [places.get(float(value), -1) for value in values]
