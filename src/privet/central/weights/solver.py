"""Newton's method with inexact steps, and the preconditioner that makes them quick.

The steps solve Newton's equations by conjugate gradients until a tenth of the gradient is left, or less. Such a step
points downhill for the gradient's size, whatever the weights: it is halved until the size falls, so the method ends at
the minimiser from anywhere. (Sizes are measured in the prior's covariance, where the objective is 1-strongly convex.)

An order's cost has bends, where the size may rise at first. There a step ends before the objective rises again, which
its slope along the step tells, or where the size is half of the least so far: the first kind always lowers the
objective, the second can be taken so many times only.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from privet.central.weights import kernels
from privet.central.weights.objective import Objective

Floats = NDArray[np.float64]
Solve = Callable[[Floats], Floats]
T = TypeVar("T")

_LOOSE, _TIGHT = 0.1, 1e-6
# A last step is not looked at where what it is expected to leave is this share of the tolerance, or less.
_FORESEEN = 1e-2
_MANY_STEPS = 6
_MOST_HALVINGS = 40
# With an order the size may rise in so many steps on end, while the objective falls.
_PATIENT = 30
# Among gradients that may be rounding alone, sizes that fall by less would gain ever less, and steps never end.
_LEAST_FALL = 1 - 2.0**-12
# Where to begin is found on so many lines, then on more, each time to this share of the first gradient.
_FEW_LINES, _ROUGHLY = (2**14, 2**17), 1e-2
# Unknowns up to which the Hessian is held as one matrix; beyond, a tree and class at a time. Solving it takes a third
# of their cube, which must not be more than so many multiplications for each weight that a pass looks up.
_MOST_DENSE, _MOST_WORK, _SMALL_WORK = 4096, 2000, 2**28
# Pairs of leaves that take as long as a line of the gradient.
_PAIRS = 32
# More lines tell the Hessian no better than is needed here, and would be held a second time.
_LEAST_SAMPLE, _MOST_SAMPLE = 2**14, 2**18


def approximate_minimiser(objective: Objective, *, tolerance: float) -> tuple[Floats, Solve]:
    """Return weights whose gradient is about ``tolerance`` at most, or as small as floats can tell.

    The last step is neither halved nor looked at where Newton's method is near enough: the certificate looks. Also
    return the last preconditioner. Evenly spaced rows say roughly where to begin.
    """
    weights = np.zeros(objective.shape)
    for n_lines in _FEW_LINES:
        few = objective.sampled(n_lines)
        if few is not objective:
            # Of what is returned the weights alone: the preconditioner may be the largest thing that a fit holds.
            weights = _descend(few, weights, share=_ROUGHLY)[0]
    return _descend(objective, weights, tolerance=tolerance)


def _descend(
    objective: Objective, weights: Floats, *, tolerance: float = 0.0, share: float = 0.0
) -> tuple[Floats, Solve]:
    """Take Newton's steps until the gradient is at most ``tolerance``, or this ``share`` of its size at first."""
    gradient = objective.gradient(weights)
    solve, n_steps = preconditioner(objective, weights), 0
    size = least = objective.size_of(gradient)
    tolerance = max(tolerance, share * size)
    wanted, left = _LOOSE, 1.0
    n_stalled, n_patient = 0, 0 if objective.order is None else _PATIENT
    while (largest := np.abs(gradient).max(initial=0.0)) > tolerance:
        if n_steps > _MANY_STEPS:
            del solve  # before there is another
            solve = preconditioner(objective, weights)
        goal = tolerance / largest
        is_last = objective.order is None and left < _FORESEEN * goal and goal > _TIGHT
        step, n_steps = newton_step(objective, gradient, solve, wanted=wanted, enough=tolerance)
        if is_last:  # one pass less: the certificate will look at the end of this step
            return weights + step, solve
        if objective.order is None:
            moved, new_gradient, new_size = _shortened(objective, weights, step, size)
        else:
            moved, new_gradient = _lowered(objective, weights, gradient, step, least)
            new_size = objective.size_of(new_gradient)
        is_rounding = np.abs(new_gradient).max() <= objective.rounding(moved) and new_size > _LEAST_FALL * least
        n_stalled = 0 if new_size < least else n_stalled + 1
        # Near the minimiser the part that a step leaves is squared from one step to the next (Eisenstat, Walker 1996).
        left = (new_size / size) ** 2
        wanted = min(_LOOSE, max(_TIGHT, left))
        if n_stalled > n_patient or is_rounding:  # no difference can be told any more
            break
        weights, gradient, size, least = moved, new_gradient, new_size, min(least, new_size)
    return weights, solve


