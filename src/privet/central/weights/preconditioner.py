"""What makes Newton's equations easy to solve: the Hessian of a sample of rows, or of each tree alone."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from privet.central.weights import kernels
from privet.central.weights.objective import Objective

Floats = NDArray[np.float64]
Solve = Callable[[Floats], Floats]

# Unknowns up to which the Hessian is held as one matrix; beyond, a tree and class at a time.
_MOST_DENSE = 4096
# More lines tell the Hessian no better than is needed here, and would be held a second time.
_LEAST_SAMPLE, _MOST_SAMPLE = 2**14, 2**22


def preconditioner(objective: Objective, weights: Floats) -> Solve:
    """Return a function that nearly solves Newton's equations at ``weights``."""
    n_unknowns = int(np.prod(objective.shape))
    # A line's share of the Hessian takes the time of so many lines' shares of the gradient.
    dearer = objective.trees.n_trees * objective.shape[1] / 2
    sample = objective.sampled(int(min(_MOST_SAMPLE, max(_LEAST_SAMPLE, objective.rows.n_lines / dearer))))
    sample.gradient(weights)
    if n_unknowns > _MOST_DENSE:
        return _tree_by_tree(sample)
    hessian = np.zeros((n_unknowns, n_unknowns))
    leaves, starts = sample.rows.leaves.reshape(-1), sample.trees.starts
    if objective.is_binary:
        kernels.binary_hessian(leaves, starts, sample.bends[:, 0], hessian)
    else:
        counts = np.empty(0, dtype=np.int64) if sample.rows.weights is None else sample.rows.weights
        kernels.softmax_hessian(leaves, starts, counts, sample.bends, hessian)
    _add_precision(objective, hessian)
    try:
        return _dense_solver(hessian, objective.shape)
    except np.linalg.LinAlgError:  # so many rows that rounding outweighs the prior; no way of solving may fail
        return _tree_by_tree(sample)


def _add_precision(objective: Objective, hessian: Floats) -> None:
    n_columns = objective.shape[1]
    for start, precision in zip(objective.trees.starts, objective.prior.precisions, strict=True):
        low, high = start * n_columns, (start + len(precision)) * n_columns
        for c in range(n_columns):
            own = slice(low + c, high, n_columns)
            hessian[own, own] += precision


def _dense_solver(hessian: Floats, shape: tuple[int, int]) -> Solve:
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(hessian, lower=True, overwrite_a=True, check_finite=False)

    def solve(residual: Floats) -> Floats:
        solved: Floats = cho_solve(factor, residual.ravel(), check_finite=False).reshape(shape)
        return solved

    return solve


def _tree_by_tree(sample: Objective) -> Solve:
    """Each tree and class alone: a few more steps for many more weights."""
    bends, counts = sample.bends, sample.rows.weights
    own_bends = bends if sample.is_binary else bends * (1 - bends)
    if counts is not None and not sample.is_binary:
        own_bends = own_bends * counts[:, None].astype(np.float32)
    sums = np.zeros(sample.shape)
    kernels.leaf_bends(sample.rows.leaves.reshape(-1), sample.trees.starts, np.ascontiguousarray(own_bends), sums)
    blocks = [slice(start, start + size) for start, size in zip(sample.trees.starts, sample.trees.sizes, strict=True)]
    inverses = [
        [np.linalg.inv(precision + np.diag(sums[own, c])) for c in range(sample.shape[1])]
        for own, precision in zip(blocks, sample.prior.precisions, strict=True)
    ]

    def solve(residual: Floats) -> Floats:
        solved = np.empty_like(residual)
        for own, by_class in zip(blocks, inverses, strict=True):
            for c, inverse in enumerate(by_class):
                solved[own, c] = inverse @ residual[own, c]
        return solved

    return solve
