"""What noise in an objective costs: a minimiser is private because noise was added to what it minimises.

The epsilons here are the theorem of objective_perturbation.md; drawing the noise is `linear_noise`. Finding,
certifying and rounding the minimiser is privet.central.weights. Two classes have one weight a leaf, more have one
a class.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError

# The maximum of a concave function is bracketed to this width and bounded by a tangent; what floats lose is far less
# than the margin.
_BRACKET = 2.0**-40
_MARGIN = 1.0 + 1e-12
_HALVINGS = 80
# A search spans so many powers of e: no epsilon needs less than e^-600 of the largest number that it can pay for.
_LOGARITHMS = 600.0
# Two or three classes drawn from the others: how often each may be drawn.
_DRAWS = {2: ((2,), (1, 1)), 3: ((3,), (2, 1), (1, 1, 1))}
# At least the total variation between discrete normal noise of 2**36 steps or more and a rounded normal variate.
NORMAL_DEFECT = 2.0**-60


def pure_objective_epsilon(linear: float, curvature: float, n_classes: int) -> float:
    """Return the epsilon of a minimiser: at most this for one row more or less.

    Parameters
    ----------
    linear : float
        How far one row can move the density of the noise, at most: one over the scale, summed over groups of trees.
    curvature : float
        The largest prior variance of a row's score, one class at a time.
    n_classes : int

    Privacy
    -------
    The theorem of objective_perturbation.md, parts A and B: the maximum over p, the fitted chance of the row's own
    class, of linear (1 - p) + growth(p).
    """
    _check(linear, curvature, n_classes)

    def slope(p: float) -> float:
        return _growth_slope(p, curvature, n_classes) - linear

    low, high = _bracket(slope)
    at_low = linear * (1 - low) + largest_growth(low, curvature, n_classes)
    # A concave function stays below its tangent.
    return max(linear, at_low + max(0.0, slope(low)) * (high - low)) * _MARGIN


def largest_growth(p: float, curvature: float, n_classes: int) -> float:
    """Return how much one row can raise the logarithm of the determinant of the Hessian, at most."""
    spread, others = _shape(n_classes)
    return (n_classes - 2) * math.log1p(curvature * (1 - p) * others) + math.log1p(curvature * p * (1 - p) * spread)


def linear_at_most(epsilon: float, curvature: float, n_classes: int) -> float:
    """Return the largest ``linear`` that costs at most ``epsilon`` with this curvature."""
    return _largest(lambda linear: pure_objective_epsilon(linear, curvature, n_classes), epsilon, most=epsilon)


def curvature_at_most(epsilon: float, linear: float, n_classes: int) -> float:
    """Return the largest curvature that costs at most ``epsilon`` with this ``linear``."""
    # At p = 1/2 the determinant alone costs log(1 + V / 4), so no curvature beyond this is affordable.
    most = 4.0 * math.expm1(min(epsilon, 600.0))
    return _largest(lambda curvature: pure_objective_epsilon(linear, curvature, n_classes), epsilon, most=most)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return the delta of the Gaussian mechanism of sensitivity / sigma ``mu`` (Balle and Wang 2018, theorem 8)."""
    above = _normal_tail(epsilon / mu - mu / 2)
    below = epsilon + _log_normal_tail(epsilon / mu + mu / 2)
    # The two may nearly cancel, so the margin is one of the larger.
    return max(0.0, above - math.exp(below)) + (_MARGIN - 1.0) * above


def gaussian_objective_delta(
    sigma: Fraction, curvature: float, *, n_trees: int, n_classes: int, epsilon: float, n_numbers: int
) -> float:
    """Return the delta at ``epsilon`` of a minimiser whose noise is normal; 1 where the theorem says nothing.

    Privacy
    -------
    Parts C (two classes) and D (more) of the theorem of objective_perturbation.md, and what it costs that each of
    ``n_numbers`` numbers is discrete normal noise instead of a rounded normal variate (linear_noise.md).
    """
    exact = _normal_delta(sigma, curvature, n_trees, n_classes, epsilon)
    return min(1.0, exact + n_numbers * NORMAL_DEFECT * (1 + math.exp(min(epsilon, 600.0))))


def _normal_delta(sigma: Fraction, curvature: float, n_trees: int, n_classes: int, epsilon: float) -> float:
    mu = math.sqrt(n_trees * pulls(n_classes) / Fraction(sigma) ** 2) * _MARGIN
    if n_classes == 2:
        return gaussian_delta(epsilon, mu) if curvature + mu * mu / 2 <= epsilon else 1.0
    share = curvature * (n_classes - 2) / (n_classes - 1) * _MARGIN
    room = curvature * n_classes / (n_classes - 1) + mu * mu / 2
    if share >= epsilon or room > epsilon:
        return 1.0
    return min(1.0, (n_classes - 1) * gaussian_delta(epsilon - share, mu))


