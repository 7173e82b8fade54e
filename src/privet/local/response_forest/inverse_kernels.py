"""Growing a tree on answers that were drawn attribute by attribute, compiled; its tests compare it with a plain twin.

A node is a product of value sets. A row counts in it with the product of (1[answer in set] - size of the set * q) / (p
- q) over the attributes on the path, which is 1 or 0 on average as its true values are in the node or not. Rows whose
product is 0, as those are that a clear attribute sends elsewhere, are left behind. A product that is small takes part
with a chance in its proportion, and then counts as much more: the mean stays, the sum of squares tells what that
costs, and deep nodes have far fewer rows to go through.
"""

import math

import numba
import numpy as np
from numba import int64, uint64

from privet.local.response_forest.bit_kernels import SURE, TIE, UNTRIED, draw_bits, impurity_of, is_settled, mixed


@numba.njit(inline="always")
def _set_size(patterns, n_answers, mask, want):  # type: ignore[no-untyped-def]
    """Return how many of the possible answers are in the set whose codes, under ``mask``, are ``want``."""
    size = 0
    for w in range(n_answers):
        size += (patterns[w] & mask) == want
    return size


@numba.njit(inline="always")
def _factor(w, patterns, n_answers, kept, other, mask, want, size):  # type: ignore[no-untyped-def]
    """Return what the answer ``w`` counts in a set; beyond the possible answers it is known to be true."""
    inside = 1.0 if (patterns[w] & mask) == want else 0.0
    return (inside - size * other) / (kept - other) if w < n_answers else inside


@numba.njit(cache=True, nogil=True)
def _fill_ratios(patterns, n_answers, kept, other, mask, want, bit, ratios):  # type: ignore[no-untyped-def]
    """Write how each answer's factor changes from a node to its children; return whether both may have rows."""
    size = _set_size(patterns, n_answers, mask, want)
    is_split = True
    for branch in range(2):
        wanted = want | (bit if branch else 0)
        own = _set_size(patterns, n_answers, mask | bit, wanted)
        n_inside = 0
        for w in range(patterns.shape[0]):
            before = _factor(w, patterns, n_answers, kept, other, mask, want, size)
            after = _factor(w, patterns, n_answers, kept, other, mask | bit, wanted, own)
            ratios[branch, w] = after / before if before != 0.0 else 0.0
            n_inside += (patterns[w] & (mask | bit)) == wanted
        is_split &= n_inside > 0
    return is_split


@numba.njit(inline="always")
def _add_rows(labels, weight, rows, product, low, high, sums, squares):  # type: ignore[no-untyped-def]
    """Add a node's rows by label: their products and the squares."""
    for i in range(low, high):
        row = rows[i]
        once = weight[row] * product[i]
        sums[labels[row]] += once
        squares[labels[row]] += once * product[i]


@numba.njit(cache=True, nogil=True)
def _tabulate(  # type: ignore[no-untyped-def]
    codes, labels, weight, rows, product, low, high, attributes, start, sums, squares
):
    """Add every row of a node to the tables of ``attributes``: by answer and label, its product and the square."""
    for t in range(attributes.shape[0]):
        a = attributes[t]
        sums[start[a] : start[a + 1]] = 0.0
        squares[start[a] : start[a + 1]] = 0.0
    for i in range(low, high):
        row = uint64(rows[i])
        c, once = uint64(labels[row]), weight[row] * product[i]
        twice = once * product[i]
        for t in range(attributes.shape[0]):
            a = uint64(attributes[t])
            place = uint64(start[a]) + uint64(codes[row, a])
            sums[place, c] += once
            squares[place, c] += twice


@numba.njit(inline="always")
def _class_estimates(sums, wrong_label, right_label, n_rows, out):  # type: ignore[no-untyped-def]
    """Write each class's estimated rows to ``out``, clipped to what is possible, and return their unclipped sum.

    Labels count ``right_label`` for their own class and ``wrong_label`` for every other.
    """
    total = 0.0
    for s in sums:
        total += s
    for c in range(sums.shape[0]):
        estimate = right_label * sums[c] + wrong_label * (total - sums[c])
        out[c] = min(max(estimate, 0.0), n_rows)
    return total


