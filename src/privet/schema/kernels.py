"""Numbers to cell codes, compiled. The plain twin is in `reference`."""

import numba
import numpy as np
from numba import float64, uint64


@numba.njit(cache=True, nogil=True)
def encode_numbers(values, low, high, per_unit, edge_start, edges, position, stride, out):  # type: ignore[no-untyped-def]
    """Write the code of every number to ``out[row * stride + position[column]]``.

    ``values`` is a row-major table with one column per entry of ``low``. A column's own edges are its cuts between -inf
    and inf; the code is the number of cuts that are <= the clipped value, and the number of cells for a missing one.
    ``per_unit`` is cells per unit where all cells are equally wide, else 0.
    """
    n_columns, n_rows = low.shape[0], values.shape[0] // low.shape[0]
    for column in range(n_columns):
        own_edges = edges[edge_start[column] : edge_start[column + 1]]
        last = uint64(own_edges.shape[0] - 2)
        least, most, rate = low[column], high[column], per_unit[column]
        for row in range(n_rows):
            x = float64(values[uint64(row) * uint64(n_columns) + uint64(column)])
            code = last + uint64(1)
            if x == x:
                x = min(max(x, least), most)
                code = min(uint64((x - least) * rate), last)
                # Arithmetic is a guess that rounding may put beside the cell: the edges decide.
                if not (own_edges[code] <= x < own_edges[code + uint64(1)]):
                    code = uint64(np.searchsorted(own_edges, x, side="right") - 1)
            out[uint64(row) * uint64(stride) + uint64(position[column])] = code
