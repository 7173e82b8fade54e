"""What events cost: pure epsilon, rho of zero-concentrated DP, or epsilon at a delta.

Sums are exact and rounded up. A receipt costs the larger of what was requested and what was really drawn, so a damaged
one cannot look cheap. Neighbours are two tables that differ by one row, present or absent.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from privet.checks import Number
from privet.errors import ParameterError
from privet.lazy import of_extra
from privet.privacy import events
from privet.privacy.mechanisms.joint_loss import joint_delta
from privet.privacy.mechanisms.objective_perturbation import (
    NormalLoss,
    gaussian_objective_delta,
    pure_objective_epsilon,
)
from privet.privacy.mechanisms.rational import float_above


def pure_epsilon(event: events.Event) -> float:
    """Return the epsilon that ``event`` costs at delta 0; infinity if no epsilon bounds it."""
    match event:
        case events.DiscreteLaplace() | events.NoiseShares():
            return max(event.epsilon, float_above(event.sensitivity / event.scale))
        case events.PermuteAndFlip():
            moves = event.sensitivity if event.monotone else 2 * event.sensitivity
            return max(event.epsilon, float_above(moves * event.rate))
        case events.ObjectivePerturbation():
            drawn = event.rows * Fraction(pure_objective_epsilon(event.linear, event.curvature, event.classes))
            return max(event.epsilon, float_above(drawn))
        case events.Sequential() | events.Parallel():
            return _composed(event, pure_epsilon)
        case events.DiscreteGaussian() | events.GaussianObjective() | events.NormalObjective():
            return math.inf
        case events.Jointly():
            # Also where no part drew normal noise: other outcomes of the same fit would have (joint_loss.md).
            return math.inf
        case events.NoNoise() | events.Seeded() | events.Unproven():
            return math.inf


def rho_of(event: events.Event) -> float:
    """Return the rho of zero-concentrated DP that ``event`` costs.

    A release of pure epsilon costs epsilon^2 / 2 (Bun and Steinke 2016, proposition 1.4).
    """
    match event:
        case events.DiscreteGaussian():
            return max(event.rho, float_above(event.sensitivity_squared / (2 * event.sigma**2)))
        case events.Sequential() | events.Parallel():
            return _composed(event, rho_of)
        case events.NoNoise() | events.Seeded() | events.Unproven():
            return math.inf
        case events.GaussianObjective() | events.NormalObjective() | events.Jointly():
            return math.inf
        case events.DiscreteLaplace() | events.NoiseShares() | events.PermuteAndFlip() | events.ObjectivePerturbation():
            return float_above(Fraction(pure_epsilon(event)) ** 2 / 2)


def stated_epsilon(event: events.Event) -> float:
    """Return the epsilon at which `stated_delta` holds. Releases that state no delta have their pure epsilon."""
    match event:
        case events.GaussianObjective():
            return event.epsilon
        case events.Jointly():
            return event.epsilon if _joint_delta(event) < 1 else math.inf
        case events.Sequential() | events.Parallel():
            return _composed(event, stated_epsilon)
        case _:
            return pure_epsilon(event)


def stated_delta(event: events.Event) -> float:
    """Return the delta that the releases of ``event`` state: 0 except for objective perturbation by normal noise.

    Releases that promise nothing state none either; their epsilon is infinite.
    """
    match event:
        case events.GaussianObjective():
            drawn = gaussian_objective_delta(
                event.sigma, event.curvature, n_trees=event.trees, n_classes=event.classes, epsilon=event.epsilon,
                n_numbers=event.numbers,
            )  # fmt: skip
            return max(event.delta, drawn)
        case events.Jointly():
            drawn = _joint_delta(event)
            return max(event.delta, drawn) if drawn < 1 else 0.0
        case events.Sequential() | events.Parallel():
            return _composed(event, stated_delta)
        case _:
            return 0.0


def _joint_delta(event: events.Jointly) -> float:
    """Return the delta of what was drawn, at the epsilon that was requested; 1 where nothing is promised."""
    fits = [part for part in event.parts if isinstance(part, events.NormalObjective)]
    pure = [pure_epsilon(part) for part in event.parts if not isinstance(part, events.NormalObjective)]
    if math.inf in pure or any(fit.classes < 2 for fit in fits):
        return 1.0
    if not fits and sum(map(Fraction, pure)) <= Fraction(event.epsilon):
        return 0.0
    losses = [
        NormalLoss.of(fit.sigma, fit.curvature, n_trees=fit.trees, n_classes=fit.classes, rows=fit.rows) for fit in fits
    ]
    return joint_delta(event.epsilon, pure, losses, n_numbers=sum(fit.numbers for fit in fits))


def epsilon_at(event: events.Event, delta: float) -> float:
    """Return the smallest epsilon this module can prove for ``event`` at ``delta``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> epsilon_at(events.DiscreteLaplace("counts", 0.5, 1, Fraction(2)), delta=0.0)
    0.5
    """
    delta = check_delta(delta)
    pure = stated_epsilon(event) if stated_delta(event) <= delta else math.inf
    rho = rho_of(event)
    if delta == 0 or math.isinf(rho):
        return pure
    return min(pure, epsilon_from_rho(rho, delta))


def check_delta(delta: object) -> float:
    """Return ``delta`` as a float, or refuse what is not a probability below 1."""
    # In this order: not every whole number can be made a float.
    if not Number(0, 1).allows(delta) or (amount := float(delta)) == 1:  # type: ignore[arg-type]
        raise ParameterError(f"delta={delta!r} is no probability below 1; pass 0 for pure DP, or something like 1e-6")
    return amount


def _composed(event: events.Sequential | events.Parallel, cost: Callable[[events.Event], float]) -> float:
    costs = [cost(part) for part in event.parts]
    if isinstance(event, events.Parallel):
        return max(costs, default=0.0)
    return math.inf if math.inf in costs else float_above(sum(map(Fraction, costs), Fraction(0)))


def epsilon_from_rho(rho: float, delta: float) -> float:
    """Return the epsilon at ``delta`` that follows from ``rho`` of zero-concentrated DP."""
    accounting = _dp_accounting()
    # The best order of Renyi divergence is near this one. The library's own list ends at 1024, too early for a small
    # rho.
    best = 1 + math.sqrt(-math.log(delta) / rho)
    orders = [1 + (best - 1) * 2 ** (step / 16) for step in range(-64, 65)]
    accountant = accounting.rdp.RdpAccountant(orders=orders)
    return float(accountant.compose(accounting.ZCDpEvent(rho)).get_epsilon(delta))


def _dp_accounting() -> Any:
    of_extra("dp_accounting.rdp", "delta", "a delta above 0", way_out=", or use delta=0")
    return of_extra("dp_accounting", "delta", "a delta above 0")