@numba.njit(inline="always")
def _thinned(product, word, row, thin):  # type: ignore[no-untyped-def]
    """Return ``product``, or where it is below ``thin``, that with the chance that keeps the mean, and else 0."""
    if product == 0.0 or abs(product) >= thin:
        return product
    chance = float(mixed(word ^ (uint64(row) * uint64(0xD6E8FEB86659FD93))) >> uint64(11)) * 2.0**-53
    if chance * thin >= abs(product):
        return 0.0
    return thin if product > 0 else -thin


@numba.njit(cache=True, nogil=True)
def _divide(  # type: ignore[no-untyped-def]
    codes, rows, product, low, high, attribute, ratios, thin, words, spare_rows, spare_product
):
    """Replace a node's rows by those of its second child, then of its first, and return where both end."""
    a, second, n_first = uint64(attribute), uint64(low), uint64(0)
    for i in range(uint64(low), uint64(high)):
        row, before = rows[i], product[i]
        w = uint64(codes[uint64(row), a])
        first_product = _thinned(before * ratios[0, w], words[0], row, thin)
        second_product = _thinned(before * ratios[1, w], words[1], row, thin)
        spare_rows[n_first], spare_product[n_first] = row, first_product
        rows[second], product[second] = row, second_product
        n_first += uint64(first_product != 0.0)
        second += uint64(second_product != 0.0)
    for i in range(n_first):
        rows[second + i], product[second + i] = spare_rows[i], spare_product[i]
    return int64(second), int64(second + n_first)


@numba.njit(inline="always")
def _new_attributes(tried, fixed, bit_attribute, bit_mask, out):  # type: ignore[no-untyped-def]
    """Write the attributes of bits that are not ``fixed`` yet to ``out``, each once, and return how many."""
    n = 0
    for j in tried:
        a = bit_attribute[j]
        is_new = (fixed[a] & bit_mask[j]) == 0
        for k in range(n):
            is_new &= out[k] != a
        if is_new:
            out[n] = a
            n += 1
    return n


@numba.njit(cache=True, nogil=True)
def _split_impurity(  # type: ignore[no-untyped-def]
    ratios, table_sums, table_squares, wrong_label, right_label, all_rows, min_leaf, side, estimates
):
    """Return the mean Gini impurity of two children, infinite where one of them may be empty."""
    found = impurity = 0.0
    is_sure = True
    for branch in range(2):
        square = 0.0
        side[:] = 0.0
        for w in range(table_sums.shape[0]):
            ratio = ratios[branch, w]
            for c in range(side.shape[0]):
                side[c] += ratio * table_sums[w, c]
                square += ratio * ratio * table_squares[w, c]
        total = _class_estimates(side, wrong_label, right_label, all_rows, estimates)
        is_sure &= total >= min_leaf and total * total >= SURE * SURE * (square - total)
        n, g = impurity_of(estimates)
        found += n
        impurity += g
    return impurity / found if is_sure else math.inf


