"""Walking rows down trees, compiled. The tests check each kernel against a plain twin, `tests/tree/reference.py`.

Records are the codes of a table, row after row in one flat array; ``stride`` is the length of a record. Nothing is
checked here: codes and nodes are checked when they are made. All indices are unsigned, since a signed one costs a test
for negative values in every access.
"""

from typing import Any

import numba
import numpy as np
from numba import uint64

from privet.tree.forest import ATTRIBUTE_SHIFT, MULTIWAY_SHIFT, THRESHOLD_SHIFT

# Rows that walk through one tree before the next tree, so that a block of records stays in the cache.
BLOCK = 4_096
LANES = 8


@numba.njit(inline="always")
def _binary_step(words, node, records, row):  # type: ignore[no-untyped-def]
    """Take one row one level down. A leaf has a threshold that no code exceeds, and leads to itself."""
    word = words[node]
    code = uint64(records[row + ((word >> uint64(ATTRIBUTE_SHIFT)) & uint64(0x7FFF))])
    return (word & uint64(0xFFFFFFFF)) + uint64(code > (word >> uint64(THRESHOLD_SHIFT)))


@numba.njit(inline="always")
def _multiway_step(words, node, records, row):  # type: ignore[no-untyped-def]
    """Like `_binary_step`, but a node may have one child per code; the code is then the number of the child."""
    word = words[node]
    code = uint64(records[row + ((word >> uint64(ATTRIBUTE_SHIFT)) & uint64(0x7FFF))])
    above = uint64(code > (word >> uint64(THRESHOLD_SHIFT)))
    own_branch = code & (uint64(0) - ((word >> uint64(MULTIWAY_SHIFT)) & uint64(1)))
    return (word & uint64(0xFFFFFFFF)) + (above | own_branch)


def _router(step: Any) -> Any:
    """Return the kernel that routes by ``step``."""

    # Not cached: a closure is new in every process, and the kernels below are cached with it inside.
    @numba.njit(nogil=True)
    def route_by_step(words, root, depth, records, stride, first, n_rows, leaves):  # type: ignore[no-untyped-def]
        s, top, d = uint64(stride), uint64(root), uint64(depth)
        whole = uint64(n_rows) // uint64(LANES) * uint64(LANES)
        for i in range(uint64(0), whole, uint64(LANES)):
            r0 = (uint64(first) + uint64(i)) * s
            r1, r2, r3 = r0 + s, r0 + s + s, r0 + s + s + s
            r4, r5, r6, r7 = r3 + s, r3 + s + s, r3 + s + s + s, r3 + s + s + s + s
            a = b = c = e = f = g = h = k = top
            for _ in range(d):
                a = step(words, a, records, r0)
                b = step(words, b, records, r1)
                c = step(words, c, records, r2)
                e = step(words, e, records, r3)
                f = step(words, f, records, r4)
                g = step(words, g, records, r5)
                h = step(words, h, records, r6)
                k = step(words, k, records, r7)
            j = uint64(i)
            leaves[j], leaves[j + uint64(1)], leaves[j + uint64(2)], leaves[j + uint64(3)] = a, b, c, e
            leaves[j + uint64(4)], leaves[j + uint64(5)], leaves[j + uint64(6)], leaves[j + uint64(7)] = f, g, h, k
        for i in range(whole, uint64(n_rows)):
            node = top
            for _ in range(d):
                node = step(words, node, records, (uint64(first) + uint64(i)) * s)
            leaves[uint64(i)] = node

    return route_by_step


_route_binary, _route_multiway = _router(_binary_step), _router(_multiway_step)


@numba.njit(cache=True, nogil=True)
def route(words, root, depth, multiway, records, stride, first, n_rows, leaves):  # type: ignore[no-untyped-def]
    """Write to ``leaves`` the leaf that each of ``n_rows`` rows, from row ``first`` on, reaches from ``root``.

    Eight rows walk side by side: a step waits for memory, and eight waits overlap. Where no node is ``multiway``, the
    shorter step takes two thirds of the time.
    """
    if multiway:
        _route_multiway(words, root, depth, records, stride, first, n_rows, leaves)
    else:
        _route_binary(words, root, depth, records, stride, first, n_rows, leaves)


