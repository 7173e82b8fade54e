"""Which noise is added to the objective, and what it costs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.policy import Later, Normal, NormalPlan, Policy, tree_shares
from privet.central.weights.trees import Axis, Trees
from privet.privacy.events import Event, GaussianObjective, NoNoise, NormalObjective, ObjectivePerturbation
from privet.privacy.mechanisms.linear_noise import (
    MOST_SUM_ZERO_CLASSES,
    LinearNoise,
    draw_laplace,
    draw_normal,
    draw_sum_zero,
    laplace_factor,
    normal_sigma_at_least,
    scales_at_least,
)
from privet.privacy.mechanisms.objective_perturbation import n_columns, pulls
from privet.privacy.mechanisms.rational import float_above, multiple
from privet.rng import NoiseSource

# The receipts of a fit whose objective has noise.
FitNoise: TypeAlias = ObjectivePerturbation | GaussianObjective | NormalObjective


@dataclass(frozen=True)
class ObjectiveNoise:
    """The distribution of the noise: Laplace with one scale a tree, normal with one ``sigma``, or no noise."""

    trees: Trees
    n_classes: int
    fit: float
    curvature: float
    scales: tuple[Fraction, ...] = ()
    sigma: Fraction | None = None

    @property
    def n_columns(self) -> int:
        """The number of weights a leaf."""
        return n_columns(self.n_classes)

    @property
    def noise_std(self) -> NDArray[np.float64]:
        """The standard deviation of a number of each tree."""
        return deviations(self.event("", rows=1), self.trees)

    def draw(self, noise: NoiseSource) -> LinearNoise:
        """Draw the noise: leaves x columns."""
        columns, n_leaves = self.n_columns, self.trees.n_leaves
        if self.sigma is not None:
            return draw_normal(self.sigma, n_leaves, n_weights=columns, noise=noise)
        if not self.scales:
            return LinearNoise(np.zeros((n_leaves, columns)), 0.0)
        scales, sizes = list(self.scales), self.trees.sizes
        if columns == 1:
            return draw_laplace(scales, sizes, n_weights=1, noise=noise)
        if columns <= MOST_SUM_ZERO_CLASSES:
            return draw_sum_zero(scales, sizes, n_weights=columns, noise=noise)
        return draw_laplace([2 * scale for scale in scales], sizes, n_weights=columns, noise=noise)

    def event(self, what: str, *, rows: int) -> Event:
        """Return what the noise is and costs, for a unit of so many ``rows``."""
        n_numbers = self.trees.n_leaves * self.n_columns
        if self.sigma is not None:  # the whole fit has a delta, and this noise none of its own
            return NormalObjective(
                what, self.sigma, self.curvature, self.trees.n_trees, self.n_classes, n_numbers, rows
            )
        if not self.scales:
            return NoNoise(what)
        linear = float_above(sum((1 / scale for scale in self.scales), Fraction(0)))
        return ObjectivePerturbation(what, multiple(self.fit, rows), linear, self.curvature, self.n_classes, rows)


def choose_noise(policy: Policy, trees: Trees, fit: float, normal: Normal | None = None) -> ObjectiveNoise:
    """Return the noise in the objective: Laplace for a share ``fit``, or ``normal`` where it was planned.

    Privacy
    -------
    Trees enter normal noise through sigma alone; what the fit costs does not depend on them (joint_loss.md).
    """
    if normal is not None:
        sigma = normal_sigma_at_least(math.sqrt(trees.n_trees * pulls(policy.n_classes)) / normal.mu)
        return ObjectiveNoise(trees, policy.n_classes, math.inf, normal.curvature, (), sigma)
    curvature, linear = policy.curvature_and_linear(fit)
    scales = () if math.isinf(fit) else tuple(scales_at_least(linear, tree_shares(trees)))
    return ObjectiveNoise(trees, policy.n_classes, fit, curvature, scales)


@dataclass(frozen=True)
class Stages:
    """What was decided about both fits: the second stage, if any, and normal noise, if it is drawn."""

    fit: float
    later: Later | None
    normal: NormalPlan | None

    @property
    def normal_of_first(self) -> Normal | None:
        """The normal noise of the first fit, or None where it has Laplace noise."""
        if self.normal is None:
            return None
        return self.normal.alone if self.later is None else self.normal.first

    @property
    def has_share_of_digits(self) -> bool:
        """Whether the first fit's last digits have a share of their own; else they have all that is left."""
        return self.later is not None or self.normal is not None


def choose_stages(
    policy: Policy, trees: Trees, axes: Mapping[int, Axis], balance: NDArray[np.float64], normal: NormalPlan | None
) -> Stages:
    """Decide on a second stage, and drop ``normal`` noise where the first fit's Laplace noise would be less.

    Privacy
    -------
    From released and public numbers alone. Without normal noise all epsilons add up, and no plan is needed.
    """
    later = policy.later(trees, axes, balance, normal)
    stages = Stages(policy.shares.fit if later is None else later.fit, later, normal)
    planned = stages.normal_of_first
    if planned is None or is_normal_less(policy, trees, stages.fit, planned):
        return stages
    return choose_stages(policy, trees, axes, balance, None)


def is_normal_less(policy: Policy, trees: Trees, fit: float, normal: Normal) -> bool:
    """Return whether this normal noise is less than Laplace noise for a share ``fit``.

    Compared as if all trees had equal shares: how attributes were grouped must not decide what is promised.
    """
    laplace = choose_noise(policy, trees, fit)
    even = laplace_factor(policy.n_classes) * trees.n_trees / float(sum(1 / scale for scale in laplace.scales))
    return float(choose_noise(policy, trees, fit, normal).noise_std.mean()) < even


def deviations(event: Event, trees: Trees) -> NDArray[np.float64]:
    """Return the standard deviation of a number of each tree, as a fit's receipt tells it."""
    if isinstance(event, GaussianObjective | NormalObjective):
        return np.full(trees.n_trees, float(event.sigma))
    if not isinstance(event, ObjectivePerturbation):
        return np.zeros(trees.n_trees)
    return laplace_factor(event.classes) * np.array([1 / (event.linear * float(share)) for share in tree_shares(trees)])


def public_error(event: Event, trees: Trees) -> float:
    """Return a bound on how far drawn noise is from its distribution, except for events that no machine will see."""
    if not isinstance(event, FitNoise):
        return 0.0
    largest = float(deviations(event, trees).max(initial=0.0))
    # The grid is at most 2**-37 of the largest scale or 2**-36 of sigma, and a draw is within columns / 2 of it.
    return 2.0**-38 * largest * (n_columns(event.classes) + 2)
