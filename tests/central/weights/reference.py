"""The plain twins of `kernels` and of the certificate's sum: the same arguments and results, by formula.

Rows become a matrix of ones and noughts, lines x cells, and all that the kernels do with loops is a product with it.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Cells = NDArray[np.integer[Any]]
Short = NDArray[np.float32]
Counts = NDArray[np.int64]

_DIGITS = 60


def indicators(cells: Cells, starts: Counts, n_cells: int) -> Floats:
    """Return which cells each line falls into: ones and noughts, lines x cells."""
    own = cells.reshape(-1, len(starts)).astype(np.int64) + starts
    return np.array([np.isin(np.arange(n_cells), line) for line in own], dtype=float).reshape(len(own), n_cells)


def shares_of(ends: Counts, leaves: Cells, shares: Floats, n_leaves: int) -> Floats:
    """Return what each leaf has of a cell: cells x leaves."""
    whole = np.zeros((len(ends) - 1, n_leaves))
    for cell in range(len(whole)):
        own = slice(ends[cell], ends[cell + 1])
        whole[cell, leaves[own]] = shares[own]
    return whole


def binary_gradient(
    cells: Cells, starts: Counts, labels: Cells, counts: Counts, known: Short, weights: Floats, offset: float,
    margin: float, unit: float, curvatures: Short, out: Counts,
) -> None:  # fmt: skip
    """Add the derivative of sum of count * log(1 + exp(margin - sign * score)), and write the second ones."""
    reached, signs = indicators(cells, starts, len(weights)), 2.0 * (labels == 1) - 1.0
    leads = signs * (offset + _known(known, len(labels), 1)[:, 0] + reached @ weights) - margin
    wrong = (1 - np.tanh(leads / 2)) / 2
    _add_rounded(reached, unit * _times(counts, len(labels)) * -signs * wrong, out)
    curvatures[:] = _times(counts, len(labels)) / (2 * np.cosh(leads / 2)) ** 2


def share_gradient(
    cells: Cells, starts: Counts, labels: Cells, steps: int, counts: Counts, known: Short, weights: Floats,
    offset: float, margin: float, unit: float, curvatures: Short, out: Counts,
) -> None:  # fmt: skip
    """Do the same for the mean of both classes' losses, of which the second has label / steps."""
    reached, shares = indicators(cells, starts, len(weights)), labels / steps
    scores, times = offset + _known(known, len(labels), 1)[:, 0] + reached @ weights, _times(counts, len(labels))
    pulls, bends = np.zeros(len(labels)), np.zeros(len(labels))
    for sign, share in ((1, shares), (-1, 1 - shares)):
        wrong = (1 - np.tanh((sign * scores - margin) / 2)) / 2
        pulls += -sign * share * wrong
        bends += share * wrong * (1 - wrong)
    _add_rounded(reached, unit * times * pulls, out)
    curvatures[:] = times * bends


def _add_rounded(reached: Floats, of_lines: Floats, out: Counts) -> None:
    """Round what each line has to whole numbers, add them up over cells, and add that in units of 2**24 and of 1."""
    sums = reached.T.astype(np.int64) @ np.rint(of_lines).astype(np.int64)
    high, low = np.divmod(sums, 2**24)
    out[0] += high
    out[1] += low


def binary_hessian_product(cells: Cells, starts: Counts, curvatures: Short, direction: Floats, out: Counts) -> None:
    """Add the Hessian times ``direction``, each line's part rounded."""
    reached = indicators(cells, starts, len(direction))
    _add_rounded(reached, curvatures.astype(float) * (reached @ direction), out)


def binary_hessian(
    cells: Cells, starts: Counts, ends: Counts, leaves: Cells, shares: Floats, curvatures: Short, hessian: Floats
) -> None:
    """Add the lower half of the Hessian."""
    of_leaves = indicators(cells, starts, len(ends) - 1) @ shares_of(ends, leaves, shares, len(hessian))
    hessian += np.tril(_binary_hessian(of_leaves, curvatures))


def _binary_hessian(reached: Floats, curvatures: Short) -> Floats:
    hessian: Floats = reached.T @ np.diag(curvatures.astype(float)) @ reached
    return hessian


def softmax_gradient(
    cells: Cells, starts: Counts, labels: Cells, counts: Counts, known: Short, weights: Floats, offsets: Floats,
    margin: float, unit: float, chances: Short, out: Counts,
) -> None:  # fmt: skip
    """Add the derivative of the sum of count * -log softmax(scores - margin in the own class)[own class]."""
    reached, own = indicators(cells, starts, len(weights)), np.eye(len(offsets))[labels]
    powers = np.exp(offsets + _known(known, len(labels), len(offsets)) + reached @ weights - margin * own)
    chances[:] = powers / powers.sum(axis=1, keepdims=True)
    pulls = powers / powers.sum(axis=1, keepdims=True) - own
    _add_rounded(reached, unit * _times(counts, len(labels))[:, None] * pulls, out)


def softmax_hessian_product(
    cells: Cells, starts: Counts, counts: Counts, chances: Short, direction: Floats, out: Counts
) -> None:
    """Add the Hessian times ``direction``, each line's part rounded: count * (sum(p) diag p - p p') moved."""
    reached, own = indicators(cells, starts, len(direction)), chances.astype(float)
    moved = reached @ direction
    parts = own * (own.sum(axis=1, keepdims=True) * moved - (own * moved).sum(axis=1, keepdims=True))
    _add_rounded(reached, _times(counts, len(chances))[:, None] * parts, out)


