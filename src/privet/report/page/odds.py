"""What epsilon and delta mean for somebody who attacks: beliefs, error rates, right guesses.

All follow from the definition by Bayes' rule (beliefs) and from Wasserman and Zhou (2010) and Kairouz, Oh and Viswanath
(2015) (tests). What is shown is rounded away from the promise: it must not look better than it is.
"""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

PRIORS = (0.01, 0.1, 0.5)
FALSE_ALARMS = (0.01, 0.05, 0.1)
GROUPS = (1, 2, 4, 10)
# Beyond it the factor says nothing that a reader could use.
MEANINGLESS = 50.0
# e to a larger one overflows.
_LARGEST = 700.0
_SHORT = 7


@dataclass(frozen=True)
class Belief:
    """How sure an attacker can be that one unit was in the table, before and after seeing the model."""

    prior: float
    lowest: float
    highest: float


def belief(prior: float, epsilon: float) -> Belief:
    """Return how far Bayes' rule can move ``prior`` at pure ``epsilon``.

    Examples
    --------
    >>> import math
    >>> round(belief(0.5, math.log(3)).highest, 6)
    0.75
    """
    factor = math.exp(min(epsilon, _LARGEST))
    return Belief(prior, prior / (prior + (1 - prior) * factor), prior / (prior + (1 - prior) / factor))


def detection_rate(false_alarms: float, epsilon: float, delta: float = 0.0) -> float:
    """Return the largest share of true members that a test with this rate of false alarms can find."""
    by_false_alarms = math.exp(min(epsilon, _LARGEST)) * false_alarms + delta
    by_misses = 1 - (1 - false_alarms - delta) * math.exp(-epsilon)
    return min(by_false_alarms, by_misses, 1.0)


def right_guesses(epsilon: float, delta: float = 0.0) -> float:
    """Return the largest share of right guesses where one unit was in the table with a chance of one half.

    The two bounds of `detection_rate` meet at the false-alarm rate (1 - delta) / (1 + e^epsilon); that of misses is the
    same there.
    """
    shrink = math.exp(-epsilon)
    return min((1 + delta * shrink) / (1 + shrink), 1.0)


def odds_table(epsilon: float, delta: float, unit: str = "row") -> dict[str, Any]:
    """Return the whole translation as plain values; nothing but certainty where epsilon is infinite.

    All is about one ``unit``, a row or a value of the column of this name; the size of a group counts units.
    """
    pure = delta == 0
    return {
        "unit": unit,
        "factor": math.exp(epsilon) if epsilon <= MEANINGLESS else math.inf,
        "right_guesses": right_guesses(epsilon, delta),
        # With a delta, posteriors are bounded only up to a chance of failure; tests are bounded in any case.
        "beliefs": [vars(belief(prior, epsilon)) for prior in PRIORS] if pure else [],
        "tests": [
            {"false_alarms": alarms, "detection_rate": detection_rate(alarms, epsilon, delta)}
            for alarms in FALSE_ALARMS
        ],
        # To tell two values of one row apart is to take one away and to put the other in: twice the price.
        "right_guesses_of_a_value": right_guesses(2 * epsilon) if pure else None,
        "groups": [
            {"size": k, "unit": unit, "epsilon": k * epsilon, "right_guesses": right_guesses(k * epsilon)}
            for k in GROUPS
        ] if pure else [],
    }  # fmt: skip


def percent_up(share: float) -> str:
    """Return a share in percent, rounded up to a tenth: 0.7311 is "73.2 %"."""
    return _percent(share, ROUND_CEILING)


def percent_down(share: float) -> str:
    """Return a share in percent, rounded down to a tenth: 0.2689 is "26.8 %"."""
    return _percent(share, ROUND_FLOOR)


def number_up(value: float) -> str:
    """Return a number to three digits, rounded up: e is "2.72"."""
    # The shortest text of a float is the number that was meant: 1.6 is not to become 1.61.
    rounded = Context(prec=3, rounding=ROUND_CEILING).create_decimal(repr(float(value)))
    # Zeros would pretend digits that are not there, and an exponent would frighten.
    return f"{rounded.normalize():,f}"


def epsilon_up(epsilon: float) -> str:
    """Return an epsilon in full where it is short, else to three digits and rounded up."""
    full = repr(float(epsilon)).removesuffix(".0")
    return full if len(full) <= _SHORT else number_up(epsilon)


def of_hundred(share: float) -> int:
    """Return how many of 100 that is, rounded up."""
    return math.ceil(Decimal(share) * 100)


def _percent(share: float, rounding: str) -> str:
    tenths = (Decimal(share) * 100).quantize(Decimal("0.1"), rounding=rounding)
    return f"{tenths} %".replace(".0 %", " %")
