"""The gradient in twice the digits of floats, independent of the solver's, and a bound on its error.

Scores and the prior's pull are floats and what is left over of them; residuals are rounded to 2**-72 and added as
integers, so that the order of rows does not matter and nothing is lost. Each bound is argued in section 4 of
privacy/mechanisms/objective_perturbation.md.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.coded_rows import Block, Note, agree
from privet.central.weights.double_floats import exps_minus, one_over, powers, two_product, two_sum
from privet.central.weights.kernels import place_of
from privet.central.weights.objective import Objective
from privet.central.weights.trees import Trees
from privet.privacy.mechanisms.bits import compiled, inlined

Floats = NDArray[np.float64]

# Half a unit in the last place of 1.
_ROUNDING = 2.0**-53
# What a residual is off by, beside its score's error: exp and the last bit of its integer form, with room to spare.
_OWN = 2.0**-71
# Bounds are summed in floats as well.
_ROOM = 1.0 + 1e-6
# A residual is three whole numbers, in units of 2**-24, 2**-48 and 2**-72.
_UNIT = 2.0**24
_MOST_ROWS = 2**38
# Sums over cells are cut here: what leaves have of either part stays below 2**53.
_HALF = 28
# Digits of whole numbers that add up to scores: rounded in fewer than 2**52 trees, sums stay below 2**53.
_DIGITS = 51
# Lines whose residuals are held at a time.
_LINES = 64


@dataclass(frozen=True)
class BoundedGradient:
    """A gradient, and how far any of its numbers can be from the true one."""

    values: Floats
    error: float

    @property
    def largest(self) -> float:
        """A bound on the size of the true gradient's largest number."""
        return float(np.abs(self.values).max(initial=0.0)) + self.error


def bounded_gradient(objective: Objective, weights: Floats, rest: Floats) -> BoundedGradient:
    """Return the gradient at ``weights + rest``, where ``rest`` is what floats left over."""
    if objective.rows.exact_size >= _MOST_ROWS:
        raise OverflowError("2**38 rows or more cannot be counted")
    trees, n_rows = objective.trees, objective.rows.exact_size
    own, left, off = _weights_of_cells(objective, weights, rest)
    cut, farthest = _in_two(own, left, trees.cell_starts)
    question = Residuals(cut, trees.cell_starts, objective.offsets, objective.margin, objective.steps)
    sums, known = objective.rows.summed(question, objective.n_threads)
    # A residual moves by at most half of what its score does. All rows are taken to be as far off as a row can be.
    error = (_score_error(trees.n_trees, objective.offsets, known + farthest) + _OWN) * n_rows
    pull, lost = np.zeros(objective.shape), np.zeros(objective.shape)
    for precision, start in zip(objective.prior.precisions, trees.starts, strict=True):
        of_tree = slice(start, start + len(precision))
        error += _write_products(precision, weights[of_tree], rest[of_tree], pull[of_tree], lost[of_tree])
    parts = [*_sums_of_leaves(trees, sums), pull, lost, objective.linear_noise]
    if objective.order is not None:
        ordering, far = objective.order.parts(weights, rest)
        parts, error = [*parts, *ordering], error + far
    values = np.array([math.fsum(each) for each in np.stack(parts, axis=-1).reshape(-1, len(parts)).tolist()])
    added = _ROUNDING * float(np.abs(values).max(initial=0.0)) + off * n_rows
    return BoundedGradient(values.reshape(objective.shape), (error + added) * _ROOM)


@dataclass(frozen=True)
class Residuals:
    """The pass that adds up residuals, and finds the largest score that a row has before any weight.

    ``weights`` of cells are in two, as `_cut` writes them.
    """

    weights: Floats
    starts: NDArray[np.int64]
    offsets: Floats
    margin: float
    steps: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Three whole numbers for each cell and column."""
        return 3, *self.weights.shape[:2]

    def __call__(self, block: Block, out: NDArray[np.int64], note: Note) -> float:  # noqa: ARG002
        """Add a block's residuals."""
        return _sum_residuals(
            block.cells, self.starts, block.labels, block.counts, block.scores, self.weights, self.offsets, self.margin,
            self.steps, *powers(), out,
        )  # fmt: skip

    def is_sound(self, sums: NDArray[np.int64], n_rows: int) -> bool:
        """All trees have the same rows, and so the same sums; and no residual is larger than 1."""
        return agree(sums, self.starts) and bool((np.abs(sums) <= n_rows * int(_UNIT)).all())


