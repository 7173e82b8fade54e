"""Numbers to codes, compiled. The tests check each kernel against a plain twin, `tests/schema/reference.py`."""

import numba
import numpy as np
from numba import float64, int64, uint64

# Where cells differ in width, a table of this many equally wide intervals gives a first guess of a number's code.
_N_GUESSES = 256
# Up to this many numbers, comparing one by one is faster than a hash table.
FEW_NUMBERS = 16


@numba.njit(cache=True, nogil=True)
def encode_numbers(values, low, high, per_unit, edge_start, edges, position, stride, out):  # type: ignore[no-untyped-def]
    """Write the code of every number to ``out[row * stride + position[column]]``.

    ``values`` is a row-major table with one column per entry of ``low``. The edges of a column are its cuts, with -inf
    before and inf after them. The code is the number of cuts that are <= the clipped value; for a missing value it is
    the number of cells. ``per_unit`` is cells per unit where the cells are equally wide and ``(cut - low) * per_unit``
    is within a quarter of each cut's number, else 0.
    """
    n_columns = low.shape[0]
    for column in range(n_columns):
        own_edges = edges[edge_start[column] : edge_start[column + 1]]
        own, codes = values[column::n_columns], out[position[column] :: stride]
        if per_unit[column] > 0:
            _calculate(own, low[column], high[column], per_unit[column], own_edges, codes)
        else:
            _look_up(own, low[column], high[column], own_edges, codes)


@numba.njit(cache=True, nogil=True)
def _calculate(values, least, most, per_unit, own_edges, codes):  # type: ignore[no-untyped-def]
    """Write the codes of a column by arithmetic, without a branch.

    Rounded arithmetic is monotone. So only the nearest cut can be on the wrong side of a number, and one comparison
    with it decides.
    """
    missing = uint64(own_edges.shape[0] - 1)
    for row in range(uint64(values.shape[0])):
        value = float64(values[row])
        # NaN becomes `least`, which `max` would not guarantee: the index must stay inside the array.
        x = value if value > least else least  # noqa: FURB136
        x = min(x, most)
        nearest = uint64(int64((x - least) * per_unit + 0.5))
        code = nearest - uint64(x < own_edges[nearest])
        codes[row] = code if value == value else missing


@numba.njit(cache=True, nogil=True)
def _look_up(values, least, most, own_edges, codes):  # type: ignore[no-untyped-def]
    """Write the codes of a column: a first guess, then a walk along the cuts."""
    missing = uint64(own_edges.shape[0] - 1)
    guesses = np.zeros(_N_GUESSES, dtype=np.uint64)
    _guess(own_edges, least, most, guesses)
    per_guess = _N_GUESSES / (most - least)
    for row in range(uint64(values.shape[0])):
        x = float64(values[row])
        code = missing
        if x == x:
            x = min(max(x, least), most)
            code = guesses[min(uint64((x - least) * per_guess), uint64(_N_GUESSES - 1))]
            # Rounding may make the guess wrong; the edges decide.
            while x >= own_edges[code + uint64(1)]:
                code += uint64(1)
            while x < own_edges[code]:
                code -= uint64(1)
        codes[row] = code


@numba.njit(cache=True, nogil=True)
def _guess(own_edges, least, most, guesses):  # type: ignore[no-untyped-def]
    """Write about the code at the lower end of each of the equally wide intervals."""
    code = uint64(0)
    for i in range(_N_GUESSES):
        x = least + (most - least) * (i / _N_GUESSES)
        while x >= own_edges[code + uint64(1)]:
            code += uint64(1)
        guesses[i] = code


@numba.njit(cache=True, nogil=True)
def find_numbers(values, known, positions):  # type: ignore[no-untyped-def]
    """Write the position of each value in ``known``, whose values are distinct; -1 for other values and NaN."""
    for row in range(uint64(values.shape[0])):
        found = int64(-1)
        for k in range(known.shape[0]):
            found = int64(k) if values[row] == known[k] else found
        positions[row] = found
