"""The plain twins of `kernels` and of the certificate's sum: the same arguments and results, by formula.

Rows become a matrix of ones and noughts, lines x leaves, and all that the kernels do with loops is a product with it.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Leaves = NDArray[np.integer[Any]]
Counts = NDArray[np.int64]

_DIGITS = 60


def indicators(leaves: Leaves, starts: Counts, n_leaves: int) -> Floats:
    """Return which leaves each line reaches: ones and noughts, lines x leaves."""
    own = leaves.reshape(-1, len(starts)).astype(np.int64) + starts
    return np.array([np.isin(np.arange(n_leaves), line) for line in own], dtype=float).reshape(len(own), n_leaves)


def binary_gradient(
    leaves: Leaves, starts: Counts, labels: Leaves, counts: Counts, weights: Floats, offset: float, margin: float,
    gradient: Floats, curvatures: NDArray[np.float32],
) -> None:  # fmt: skip
    """Add the derivative of sum of count * log(1 + exp(margin - sign * score)), and write the second ones."""
    reached, signs = indicators(leaves, starts, len(weights)), 2.0 * (labels == 1) - 1.0
    leads = signs * (offset + reached @ weights) - margin
    wrong = (1 - np.tanh(leads / 2)) / 2
    gradient += reached.T @ (_times(counts, len(labels)) * -signs * wrong)
    curvatures[:] = _times(counts, len(labels)) / (2 * np.cosh(leads / 2)) ** 2


def binary_hessian_product(
    leaves: Leaves, starts: Counts, curvatures: NDArray[np.float32], direction: Floats, out: Floats
) -> None:
    """Add the Hessian times ``direction``."""
    out += _binary_hessian(leaves, starts, curvatures, len(out)) @ direction


def binary_hessian(leaves: Leaves, starts: Counts, curvatures: NDArray[np.float32], hessian: Floats) -> None:
    """Add the lower half of the Hessian."""
    hessian += np.tril(_binary_hessian(leaves, starts, curvatures, len(hessian)))


def _binary_hessian(leaves: Leaves, starts: Counts, curvatures: NDArray[np.float32], n_leaves: int) -> Floats:
    reached = indicators(leaves, starts, n_leaves)
    hessian: Floats = reached.T @ np.diag(curvatures.astype(float)) @ reached
    return hessian


def softmax_gradient(
    leaves: Leaves, starts: Counts, labels: Leaves, counts: Counts, weights: Floats, offsets: Floats, margin: float,
    gradient: Floats, chances: NDArray[np.float32],
) -> None:  # fmt: skip
    """Add the derivative of the sum of count * -log softmax(scores - margin in the own class)[own class]."""
    reached, own = indicators(leaves, starts, len(weights)), np.eye(len(offsets))[labels]
    powers = np.exp(offsets + reached @ weights - margin * own)
    chances[:] = powers / powers.sum(axis=1, keepdims=True)
    pulls = powers / powers.sum(axis=1, keepdims=True) - own
    gradient += reached.T @ (_times(counts, len(labels))[:, None] * pulls)


def softmax_hessian_product(
    leaves: Leaves, starts: Counts, counts: Counts, chances: NDArray[np.float32], direction: Floats, out: Floats
) -> None:
    """Add the Hessian times ``direction``."""
    hessian = _softmax_hessian(leaves, starts, counts, chances, len(out))
    out += (hessian @ direction.ravel()).reshape(out.shape)


def softmax_hessian(
    leaves: Leaves, starts: Counts, counts: Counts, chances: NDArray[np.float32], hessian: Floats
) -> None:
    """Add the lower half of the Hessian; above the diagonal nothing is promised."""
    n_leaves = len(hessian) // chances.shape[1]
    hessian += np.tril(_softmax_hessian(leaves, starts, counts, chances, n_leaves))


def _softmax_hessian(
    leaves: Leaves, starts: Counts, counts: Counts, chances: NDArray[np.float32], n_leaves: int
) -> Floats:
    """Return the sum over lines of count * (reached reached') x (sum(p) diag p - p p'); p may not add up to 1."""
    reached, n_classes = indicators(leaves, starts, n_leaves), chances.shape[1]
    hessian = np.zeros((n_leaves * n_classes,) * 2)
    for line, p, times in zip(reached, chances.astype(float), _times(counts, len(chances)), strict=True):
        hessian += times * np.kron(np.outer(line, line), p.sum() * np.diag(p) - np.outer(p, p))
    return hessian


def leaf_curvatures(leaves: Leaves, starts: Counts, curvatures: NDArray[np.float32], out: Floats) -> None:
    """Add each line's ``curvatures`` to the leaves that it reaches."""
    out += indicators(leaves, starts, len(out)).T @ curvatures.astype(float)


def scores_of(leaves: Leaves, starts: Counts, weights: Floats, scores: Floats) -> None:
    """Add the weights of the leaves that each line reaches."""
    scores += indicators(leaves, starts, len(weights)) @ weights


def sum_residuals(
    leaves: Leaves, starts: Counts, labels: Leaves, counts: Counts, weights: Floats, rest: Floats, offsets: Floats,
    margin: float, sums: Counts,
) -> float:  # fmt: skip
    """Add residuals, rounded once to units of 2**-72, in three parts; return a bound on the error of any sum."""
    times = _times(counts, len(labels)).astype(np.int64)
    for own, label, count in zip(leaves.reshape(-1, len(starts)), labels, times, strict=True):
        found = own.astype(np.int64) + starts
        for c, residual in enumerate(residuals(weights[found], rest[found], offsets, int(label), margin)):
            units = round(residual * 2**72)
            for k, size in enumerate((2**48, 2**24, 1)):
                high = round(Fraction(units, size))
                sums[k, found, c] += high * count
                units -= high * size
    return float(times.sum()) * 2.0**-73


def residuals(own: Floats, rest: Floats, offsets: Floats, label: int, margin: float) -> list[Decimal]:
    """Return what one line pulls each column by, to 60 digits, from the weights of the leaves that it reaches."""
    with localcontext() as context:
        context.prec = _DIGITS
        scores = [sum(map(Decimal, column), Decimal(0)) for column in np.concatenate([own, rest]).T.tolist()]
        if len(scores) == 1:
            score, sign = scores[0] + Decimal(float(offsets[1] - offsets[0])), 2 * (label == 1) - 1
            return [-sign / (1 + (sign * score - Decimal(margin)).exp())]
        shifted = [s + Decimal(o) - (Decimal(margin) if c == label else 0) for c, (s, o) in _numbered(scores, offsets)]
        powers = [score.exp() for score in shifted]
        return [power / sum(powers) - (c == label) for c, power in enumerate(powers)]


def _numbered(scores: list[Decimal], offsets: Floats) -> list[tuple[int, tuple[Decimal, float]]]:
    return list(enumerate(zip(scores, offsets.tolist(), strict=True)))


def _times(counts: Counts, n_lines: int) -> Floats:
    return counts.astype(float) if counts.size else np.ones(n_lines)
