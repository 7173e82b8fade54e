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
from privet.central.weights.double_floats import exp_minus, one_over, powers, two_product, two_sum
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
    question = Residuals(own, left, trees.cell_starts, objective.offsets, objective.margin, objective.steps)
    sums, worst = objective.rows.summed(question, objective.n_threads)
    # A residual moves by at most half of what its score does. All rows are taken to be as far off as the worst one.
    error = (worst + _OWN) * n_rows
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
    """The pass that adds up residuals at weights of cells, which are pairs, and finds the largest error of a score."""

    weights: Floats
    rest: Floats
    starts: NDArray[np.int64]
    offsets: Floats
    margin: float
    steps: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Three whole numbers for each cell and column."""
        return 3, *self.weights.shape

    def __call__(self, block: Block, out: NDArray[np.int64], note: Note) -> float:  # noqa: ARG002
        """Add a block's residuals."""
        return _sum_residuals(
            block.cells, self.starts, block.labels, block.counts, block.scores, self.weights, self.rest, self.offsets,
            self.margin, self.steps, *powers(), out,
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


@inlined
def _score(
    cells: NDArray[Any], starts: NDArray[np.int64], i: int, weights: Floats, rest: Floats, c: int, offset: float,
    known: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Return a score, what is left over of it, and a bound on the error of both, with a margin of up to 1 taken off."""
    total, lost = two_sum(offset, known)
    size = 1.0 + abs(offset) + abs(known)
    for t in range(starts.size):
        found = starts[t] + cells[i * starts.size + t]
        weight = weights[found, c]
        total, error = two_sum(total, weight)
        lost += error + rest[found, c]
        size += abs(weight)
    total, lost = two_sum(total, lost)
    return total, lost, 16.0 * (starts.size + 2) ** 2 * _ROUNDING**2 * size


@inlined
def _largest(so_far: float, errors: Floats) -> float:
    """Return the largest error, or what is no number."""
    for error in errors:
        if not error <= so_far:
            so_far = error
    return so_far


@compiled
def _sum_residuals(
    cells: NDArray[Any], starts: NDArray[np.int64], labels: NDArray[Any], counts: NDArray[np.int64],
    known: NDArray[np.float32], weights: Floats, rest: Floats, offsets: Floats, margin: float, steps: int,
    coarse: Floats, fine: Floats, sums: NDArray[np.int64],
) -> float:  # fmt: skip
    """Add residuals to ``sums``: in units of 2**-24, what is left of them of 2**-48, and what is left then of 2**-72.

    Return the largest bound on the error of a line's scores.
    """
    n_trees, n_columns = starts.size, weights.shape[1]
    scores, errors = np.empty((_LINES, n_columns, 2)), np.empty(_LINES)
    own = np.zeros((weights.shape[0], n_columns, 3), dtype=np.int64)  # what is added to at a time lies together
    worst = 0.0
    # A few lines at a time, and step by step: processors then work on several lines at once.
    for low in range(0, labels.size, _LINES):
        n_lines = min(_LINES, labels.size - low)
        for j in range(n_lines):
            errors[j] = 0.0
            for c in range(n_columns):
                offset = offsets[1] - offsets[0] if n_columns == 1 else offsets[c]
                before = np.float64(known[low + j, c]) if known.size > 0 else 0.0
                scores[j, c, 0], scores[j, c, 1], error = _score(
                    cells, starts, low + j, weights, rest, c, offset, before
                )
                errors[j] = max(errors[j], error)
        worst = _largest(worst, errors[:n_lines])
        for j in range(n_lines):
            if n_columns == 1:
                _binary_residual(scores[j], labels[low + j], steps, margin, coarse, fine)
            else:
                _softmax_residuals(scores[j], labels[low + j], margin, coarse, fine)
        for j in range(n_lines):
            i = low + j
            count = counts[i] if counts.size > 0 else np.int64(1)
            for c in range(n_columns):
                first = np.rint(scores[j, c, 0] * _UNIT)
                left = (scores[j, c, 0] * _UNIT - first) * _UNIT
                second = np.rint(left)
                third = np.rint(((left - second) + scores[j, c, 1] * (_UNIT * _UNIT)) * _UNIT)
                a, b, d = np.int64(first) * count, np.int64(second) * count, np.int64(third) * count
                for t in range(n_trees):
                    line = own[starts[t] + cells[i * n_trees + t], c]
                    line[0] += a
                    line[1] += b
                    line[2] += d
    for k in range(3):
        sums[k] += own[:, :, k]
    return worst


@inlined
def _binary_residual(scores: Floats, label: int, steps: int, margin: float, coarse: Floats, fine: Floats) -> None:
    """Put the residual in the place of the score: -sign / (1 + exp(lead)), or its mean over both classes.

    The line is of the second class by a share of label / steps.
    """
    if label == steps:
        high, low = _wrong(scores[0, 0], scores[0, 1], margin, coarse, fine)
        scores[0, 0], scores[0, 1] = -high, -low
        return
    first, first_rest = _wrong(-scores[0, 0], -scores[0, 1], margin, coarse, fine)
    if label > 0:
        share = label / steps  # exact, and so is what is left of 1
        second, second_rest = _wrong(scores[0, 0], scores[0, 1], margin, coarse, fine)
        second, lost = two_product(-share, second)
        first, left = two_product(1.0 - share, first)
        lost += left + ((1.0 - share) * first_rest - share * second_rest)
        first, left = two_sum(first, second)
        first, first_rest = two_sum(first, left + lost)
    scores[0, 0], scores[0, 1] = first, first_rest


@inlined
def _wrong(score: float, rest: float, margin: float, coarse: Floats, fine: Floats) -> tuple[float, float]:
    """Return 1 / (1 + exp(lead)), the chance of the other class, and what is left over of it."""
    lead, lost = two_sum(score, -margin)
    lead, lost = two_sum(lead, lost + rest)
    away = 1.0 if lead >= 0.0 else -1.0
    power, power_rest = exp_minus(away * lead, away * lost, coarse, fine)
    total, lost = two_sum(1.0, power)
    share, share_rest = one_over(total, lost + power_rest)
    if away > 0.0:
        # 1 / (1 + exp(lead)) = 1 - 1 / (1 + exp(-lead)), and floats between a half and 1 are taken from 1 exactly.
        share, share_rest = 1.0 - share, -share_rest
    return share, share_rest


@inlined
def _softmax_residuals(scores: Floats, label: int, margin: float, coarse: Floats, fine: Floats) -> None:
    """Put the residuals in the place of the scores: the chances, less 1 in the own class."""
    score, lost = two_sum(scores[label, 0], -margin)
    scores[label, 0], scores[label, 1] = two_sum(score, lost + scores[label, 1])
    top = 0
    for c in range(1, scores.shape[0]):
        if scores[c, 0] > scores[top, 0] or (scores[c, 0] == scores[top, 0] and scores[c, 1] > scores[top, 1]):
            top = c
    high, low = scores[top, 0], scores[top, 1]
    total, total_rest = 0.0, 0.0
    for c in range(scores.shape[0]):
        below, lost = two_sum(high, -scores[c, 0])
        below, lost = two_sum(below, lost + (low - scores[c, 1]))
        scores[c, 0], scores[c, 1] = exp_minus(below, lost, coarse, fine)
        total, lost = two_sum(total, scores[c, 0])
        total_rest += lost + scores[c, 1]
    total, total_rest = two_sum(total, total_rest)
    share, share_rest = one_over(total, total_rest)
    for c in range(scores.shape[0]):
        chance, lost = two_product(scores[c, 0], share)
        lost += scores[c, 0] * share_rest + scores[c, 1] * share
        if c == label:
            chance, taken = two_sum(chance, -1.0)
            lost += taken
        scores[c, 0], scores[c, 1] = chance, lost


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