def newton_step(
    objective: Objective, gradient: Floats, solve: Solve, *, wanted: float, enough: float = 0.0
) -> tuple[Floats, int]:
    """Return a step, and how many Hessian products it took.

    It leaves at most ``wanted`` times the gradient, or no number above ``enough``.
    """
    step, residual = np.zeros_like(gradient), -gradient
    direction = preconditioned = solve(residual)
    inner = float((residual * preconditioned).sum())
    goal = wanted * objective.size_of(gradient)
    n_steps = 0
    while n_steps <= gradient.size:
        n_steps += 1
        product = objective.hessian_product(direction)
        curvature = float((direction * product).sum())
        if not curvature > 0:  # nothing is left but rounding
            break
        length = inner / curvature
        step = step + length * direction
        residual = residual - length * product
        if not objective.size_of(residual) > goal or np.abs(residual).max() <= enough:
            break
        preconditioned = solve(residual)
        old, inner = inner, float((residual * preconditioned).sum())
        direction = preconditioned + inner / old * direction
    return step, n_steps


def _shortened(objective: Objective, weights: Floats, step: Floats, size: float) -> tuple[Floats, Floats, float]:
    """Return the step's end, its gradient and size, the step halved until the size falls."""
    for halvings in range(_MOST_HALVINGS):
        moved = weights + 2.0**-halvings * step
        gradient = objective.gradient(moved)
        new_size = objective.size_of(gradient)
        if new_size <= (1 - 1e-4 * 2.0**-halvings) * size:
            break
    return moved, gradient, new_size


def _lowered(
    objective: Objective, weights: Floats, gradient: Floats, step: Floats, least: float
) -> tuple[Floats, Floats]:
    """Return the end of the part of a step along which the objective falls, and its gradient."""

    def at(part: float) -> tuple[Floats, Floats]:
        moved = weights + part * step
        found = objective.gradient(moved)
        return moved, found

    return before_rising(objective, at, gradient, step, least)


def before_rising(
    objective: Objective, at: Callable[[float], tuple[T, Floats]], gradient: Floats, step: Floats, least: float
) -> tuple[T, Floats]:
    """Return the end of a part of a step along which the objective falls and does not rise again, and its gradient.

    The whole step is taken too where the gradient's size at its end is half of the ``least`` so far. ``at`` tells the
    end of a part and its gradient.
    """
    first, low, high, part = float((gradient * step).sum()), 0.0, 1.0, 1.0
    for _ in range(_MOST_HALVINGS):
        end, found = at(part)
        slope = float((found * step).sum())
        if part == 1.0 and (slope <= 0 or objective.size_of(found) < least / 2):
            break
        if first / 2 <= slope <= 0:
            break
        low, high = (part, high) if slope < 0 else (low, part)
        part = (low + high) / 2
    return end, found


