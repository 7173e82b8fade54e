"""Walking rows down trees, compiled. Each kernel has a plain twin in `reference`.

Records are the codes of a table, row after row in one flat array; ``stride`` is the record's length. Nothing is checked
here: codes and nodes were, when they were made. All indices are unsigned, since a signed one costs a test for
negative values in every access.
"""

import numba
import numpy as np
from numba import uint64
from numpy.typing import NDArray

# Rows walked through one tree before the next tree's turn, so that a block of records stays in the cache.
BLOCK = 65_536
LANES = 8


@numba.njit(inline="always")
def _step(words, node, records, row):  # type: ignore[no-untyped-def]
    """Take one row one level down. A leaf has a threshold no code exceeds and leads to itself."""
    word = words[node]
    code = uint64(records[row + ((word >> uint64(32)) & uint64(0x7FFF))])
    above = uint64(code > (word >> uint64(48)))
    own_branch = code & (uint64(0) - ((word >> uint64(47)) & uint64(1)))
    return (word & uint64(0xFFFFFFFF)) + (above | own_branch)


@numba.njit(inline="always")
def _walk(words, root, depth, records, row):  # type: ignore[no-untyped-def]
    node = root
    for _ in range(depth):
        node = _step(words, node, records, row)
    return node


@numba.njit(cache=True, nogil=True)
def route(words, root, depth, records, stride, first, n_rows, leaves):  # type: ignore[no-untyped-def]
    """Write to ``leaves`` the leaf that each of ``n_rows`` rows, from row ``first`` on, reaches from ``root``.

    Eight rows walk side by side: a step waits for memory, and eight waits overlap.
    """
    s, top, d = uint64(stride), uint64(root), uint64(depth)
    whole = uint64(n_rows) // uint64(LANES) * uint64(LANES)
    for i in range(uint64(0), whole, uint64(LANES)):
        r0 = (uint64(first) + uint64(i)) * s
        r1, r2, r3 = r0 + s, r0 + s + s, r0 + s + s + s
        r4, r5, r6, r7 = r3 + s, r3 + s + s, r3 + s + s + s, r3 + s + s + s + s
        a = b = c = e = f = g = h = k = top
        for _ in range(d):
            a = _step(words, a, records, r0)
            b = _step(words, b, records, r1)
            c = _step(words, c, records, r2)
            e = _step(words, e, records, r3)
            f = _step(words, f, records, r4)
            g = _step(words, g, records, r5)
            h = _step(words, h, records, r6)
            k = _step(words, k, records, r7)
        j = uint64(i)
        leaves[j], leaves[j + uint64(1)], leaves[j + uint64(2)], leaves[j + uint64(3)] = a, b, c, e
        leaves[j + uint64(4)], leaves[j + uint64(5)], leaves[j + uint64(6)], leaves[j + uint64(7)] = (
            f,
            g,
            h,
            k,
        )
    for i in range(whole, uint64(n_rows)):
        leaves[uint64(i)] = _walk(words, top, d, records, (uint64(first) + uint64(i)) * s)


@numba.njit(cache=True, nogil=True)
def count_classes(words, roots, depth, records, stride, labels, counts, leaves):  # type: ignore[no-untyped-def]
    """``counts[leaf, class] += 1`` for every row and every tree in ``roots``; ``leaves`` is scratch of `BLOCK`."""
    n_rows = labels.shape[0]
    for first in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - first)
        for root in roots:
            route(words, root, depth, records, stride, first, size, leaves)
            for i in range(size):
                counts[uint64(leaves[i]), uint64(labels[first + i])] += 1


@numba.njit(cache=True, nogil=True)
def add_votes(words, roots, depth, records, stride, weights, votes, leaves):  # type: ignore[no-untyped-def]
    """``votes[row] += weights[leaf]`` for every row and every tree in ``roots``; ``leaves`` is scratch of `BLOCK`."""
    n_rows, n_classes = votes.shape
    for first in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - first)
        for root in roots:
            route(words, root, depth, records, stride, first, size, leaves)
            for i in range(size):
                for c in range(n_classes):
                    votes[first + i, c] += weights[uint64(leaves[i]), c]


@numba.njit(cache=True, nogil=True)
def shares(votes, otherwise, out):  # type: ignore[no-untyped-def]
    """``out[row] = votes[row] / sum``, and ``otherwise`` where a row has no votes."""
    n_rows, n_classes = votes.shape
    for row in range(n_rows):
        total = 0
        for c in range(n_classes):
            total += votes[row, c]
        for c in range(n_classes):
            out[row, c] = votes[row, c] / total if total > 0 else otherwise[c]


def scratch(n_rows: int) -> NDArray[np.uint32]:
    """Return room for the leaves of one block of rows."""
    return np.empty(min(n_rows, BLOCK), dtype=np.uint32)
