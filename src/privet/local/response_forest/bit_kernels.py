"""Growing a tree on records of bits and their mirror images, compiled; its tests compare it with a plain twin.

Nodes are numbered as they are made, a node's two children one after the other. Nothing is drawn here: ``draw`` is a
random word that is handed in, and every node's bits follow from it and from the path to the node.
"""

import math

import numba
import numpy as np
from numba import int64, uint64

# A child that lies less than so many standard deviations above 0 may be empty, and a lead within them may be noise.
SURE = 2.0
UNTRIED = -1
# Impurities that differ by less are equal, and the bit drawn first is taken: alike on every machine.
TIE = 1e-12


@numba.njit(inline="always")
def mixed(word):  # type: ignore[no-untyped-def]
    """Return another word that looks unrelated to ``word`` (the finalizer of SplitMix64)."""
    word = uint64(word) + uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> uint64(27))) * uint64(0x94D049BB133111EB)
    return word ^ (word >> uint64(31))


@numba.njit(inline="always")
def draw_bits(order, n_drawn, n_more, word):  # type: ignore[no-untyped-def]
    """Put ``n_more`` bits that were not drawn yet at the next places of ``order``, and return the next word."""
    for t in range(n_drawn, n_drawn + n_more):
        word = mixed(word)
        other = t + int64((word >> uint64(33)) % uint64(order.shape[0] - t))
        order[t], order[other] = order[other], order[t]
    return word


@numba.njit(inline="always")
def impurity_of(estimates):  # type: ignore[no-untyped-def]
    """Return the estimated rows and their Gini impurity times their number."""
    total = squares = 0.0
    for estimate in estimates:
        total += estimate
        squares += estimate * estimate
    return total, (total - squares / total if total > 0 else 0.0)


@numba.njit(inline="always")
def _mirror_estimates(counts, plus, minus, out):  # type: ignore[no-untyped-def]
    """Write each class's estimated rows to ``out``, clipped to what is possible, and return their unclipped sum."""
    n_classes, total = out.shape[0], 0.0
    for c in range(n_classes):
        kept, mirrored = counts[c], counts[n_classes + c]
        estimate = plus * kept - minus * mirrored
        total += estimate
        out[c] = min(max(estimate, 0.0), float(kept + mirrored))
    return total


@numba.njit(inline="always")
def is_settled(estimates, total, min_rows):  # type: ignore[no-untyped-def]
    """Return whether a node is left as it is: too few rows, or of one class only."""
    n_present = 0
    for estimate in estimates:
        n_present += estimate > 0
    return total < min_rows or n_present < 2


@numba.njit(cache=True, nogil=True)
def _count_ones(words, key, weight, low, high, tried, ones):  # type: ignore[no-untyped-def]
    """``ones[t, key] += weight`` for every row whose bit ``tried[t]`` is 1."""
    ones[:] = 0
    n_tried = uint64(tried.shape[0])
    place = np.empty(tried.shape[0], dtype=np.uint64)
    shift = np.empty(tried.shape[0], dtype=np.uint64)
    for t in range(tried.shape[0]):
        place[t], shift[t] = uint64(tried[t]) >> uint64(6), uint64(tried[t]) & uint64(63)
    for i in range(uint64(low), uint64(high)):
        k, w = uint64(key[i]), uint64(weight[i])
        for t in range(n_tried):
            ones[t, k] += w * ((words[i, place[t]] >> shift[t]) & uint64(1))


@numba.njit(cache=True, nogil=True)
def _partition(  # type: ignore[no-untyped-def]
    words, key, weight, low, high, bit, spare_words, spare_key, spare_weight
):
    """Put rows whose ``bit`` is 0 first, each part in its order, and return where the others begin."""
    place, shift = uint64(bit) >> uint64(6), uint64(bit) & uint64(63)
    zeros, n_ones = uint64(low), uint64(0)
    n_words = uint64(words.shape[1])
    for i in range(uint64(low), uint64(high)):
        is_one = (words[i, place] >> shift) & uint64(1)
        # Written to both places, of which one is overwritten by the next row: no branch to mispredict.
        k, w = key[i], weight[i]
        for j in range(n_words):
            word = words[i, j]
            spare_words[n_ones, j] = word
            words[zeros, j] = word
        spare_key[n_ones], spare_weight[n_ones] = k, w
        key[zeros], weight[zeros] = k, w
        zeros += uint64(1) - is_one
        n_ones += is_one
    for i in range(n_ones):
        for j in range(n_words):
            words[zeros + i, j] = spare_words[i, j]
        key[zeros + i], weight[zeros + i] = spare_key[i], spare_weight[i]
    return int64(zeros)


