"""Which noise is added to the objective, and what it costs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.noise_groups import NoiseGroup, NoiseGroups
from privet.central.weights.policy import Later, Normal, NormalPlan, Policy
from privet.central.weights.trees import Axis, Trees
from privet.privacy.events import (
    Event,
    GaussianObjective,
    KNormObjective,
    NoNoise,
    NormalObjective,
    ObjectivePerturbation,
)
from privet.privacy.mechanisms.linear_noise import (
    LinearNoise,
    draw_normal,
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
    """The distribution of the noise: K-norm with one scale a group of trees, normal with one ``sigma``, or none."""

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
    def groups(self) -> NoiseGroups:
        """Which trees share noise, where it is not normal."""
        return NoiseGroups.of(self.trees.sizes, self.n_classes)

    @property
    def noise_std(self) -> NDArray[np.float64]:
        """The standard deviation of a number of each tree, against the others of its tree."""
        if self.sigma is not None:
            return np.full(self.trees.n_trees, float(self.sigma))
        if not self.scales:
            return np.zeros(self.trees.n_trees)
        return self.groups.deviations_at(np.array(self.scales, dtype=np.float64))

    @property
    def public_error(self) -> float:
        """A bound on how far drawn noise is from its distribution, except for draws that no machine will see."""
        if self.sigma is not None:
            return 2.0**-36 * float(self.sigma)
        return max((group.public_error(float(scale)) for group, scale in self._scaled_groups), default=0.0)

    @property
    def _scaled_groups(self) -> list[tuple[NoiseGroup, Fraction]]:
        return list(zip(self.groups, self.scales, strict=True)) if self.scales else []

    def draw(self, noise: NoiseSource) -> LinearNoise:
        """Draw the noise: leaves x columns."""
        columns, n_leaves = self.n_columns, self.trees.n_leaves
        if self.sigma is not None:
            return draw_normal(self.sigma, n_leaves, n_weights=columns, noise=noise)
        values, error = np.zeros((n_leaves, columns)), 0.0
        for group, scale in self._scaled_groups:
            drawn = group.draw(scale, noise)
            leaves = [np.arange(self.trees.starts[t], self.trees.starts[t] + self.trees.sizes[t]) for t in group.trees]
            values[np.concatenate(leaves)] = drawn.values
            error = max(error, drawn.error)
        return LinearNoise(values, error)

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
        return KNormObjective(what, multiple(self.fit, rows), linear, self.curvature, self.n_classes, rows)


def choose_noise(policy: Policy, trees: Trees, fit: float, normal: Normal | None = None) -> ObjectiveNoise:
    """Return the noise in the objective: K-norm noise for a share ``fit``, or ``normal`` where it was planned.

    Privacy
    -------
    Trees enter normal noise through sigma alone; what the fit costs does not depend on them (joint_loss.md).
    """
    if normal is not None:
        sigma = normal_sigma_at_least(math.sqrt(trees.n_trees * pulls(policy.n_classes)) / normal.mu)
        return ObjectiveNoise(trees, policy.n_classes, math.inf, normal.curvature, (), sigma)
    curvature, linear = policy.curvature_and_linear(fit)
    shares = NoiseGroups.of(trees.sizes, policy.n_classes).shares
    scales = () if math.isinf(fit) else tuple(scales_at_least(linear, shares))
    return ObjectiveNoise(trees, policy.n_classes, fit, curvature, scales)


@dataclass(frozen=True)
class Stages:
    """What was decided about both fits: the second stage, if any, and normal noise, if it is drawn."""

    fit: float
    later: Later | None
    normal: NormalPlan | None

    @property
    def normal_of_first(self) -> Normal | None:
        """The normal noise of the first fit, or None where it has K-norm noise."""
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
    """Decide on a second stage, and drop ``normal`` noise where the first fit's K-norm noise would be less.

    Privacy
    -------
    From released and public numbers alone. Without normal noise all epsilons add up, and no plan is needed.
    """
    later = policy.later(trees, axes, balance, normal)
    stages = Stages(policy.shares.fit if later is None else later.fit, later, normal)
    planned = stages.normal_of_first
    if planned is None or is_normal_less(policy, trees, balance, stages.fit, planned):
        return stages
    return choose_stages(policy, trees, axes, balance, None)


def is_normal_less(policy: Policy, trees: Trees, balance: NDArray[np.float64], fit: float, normal: Normal) -> bool:
    """Return whether this normal noise moves scores less than K-norm noise for a share ``fit``."""
    own, other = (choose_noise(policy, trees, fit, each).noise_std for each in (normal, None))
    return policy.score_variance(own, trees, balance) < policy.score_variance(other, trees, balance)