def _weights_of_cells(objective: Objective, weights: Floats, rest: Floats) -> tuple[Floats, Floats, float]:
    """Return what a row in each cell has of the weights, as pairs, and how far that can move a residual at most."""
    trees = objective.trees
    if not trees.is_soft:
        return weights, rest, 0.0
    shares = trees.shares
    own, left = np.empty((shares.shape[0], weights.shape[1])), np.empty((shares.shape[0], weights.shape[1]))
    worst = _write_weights_of_cells(shares.indptr, shares.indices, shares.data, weights, rest, own, left)
    # A residual moves by at most half of what scores move.
    return own, left, trees.n_trees * worst


def _in_two(weights: Floats, rest: Floats, starts: NDArray[np.int64]) -> tuple[Floats, float]:
    """Return weights of cells as `_cut` does, and how far from 0 those of a row can be together."""
    farthest = float(np.maximum.reduceat(np.abs(weights).max(axis=1), starts).sum()) if len(starts) else 0.0
    exponent = math.frexp(farthest)[1] if 1.0 < farthest < math.inf else 1
    return _cut(weights, rest, 2.0 ** (_DIGITS - exponent)), farthest


def _score_error(n_trees: int, offsets: Floats, size: float) -> float:
    """Return a bound on the error of scores whose parts, offsets and margin aside, have at most this size together."""
    return 16.0 * (n_trees + 2) ** 2 * _ROUNDING**2 * (1.0 + float(np.abs(offsets).sum()) + size)


def _sums_of_leaves(trees: Trees, sums: NDArray[np.int64]) -> list[Floats]:
    """Return what the leaves have of sums over cells, exactly: as floats to be added up."""
    parts = []
    for k, own in enumerate(sums, start=1):
        # In two halves, of which each is small enough for its sums to be exact in floats.
        high = own >> _HALF
        for half, unit in ((high, _UNIT**-k * 2.0**_HALF), (own - (high << _HALF), _UNIT**-k)):
            parts.append(np.concatenate([_of_tree(trees, t, half) for t in range(trees.n_trees)]) * unit)
    return parts


def _of_tree(trees: Trees, tree: int, sums: NDArray[np.int64]) -> Floats:
    start = trees.cell_starts[tree]
    own = sums[start : start + trees.cell_sizes[tree]]
    summed: Floats = (trees.whole_shares(tree).T @ own).astype(np.float64) / float(trees.grids[tree])
    return summed


@compiled
def _write_weights_of_cells(
    ends: NDArray[Any], leaves: NDArray[Any], shares: Floats, weights: Floats, rest: Floats, own: Floats, left: Floats
) -> float:
    """Write the weights of cells and what is left over of them; return a bound on the error of any of them."""
    worst = 0.0
    for cell in range(ends.size - 1):
        n_leaves = ends[cell + 1] - ends[cell]
        for c in range(weights.shape[1]):
            total, lost, size = 0.0, 0.0, 0.0
            for k in range(ends[cell], ends[cell + 1]):
                product, error = two_product(shares[k], weights[leaves[k], c])
                total, more = two_sum(total, product)
                lost += (error + more) + shares[k] * rest[leaves[k], c]
                size += abs(product)
            own[cell, c], left[cell, c] = two_sum(total, lost)
            worst = max(worst, 16.0 * (n_leaves + 1.0) ** 2 * _ROUNDING**2 * size)
    return worst


@compiled
def _cut(weights: Floats, rest: Floats, unit: float) -> Floats:
    """Return weights in two: whole numbers of 1 / ``unit``, which add up without rounding, and what is left of them."""
    cut = np.empty((*weights.shape, 2))
    for cell in range(weights.shape[0]):
        for c in range(weights.shape[1]):
            whole = np.rint(weights[cell, c] * unit) / unit
            cut[cell, c, 0], cut[cell, c, 1] = whole, (weights[cell, c] - whole) + rest[cell, c]
    return cut


