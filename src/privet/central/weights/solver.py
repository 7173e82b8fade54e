"""Newton's method with inexact steps, and how near its end is to the minimiser.

The steps solve Newton's equations by conjugate gradients until a tenth of the gradient is left, or less. Such a step
points downhill for the gradient's size, whatever the weights: it is halved until the size falls, so the method ends at
the minimiser from anywhere. (Sizes are measured in the prior's covariance, where the objective is 1-strongly convex.)
"""

import math

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.objective import Objective
from privet.central.weights.preconditioner import Solve, preconditioner

Floats = NDArray[np.float64]

_LOOSE, _TIGHT = 0.1, 1e-3
_MANY_STEPS = 6
_MOST_HALVINGS = 40
# Where to begin is found on so many lines, then on more, each time to this share of the first gradient.
_FEW_LINES, _ROUGHLY = (2**14, 2**17), 1e-2


def approximate_minimiser(objective: Objective, *, tolerance: float) -> tuple[Floats, Solve]:
    """Return weights whose gradient is at most ``tolerance`` everywhere, or as small as floats can tell.

    Also return the last preconditioner. Evenly spaced rows say roughly where to begin.
    """
    weights = np.zeros(objective.shape)
    for n_lines in _FEW_LINES:
        few = objective.sampled(n_lines)
        if few is not objective:
            weights, _ = _descend(few, weights, tolerance=_ROUGHLY * few.size_of(few.gradient(weights)))
    return _descend(objective, weights, tolerance=tolerance)


def _descend(objective: Objective, weights: Floats, *, tolerance: float) -> tuple[Floats, Solve]:
    gradient = objective.gradient(weights)
    solve = preconditioner(objective, weights)
    first = size = objective.size_of(gradient)
    while np.abs(gradient).max(initial=0.0) > tolerance:
        wanted = min(_LOOSE, max(_TIGHT, math.sqrt(size / first)))
        step, n_steps = newton_step(objective, gradient, solve, wanted=wanted)
        moved, new_gradient, new_size = _shortened(objective, weights, step, size)
        if new_size >= size:  # floats tell no difference any more
            break
        weights, gradient, size = moved, new_gradient, new_size
        if n_steps > _MANY_STEPS:
            solve = preconditioner(objective, weights)
    return weights, solve


def newton_step(objective: Objective, gradient: Floats, solve: Solve, *, wanted: float) -> tuple[Floats, int]:
    """Return a step that leaves at most ``wanted`` times the gradient, and how many Hessian products it took."""
    step, residual = np.zeros_like(gradient), -gradient
    direction = preconditioned = solve(residual)
    inner = float((residual * preconditioned).sum())
    goal = wanted * objective.size_of(gradient)
    n_steps = 0
    while n_steps <= gradient.size:
        n_steps += 1
        bent = objective.bent(direction)
        curvature = float((direction * bent).sum())
        if not curvature > 0:  # nothing is left but rounding
            break
        length = inner / curvature
        step = step + length * direction
        residual = residual - length * bent
        if not objective.size_of(residual) > goal:
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