def count_cells(cells: Cells, starts: Counts, counts: Counts, out: Counts) -> None:
    """Add how many rows fall into each cell."""
    n_lines = len(cells) // max(1, len(starts))
    out += indicators(cells, starts, len(out)).T.astype(np.int64) @ _times(counts, n_lines).astype(np.int64)


def recode(cells: Cells, trees: Counts, starts: Counts, added: Counts, ends: Counts, out: Cells) -> None:
    """Write each line's cells in other trees."""
    for u in range(out.shape[1]):
        own = range(ends[u], ends[u + 1])
        out[:, u] = sum(added[starts[a] + cells[:, trees[a]].astype(np.int64)] for a in own)


def softmax_hessian(
    cells: Cells, starts: Counts, ends: Counts, leaves: Cells, shares: Floats, first_leaves: Counts, counts: Counts,
    chances: Short, hessian: Floats,
) -> None:  # fmt: skip
    """Add the lower half of the Hessian; above the diagonal nothing is promised."""
    n_leaves = len(hessian) // chances.shape[1]
    of_leaves = indicators(cells, starts, len(ends) - 1) @ shares_of(ends, leaves, shares, n_leaves)
    hessian += np.tril(_softmax_hessian(of_leaves, counts, chances))


def _softmax_hessian(reached: Floats, counts: Counts, chances: Short) -> Floats:
    """Return the sum over lines of count * (reached reached') x (sum(p) diag p - p p'); p may not add up to 1."""
    hessian = np.zeros((reached.shape[1] * chances.shape[1],) * 2)
    for line, p, times in zip(reached, chances.astype(float), _times(counts, len(chances)), strict=True):
        hessian += times * np.kron(np.outer(line, line), p.sum() * np.diag(p) - np.outer(p, p))
    return hessian


def cell_curvatures(cells: Cells, starts: Counts, curvatures: Short, out: Floats) -> None:
    """Add each line's ``curvatures`` to the cells that it falls into."""
    out += indicators(cells, starts, len(out)).T @ curvatures.astype(float)


def scores_of(cells: Cells, starts: Counts, weights: Floats, scores: Floats) -> None:
    """Add the weights of the cells that each line falls into."""
    scores += indicators(cells, starts, len(weights)) @ weights


def look_up(cells: Cells, trees: Counts, starts: Counts, leaves: Cells, out: Cells) -> None:
    """Write the leaf of the cell that each line has in each attribute's tree."""
    for a, t in enumerate(trees):
        out[a] = leaves[starts[a] + cells[:, t].astype(np.int64)]


def add_groups(
    nearest: Cells, n_leaves: Counts, members: Counts, starts: Counts, counts: Counts, values: Counts, out: Counts
) -> None:
    """Add each line's values to the leaf of each group that its members' leaves make together."""
    times = _times(counts, nearest.shape[1]).astype(np.int64)
    for g, group in enumerate(members.tolist()):
        own = [a for a in group if a >= 0]
        leaf = np.ravel_multi_index([nearest[a].astype(np.int64) for a in own], [int(n_leaves[a]) for a in own])
        np.add.at(out, starts[g] + leaf, times[:, None] * values)


def sum_residuals(
    cells: Cells, starts: Counts, labels: Cells, counts: Counts, known: Short, weights: Floats, rest: Floats,
    offsets: Floats, margin: float, steps: int, sums: Counts,
) -> float:  # fmt: skip
    """Add residuals, rounded once to units of 2**-72, in three parts; return a bound on the error of any sum."""
    times = _times(counts, len(labels)).astype(np.int64)
    before = _known(known, len(labels), weights.shape[1])
    for i, own in enumerate(cells.reshape(-1, len(starts))):
        found = own.astype(np.int64) + starts
        with localcontext() as context:
            context.prec = _DIGITS
            parts = np.concatenate([weights[found], rest[found], before[i : i + 1]])
            scores = [sum(map(Decimal, column), Decimal(0)) for column in parts.T.tolist()]
        for c, residual in enumerate(residuals(scores, offsets, int(labels[i]), margin, steps)):
            units = round(residual * 2**72)
            for k, size in enumerate((2**48, 2**24, 1)):
                high = round(Fraction(units, size))
                sums[k, found, c] += high * times[i]
                units -= high * size
    return float(times.sum()) * 2.0**-73


def residuals(scores: list[Decimal], offsets: Floats, label: int, margin: float, steps: int = 1) -> list[Decimal]:
    """Return what one line pulls each column by, to 60 digits, from its scores without the offsets."""
    with localcontext() as context:
        context.prec = _DIGITS
        if len(scores) == 1:
            score, share = scores[0] + Decimal(float(offsets[1] - offsets[0])), Decimal(label) / steps
            as_second, as_first = (1 / (1 + (sign * score - Decimal(margin)).exp()) for sign in (1, -1))
            return [(1 - share) * as_first - share * as_second]
        shifted = [s + Decimal(o) - (Decimal(margin) if c == label else 0) for c, (s, o) in _numbered(scores, offsets)]
        powers = [score.exp() for score in shifted]
        return [power / sum(powers) - (c == label) for c, power in enumerate(powers)]


def _numbered(scores: list[Decimal], offsets: Floats) -> list[tuple[int, tuple[Decimal, float]]]:
    return list(enumerate(zip(scores, offsets.tolist(), strict=True)))


def _times(counts: Counts, n_lines: int) -> Floats:
    return counts.astype(float) if counts.size else np.ones(n_lines)


def _known(known: Short, n_lines: int, n_columns: int) -> Floats:
    return known.astype(float).reshape(n_lines, n_columns) if known.size else np.zeros((n_lines, n_columns))