@inlined
def _score(
    cells: NDArray[Any], starts: NDArray[np.int64], i: int, weights: Floats, c: int, offset: float, known: float
) -> tuple[float, float]:
    """Return a score and what is left over of it."""
    whole, left = 0.0, 0.0
    for t in range(starts.size):
        line = weights[place_of(starts, cells, i, t), c]
        whole += line[0]
        left += line[1]
    total, lost = two_sum(offset, known)
    total, more = two_sum(total, whole)
    return two_sum(total, (lost + more) + left)


@compiled
def _sum_residuals(
    cells: NDArray[Any], starts: NDArray[np.int64], labels: NDArray[Any], counts: NDArray[np.int64],
    known: NDArray[np.float32], weights: Floats, offsets: Floats, margin: float, steps: int, coarse: Floats,
    fine: Floats, sums: NDArray[np.int64],
) -> float:  # fmt: skip
    """Add residuals to ``sums``: in units of 2**-24, what is left of them of 2**-48, and what is left then of 2**-72.

    Return the size of the largest score that a line has before any weight.
    """
    n_trees, n_columns = starts.size, weights.shape[1]
    scores, room, largest = np.empty((n_columns, 2, _LINES)), np.empty((9, _LINES)), 0.0
    # What is added to at a time lies together, and as four numbers, which processors add at once.
    whole, own = np.zeros((_LINES, 4), dtype=np.int64), np.zeros((weights.shape[0], n_columns, 4), dtype=np.int64)
    # A few lines at a time, and step by step: processors then work on several lines at once.
    for low in range(0, labels.size, _LINES):
        n_lines = min(_LINES, labels.size - low)
        lines, of_lines, free = labels[low : low + n_lines], scores[:, :, :n_lines], room[:, :n_lines]
        for j in range(n_lines):
            for c in range(n_columns):
                offset = offsets[1] - offsets[0] if n_columns == 1 else offsets[c]
                before = np.float64(known[low + j, c]) if known.size > 0 else 0.0
                largest = max(largest, abs(before))
                scores[c, 0, j], scores[c, 1, j] = _score(cells, starts, low + j, weights, c, offset, before)
        if n_columns == 1:
            _binary_residuals(of_lines[0, 0], of_lines[0, 1], lines, steps, margin, coarse, fine, free)
        else:
            _softmax_residuals(of_lines, lines, margin, coarse, fine, free)
        for c in range(n_columns):
            for j in range(n_lines):
                count = counts[low + j] if counts.size > 0 else np.int64(1)
                first = np.rint(scores[c, 0, j] * _UNIT)
                left = (scores[c, 0, j] * _UNIT - first) * _UNIT
                second = np.rint(left)
                third = np.rint(((left - second) + scores[c, 1, j] * (_UNIT * _UNIT)) * _UNIT)
                whole[j, 0], whole[j, 1] = np.int64(first) * count, np.int64(second) * count
                whole[j, 2] = np.int64(third) * count
            for j in range(n_lines):
                a, b, d, e = whole[j, 0], whole[j, 1], whole[j, 2], whole[j, 3]
                for t in range(n_trees):
                    line = own[place_of(starts, cells, low + j, t), c]
                    line[0] += a
                    line[1] += b
                    line[2] += d
                    line[3] += e
    for k in range(3):
        sums[k] += own[:, :, k]
    return largest


@inlined
def _binary_residuals(
    scores: Floats, rests: Floats, labels: NDArray[Any], steps: int, margin: float, coarse: Floats, fine: Floats,
    room: Floats,
) -> None:  # fmt: skip
    """Put residuals in the place of scores: -sign / (1 + exp(lead)), or the mean over both classes.

    A line is of the second class by a share of label / steps.
    """
    if steps == 1:
        for j in range(scores.size):
            sign = 2.0 * labels[j] - 1.0
            scores[j], rests[j] = sign * scores[j], sign * rests[j]
        _wrong(scores, rests, margin, coarse, fine, room)
        for j in range(scores.size):
            sign = 2.0 * labels[j] - 1.0
            scores[j], rests[j] = -sign * scores[j], -sign * rests[j]
        return
    firsts, first_rests = room[7], room[8]
    for j in range(scores.size):
        firsts[j], first_rests[j] = -scores[j], -rests[j]
    _wrong(firsts, first_rests, margin, coarse, fine, room)
    _wrong(scores, rests, margin, coarse, fine, room)
    for j in range(scores.size):
        share = labels[j] / steps  # exact, and so is what is left of 1
        second, lost = two_product(-share, scores[j])
        first, left = two_product(1.0 - share, firsts[j])
        lost += left + ((1.0 - share) * first_rests[j] - share * rests[j])
        first, left = two_sum(first, second)
        scores[j], rests[j] = two_sum(first, left + lost)