@numba.njit(cache=True, nogil=True)
def count_classes(words, roots, depth, multiway, records, stride, labels, counts):  # type: ignore[no-untyped-def]
    """``counts[leaf, class] += 1`` for every row and every tree in ``roots``."""
    n_rows = labels.shape[0]
    leaves = np.empty(min(n_rows, BLOCK), dtype=np.uint32)
    for first in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - first)
        for root in roots:
            route(words, root, depth, multiway, records, stride, first, size, leaves)
            for i in range(size):
                counts[uint64(leaves[i]), uint64(labels[first + i])] += 1


@numba.njit(cache=True, nogil=True)
def vote_shares(words, roots, depth, multiway, records, stride, weights, otherwise, out):  # type: ignore[no-untyped-def]
    """Write to ``out`` each class's share of the weights of all leaves that a row reaches.

    ``weights[node]`` has one whole number per class; ``otherwise`` is for rows whose weights are all 0.
    """
    n_rows, n_classes = out.shape
    leaves = np.empty(min(n_rows, BLOCK), dtype=np.uint32)
    votes = np.empty((leaves.shape[0], n_classes), dtype=np.int64)
    for first in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - first)
        votes[:] = 0
        for root in roots:
            route(words, root, depth, multiway, records, stride, first, size, leaves)
            for i in range(size):
                for c in range(n_classes):
                    votes[uint64(i), uint64(c)] += weights[uint64(leaves[i]), uint64(c)]
        for i in range(size):
            total = votes[i].sum()
            for c in range(n_classes):
                out[first + i, c] = votes[i, c] / total if total > 0 else otherwise[c]


@numba.njit(cache=True, nogil=True)
def count_tables(words, roots, depth, multiway, records, stride, labels, slots, offsets, n_classes, tables):  # type: ignore[no-untyped-def]
    """``tables[slot, offset of attribute + n_classes * code + class] += 1`` for every row, tree and attribute.

    ``slots[leaf]`` is the table of the node that a row reaches, or -1 where none is kept.
    """
    n_rows, n_attributes, c = labels.shape[0], uint64(offsets.shape[0]), uint64(n_classes)
    leaves = np.empty(min(n_rows, BLOCK), dtype=np.uint32)
    for first in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - first)
        for root in roots:
            route(words, root, depth, multiway, records, stride, first, size, leaves)
            for i in range(size):
                slot = slots[uint64(leaves[i])]
                if slot >= 0:
                    table = tables[uint64(slot)]
                    row, label = uint64(first + i) * uint64(stride), uint64(labels[first + i])
                    for j in range(n_attributes):
                        table[offsets[j] + c * uint64(records[row + j]) + label] += 1


@numba.njit(cache=True, nogil=True)
def vote_most_confident(words, roots, depth, multiway, records, stride, shares, tie_weight, out):  # type: ignore[no-untyped-def]
    """Write to ``out`` each class's largest share among the trees where it leads, plus a little of its sum.

    ``shares[node]`` has one share per class. The sum over all trees, times ``tie_weight``, breaks ties.
    """
    n_rows, n_classes = out.shape
    leaves = np.empty(min(n_rows, BLOCK), dtype=np.uint32)
    for first in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - first)
        best = np.zeros((size, n_classes))
        total = np.zeros((size, n_classes))
        for root in roots:
            route(words, root, depth, multiway, records, stride, first, size, leaves)
            for i in range(size):
                node = uint64(leaves[i])
                leader = 0
                for c in range(n_classes):
                    total[i, c] += shares[node, c]
                    if shares[node, c] > shares[node, leader]:
                        leader = c
                best[i, leader] = max(best[i, leader], shares[node, leader])
        for i in range(size):
            for c in range(n_classes):
                out[first + i, c] = best[i, c] + tie_weight * total[i, c]
