"""Numbers to cell codes, compiled. The plain twin is in `reference`."""

import numba
import numpy as np
from numba import float64, uint64

# Stretches of equal width in which the code of a number is looked up first where its cells are not equally wide.
_N_GUESSES = 256


@numba.njit(cache=True, nogil=True)
def encode_numbers(values, low, high, per_unit, edge_start, edges, position, stride, out):  # type: ignore[no-untyped-def]
    """Write the code of every number to ``out[row * stride + position[column]]``.

    ``values`` is a row-major table with one column per entry of ``low``. A column's own edges are its cuts between -inf
    and inf; the code is the number of cuts that are <= the clipped value, and the number of cells for a missing one.
    ``per_unit`` is cells per unit where all cells are equally wide, else 0.
    """
    n_columns, n_rows = low.shape[0], values.shape[0] // low.shape[0]
    guesses = np.zeros(_N_GUESSES, dtype=np.uint64)
    for column in range(n_columns):
        own_edges = edges[edge_start[column] : edge_start[column + 1]]
        last = uint64(own_edges.shape[0] - 2)
        least, most, rate = low[column], high[column], per_unit[column]
        if rate == 0:
            _guess(own_edges, least, most, guesses)
        per_guess = _N_GUESSES / (most - least)
        for row in range(n_rows):
            x = float64(values[uint64(row) * uint64(n_columns) + uint64(column)])
            code = last + uint64(1)
            if x == x:
                x = min(max(x, least), most)
                if rate == 0:
                    code = guesses[min(uint64((x - least) * per_guess), uint64(_N_GUESSES - 1))]
                else:
                    code = min(uint64((x - least) * rate), last)
                # Arithmetic is a guess, and rounding may put it beside the cell: the edges decide.
                while x >= own_edges[code + uint64(1)]:
                    code += uint64(1)
                while x < own_edges[code]:
                    code -= uint64(1)
            out[uint64(row) * uint64(stride) + uint64(position[column])] = code


@numba.njit(cache=True, nogil=True)
def _guess(own_edges, least, most, guesses):  # type: ignore[no-untyped-def]
    """Write the code at the lower end of each of equally wide stretches, roughly."""
    code = uint64(0)
    for i in range(_N_GUESSES):
        x = least + (most - least) * (i / _N_GUESSES)
        while x >= own_edges[code + uint64(1)]:
            code += uint64(1)
        guesses[i] = code