def preconditioner(objective: Objective, weights: Floats) -> Solve:
    """Return a function that nearly solves Newton's equations at ``weights``."""
    n_unknowns = int(np.prod(objective.shape))
    trees = objective.trees
    # One line of the Hessian takes about as long as this many lines of the gradient: it goes through pairs of leaves.
    slower = (trees.n_trees * trees.shares.nnz / trees.shares.shape[0]) ** 2 * objective.shape[1] / _PAIRS
    sample = objective.sampled(int(min(_MOST_SAMPLE, max(_LEAST_SAMPLE, objective.rows.n_lines / slower))))
    n_looked_up = objective.rows.n_lines * trees.n_trees * objective.shape[1]
    if n_unknowns > _MOST_DENSE or n_unknowns**3 / 3 > _MOST_WORK * n_looked_up + _SMALL_WORK:
        return _tree_by_tree(sample, weights)
    hessian = np.zeros((n_unknowns, n_unknowns))
    shares = trees.shares
    for block, curvatures in sample.curved_blocks(weights):
        places = (block.cells, trees.cell_starts, shares.indptr, shares.indices, shares.data)
        if objective.is_binary:
            kernels.binary_hessian(*places, curvatures[:, 0], hessian)
        else:
            kernels.softmax_hessian(*places, trees.starts, block.counts, curvatures, hessian)
    _add_precision(objective, hessian)
    if objective.order is not None:
        objective.order.add_hessian(weights, hessian)
    try:
        return _dense_solver(hessian, objective.shape)
    except np.linalg.LinAlgError:  # so many rows that rounding outweighs the prior; no way of solving may fail
        return _tree_by_tree(sample, weights)


def _add_precision(objective: Objective, hessian: Floats) -> None:
    n_columns = objective.shape[1]
    for start, precision in zip(objective.trees.starts, objective.prior.precisions, strict=True):
        low, high = start * n_columns, (start + len(precision)) * n_columns
        for c in range(n_columns):
            own = slice(low + c, high, n_columns)
            hessian[own, own] += precision


def _dense_solver(hessian: Floats, shape: tuple[int, int]) -> Solve:
    from scipy.linalg import cho_factor, cho_solve

    # Turned round, the lower half is the upper half of columns that lie together, which LAPACK takes without a copy.
    factor = cho_factor(hessian.T, lower=False, overwrite_a=True, check_finite=False)

    def solve(residual: Floats) -> Floats:
        solved: Floats = cho_solve(factor, residual.ravel(), check_finite=False).reshape(shape)
        return solved

    return solve


def _tree_by_tree(sample: Objective, weights: Floats) -> Solve:
    """Each tree and class alone: a few more steps for many more weights."""
    trees = sample.trees
    sums = np.zeros((int(trees.cell_sizes.sum()), sample.shape[1]))
    for block, curvatures in sample.curved_blocks(weights):
        own = curvatures if sample.is_binary else curvatures * (1 - curvatures)
        if block.counts.size and not sample.is_binary:
            own = own * block.counts[:, None].astype(np.float32)
        kernels.cell_curvatures(block.cells, trees.cell_starts, np.ascontiguousarray(own), sums)
    blocks = [slice(start, start + size) for start, size in zip(trees.starts, trees.sizes, strict=True)]
    inverses = []
    for t, precision in enumerate(map(np.copy, sample.prior.precisions)):
        if sample.order is not None:
            sample.order.add_hessian(weights, precision, int(trees.starts[t]))
        shares = (trees.whole_shares(t) / float(trees.grids[t])).toarray()
        own = sums[trees.cell_starts[t] : trees.cell_starts[t] + trees.cell_sizes[t]]
        inverses.append([np.linalg.inv(precision + shares.T @ (each[:, None] * shares)) for each in own.T])

    def solve(residual: Floats) -> Floats:
        # What all classes have in common moves no chance: the prior alone holds it.
        common = residual.mean(axis=1, keepdims=True) * (not sample.is_binary)
        solved, apart = np.empty_like(residual), residual - common
        for own, by_class in zip(blocks, inverses, strict=True):
            for c, inverse in enumerate(by_class):
                solved[own, c] = inverse @ apart[own, c]
        return solved if sample.is_binary else solved - solved.mean(axis=1, keepdims=True) + sample.spread(common)

    return solve