class NormalLoss(NamedTuple):
    """The law that bounds the privacy loss of a minimiser whose noise is normal, for a unit of one row or several.

    ``mu`` is the unit's sensitivity / sigma, ``curvature`` the prior variance of a row's score times the unit's rows.
    """

    mu: float
    curvature: float
    n_classes: int

    @classmethod
    def of(cls, sigma: Fraction, curvature: float, *, n_trees: int, n_classes: int, rows: int) -> "NormalLoss":
        """Return it for noise of ``sigma`` and a unit of so many ``rows``; in floats it comes out larger."""
        mu = rows * math.sqrt(n_trees * pulls(n_classes) / Fraction(sigma) ** 2)
        return cls(mu * _MARGIN, rows * curvature * _MARGIN, n_classes)

    def tail(self, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chance, at most, that the loss is above each of ``losses``, which are not negative.

        Privacy
        -------
        Parts E (two classes) and F (more) of the theorem of objective_perturbation.md.
        """
        from scipy.special import ndtr

        least = np.ones_like(losses)
        for bend, variates in self._bounds:
            # The loss is at most g(X), which is X from the bend on; this is X where g(X) is the loss.
            needed = np.where(losses >= bend, losses, 2 * math.sqrt(bend) * np.sqrt(losses) - bend)
            chances = sum(count * ndtr((mean - needed) / deviation) for count, mean, deviation in variates)
            least = np.minimum(least, chances)
        return least

    def reach(self, deviations: float) -> float:
        """Return a loss that takes a variate so many ``deviations`` above its mean, and is not below the bend."""
        bend, ((_, mean, deviation), *_) = self._bounds[0]
        return max(bend, mean + deviations * deviation)

    @property
    def _bounds(self) -> list[tuple[float, list[tuple[float, float, float]]]]:
        """Bounds on the loss: the bend of g, and the normal variates of which the largest counts.

        Variates are given by how many there are, their mean and their deviation.
        """
        mu, half, (spread, others) = self.mu, self.mu * self.mu / 2, _shape(self.n_classes)
        fixed = (self.n_classes - 2) * self.curvature * others
        bounds = [(max(self.curvature * spread - half, 0.0), [(float(self.n_classes - 1), half + fixed, mu)])]
        if self.n_classes == 2:
            return bounds
        room = max(self.curvature - half / 2, 0.0)
        for n, ways in _DRAWS.items():
            variates = []
            for way in ways:
                alike = sum(each**2 for each in way) / n**2
                lifted = room * (1 - alike) * n / (n - 1)
                variates.append(
                    (_arrangements(way, self.n_classes - 1), half + lifted, mu * math.sqrt((1 + alike) / 2))
                )
            bounds.append((2 * room, variates))
        return bounds


def _arrangements(way: tuple[int, ...], n: int) -> float:
    """Return how many ways there are to say which of ``n`` classes was drawn how often."""
    repeats = math.prod(math.factorial(way.count(each)) for each in set(way))
    return float(math.perm(n, len(way)) // repeats)


def n_columns(n_classes: int) -> int:
    """Return how many weights a leaf has: one for two classes, else one a class."""
    return 1 if n_classes == 2 else n_classes


def pulls(n_classes: int) -> int:
    """Return how often a row moves the gradient of a leaf: with more than two classes its own up, the others down."""
    return 1 if n_classes == 2 else 2


def _shape(n_classes: int) -> tuple[float, float]:
    """Return the two constants of the growth: of the row's own class, and of each other one."""
    return (1.0, 0.0) if n_classes == 2 else (n_classes / (n_classes - 1), 1 / (n_classes - 1))


def _growth_slope(p: float, curvature: float, n_classes: int) -> float:
    spread, others = _shape(n_classes)
    falls = (n_classes - 2) * curvature * others / (1 + curvature * (1 - p) * others)
    return curvature * (1 - 2 * p) * spread / (1 + curvature * p * (1 - p) * spread) - falls


def _bracket(slope: Callable[[float], float]) -> tuple[float, float]:
    """Return an interval of [0, 1] in which a falling ``slope`` changes its sign, or its left end."""
    low, high = 0.0, 1.0
    if slope(0.0) <= 0:
        return 0.0, 0.0
    while high - low > _BRACKET:
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return low, high


def _largest(epsilon_of: Callable[[float], float], epsilon: float, *, most: float) -> float:
    """Return the largest number up to ``most`` that costs at most ``epsilon``, by halving its logarithm."""
    low, high = math.log(most) - _LOGARITHMS, math.log(most)
    if epsilon_of(math.exp(low)) > epsilon:
        raise ParameterError("the fit's share of epsilon is too small for any noise to pay for it; raise epsilon")
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of(math.exp(middle)) <= epsilon else (low, middle)
    return math.exp(low)


def _check(linear: float, curvature: float, n_classes: int) -> None:
    if not (linear > 0 and curvature >= 0 and n_classes >= 2):
        raise ParameterError("epsilon needs linear > 0, curvature >= 0 and at least 2 classes")


def _normal_tail(x: float) -> float:
    return 0.5 * math.erfc(x / math.sqrt(2))


def _log_normal_tail(x: float) -> float:
    """Return the logarithm of the normal tail; minus infinity beyond floats, so that a delta comes out larger."""
    tail = _normal_tail(x)
    return math.log(tail) if tail > 0 else -math.inf
