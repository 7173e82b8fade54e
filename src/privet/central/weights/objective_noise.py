"""Which noise is added to the objective, and what it costs."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.policy import Policy, tree_shares
from privet.central.weights.trees import Trees
from privet.privacy.events import Event, GaussianObjective, NoNoise, ObjectivePerturbation
from privet.privacy.mechanisms.linear_noise import (
    MOST_SUM_ZERO_CLASSES,
    LinearNoise,
    draw_laplace,
    draw_normal,
    draw_sum_zero,
    normal_sigma_at_least,
    scales_at_least,
)
from privet.privacy.mechanisms.objective_perturbation import gaussian_objective_delta, n_columns, pulls
from privet.privacy.mechanisms.rational import float_above, multiple
from privet.rng import NoiseSource

# Normal noise is drawn where its deviation is below this share of the Laplace noise's; its tails are lighter, its
# promise weaker.
_WORTH_A_DELTA = 0.85
_HALVINGS = 60


@dataclass(frozen=True)
class ObjectiveNoise:
    """The distribution of the noise: Laplace with one scale a tree, normal with one ``sigma``, or no noise."""

    trees: Trees
    n_classes: int
    fit: float
    curvature: float
    scales: tuple[Fraction, ...] = ()
    sigma: Fraction | None = None
    delta: float = 0.0

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
        if self.sigma is not None:
            n_numbers = self.trees.n_leaves * self.n_columns
            return GaussianObjective(
                what, self.fit, self.delta, self.sigma, self.curvature, self.trees.n_trees, self.n_classes, n_numbers
            )
        if not self.scales:
            return NoNoise(what)
        linear = float_above(sum((1 / scale for scale in self.scales), Fraction(0)))
        return ObjectivePerturbation(what, multiple(self.fit, rows), linear, self.curvature, self.n_classes, rows)


def choose_noise(policy: Policy, trees: Trees, *, delta: float, rows: int) -> ObjectiveNoise:
    """Return the noise for the fit's share: Laplace, or normal where ``delta`` is given and it is clearly smaller."""
    fit, n_classes = policy.shares.fit, policy.n_classes
    curvature, linear = policy.curvature_and_linear(fit)
    if math.isinf(fit):
        return ObjectiveNoise(trees, n_classes, fit, curvature)
    scales = scales_at_least(linear, tree_shares(trees))
    laplace = ObjectiveNoise(trees, n_classes, fit, curvature, tuple(scales))
    # A person of several rows would multiply delta by about exp(epsilon) for each; Laplace noise costs them no more.
    normal = _normal_noise(fit, delta, trees, n_classes) if delta > 0 and rows == 1 else None
    # Compared as if all trees had equal shares: how attributes were grouped must not decide what is promised.
    if normal is not None and float(normal.noise_std.mean()) < _WORTH_A_DELTA * _even_deviation(laplace):
        return normal
    return laplace


def _even_deviation(laplace: ObjectiveNoise) -> float:
    return laplace_factor(laplace.n_classes) * laplace.trees.n_trees / float(sum(1 / scale for scale in laplace.scales))


def _normal_noise(fit: float, delta: float, trees: Trees, n_classes: int) -> ObjectiveNoise | None:
    """Return the least normal noise that costs ``fit`` at ``delta``, or None where there is none."""

    def noise_of(mu: float) -> ObjectiveNoise | None:
        sigma = normal_sigma_at_least(math.sqrt(trees.n_trees * pulls(n_classes)) / mu)
        curvature = _normal_curvature(fit, mu, n_classes)
        if curvature <= 0:
            return None
        n_numbers = trees.n_leaves * n_columns(n_classes)
        needed = gaussian_objective_delta(
            sigma, curvature, n_trees=trees.n_trees, n_classes=n_classes, epsilon=fit, n_numbers=n_numbers
        )
        return ObjectiveNoise(trees, n_classes, fit, curvature, (), sigma, delta) if needed <= delta else None

    low, high = 0.0, math.sqrt(2 * fit)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if noise_of(middle) is not None else (low, middle)
    return noise_of(low) if low > 0 else None


def _normal_curvature(fit: float, mu: float, n_classes: int) -> float:
    """Return the largest curvature of the theorem's parts C and D; with more classes a tenth of the fit is its own."""
    room = (fit - mu * mu / 2) * (1 - 1e-9)
    if n_classes == 2:
        return room
    return min(0.1 * fit * (n_classes - 1) / (n_classes - 2), room * (n_classes - 1) / n_classes)


def deviations(event: Event, trees: Trees) -> NDArray[np.float64]:
    """Return the standard deviation of a number of each tree, as a fit's receipt tells it."""
    if isinstance(event, GaussianObjective):
        return np.full(trees.n_trees, float(event.sigma))
    if not isinstance(event, ObjectivePerturbation):
        return np.zeros(trees.n_trees)
    return laplace_factor(event.classes) * np.array([1 / (event.linear * float(share)) for share in tree_shares(trees)])


def public_error(event: Event, trees: Trees) -> float:
    """Return a bound on how far drawn noise is from its distribution, except for events that no machine will see."""
    if not isinstance(event, GaussianObjective | ObjectivePerturbation):
        return 0.0
    largest = float(deviations(event, trees).max(initial=0.0))
    # The grid is at most 2**-37 of the largest scale or 2**-36 of sigma, and a draw is within columns / 2 of it.
    return 2.0**-38 * largest * (n_columns(event.classes) + 2)


def laplace_factor(n_classes: int) -> float:
    """Return the standard deviation of Laplace noise of scale 1, with more than two classes of the law for those."""
    return math.sqrt(2) if n_classes == 2 else 2 * math.sqrt(2) * sum_zero_share(n_classes)


def sum_zero_share(n_classes: int) -> float:
    """Return the deviation of noise that adds up to zero, as a share of that of independent Laplace noise.

    Its parts have E|v|^2 = scale^2 C(n) with the moments of a gamma variate of shape n - 1 and of uniform cuts.
    """
    if n_classes > MOST_SUM_ZERO_CLASSES:
        return 1.0
    n = n_classes
    weights = [math.comb(n, j) * math.comb(n - 2, j - 1) for j in range(1, n)]
    squares = [2 / (j + 1) + 2 / (n - j + 1) for j in range(1, n)]
    mean = sum(w * s for w, s in zip(weights, squares, strict=True)) / sum(weights)
    return math.sqrt(mean * (n - 1) / 8)
