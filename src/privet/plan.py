"""What a fit would do with its budget, from public quantities alone: it reads no row and costs nothing."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from privet.errors import ParameterError
from privet.privacy.mechanisms.deviation import laplace_deviation
from privet.privacy.mechanisms.rational import MIN_EPSILON, check_epsilon, rate_at_most, scale_at_least
from privet.privacy.unit import Unit

# The leaf that reliability is about: three of four rows have one class, so that half of the rows stand between it and
# the other. Purer leaves do better, and where classes balance no noise is needed to err.
_LEAD = 0.5
_MAX_EPSILON = 1e6
_DIGITS = 3


@dataclass(frozen=True)
class Step:
    """One release: what, at which epsilon, and how noisy."""

    what: str
    epsilon: float
    sensitivity: int
    noise_std: float
    n_values: int
    a_node: bool = False

    @property
    def numbers(self) -> str:
        """How many numbers are released, in words; a choice releases none."""
        amount = f"{self.n_values:,} numbers" if self.n_values > 1 else "a number" if self.n_values else "a choice"
        return f"{amount} a node" if self.a_node else amount


def laplace_step(what: str, epsilon: float, *, sensitivity: int, n_values: int, a_node: bool = False) -> Step:
    """Return what releasing ``n_values`` counts, in all or a node, by the discrete Laplace mechanism would mean."""
    exact = math.isinf(check_epsilon(epsilon))
    noise_std = 0.0 if exact else laplace_deviation(float(scale_at_least(sensitivity, epsilon)))
    return Step(what, epsilon, sensitivity, noise_std, n_values, a_node)


def choice_step(what: str, epsilon: float, *, sensitivity: int) -> Step:
    """Return what choosing by scores of this sensitivity would mean; no number is released."""
    if math.isfinite(check_epsilon(epsilon)):
        rate_at_most(sensitivity, epsilon, monotone=False)
    return Step(what, epsilon, sensitivity, 0.0, 0, a_node=True)


@dataclass(frozen=True)
class Plan:
    """What a fit would do with its budget.

    Attributes
    ----------
    steps : tuple of Step
        The releases, in order; their epsilons add up to no more than the budget.
    tuning : dict
        What the method tunes by itself from public quantities, in words.
    n_rows : int
        The number of rows that the plan is made for.
    leaves_per_tree, rows_per_leaf : float
        On average, if rows spread evenly. Real rows crowd into fewer leaves, so most of them do better.
    leaf_reliability, reliability : float
        The chance that noise leaves the majority of a leaf as it is, where three of four rows have one class: in one
        tree, and summed over all trees. At 0.5 noise decides.
    """

    method: str
    epsilon: float
    unit: Unit
    n_rows: int
    n_trees: int
    height: int
    leaves_per_tree: float
    rows_per_leaf: float
    steps: tuple[Step, ...]
    tuning: dict[str, str] = field(default_factory=dict)

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise in a leaf's class count."""
        return self.steps[-1].noise_std

    @property
    def leaf_reliability(self) -> float:
        """The chance that noise does not overturn one leaf."""
        if self.noise_std == 0:
            return 1.0
        # The tail of the difference of two Laplace variables of scale s at g: exp(-g/s) (1/2 + g/(4s)).
        gap = _LEAD * self.rows_per_leaf * math.sqrt(2) / self.noise_std
        return 1.0 - math.exp(-gap) * (0.5 + gap / 4)

    @property
    def reliability(self) -> float:
        """The chance that noise does not overturn the sum of such leaves over all trees."""
        if self.n_trees == 1 or self.noise_std == 0:
            return self.leaf_reliability
        # Both sides sum n_trees noisy counts; their difference is nearly normal.
        deviations = _LEAD * self.rows_per_leaf * math.sqrt(self.n_trees / 2) / self.noise_std
        return 0.5 * (1.0 + math.erf(deviations / math.sqrt(2)))

    @property
    def title(self) -> str:
        """What is planned, in one line."""
        return f"{self.method} at epsilon={self.epsilon:g} per {self.unit.name}, planned for {self.n_rows:,} rows"

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        derived = {
            "noise_std": self.noise_std,
            "leaf_reliability": self.leaf_reliability,
            "reliability": self.reliability,
        }
        unit = {"unit": self.unit.name, "max_rows": self.unit.max_rows}
        return {**asdict(self), **unit, **derived}

    def __str__(self) -> str:
        lines = [self.title]
        for step in self.steps:
            share = 1.0 if math.isinf(self.epsilon) else step.epsilon / self.epsilon
            noise = f", noise of standard deviation {step.noise_std:.3g}" if step.n_values else ""
            lines.append(f"  {step.what}: {100 * share:.3g} % of epsilon for {step.numbers}{noise}")
        return "\n".join([*lines, *(f"  {name}: {value}" for name, value in self.facts().items())])

    def facts(self) -> dict[str, str]:
        """Return the plan's figures in words."""
        return {
            **self.tuning,
            "trees": f"{self.n_trees}, of height {self.height}, with {self.leaves_per_tree:,.4g} leaves each",
            "rows per leaf": f"{self.rows_per_leaf:,.3g}, if they spread evenly",
            "noise per class count": f"standard deviation {self.noise_std:,.3g}",
            "reliable leaves": f"{100 * self.leaf_reliability:.1f} %",
            "reliable votes": f"{100 * self.reliability:.1f} %",
        }


def epsilon_needed(planned: Callable[[float], Plan], reliability: float, *, least: float = MIN_EPSILON) -> float:
    """Return the least epsilon above ``least``, to three digits and rounded up, for votes as reliable as asked."""
    if not isinstance(reliability, (int, float)) or not 0.5 < reliability < 1:
        raise ParameterError(f"reliability={reliability!r} must lie between 0.5, where noise decides, and 1; try 0.95")
    low, high = math.log(least), math.log(_MAX_EPSILON)
    if planned(_MAX_EPSILON).reliability < reliability:
        return math.inf
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if planned(math.exp(middle)).reliability >= reliability else (middle, high)
    return three_digits_up(math.exp(high))


def three_digits_up(epsilon: float) -> float:
    """Return an epsilon to three digits, not below it; infinity for one that is no promise any more."""
    if epsilon > _MAX_EPSILON:
        return math.inf
    step = 10.0 ** (math.floor(math.log10(epsilon)) - _DIGITS + 1)
    return float(f"{math.ceil(epsilon / step) * step:.{_DIGITS}g}")
