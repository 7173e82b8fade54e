"""What growing a tree on intervals does for every row or border, compiled. Its tests compare it with a plain twin."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def count_answers(group, answer, counts):  # type: ignore[no-untyped-def]
    """``counts[group, answer] += 1`` for every row whose group and answer are not -1."""
    for row in range(group.shape[0]):
        if group[row] >= 0 and answer[row] >= 0:
            counts[group[row], answer[row]] += 1


@numba.njit(cache=True, nogil=True)
def order_by_place(rows, place, n_places, order):  # type: ignore[no-untyped-def]
    """Write ``rows`` to ``order`` by their place, 0 to ``n_places - 1``; those of one place stay in order.

    Rows whose place is -1 are left out.
    """
    start = np.zeros(n_places + 1, dtype=np.int64)
    for own in place:
        if own >= 0:
            start[own + 1] += 1
    start = np.cumsum(start)
    for row in rows:
        own = place[row]
        if own >= 0:
            order[start[own]] = row
            start[own] += 1


@numba.njit(cache=True, nogil=True)
def assign_in_order(order, group, upto, column, codes):  # type: ignore[no-untyped-def]
    """Give the first ``upto[group, 0]`` rows of each group the code 0, those before ``upto[group, 1]`` 1, and so on.

    ``order`` has the rows from first to last; those whose group is -1 keep their code in ``codes[:, column]``.
    """
    n_before = np.zeros(upto.shape[0], dtype=np.int64)
    code = np.zeros(upto.shape[0], dtype=np.int64)
    for row in order:
        own = group[row]
        if own >= 0:
            while n_before[own] >= upto[own, code[own]]:
                code[own] += 1
            n_before[own] += 1
            codes[row, column] = code[own]


@numba.njit(cache=True, nogil=True)
def best_splits(tables, offsets, n_codes, binary, n_classes, attribute, cut, purity):  # type: ignore[no-untyped-def]
    """Write for every table the split that leaves the least Gini index: its attribute, its cut, and how pure it is.

    Purity is the sum over children and classes of n_c^2 / n; a node's own is the floor, and where nothing exceeds it
    the attribute is -1. Of equally good splits the first wins; a binary one cuts in the middle of the empty codes
    around it. Splits that leave all rows in one child are none. The cut is -1 where each code has a child.
    """
    left, total = np.empty(n_classes), np.empty(n_classes)
    for node in range(tables.shape[0]):
        table = tables[node]
        _class_totals(table, n_codes[0], n_classes, total)
        n = total.sum()
        attribute[node], cut[node], purity[node] = -1, -1, _squares(total, n)
        for a in range(n_codes.shape[0]):
            if binary[a]:
                best, where = _best_cut(table, offsets[a], n_codes[a], n_classes, total, n, left)
            else:
                best, where = _every_code(table, offsets[a], n_codes[a], n_classes, n, left), -1
            if best > purity[node]:
                attribute[node], cut[node], purity[node] = a, where, best


@numba.njit(nogil=True)
def _class_totals(table, n_codes, n_classes, total):  # type: ignore[no-untyped-def]
    """Every attribute tells the node's class counts; this reads the first."""
    total[:] = 0.0
    for code in range(n_codes):
        for c in range(n_classes):
            total[c] += table[code * n_classes + c]


@numba.njit(nogil=True)
def _squares(counts, n):  # type: ignore[no-untyped-def]
    return (counts * counts).sum() / n if n > 0 else 0.0


@numba.njit(nogil=True)
def _best_cut(table, start, n_codes, n_classes, total, n, left):  # type: ignore[no-untyped-def]
    left[:] = 0.0
    n_left, best, first, last, n_best = 0.0, 0.0, -1, -1, -1.0
    for code in range(n_codes - 1):
        for c in range(n_classes):
            here = table[start + code * n_classes + c]
            left[c] += here
            n_left += here
        if n_left == n_best:
            last = code
        elif 0 < n_left < n:
            score = 0.0
            for c in range(n_classes):
                right = total[c] - left[c]
                score += left[c] * left[c] / n_left + right * right / (n - n_left)
            if score > best:
                best, first, last, n_best = score, code, code, n_left
    return best, (first + last) // 2


@numba.njit(nogil=True)
def _every_code(table, start, n_codes, n_classes, n, own):  # type: ignore[no-untyped-def]
    score, most = 0.0, 0.0
    for code in range(n_codes):
        for c in range(n_classes):
            own[c] = table[start + code * n_classes + c]
        n_own = own.sum()
        score += _squares(own, n_own)
        most = max(most, n_own)
    return score if most < n else 0.0
