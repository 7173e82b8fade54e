"""How good a split is, in whole steps of a fixed grid, so that a choice by score is exact.

Every score is a sum over the values of the attribute, a row changes the term of its own value only, and rows more never
raise (or never lower) a term. The argument is in dpdf.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

# Steps of a score per row. Scores differ by rows, so a thousandth of one is fine enough, and sums stay below 2^63.
GRID = 2**10
# n^2 must fit in 62 bits.
MAX_ROWS = 2**31

# Nodes x codes x classes in, nodes out.
ScoreOf: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.int64]]


@dataclass(frozen=True)
class Score:
    """A score, by how many steps one row more moves it, and whether always in the same direction."""

    of: ScoreOf
    sensitivity: int
    monotone: bool = True


def gini_score(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return -sum_v n_v gini_v on the grid: what a split leaves of impurity, in rows.

    A row more changes n gini = n - sum_c n_c^2 / n by 1 + (sum_c n_c^2 - 2 n n_c - n) / (n (n + 1)), which lies in
    [0, 2). Rounding down to the grid keeps the direction, and a difference below 2 GRID is at most 2 GRID steps.
    """
    if counts.sum(axis=2).max(initial=0) >= MAX_ROWS:
        counts = counts.astype(object)  # Python's integers: slower, and as long as it takes
    n = counts.sum(axis=2)
    impure, some = n * n - (counts * counts).sum(axis=2), np.maximum(n, 1)
    whole, rest = impure // some, impure % some
    steps: NDArray[np.int64] = -(whole * GRID + rest * GRID // some).sum(axis=1)
    return steps.astype(np.int64)


def max_class_score(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return sum_v max_c n_vc: how many rows the majority of their value gets right. A row adds 0 or 1."""
    right: NDArray[np.int64] = counts.max(axis=2).sum(axis=1)
    return right


@lru_cache(maxsize=4)
def entropy_score(most_rows: int) -> Score:
    """Return the score -sum_v n_v H_v on the grid, H in bits; exact for nodes of at most ``most_rows`` rows.

    n H = n log n - sum_c n_c log n_c. With f(x) = (x + 1) log(x + 1) - x log x, which rises, a row more changes it by
    f(n) - f(n_c), between 0 and f(n) <= log2(n + 1) + 1 / ln 2. Here f is rounded down to the grid first, and x log x
    is the sum of rounded f, so both bounds hold for what is computed and not only for what it stands for. Beyond
    ``most_rows`` f stays as it is: it still never falls, so the bounds hold for any table, which need not be refused.
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
    """Return the Gini index -sum_v (n_v / n) gini_v on the grid: what a split leaves of impurity, as a share.

    A row more moves W / n, W = sum_v n_v gini_v <= n, by (n d - W) / (n (n + 1)) with 0 <= d <= 2 n / (n + 1): by at
    most 1/2, in either direction.
    """
    n = np.maximum(counts.sum(axis=(1, 2)), 1)
    steps: NDArray[np.int64] = gini_score(counts) // n
    return steps


def gini_over_sensitivity(counts: NDArray[np.int64], noisy_size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return DPDF's exponent without epsilon, G / (2 Delta): its Theorem 1 takes Delta at the noisy size of a node.

    The size may be wrong by hundreds of rows, so nothing bounds what a row can do: this is for ``variant="paper"``.
    """
    size = np.maximum(noisy_size, 1).astype(np.float64)
    delta = 1 - (size / (size + 1)) ** 2 - (1 / (size + 1)) ** 2
    exact = np.maximum(counts.sum(axis=(1, 2)), 1)
    steps: NDArray[np.int64] = np.floor(gini_score(counts) / exact / (2 * delta)).astype(np.int64)
    return steps


GINI = Score(gini_score, 2 * GRID)
MAX_CLASS = Score(max_class_score, 1)
# No more than n values occur among n rows, so rounding each down, and then the quotient, takes less than 2 steps.
GINI_INDEX = Score(gini_index_score, GRID // 2 + 2, monotone=False)


def entropy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sum_v n_v H_v of released counts, negatives taken as 0: what ID3 wants low."""
    counts = np.maximum(counts, 0.0)
    n = counts.sum(axis=2)
    total: NDArray[np.float64] = (_xlogx(n) - _xlogx(counts).sum(axis=2)).sum(axis=1)
    return total


def _xlogx(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x * np.log2(np.where(x > 0, x, 1.0))
