"""What a list of costs comes to, and what a budget has left. The argument is in ledger.md.

Amounts are the decimals that people write: five times 0.1 is 0.5 and not a little more.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from privet.errors import ParameterError
from privet.privacy.accounting import epsilon_at, epsilon_from_rho, pure_epsilon, rho_of, stated_delta, stated_epsilon
from privet.privacy.events import Event
from privet.privacy.mechanisms.rational import float_above
from privet.privacy.unit import ROW

# Halvings in the search for what a budget with delta has left.
_SEARCH_STEPS = 40


@dataclass(frozen=True)
class Cost:
    """What one release costs: epsilon at delta and, where it is known, rho of zero-concentrated DP."""

    epsilon: float
    delta: float = 0.0
    rho: float | None = None

    def __post_init__(self) -> None:
        if not (self.epsilon >= 0 and 0 <= self.delta < 1 and (self.rho is None or 0 <= self.rho < math.inf)):
            raise ParameterError(
                f"{self!r} is no cost; epsilon is at least 0, delta below 1, and rho finite or, if not known, None"
            )

    def covers(self, other: "Cost") -> bool:
        """Return whether ``other`` costs no more in any respect."""
        dearer_rho = self.rho is not None and (other.concentrated is None or other.concentrated > self.rho)
        return other.epsilon <= self.epsilon and other.delta <= self.delta and not dearer_rho

    @classmethod
    def of(cls, event: Event, delta: float) -> "Cost":
        """Return what the receipts of ``event`` come to; pure receipts use no delta."""
        pure = pure_epsilon(event)
        if math.isfinite(pure):
            return cls(pure)
        if (stated := stated_delta(event)) > 0:
            return cls(stated_epsilon(event), stated)
        rho = rho_of(event)
        return cls(epsilon_at(event, delta), delta, rho if math.isfinite(rho) else None)

    @property
    def concentrated(self) -> float | None:
        """Its rho; a pure cost has one of epsilon^2 / 2."""
        return float_above(Fraction(self.epsilon) ** 2 / 2) if self.rho is None and self.delta == 0 else self.rho


@dataclass(frozen=True)
class Expense:
    """A cost, and the named part of the data set that it is about; None is all of it."""

    cost: Cost
    part: str | None = None


@dataclass(frozen=True)
class Budget:
    """What may be spent on one data set, per unit of privacy; ``strict`` charges failures that rows may decide."""

    epsilon: float
    delta: float = 0.0
    unit: str = ROW
    strict: bool = False

    def spent(self, expenses: Sequence[Expense], part: str | None = None) -> float:
        """Return the epsilon spent at the budget's delta: on all of the data set, or on those rows of ``part``.

        A part's rows are in the releases about it and in those about all. No row is in two parts, so of several parts
        the one with the largest sum counts.
        """
        return float(self._spent(expenses, part))

    def left(self, expenses: Sequence[Expense], part: str | None = None) -> float:
        """Return the largest epsilon at delta 0 that a further release may cost."""
        simple = max(0.0, _float_at_most(_decimal(self.epsilon) - self._spent(expenses, part)))
        if self.delta == 0:
            return simple
        low = simple if self.allows([*expenses, Expense(Cost(simple), part)], part) else 0.0
        high = self.epsilon
        for _ in range(_SEARCH_STEPS):
            middle = (low + high) / 2
            fits = self.allows([*expenses, Expense(Cost(middle), part)], part)
            low, high = (middle, high) if fits else (low, middle)
        return low

    def allows(self, expenses: Sequence[Expense], part: str | None = None) -> bool:
        """Return whether ``expenses`` stay within the budget."""
        return self._spent(expenses, part) <= _decimal(self.epsilon)

    def _spent(self, expenses: Sequence[Expense], part: str | None) -> Fraction | float:
        parts = {expense.part for expense in expenses} if part is None else {part}
        return max(
            (self._total([e.cost for e in expenses if e.part in (None, each)]) for each in parts), default=Fraction(0)
        )

    def _total(self, costs: Sequence[Cost]) -> Fraction | float:
        """Return the better of adding up epsilons and deltas, and of adding up rhos; each has half of delta."""
        if any(math.isinf(cost.epsilon) for cost in costs):
            return math.inf
        added = _sum(cost.epsilon for cost in costs)
        simple = added if _sum(cost.delta for cost in costs) <= _decimal(self.delta) / 2 else math.inf
        return min(simple, self._through_rho(costs)) if self.delta > 0 else simple

    def _through_rho(self, costs: Sequence[Cost]) -> float:
        rhos = [cost.concentrated for cost in costs]
        if None in rhos or math.inf in rhos:
            return math.inf
        rho = float_above(sum((Fraction(each) for each in rhos if each is not None), Fraction(0)))
        return epsilon_from_rho(rho, self.delta / 2) if rho > 0 else 0.0


def _sum(amounts: Iterable[float]) -> Fraction:
    return sum(map(_decimal, amounts), Fraction(0))


def _decimal(amount: float) -> Fraction:
    return Fraction(repr(float(amount)))


def _float_at_most(amount: Fraction | float) -> float:
    """Return the largest float that, written as a decimal, is no more than ``amount``."""
    nearest = float(amount)
    return nearest if not math.isfinite(nearest) or _decimal(nearest) <= amount else math.nextafter(nearest, -math.inf)
