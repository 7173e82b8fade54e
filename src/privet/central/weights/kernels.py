"""The passes over rows that a fit makes, compiled. The tests check each kernel against a plain twin.

Cells are flat, row after row; ``starts`` turns a tree's own cell numbers into numbers of all cells. Weights of two
classes are one number a cell (for the second class against the first), else one a cell and class. ``known`` are what
lines score before any weight, and ``counts`` how many rows each stands for; both may be empty. What is added up over
all lines is whole numbers, so that neither the order of lines nor how they are cut into parts changes a sum.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.privacy.mechanisms.bits import compiled, inlined

Floats = NDArray[np.float64]

# Sums of whole numbers are given in two: how often they have 2 to this power, and what is left over.
_SHIFT = 24
# Lines that are gone through together.
_LINES = 128
# exp(x) is 2 to a whole power, times a series of what is left of x. The logarithm of 2 is in two; the first has so few
# digits that its products with such powers are exact. Beyond the farthest, chances are 0 or 1.
_FARTHEST, _TWOS = 700.0, 1 / math.log(2)
_LOG_2, _REST_OF_LOG_2 = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
_SERIES = tuple(1 / math.factorial(k) for k in range(14))
# Second derivatives that are held at a time: a few dozen megabytes, whatever the number of classes.
_MOST_CURVATURES = 2**22


@inlined
def place_of(starts: NDArray[np.int64], cells: NDArray[Any], line: int, tree: int) -> np.uint64:
    """Return a line's cell in a tree, counted over all trees; indices without a sign need no check."""
    return np.uint64(starts[np.uint64(tree)]) + np.uint64(cells[np.uint64(line * starts.size + tree)])