@numba.njit(cache=True, nogil=True)
def grow_on_answers(  # type: ignore[no-untyped-def]
    codes, labels, weight, start, patterns, n_answers, kept, other, bit_attribute, bit_mask, right_label, wrong_label,
    thin, n_tried, min_rows, min_leaf, max_depth, draw, bit, left, sums, squares,
):  # fmt: skip
    """Grow a tree on rows of answers, and return how many nodes it has.

    ``codes`` are answers and ``labels`` answered classes; ``weight`` is how often a row is in the bootstrap. Of
    attribute a, ``patterns[start[a] : start[a + 1]]`` are the binary codes of its answers, of which the first
    ``n_answers[a]`` are true with chance ``kept[a]`` and each other with chance ``other[a]``. Bit j is ``bit_mask[j]``
    of the code of ``bit_attribute[j]``. Products below ``thin`` are thinned out. ``bit[node]``, -1 for a leaf,
    ``left[node]`` and by label ``sums[node]`` and ``squares[node]`` of the rows' products are filled.
    """
    n_rows, n_bits, n_classes = codes.shape[0], bit_attribute.shape[0], sums.shape[1]
    # Children of children wait behind one another, so a path needs room for all rows at every depth.
    rows, product = np.empty((max_depth + 2) * n_rows, dtype=np.uint32), np.empty((max_depth + 2) * n_rows)
    rows[:n_rows], product[:n_rows] = np.arange(n_rows), 1.0
    spare_rows, spare_product = np.empty(n_rows, dtype=np.uint32), np.empty(n_rows)
    table_sums, table_squares = np.empty((patterns.shape[0], n_classes)), np.empty((patterns.shape[0], n_classes))
    ratios, best_ratios = np.empty((2, patterns.shape[0])), np.empty((2, patterns.shape[0]))
    order, attributes = np.empty(n_bits, dtype=np.int64), np.empty(n_bits, dtype=np.int64)
    side, estimates, all_rows = np.empty(n_classes), np.empty(n_classes), float(weight.sum())
    # Nodes yet to be looked at: node, first row, row after the last, depth; which bits the path has fixed, and to what.
    stack, draws = np.empty((max_depth + 2, 4), dtype=np.int64), np.empty(max_depth + 2, dtype=np.uint64)
    masks = np.zeros((max_depth + 2, start.shape[0] - 1), dtype=np.int64)
    wants = np.zeros_like(masks)
    stack[0], draws[0] = (0, 0, n_rows, 0), uint64(draw)
    top, n_nodes = 1, 1
    while top:
        top -= 1
        node, low, high, depth = stack[top]
        word, mask, want = draws[top], masks[top], wants[top]
        _add_rows(labels, weight, rows, product, low, high, sums[node], squares[node])
        total = _class_estimates(sums[node], wrong_label, right_label, all_rows, estimates)
        order[:] = np.arange(n_bits)
        best, least, n_drawn = UNTRIED, math.inf, 0
        # Thinned sums add up on average only, so the room is not certain to suffice.
        if depth == max_depth or n_nodes + 2 > bit.shape[0] or is_settled(estimates, total, min_rows):
            n_drawn = n_bits
        while n_drawn < n_bits and best == UNTRIED:
            n_more = min(n_tried, n_bits - n_drawn)
            word = draw_bits(order, n_drawn, n_more, word)
            tried = order[n_drawn : n_drawn + n_more]
            own = attributes[: _new_attributes(tried, mask, bit_attribute, bit_mask, attributes)]
            _tabulate(codes, labels, weight, rows, product, low, high, own, start, table_sums, table_squares)
            for j in tried:
                a = bit_attribute[j]
                first, last = start[a], start[a + 1]
                if mask[a] & bit_mask[j] or not _fill_ratios(
                    patterns[first:last], n_answers[a], kept[a], other[a], mask[a], want[a], bit_mask[j], ratios
                ):
                    continue
                impurity = _split_impurity(
                    ratios, table_sums[first:last], table_squares[first:last], wrong_label, right_label, all_rows,
                    min_leaf, side, estimates,
                )  # fmt: skip
                if impurity < least - TIE:
                    best, least = j, impurity
                    best_ratios[:, : last - first] = ratios[:, : last - first]
            n_drawn += n_more
        bit[node], left[node] = best, n_nodes
        if best != UNTRIED:
            a = bit_attribute[best]
            words = (mixed(word), mixed(word ^ uint64(1)))
            middle, end = _divide(
                codes, rows, product, low, high, a, best_ratios, thin, words, spare_rows, spare_product
            )
            mask[a] |= bit_mask[best]
            masks[top + 1], wants[top + 1] = mask, want
            want[a] |= bit_mask[best]
            stack[top], draws[top] = (n_nodes + 1, low, middle, depth + 1), words[1]
            stack[top + 1], draws[top + 1] = (n_nodes, middle, end, depth + 1), words[0]
            top += 2
            n_nodes += 2
    return n_nodes