@inlined
def _wrong(
    scores: Floats, rests: Floats, margin: float, coarse: Floats, fine: Floats, room: Floats
) -> None:  # fmt: skip
    """Put 1 / (1 + exp(lead)), the chance of the other class, in the place of each score."""
    away = room[5]
    for j in range(scores.size):
        lead, lost = two_sum(scores[j], -margin)
        lead, lost = two_sum(lead, lost + rests[j])
        away[j] = 1.0 if lead >= 0.0 else -1.0
        scores[j], rests[j] = away[j] * lead, away[j] * lost
    exps_minus(scores, rests, coarse, fine, room)
    for j in range(scores.size):
        total, lost = two_sum(1.0, scores[j])
        share, rest = one_over(total, lost + rests[j])
        # 1 / (1 + exp(lead)) = 1 - 1 / (1 + exp(-lead)), and floats between a half and 1 are taken from 1 exactly.
        scores[j] = 1.0 - share if away[j] > 0.0 else share
        rests[j] = -rest if away[j] > 0.0 else rest


@inlined
def _softmax_residuals(
    scores: Floats, labels: NDArray[Any], margin: float, coarse: Floats, fine: Floats, room: Floats
) -> None:
    """Put residuals in the place of scores, columns x 2 x lines: the chances, less 1 in the own class."""
    top, top_rest, total, total_rest = room[5], room[6], room[7], room[8]
    for j in range(labels.size):
        own = scores[labels[j], :, j]
        score, lost = two_sum(own[0], -margin)
        own[0], own[1] = two_sum(score, lost + own[1])
        top[j], top_rest[j], total[j], total_rest[j] = scores[0, 0, j], scores[0, 1, j], 0.0, 0.0
    for c in range(1, scores.shape[0]):
        for j in range(labels.size):
            score, rest = scores[c, 0, j], scores[c, 1, j]
            is_above = (score > top[j]) | ((score == top[j]) & (rest > top_rest[j]))
            top[j], top_rest[j] = (score if is_above else top[j]), (rest if is_above else top_rest[j])
    for c in range(scores.shape[0]):
        power, left = scores[c, 0], scores[c, 1]
        for j in range(labels.size):
            below, lost = two_sum(top[j], -power[j])
            power[j], left[j] = two_sum(below, lost + (top_rest[j] - left[j]))
        exps_minus(power, left, coarse, fine, room)
        for j in range(labels.size):
            total[j], lost = two_sum(total[j], power[j])
            total_rest[j] += lost + left[j]
    for j in range(labels.size):
        high, low = two_sum(total[j], total_rest[j])
        total[j], total_rest[j] = one_over(high, low)
    for c in range(scores.shape[0]):
        power, left = scores[c, 0], scores[c, 1]
        for j in range(labels.size):
            chance, lost = two_product(power[j], total[j])
            lost += power[j] * total_rest[j] + left[j] * total[j]
            power[j], taken = two_sum(chance, -1.0 if c == labels[j] else 0.0)
            left[j] = lost + taken


@compiled
def _write_products(precision: Floats, weights: Floats, rest: Floats, pull: Floats, lost: Floats) -> float:
    """Write ``precision @ (weights + rest)`` and what is left over of it; return a bound on the error of any number."""
    n, worst = weights.shape[0], 0.0
    for i in range(n):
        for c in range(weights.shape[1]):
            total, left, size = 0.0, 0.0, 0.0
            for j in range(n):
                product, error = two_product(precision[i, j], weights[j, c])
                total, more = two_sum(total, product)
                left += (error + more) + precision[i, j] * rest[j, c]
                size += abs(product)
            pull[i, c], lost[i, c] = total, left
            worst = max(worst, size)
    return float(16.0 * (n + 1.0) ** 2 * _ROUNDING**2 * worst)