@inlined
def _add_in_two(fine: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    """Add whole numbers to ``out``: what they have of 2**24, rounded down, and what is left over."""
    for c in range(fine.size):
        out[0, c] += fine[c] >> _SHIFT
        out[1, c] += fine[c] & (2**_SHIFT - 1)


@compiled
def binary_gradient(
    cells: NDArray[Any], starts: NDArray[np.int64], labels: NDArray[Any], counts: NDArray[np.int64],
    known: NDArray[np.float32], weights: Floats, offset: float, margin: float, unit: float,
    curvatures: NDArray[np.float32], out: NDArray[np.int64],
) -> None:  # fmt: skip
    """Add the gradient of the loss to ``out``, 2 x cells, and write each line's second derivative.

    Each line's pull is rounded to a whole number of 1 / ``unit``.
    """
    n_trees, weighted = starts.size, counts.size > 0
    fine, leads = np.zeros(weights.size, dtype=np.int64), np.empty(_LINES)
    found, pulls = np.empty((_LINES, n_trees), dtype=np.uint64), np.empty(_LINES, dtype=np.int64)
    # A few lines at a time, and step by step: processors then work on several lines at once.
    for low in range(0, labels.size, _LINES):
        n_lines = min(_LINES, labels.size - low)
        for j in range(n_lines):
            score = offset + known[low + j] if known.size > 0 else offset
            for t in range(n_trees):
                cell = place_of(starts, cells, low + j, t)
                found[j, t] = cell
                score += weights[cell]
            leads[j] = score
        for j in range(n_lines):
            leads[j] = (leads[j] if labels[low + j] == 1 else -leads[j]) - margin
        _exp(leads[:n_lines], pulls)
        for j in range(n_lines):
            count = np.float64(counts[low + j]) if weighted else 1.0
            wrong = 1.0 / (1.0 + leads[j])
            curvatures[low + j] = np.float32(count * wrong * (1.0 - wrong))
            pulls[j] = np.int64(np.rint((-wrong if labels[low + j] == 1 else wrong) * count * unit))
        for j in range(n_lines):
            pull = pulls[j]
            for t in range(n_trees):
                fine[found[j, t]] += pull
    _add_in_two(fine, out)


@inlined
def _exp(values: Floats, room: NDArray[np.int64]) -> None:
    """Put exp of each value in its place, to the last digits: by sums and products alone, of several at once.

    A library's exp differs between machines, and takes one value after another.
    """
    powers = room.view(np.float64)
    for j in range(values.size):
        value = min(max(values[j], -_FARTHEST), _FARTHEST)
        twos = np.rint(value * _TWOS)
        left = (value - twos * _LOG_2) - twos * _REST_OF_LOG_2
        total = ((_SERIES[13] * left + _SERIES[12]) * left + _SERIES[11]) * left + _SERIES[10]
        total = (((total * left + _SERIES[9]) * left + _SERIES[8]) * left + _SERIES[7]) * left + _SERIES[6]
        total = (((total * left + _SERIES[5]) * left + _SERIES[4]) * left + _SERIES[3]) * left + _SERIES[2]
        total = (total * left + _SERIES[1]) * left + _SERIES[0]
        values[j], room[j] = total, (np.int64(twos) + 1023) << 52  # the bits of 2 to this power
    for j in range(values.size):
        values[j] *= powers[j]


@compiled
def share_gradient(
    cells: NDArray[Any], starts: NDArray[np.int64], labels: NDArray[Any], steps: int, counts: NDArray[np.int64],
    known: NDArray[np.float32], weights: Floats, offset: float, margin: float, unit: float,
    curvatures: NDArray[np.float32], out: NDArray[np.int64],
) -> None:  # fmt: skip
    """Do what `binary_gradient` does for lines of which a share is of the second class: label / steps.

    The loss is the mean of those of both classes, at these shares.
    """
    n_trees, weighted = starts.size, counts.size > 0
    fine = np.zeros(weights.size, dtype=np.int64)
    found = np.empty(n_trees, dtype=np.uint64)
    for i in range(labels.size):
        score = offset + known[i] if known.size > 0 else offset
        for t in range(n_trees):
            found[t] = place_of(starts, cells, i, t)
            score += weights[found[t]]
        count, share = np.float64(counts[i]) if weighted else 1.0, labels[i] / steps
        as_second, as_first = 1.0 / (1.0 + np.exp(score - margin)), 1.0 / (1.0 + np.exp(-score - margin))
        bend = share * as_second * (1.0 - as_second) + (1.0 - share) * as_first * (1.0 - as_first)
        curvatures[i] = np.float32(count * bend)
        pull = np.int64(np.rint(((1.0 - share) * as_first - share * as_second) * count * unit))
        for t in range(n_trees):
            fine[found[t]] += pull
    _add_in_two(fine, out)


@compiled
def binary_hessian_product(
    cells: NDArray[Any], starts: NDArray[np.int64], curvatures: NDArray[np.float32], direction: Floats,
    out: NDArray[np.int64],
) -> None:  # fmt: skip
    """Add the loss's Hessian times ``direction`` to ``out``, 2 x cells; each line's part is rounded."""
    n_trees = starts.size
    fine, found = np.zeros(direction.size, dtype=np.int64), np.empty(n_trees, dtype=np.uint64)
    for i in range(curvatures.size):
        moved = 0.0
        for t in range(n_trees):
            found[t] = place_of(starts, cells, i, t)
            moved += direction[found[t]]
        pull = np.int64(np.rint(moved * curvatures[i]))
        for t in range(n_trees):
            fine[found[t]] += pull
    _add_in_two(fine, out)


@compiled
def binary_hessian(
    cells: NDArray[Any], starts: NDArray[np.int64], ends: NDArray[Any], leaves: NDArray[Any], shares: Floats,
    curvatures: NDArray[np.float32], hessian: Floats,
) -> None:  # fmt: skip
    """Add the loss's Hessian to the lower half of ``hessian``, leaves x leaves.

    Cell c has ``shares`` of ``leaves``, both from ``ends[c]`` to ``ends[c + 1]``.
    """
    n_trees = starts.size
    widest = 0
    for c in range(ends.size - 1):
        widest = max(widest, ends[c + 1] - ends[c])
    found, parts = np.empty(n_trees * widest, dtype=np.uint64), np.empty(n_trees * widest)
    for i in range(curvatures.size):
        n_found = 0
        for t in range(n_trees):
            cell = place_of(starts, cells, i, t)
            for k in range(ends[cell], ends[cell + np.uint64(1)]):
                found[n_found], parts[n_found] = leaves[k], shares[k]
                n_found += 1
        for a in range(n_found):
            line, own = hessian[found[a]], np.float64(curvatures[i]) * parts[a]
            for b in range(a + 1):
                line[found[b]] += own * parts[b]


@inlined
def _add_up(found: NDArray[np.uint64], values: Floats, out: Floats) -> None:
    """Add the lines ``found`` of ``values`` to ``out``, four columns at a time: compilers then use vectors."""
    n_columns = out.size
    fours = n_columns // 4 * 4
    for c in range(0, fours, 4):
        a, b, d, e = out[c], out[c + 1], out[c + 2], out[c + 3]
        for t in range(found.size):
            line = values[found[t]]
            a += line[c]
            b += line[c + 1]
            d += line[c + 2]
            e += line[c + 3]
        out[c], out[c + 1], out[c + 2], out[c + 3] = a, b, d, e
    for c in range(fours, n_columns):
        for t in range(found.size):
            out[c] += values[found[t], c]


@inlined
def _spread(found: NDArray[np.uint64], values: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    """Add ``values`` to the lines ``found`` of ``out``."""
    n_columns = values.size
    fours = n_columns // 4 * 4
    for c in range(0, fours, 4):
        a, b, d, e = values[c], values[c + 1], values[c + 2], values[c + 3]
        for t in range(found.size):
            line = out[found[t]]
            line[c] += a
            line[c + 1] += b
            line[c + 2] += d
            line[c + 3] += e
    for c in range(fours, n_columns):
        for t in range(found.size):
            out[found[t], c] += values[c]


@compiled
def softmax_gradient(
    cells: NDArray[Any], starts: NDArray[np.int64], labels: NDArray[Any], counts: NDArray[np.int64],
    known: NDArray[np.float32], weights: Floats, offsets: Floats, margin: float, unit: float,
    chances: NDArray[np.float32], out: NDArray[np.int64],
) -> None:  # fmt: skip
    """Add the gradient of the loss to ``out``, 2 x cells x classes, and write each line's chances.

    Each line's pulls are rounded to whole numbers of 1 / ``unit``.
    """
    n_trees, n_classes = starts.size, offsets.size
    weighted = counts.size > 0
    found = np.empty(n_trees, dtype=np.uint64)
    scores, pulls = np.empty(n_classes), np.empty(n_classes, dtype=np.int64)
    fine = np.zeros(weights.shape, dtype=np.int64)
    for i in range(labels.size):
        for c in range(n_classes):
            scores[c] = offsets[c]
        for c in range(known.shape[1]):
            scores[c] += known[i, c]
        for t in range(n_trees):
            found[t] = place_of(starts, cells, i, t)
        _add_up(found, weights, scores)
        scores[labels[i]] -= margin
        top = scores[0]
        for c in range(1, n_classes):
            top = max(top, scores[c])
        total = 0.0
        for c in range(n_classes):
            scores[c] = np.exp(scores[c] - top)
            total += scores[c]
        count = np.float64(counts[i]) if weighted else 1.0
        for c in range(n_classes):
            chance = scores[c] / total
            chances[i, c] = np.float32(chance)
            own = 1.0 if c == labels[i] else 0.0
            pulls[c] = np.int64(np.rint((chance - own) * count * unit))
        _spread(found, pulls, fine)
    _add_in_two(fine.reshape(-1), out.reshape(2, -1))


@compiled
def softmax_hessian_product(
    cells: NDArray[Any], starts: NDArray[np.int64], counts: NDArray[np.int64], chances: NDArray[np.float32],
    direction: Floats, out: NDArray[np.int64],
) -> None:  # fmt: skip
    """Add the loss's Hessian times ``direction`` to ``out``, 2 x cells x classes; each line's part is rounded."""
    n_trees, n_classes = starts.size, chances.shape[1]
    weighted = counts.size > 0
    found = np.empty(n_trees, dtype=np.uint64)
    moved, pulls = np.empty(n_classes), np.empty(n_classes, dtype=np.int64)
    fine = np.zeros(direction.shape, dtype=np.int64)
    for i in range(chances.shape[0]):
        for c in range(n_classes):
            moved[c] = 0.0
        for t in range(n_trees):
            found[t] = place_of(starts, cells, i, t)
        _add_up(found, direction, moved)
        # Chances in 32 bits add up to 1 only roughly; with their sum in its place the product is never negative.
        mean, total = 0.0, 0.0
        for c in range(n_classes):
            mean += chances[i, c] * moved[c]
            total += chances[i, c]
        count = np.float64(counts[i]) if weighted else 1.0
        for c in range(n_classes):
            pulls[c] = np.int64(np.rint(count * chances[i, c] * (total * moved[c] - mean)))
        _spread(found, pulls, fine)
    _add_in_two(fine.reshape(-1), out.reshape(2, -1))


@compiled
def softmax_hessian(
    cells: NDArray[Any], starts: NDArray[np.int64], ends: NDArray[Any], leaves: NDArray[Any], shares: Floats,
    first_leaves: NDArray[np.int64], counts: NDArray[np.int64], chances: NDArray[np.float32], hessian: Floats,
) -> None:  # fmt: skip
    """Add the loss's Hessian to the lower half of ``hessian``, (leaf, class) x (leaf, class).

    It takes two trees at a time: what lines add for a pair of their leaves then stands together, in the cache.
    """
    n_trees, n_classes = starts.size, chances.shape[1]
    last_leaves = np.append(first_leaves[1:], hessian.shape[0] // n_classes)
    n_lines = max(1, min(chances.shape[0], _MOST_CURVATURES // n_classes**2))
    curvatures = np.empty((n_lines, n_classes * (n_classes + 1) // 2))
    for first in range(0, chances.shape[0], n_lines):
        lines = slice(first, min(first + n_lines, chances.shape[0]))
        own = curvatures[: lines.stop - first]
        _write_curvatures(counts[lines] if counts.size > 0 else counts, chances[lines], own)
        for t in range(n_trees):
            for u in range(t + 1):
                pair = np.zeros((last_leaves[t] - first_leaves[t], last_leaves[u] - first_leaves[u], own.shape[1]))
                for i in range(own.shape[0]):
                    place = (first + i) * n_trees
                    cell, other = starts[t] + cells[place + t], starts[u] + cells[place + u]
                    for k in range(ends[cell], ends[cell + 1]):
                        for j in range(ends[other], ends[other + 1]):
                            share = shares[k] * shares[j]
                            sums = pair[leaves[k] - first_leaves[t], leaves[j] - first_leaves[u]]
                            for b in range(own.shape[1]):
                                sums[b] += share * own[i, b]
                _spread_pair(pair, first_leaves[t] * n_classes, first_leaves[u] * n_classes, n_classes, hessian)


@compiled
def _write_curvatures(counts: NDArray[np.int64], chances: NDArray[np.float32], curvatures: Floats) -> None:
    """Write each line's second derivatives by every two classes, the lower half row after row."""
    for i in range(chances.shape[0]):
        count = np.float64(counts[i]) if counts.size > 0 else 1.0
        total = 0.0
        for c in range(chances.shape[1]):
            total += chances[i, c]
        b = 0
        for c in range(chances.shape[1]):
            for e in range(c + 1):
                curvatures[i, b] = -count * np.float64(chances[i, c]) * np.float64(chances[i, e])
                b += 1
            curvatures[i, b - 1] += count * total * np.float64(chances[i, c])


@compiled
def _spread_pair(pair: Floats, first: int, second: int, n_classes: int, hessian: Floats) -> None:
    """Add ``pair`` where the two trees' leaves meet in ``hessian``."""
    for a in range(pair.shape[0]):
        for c in range(n_classes):
            line = hessian[first + a * n_classes + c]
            for d in range(pair.shape[1]):
                for e in range(n_classes):
                    low, high = min(c, e), max(c, e)
                    line[second + d * n_classes + e] += pair[a, d, high * (high + 1) // 2 + low]


@compiled
def cell_curvatures(
    cells: NDArray[Any], starts: NDArray[np.int64], curvatures: NDArray[np.float32], out: Floats
) -> None:
    """Add each line's ``curvatures``, one a column, to the cells that it falls into."""
    n_trees = starts.size
    for i in range(curvatures.shape[0]):
        for t in range(n_trees):
            found = starts[t] + cells[i * n_trees + t]
            for c in range(curvatures.shape[1]):
                out[found, c] += curvatures[i, c]


@compiled
def count_cells(
    cells: NDArray[Any], starts: NDArray[np.int64], counts: NDArray[np.int64], out: NDArray[np.int64]
) -> None:
    """Add how many rows fall into each cell to ``out``."""
    n_trees = starts.size
    for i in range(cells.size // max(n_trees, 1)):
        count = counts[i] if counts.size > 0 else np.int64(1)
        for t in range(n_trees):
            out[place_of(starts, cells, i, t)] += count


@compiled
def recode(
    cells: NDArray[Any], trees: NDArray[np.int64], starts: NDArray[np.int64], added: NDArray[np.int64],
    ends: NDArray[np.int64], out: NDArray[Any],
) -> None:  # fmt: skip
    """Write each line's cells in other trees to ``out``, lines x trees, each a sum over the attributes it asks for.

    ``cells`` are lines x trees. Attributes ``ends[u]`` to ``ends[u + 1]`` are those of tree u; an attribute adds what
    ``added`` has, from its start on, for the line's cell in its tree.
    """
    for u in range(out.shape[1]):
        out[:, u] = 0
        for a in range(ends[u], ends[u + 1]):
            own, t = added[starts[a] :], trees[a]
            for i in range(out.shape[0]):
                out[i, u] += own[cells[i, t]]


@compiled
def scores_of(cells: NDArray[Any], starts: NDArray[np.int64], weights: Floats, scores: Floats) -> None:
    """Add the weights of the cells that each line falls into to ``scores``, lines x columns."""
    n_trees = starts.size
    if scores.shape[1] == 2:  # as below, but sums stay in registers
        for i in range(scores.shape[0]):
            first, second = scores[i, 0], scores[i, 1]
            for t in range(n_trees):
                line = weights[place_of(starts, cells, i, t)]
                first += line[0]
                second += line[1]
            scores[i, 0], scores[i, 1] = first, second
        return
    for i in range(scores.shape[0]):
        for t in range(n_trees):
            line = weights[place_of(starts, cells, i, t)]
            for c in range(scores.shape[1]):
                scores[i, c] += line[c]


@compiled
def look_up(
    cells: NDArray[Any], trees: NDArray[np.int64], starts: NDArray[np.int64], leaves: NDArray[np.uint16],
    out: NDArray[np.uint16],
) -> None:  # fmt: skip
    """Write to ``out``, attributes x lines, the leaf of the cell that each line has in the attribute's tree.

    ``cells`` are lines x trees; the ``leaves`` of an attribute's cells begin at its start.
    """
    for a in range(trees.size):
        own, line, t = leaves[starts[a] :], out[a], trees[a]
        for i in range(line.size):
            line[i] = own[cells[i, t]]


@compiled
def add_groups(
    nearest: NDArray[np.uint16], n_leaves: NDArray[np.int64], members: NDArray[np.int64], starts: NDArray[np.int64],
    counts: NDArray[np.int64], values: NDArray[np.int32], out: NDArray[np.int64],
) -> None:  # fmt: skip
    """Add each line's ``values`` to the leaf that it is nearest to in each group.

    ``nearest`` is attributes x lines; ``members`` are a group's attributes, -1 where it has fewer; its leaves begin at
    ``starts``.
    """
    leaf = np.empty(nearest.shape[1], dtype=np.uint32)
    for g in range(members.shape[0]):
        leaf[:] = nearest[members[g, 0]]
        for j in range(1, members.shape[1]):
            a = members[g, j]
            if a >= 0:
                own, n = nearest[a], np.uint32(n_leaves[a])
                for i in range(leaf.size):
                    leaf[i] = leaf[i] * n + own[i]
        sums = out[starts[g] : starts[g + 1]]
        for c in range(values.shape[1]):
            if counts.size > 0:
                for i in range(leaf.size):
                    sums[leaf[i], c] += counts[i] * values[i, c]
            else:
                for i in range(leaf.size):
                    sums[leaf[i], c] += values[i, c]
