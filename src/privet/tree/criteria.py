"""Scores of splits, in whole steps of a fixed grid, so that a choice by score is exact.

Every score is a sum over the values of the attribute. A row changes only the term of its own value, and adding rows
never raises a term, or never lowers one. The argument is in dpdf.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

# Steps of a score per row. Scores are measured in rows, so a thousandth is fine enough, and sums stay below 2^63.
GRID = 2**10
# n^2 must fit in 62 bits.
MAX_ROWS = 2**31

# Nodes x codes x classes in, nodes out.
ScoreOf: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.int64]]


@dataclass(frozen=True)
class Score:
    """A score, the number of steps by which one more row moves it, and whether always in the same direction."""

    of: ScoreOf
    sensitivity: int
    monotone: bool = True


def gini_score(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return -sum_v n_v gini_v on the grid: the impurity that a split leaves, in rows.

    One more row changes n gini = n - sum_c n_c^2 / n by 1 + (sum_c n_c^2 - 2 n n_c - n) / (n (n + 1)), which lies in
    [0, 2). Rounding down to the grid keeps the direction, and a difference below 2 GRID is at most 2 GRID steps.
    """
    if counts.sum(axis=2).max(initial=0) >= MAX_ROWS:
        counts = counts.astype(object)  # Python's integers are slower and never overflow
    n = counts.sum(axis=2)
    impure, some = n * n - (counts * counts).sum(axis=2), np.maximum(n, 1)
    whole, rest = impure // some, impure % some
    steps: NDArray[np.int64] = -(whole * GRID + rest * GRID // some).sum(axis=1)
    return steps.astype(np.int64)


def max_class_score(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return sum_v max_c n_vc: the rows that the majority class of their value predicts right. A row adds 0 or 1."""
    right: NDArray[np.int64] = counts.max(axis=2).sum(axis=1)
    return right


@lru_cache(maxsize=4)
def entropy_score(most_rows: int) -> Score:
    """Return the score -sum_v n_v H_v on the grid, H in bits; exact for nodes of at most ``most_rows`` rows.

    n H = n log n - sum_c n_c log n_c. With f(x) = (x + 1) log(x + 1) - x log x, which rises, one more row changes it by
    f(n) - f(n_c), between 0 and f(n) <= log2(n + 1) + 1 / ln 2. Here f is rounded down to the grid first, and x log x
    is the sum of rounded f. So both bounds hold for the computed numbers, not only for the exact ones. Beyond
    ``most_rows`` f is constant. It still never falls, so the bounds hold for any table and none need be refused.
    """
    x = np.arange(1, most_rows, dtype=np.float64)
    rises = np.concatenate([[0.0], np.log2(x + 1) + x * np.log1p(1 / x) / math.log(2)])[:most_rows]
    steps = np.maximum.accumulate(np.floor(GRID * rises).astype(np.int64))
    n_log_n = np.concatenate([[0], np.cumsum(steps)])

    def n_log_n_of(n: NDArray[np.int64]) -> NDArray[np.int64]:
        summed: NDArray[np.int64] = n_log_n[np.minimum(n, most_rows)] + np.maximum(n - most_rows, 0) * steps[-1]
        return summed

    def score(counts: NDArray[np.int64]) -> NDArray[np.int64]:
        left: NDArray[np.int64] = -(n_log_n_of(counts.sum(axis=2)) - n_log_n_of(counts).sum(axis=2)).sum(axis=1)
        return left

    return Score(score, int(steps[-1]))


def gini_index_score(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the Gini index -sum_v (n_v / n) gini_v on the grid: the impurity that a split leaves, as a share.

    One more row moves W / n, W = sum_v n_v gini_v <= n, by (n d - W) / (n (n + 1)) with 0 <= d <= 2 n / (n + 1): by at
    most 1/2, in either direction.
    """
    n = np.maximum(counts.sum(axis=(1, 2)), 1)
    steps: NDArray[np.int64] = gini_score(counts) // n
    return steps


def gini_over_sensitivity(counts: NDArray[np.int64], noisy_size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return DPDF's exponent without epsilon, G / (2 Delta): its Theorem 1 takes Delta at the noisy size of a node.

    The noisy size may be wrong by hundreds of rows, so the effect of a row is unbounded. Use for ``variant="paper"``.
    """
    size = np.maximum(noisy_size, 1).astype(np.float64)
    delta = 1 - (size / (size + 1)) ** 2 - (1 / (size + 1)) ** 2
    exact = np.maximum(counts.sum(axis=(1, 2)), 1)
    steps: NDArray[np.int64] = np.floor(gini_score(counts) / exact / (2 * delta)).astype(np.int64)
    return steps


GINI = Score(gini_score, 2 * GRID)
MAX_CLASS = Score(max_class_score, 1)
# At most n values occur among n rows, so rounding each term down, and then the quotient, changes less than 2 steps.
GINI_INDEX = Score(gini_index_score, GRID // 2 + 2, monotone=False)


def entropy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sum_v n_v H_v of released counts, with negative counts as 0. ID3 minimises it."""
    counts = np.maximum(counts, 0.0)
    n = counts.sum(axis=2)
    total: NDArray[np.float64] = (_xlogx(n) - _xlogx(counts).sum(axis=2)).sum(axis=1)
    return total


def _xlogx(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x * np.log2(np.where(x > 0, x, 1.0))
