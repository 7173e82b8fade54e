"""A row's part of the Newton sums, in whole numbers, compiled. The tests check it against a plain twin."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.privacy.mechanisms.bits import compiled, inlined

Whole: TypeAlias = NDArray[np.int64]
# Scores are in units of one over UNITS; chances are whole parts of ONE.
UNITS, ONE = 2**7, 2**12
# A row's gradient adds at most so much to all sums together, and its Hessian as much again.
STEPS = 2**18
# The ranges of a row's scores, all trees together, are at most so much; those of the offsets together less.
MOST_RANGE, OFFSET_RANGE = 4 * UNITS, UNITS // 2


@inlined
def _towards_zero(numerator: int, denominator: int) -> int:
    return numerator // denominator if numerator >= 0 else -(-numerator // denominator)


@compiled
def add_newton_sums(
    cells: NDArray[Any], starts: Whole, labels: NDArray[Any], scores: Whole, offsets: NDArray[np.float64], start: float,
    margin: float, most_range: int, offset: int, out: Whole,
) -> None:  # fmt: skip
    """Add every row's gradient to ``out``, and then the upper triangle of its Hessian, row by row of the triangle.

    ``scores`` are what cells add to each class, from 0; ``offsets`` are where all rows start. ``start`` is how much a
    tree counts before the step. ``most_range`` and ``offset`` are in the units of scores.
    """
    n_trees, n_classes = starts.size, scores.shape[1]
    n = n_trees + n_classes - 1
    total = most_range + (n_classes - 1) * offset
    parts, chances = np.zeros((n, n_classes), dtype=np.int64), np.empty(n_classes, dtype=np.int64)
    powers, means = np.empty(n_classes), np.empty(n, dtype=np.int64)
    for c in range(1, n_classes):
        parts[n_trees + c - 1, c] = offset
    for i in range(labels.size):
        own = int(labels[i])
        ranges = _look_up(cells[i * n_trees : (i + 1) * n_trees], starts, scores, parts)
        # Floats of this row alone. Whatever they round to, chances are not negative and add up to ONE.
        for c in range(n_classes):
            score = np.int64(0)
            for t in range(n_trees):
                score += parts[t, c]
            powers[c] = offsets[c] + start * score / UNITS - (margin if c == own else 0.0)
        _set_chances(powers, chances)
        if ranges > most_range:
            _narrow(parts[:n_trees], ranges, most_range)
        _add_gradient(parts, chances, own, total, means, out)
        _add_hessian(parts, chances, means, total, out[n:])


@inlined
def _look_up(cells: NDArray[Any], starts: Whole, scores: Whole, parts: Whole) -> int:
    """Write what a row's cells add to each class, and return their ranges, all trees together."""
    ranges = np.int64(0)
    for t in range(starts.size):
        largest = np.int64(0)
        for c in range(scores.shape[1]):
            parts[t, c] = scores[starts[t] + cells[t], c]
            largest = max(largest, parts[t, c])
        ranges += largest
    return int(ranges)


@inlined
def _set_chances(powers: NDArray[np.float64], chances: Whole) -> None:
    """Write the chances that belong to scores, in whole parts of ONE; what rounding leaves has the likeliest class."""
    best, whole, left = np.argmax(powers), 0.0, np.int64(ONE)
    highest = powers[best]
    for c in range(powers.size):
        powers[c] = np.exp(powers[c] - highest)
        whole += powers[c]
    for c in range(powers.size):
        if c != best:
            chances[c] = min(left, np.int64(ONE * powers[c] / whole + 0.5))
            left -= chances[c]
    chances[best] = left


@inlined
def _narrow(parts: Whole, ranges: int, most_range: int) -> None:
    """Scale a row's scores down. Whole division rounds down, so their ranges add up to ``most_range`` at most."""
    for t in range(parts.shape[0]):
        for c in range(parts.shape[1]):
            parts[t, c] = parts[t, c] * most_range // ranges


@inlined
def _add_gradient(parts: Whole, chances: Whole, own: int, total: int, means: Whole, out: Whole) -> None:
    """Add a row's gradient, at most STEPS in all, and write the mean of each part over the classes."""
    for a in range(parts.shape[0]):
        means[a] = 0
        for c in range(parts.shape[1]):
            means[a] += chances[c] * parts[a, c]
        out[a] += _towards_zero((ONE * parts[a, own] - means[a]) * STEPS, ONE * total)


@inlined
def _add_hessian(parts: Whole, chances: Whole, means: Whole, total: int, out: Whole) -> None:
    """Add the covariances of a row's parts over the classes, at most STEPS in all."""
    place = 0
    for a in range(parts.shape[0]):
        for b in range(a, parts.shape[0]):
            shared = np.int64(0)
            for c in range(parts.shape[1]):
                shared += chances[c] * parts[a, c] * parts[b, c]
            covariance = ONE * shared - means[a] * means[b]
            times = 4 if a == b else 8  # an entry off the diagonal stands for the two that are equal
            out[place] += _towards_zero(covariance * times * STEPS, ONE * ONE * total * total)
            place += 1
