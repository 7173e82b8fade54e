"""The gradient in decimal arithmetic of as many digits as it takes: slow, and sure.

It is for the case that floats cannot certify a minimiser, as when far more rows come than were declared. That never
is a reason to release less or another model, since it depends on the rows.
"""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, localcontext
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from privet.joint.certificate import BoundedGradient
from privet.joint.objective import Objective

Floats = NDArray[np.float64]

# Digits before the point that sums of residuals and weights may have.
_WHOLE_DIGITS = 25


def precise_gradient(objective: Objective, weights: Floats, rest: Floats, *, digits: int) -> BoundedGradient:
    """Return the gradient at ``weights + rest``, every step rounded to ``digits`` digits after the point or more."""
    # A context of its own: with the caller's traps whether a fit fails would depend on the rows.
    with localcontext(Context(digits + _WHOLE_DIGITS, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, traps=[])):
        exact = [
            [Decimal(high) + Decimal(low) for high, low in zip(*pair, strict=True)]
            for pair in zip(weights.tolist(), rest.tolist(), strict=True)
        ]
        sums = _prior_and_tilt(objective, exact)
        _add_losses(objective, exact, sums)
        values = np.array([[float(value) for value in line] for line in sums])
    n_terms = objective.rows.exact_size * (objective.trees.n_trees + 10) + objective.shape[0]
    rounding = 2.0**-53 * float(np.abs(values).max(initial=0.0))
    return BoundedGradient(values, n_terms * 10.0**-digits + rounding)


def _prior_and_tilt(objective: Objective, exact: list[list[Decimal]]) -> list[list[Decimal]]:
    sums = [[Decimal(value) for value in line] for line in objective.tilt.tolist()]
    for precision, start in zip(objective.prior.precisions, objective.trees.starts.tolist(), strict=True):
        for i, line in enumerate(precision.tolist()):
            for j, entry in enumerate(line):
                for c in range(objective.shape[1]):
                    sums[start + i][c] += Decimal(entry) * exact[start + j][c]
    return sums


def _add_losses(objective: Objective, exact: list[list[Decimal]], sums: list[list[Decimal]]) -> None:
    offsets, margin = [Decimal(offset) for offset in objective.offsets.tolist()], Decimal(objective.margin)
    if objective.is_binary:
        # The score's offset is a float of its own: the difference, as it was rounded.
        offsets = [Decimal(float(objective.offsets[1] - objective.offsets[0]))]
    starts, counts = objective.trees.starts.tolist(), objective.rows.weights
    for i, (leaves, label) in enumerate(
        zip(objective.rows.leaves.tolist(), objective.rows.labels.tolist(), strict=True)
    ):
        found = [start + leaf for start, leaf in zip(starts, leaves, strict=True)]
        scores = [reduce(Decimal.__add__, (exact[f][c] for f in found), offsets[c]) for c in range(len(offsets))]
        residuals = _binary(scores[0], label, margin) if objective.is_binary else _softmax(scores, label, margin)
        count = 1 if counts is None else int(counts[i])
        for f in found:
            for c, residual in enumerate(residuals):
                sums[f][c] += count * residual


def _binary(score: Decimal, label: int, margin: Decimal) -> list[Decimal]:
    sign = 1 if label == 1 else -1
    return [-sign / (1 + (sign * score - margin).exp())]


def _softmax(scores: list[Decimal], label: int, margin: Decimal) -> list[Decimal]:
    scores = [score - margin if c == label else score for c, score in enumerate(scores)]
    top = max(scores)
    powers = [(score - top).exp() for score in scores]
    total = sum(powers)
    return [power / total - (1 if c == label else 0) for c, power in enumerate(powers)]
