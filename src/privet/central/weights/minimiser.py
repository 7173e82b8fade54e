"""From an objective with noise to released weights: solve, certify, round to a grid, hide the last digits.

Step by step as section 3 of privacy/mechanisms/objective_perturbation.md has it, with its names.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.certificate import BoundedGradient, bounded_gradient
from privet.central.weights.double_floats import two_sum_of_arrays
from privet.central.weights.objective import Objective
from privet.central.weights.solver import Solve, approximate_minimiser, before_rising, newton_step
from privet.privacy.events import Event
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.rng import NoiseSource

Floats = NDArray[np.float64]

# A gradient's largest number at the end: far above what floats lose on the declared rows, far below what matters.
_TOLERANCE, _TOLERANCE_PER_ROW = 1e-9, 2.0**-53
# Weights beyond this are cut off, before and after the last noise.
MOST_WEIGHT = 2.0**12
_FINEST, _MOST_STEPS = -40, 2**36
_MOST_HALVINGS = 40
# Far more than any table needs: steps that lower the objective at its bends, or halve the gradient.
_MOST_STEPS_IN_ORDER = 10_000
_NOT_REACHED = "no weights have a gradient that is certainly as small as asked for"


@dataclass(frozen=True)
class Grid:
    """What is public about the release: the tolerance, the grid's step and how many steps two outputs can differ."""

    tolerance: float
    exponent: int
    sensitivity: int

    @property
    def step(self) -> Fraction:
        """What a whole number stands for."""
        return Fraction(2) ** self.exponent

    @classmethod
    def of(cls, n_rows: int, spread: float, *, shape: tuple[int, int], noise_error: float, epsilon: float) -> "Grid":
        """Return the grid for about ``n_rows`` rows and a prior of this ``spread``."""
        n_leaves, n_columns = shape
        tolerance = max(_TOLERANCE, _TOLERANCE_PER_ROW * n_rows, 4 * noise_error)
        # Each of two neighbours' weights is within this of the same point, in L1.
        radius = Fraction(tolerance) * Fraction(spread) * n_columns
        exponent = max(_FINEST, _exponent_above(2 * radius / (Fraction(min(epsilon, 1.0)) * _MOST_STEPS)))
        return cls(tolerance, exponent, math.ceil(2 * radius / Fraction(2) ** exponent) + n_leaves * n_columns)

    def rounded(self, weights: Floats, rest: Floats) -> NDArray[np.int64]:
        """Return weights as whole steps, cut off at `MOST_WEIGHT`."""
        step, most = self.step, int(MOST_WEIGHT / self.step)
        if not rest.any() and np.isfinite(weights).all():
            # The step is a power of two, so floats are divided exactly, and rounded once, as fractions would be.
            steps = np.rint(np.ldexp(np.clip(weights, -MOST_WEIGHT, MOST_WEIGHT), -self.exponent))
            return np.clip(steps, -most, most).astype(np.int64)
        pairs = zip(weights.ravel().tolist(), rest.ravel().tolist(), strict=True)
        whole = [round((Fraction(high) + Fraction(low)) / step) for high, low in pairs]
        return np.array([min(max(steps, -most), most) for steps in whole], dtype=np.int64).reshape(weights.shape)


def _exponent_above(value: Fraction) -> int:
    return math.ceil(math.log2(value)) if value > 0 else _FINEST


def release_minimiser(
    objective: Objective, grid: Grid, *, noise_error: float, epsilon: float, what: str, noise: NoiseSource
) -> tuple[NDArray[np.int64], Event]:
    """Return the minimiser's weights as noisy whole steps of ``grid``, and the receipt of the last digits.

    Privacy
    -------
    ``epsilon``, on top of that of the noise in the objective: two tables whose minimisers coincide lead to weights
    within ``grid.sensitivity`` steps of each other, certified. Argument: objective_perturbation.md, section 3.
    """
    weights, rest = certified_minimiser(objective, grid.tolerance, noise_error=noise_error)
    noisy, receipt = discrete_laplace(
        grid.rounded(weights, rest), epsilon=epsilon, sensitivity=grid.sensitivity, what=what, noise=noise
    )
    most = int(MOST_WEIGHT / grid.step)
    return np.clip(noisy, -most, most), receipt


def certified_minimiser(objective: Objective, tolerance: float, *, noise_error: float) -> tuple[Floats, Floats]:
    """Return weights, and what floats left over of them, whose gradient is certainly at most ``tolerance``.

    It fails only at a tolerance that no certificate can reach: any other failure would tell something about the rows.
    """
    # Room for what the last step leaves, and for the error of the noise.
    weights, solve = approximate_minimiser(objective, tolerance=tolerance / 4)
    rest = np.zeros_like(weights)
    found = bounded_gradient(objective, weights, rest)
    least, n_left = objective.size_of(found.values), _MOST_STEPS_IN_ORDER
    while not found.largest + noise_error <= tolerance:
        n_left -= 1
        if n_left < 0:
            raise ArithmeticError(_NOT_REACHED)
        weights, rest, found = _improved(objective, weights, rest, found, solve, least)
        least = min(least, objective.size_of(found.values))
    return weights, rest


def _improved(
    objective: Objective, weights: Floats, rest: Floats, found: BoundedGradient, solve: Solve, least: float
) -> tuple[Floats, Floats, BoundedGradient]:
    """Return weights one Newton step on: with a smaller gradient, or where weights have an order, less cost."""
    objective.gradient(weights)  # Newton steps use the curvatures at these weights
    step, _ = newton_step(objective, found.values, solve, wanted=1e-3)
    if objective.order is not None:

        def at(part: float) -> tuple[tuple[Floats, Floats, BoundedGradient], Floats]:
            moved = two_sum_of_arrays(weights, rest + part * step)
            new = bounded_gradient(objective, *moved)
            return (*moved, new), new.values

        return before_rising(objective, at, found.values, step, least)[0]
    size = objective.size_of(found.values)
    for halvings in range(_MOST_HALVINGS):
        moved = two_sum_of_arrays(weights, rest + 2.0**-halvings * step)
        new = bounded_gradient(objective, *moved)
        if objective.size_of(new.values) < (1 - 1e-4 * 2.0**-halvings) * size:
            return *moved, new
    raise ArithmeticError(_NOT_REACHED)