@numba.njit(cache=True, nogil=True)
def _best_of(tried, own, ones, plus, minus, min_leaf, side, estimates):  # type: ignore[no-untyped-def]
    """Return the bit that leaves the least Gini impurity to two children that surely have rows, or -1, and how much."""
    best, least = UNTRIED, math.inf
    for t in range(tried.shape[0]):
        rows = impurity = 0.0
        is_sure = True
        for branch in range(2):
            observed = 0
            for k in range(own.shape[0]):
                side[k] = int64(ones[t, k]) if branch else own[k] - int64(ones[t, k])
                observed += side[k]
            total = _mirror_estimates(side, plus, minus, estimates)
            is_sure &= total >= min_leaf and total * total >= SURE * SURE * plus * minus * observed
            n, g = impurity_of(estimates)
            rows += n
            impurity += g
        if is_sure and impurity / rows < least - TIE:
            best, least = tried[t], impurity / rows
    return best


@numba.njit(cache=True, nogil=True)
def grow_on_mirrors(  # type: ignore[no-untyped-def]
    words, key, weight, n_bits, n_tried, plus, minus, min_rows, min_leaf, max_depth, draw, bit, left, counts,
):  # fmt: skip
    """Grow a tree on rows and their mirror images, and return how many nodes it has.

    ``words`` are packed records, ``key`` the class of a row, and of a mirror image the number of classes plus its
    class; ``weight`` how often it is in the bootstrap. All three are put in another order. A count of rows stands for
    ``plus`` times it and one of mirror images for -``minus`` times it. ``n_tried`` bits are drawn for a node, and
    again as many while no split is possible. ``bit[node]``, -1 for a leaf, ``left[node]`` and ``counts[node, key]``
    are filled.
    """
    n_keys = counts.shape[1]
    spare_words, spare_key, spare_weight = np.empty_like(words), np.empty_like(key), np.empty_like(weight)
    order, ones = np.empty(n_bits, dtype=np.int64), np.empty((n_tried, n_keys), dtype=np.uint64)
    side, estimates = np.empty(n_keys, dtype=np.int64), np.empty(n_keys // 2)
    # Nodes yet to be looked at: node, first row, row after the last, depth; and the word that each draws by.
    stack, draws = np.empty((max_depth + 2, 4), dtype=np.int64), np.empty(max_depth + 2, dtype=np.uint64)
    stack[0], draws[0] = (0, 0, words.shape[0], 0), uint64(draw)
    top, n_nodes = 1, 1
    while top:
        top -= 1
        node, low, high, depth = stack[top]
        word, own = draws[top], counts[node]
        for i in range(low, high):
            own[key[i]] += weight[i]
        total = _mirror_estimates(own, plus, minus, estimates)
        order[:] = np.arange(n_bits)
        best, n_drawn = UNTRIED, 0
        if depth == max_depth or is_settled(estimates, total, min_rows):
            n_drawn = n_bits
        while n_drawn < n_bits and best == UNTRIED:
            n_more = min(n_tried, n_bits - n_drawn)
            word = draw_bits(order, n_drawn, n_more, word)
            tried = order[n_drawn : n_drawn + n_more]
            _count_ones(words, key, weight, low, high, tried, ones)
            best = _best_of(tried, own, ones, plus, minus, min_leaf, side, estimates)
            n_drawn += n_more
        bit[node], left[node] = best, n_nodes
        if best != UNTRIED:
            middle = _partition(words, key, weight, low, high, best, spare_words, spare_key, spare_weight)
            stack[top], draws[top] = (n_nodes + 1, middle, high, depth + 1), mixed(word ^ uint64(1))
            stack[top + 1], draws[top + 1] = (n_nodes, low, middle, depth + 1), mixed(word)
            top += 2
            n_nodes += 2
    return n_nodes
