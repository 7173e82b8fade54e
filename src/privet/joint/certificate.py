"""A gradient that is slower, independent of the solver's, and comes with a bound on its error.

Scores are summed with their rounding errors, residuals are rounded to 2**-52 and added as integers, so that the order
of rows does not matter and nothing is lost. What remains is bounded line by line. Assumed: ``exp`` is within two units
in the last place; additions, multiplications and divisions are rounded as IEEE 754 says.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.joint.objective import Objective
from privet.privacy.mechanisms.bits import compiled

Floats = NDArray[np.float64]

# Half a unit in the last place of 1.
_ROUNDING = 2.0**-53
# A residual's own errors, in roundings: exp, two operations, and the last bit of its integer form, with room to spare.
_OWN = 6.0
# Bounds are summed in floats as well.
_ROOM = 1.0 + 1e-6
_COARSE, _FINE = 2.0**20, 2.0**32
_MOST_ROWS = 2**31


@dataclass(frozen=True)
class BoundedGradient:
    """A gradient, and how far any of its numbers can be from the true one."""

    values: Floats
    error: float

    @property
    def largest(self) -> float:
        """A bound on the size of the true gradient's largest number."""
        return float(np.abs(self.values).max(initial=0.0)) + self.error


def float_gradient(objective: Objective, weights: Floats) -> BoundedGradient:
    """Return the gradient at ``weights``, in floats; of more rows than integers can add up, with no bound at all."""
    coarse, fine = np.zeros(objective.shape, dtype=np.int64), np.zeros(objective.shape, dtype=np.int64)
    counts = np.empty(0, dtype=np.int64) if objective.rows.weights is None else objective.rows.weights
    error = _sum_residuals(
        objective.rows.leaves.reshape(-1), objective.trees.starts, objective.rows.labels, counts, weights,
        objective.offsets, objective.margin, coarse, fine,
    )  # fmt: skip
    loss = coarse / _COARSE + fine / (_COARSE * _FINE)
    pull, pull_error = _prior_pull(objective, weights)
    values = loss + pull + objective.tilt
    added = 4 * _ROUNDING * float((np.abs(loss) + np.abs(pull) + np.abs(objective.tilt)).max(initial=0.0))
    countable = objective.rows.exact_size < _MOST_ROWS
    return BoundedGradient(values, (error + pull_error + added) * _ROOM if countable else math.inf)


def _prior_pull(objective: Objective, weights: Floats) -> tuple[Floats, float]:
    pull, sizes = objective.precise(weights), np.zeros(objective.shape)
    error = 0.0
    for precision, start in zip(objective.prior.precisions, objective.trees.starts, strict=True):
        own = slice(start, start + len(precision))
        sizes[own] = np.abs(precision) @ np.abs(weights[own])
        error = max(error, (len(precision) + 2) * _ROUNDING * float(sizes[own].max(initial=0.0)))
    return pull, error


@compiled
def _sum_residuals(
    leaves: NDArray[Any], starts: NDArray[np.int64], labels: NDArray[Any], counts: NDArray[np.int64], weights: Floats,
    offsets: Floats, margin: float, coarse: NDArray[np.int64], fine: NDArray[np.int64],
) -> float:  # fmt: skip
    """Add residuals to ``coarse`` in units of 2**-20 and what is left of them to ``fine`` in units of 2**-52.

    Return a bound on the error of any sum.
    """
    n_trees, n_columns = starts.size, weights.shape[1]
    residuals = np.empty(n_columns)
    total = 0.0
    for i in range(labels.size):
        count = counts[i] if counts.size > 0 else np.int64(1)
        if n_columns == 1:
            error = _binary_residual(leaves, starts, i, labels[i], weights, offsets, margin, residuals)
        else:
            error = _softmax_residuals(leaves, starts, i, labels[i], weights, offsets, margin, residuals)
        total += error * np.float64(count)
        for c in range(n_columns):
            scaled = residuals[c] * _COARSE
            whole = np.rint(scaled)
            part = np.int64(np.rint((scaled - whole) * _FINE)) * count
            whole_count = np.int64(whole) * count
            for t in range(n_trees):
                found = starts[t] + leaves[i * n_trees + t]
                coarse[found, c] += whole_count
                fine[found, c] += part
    return total


@compiled
def _score(
    leaves: NDArray[Any], starts: NDArray[np.int64], i: int, weights: Floats, c: int, offset: float
) -> tuple[float, float]:
    """Return a score, summed with its rounding errors (Neumaier 1974), and a bound on what is left of them."""
    total, lost, size = offset, 0.0, abs(offset)
    for t in range(starts.size):
        weight = weights[starts[t] + leaves[i * starts.size + t], c]
        new = total + weight
        if abs(total) >= abs(weight):
            lost += (total - new) + weight
        else:
            lost += (weight - new) + total
        total = new
        size += abs(weight)
    # The rounding of the result, and second-order terms: those of every step are rounded once more.
    return total + lost, _ROUNDING * abs(total + lost) + 4.0 * starts.size**2 * _ROUNDING**2 * size


@compiled
def _binary_residual(
    leaves: NDArray[Any], starts: NDArray[np.int64], i: int, label: int, weights: Floats, offsets: Floats,
    margin: float, residuals: Floats,
) -> float:  # fmt: skip
    offset = offsets[1] - offsets[0]
    score, error = _score(leaves, starts, i, weights, 0, offset)
    sign = 1.0 if label == 1 else -1.0
    lead = sign * score - margin
    residuals[0] = -sign / (1.0 + np.exp(lead))
    wrong = abs(residuals[0])
    # The residual moves by its slope times what the score moves; the slope itself hardly moves on the way.
    slope = 1.01 * wrong * (1.0 - wrong) + 1e-9
    return float(slope * (error + _ROUNDING * (abs(lead) + abs(offset))) + _OWN * _ROUNDING)


@compiled
def _softmax_residuals(
    leaves: NDArray[Any], starts: NDArray[np.int64], i: int, label: int, weights: Floats, offsets: Floats,
    margin: float, residuals: Floats,
) -> float:  # fmt: skip
    worst = 0.0
    for c in range(residuals.size):
        score, error = _score(leaves, starts, i, weights, c, offsets[c])
        if c == label:
            score -= margin
            error += _ROUNDING * abs(score)
        residuals[c] = score
        worst = max(worst, error)
    top = residuals.max()
    total, lost = 0.0, 0.0
    for c in range(residuals.size):
        residuals[c] = np.exp(residuals[c] - top)
        new = total + residuals[c]
        lost += (total - new) + residuals[c] if total >= residuals[c] else (residuals[c] - new) + total
        total = new
    total += lost
    slope = 0.0
    for c in range(residuals.size):
        residuals[c] /= total
        slope = max(slope, residuals[c] * (1.0 - residuals[c]))
    residuals[label] -= 1.0
    # A chance moves by at most 2 p (1 - p) times what one score moves. Scores less the largest are rounded once more;
    # weighted by chances, their sizes are at most the logarithm of the number of classes.
    own = _OWN + 2.0 + np.log(residuals.size)
    return float((2.02 * slope + 1e-9) * worst + own * _ROUNDING)
