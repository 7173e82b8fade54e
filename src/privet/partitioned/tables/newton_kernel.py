"""A row's part of the Newton sums, in whole numbers, compiled. The tests check it against a plain twin."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.privacy.mechanisms.bits import compiled, inlined

# Scores are in units of one over UNITS; chances are whole parts of ONE.
UNITS, ONE = 2**7, 2**12
# A row's gradient adds at most so much to all sums together, and its Hessian as much again.
STEPS = 2**18
# The ranges of a row's scores, all attributes together, are at most so much; those of the offsets together less.
MOST_RANGE, OFFSET_RANGE = 10 * UNITS, UNITS // 2


@inlined
def _towards_zero(numerator: int, denominator: int) -> int:
    return numerator // denominator if numerator >= 0 else -(-numerator // denominator)


@compiled
def add_newton_sums(
    cells: NDArray[Any], starts: NDArray[np.int64], labels: NDArray[Any], scores: NDArray[np.int64],
    offsets: NDArray[np.float64], start: float, margin: float, most_range: int, offset: int, out: NDArray[np.int64],
) -> None:  # fmt: skip
    """Add every row's gradient to ``out``, and then the upper triangle of its Hessian, row by row of the triangle.

    ``scores`` are what cells add to each class, from 0; ``offsets`` are where all rows start. ``start`` is what one
    attribute counts before the step. ``most_range`` and ``offset`` are in the units of scores.
    """
    n_trees, n_classes = starts.size, scores.shape[1]
    n = n_trees + n_classes - 1
    total = most_range + (n_classes - 1) * offset
    parts, chances = np.zeros((n, n_classes), dtype=np.int64), np.empty(n_classes, dtype=np.int64)
    powers, means = np.empty(n_classes), np.empty(n, dtype=np.int64)
    for c in range(1, n_classes):
        parts[n_trees + c - 1, c] = offset
    for i in range(labels.size):
        own, ranges = np.int64(labels[i]), np.int64(0)
        for c in range(n_classes):
            powers[c] = 0.0
        for t in range(n_trees):
            cell, largest = starts[t] + cells[i * n_trees + t], np.int64(0)
            for c in range(n_classes):
                parts[t, c] = scores[cell, c]
                powers[c] += scores[cell, c]  # whole numbers far below 2**53: exact
                largest = max(largest, parts[t, c])
            ranges += largest
        # Floats of this row alone. Whatever they round to, chances are not negative and add up to ONE.
        for c in range(n_classes):
            powers[c] = offsets[c] + start * powers[c] / UNITS - (margin if c == own else 0.0)
        highest, best = powers[0], 0
        for c in range(1, n_classes):
            if powers[c] > highest:
                highest, best = powers[c], c
        whole = 0.0
        for c in range(n_classes):
            powers[c] = np.exp(powers[c] - highest)
            whole += powers[c]
        left = np.int64(ONE)
        for c in range(n_classes):
            if c != best:
                chances[c] = min(left, np.int64(ONE * powers[c] / whole + 0.5))
                left -= chances[c]
        chances[best] = left
        # Whole division rounds down, so the ranges add up to most_range at most.
        if ranges > most_range:
            for t in range(n_trees):
                for c in range(n_classes):
                    parts[t, c] = parts[t, c] * most_range // ranges
        for a in range(n):
            means[a] = 0
            for c in range(n_classes):
                means[a] += chances[c] * parts[a, c]
            out[a] += _towards_zero((ONE * parts[a, own] - means[a]) * STEPS, ONE * total)
        place = n
        for a in range(n):
            for b in range(a, n):
                shared = np.int64(0)
                for c in range(n_classes):
                    shared += chances[c] * parts[a, c] * parts[b, c]
                covariance = ONE * shared - means[a] * means[b]
                twice = 4 if a == b else 8  # an entry off the diagonal stands for both of its kind
                out[place] += _towards_zero(covariance * twice * STEPS, ONE * ONE * total * total)
                place += 1
