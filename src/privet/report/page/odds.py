"""What epsilon and delta mean for an attacker: beliefs, error rates, right guesses.

Beliefs follow from the definition by Bayes' rule, tests from Wasserman and Zhou (2010) and Kairouz, Oh and Viswanath
(2015).
"""

import math
from dataclasses import dataclass
from typing import Any

from privet.privacy.guarantee import right_guesses

PRIORS = (0.01, 0.1, 0.5)
FALSE_ALARMS = (0.01, 0.05, 0.1)
GROUPS = (1, 2, 4, 10)
# Beyond this epsilon the factor says nothing that a reader could use.
MEANINGLESS = 50.0
# e to a larger one overflows.
_LARGEST = 700.0


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


def odds_table(epsilon: float, delta: float, unit: str = "row") -> dict[str, Any]:
    """Return all of it as plain values; where epsilon is infinite, nothing but certainty.

    ``unit`` is "row" or the name of the column that tells units apart. The size of a group counts units.
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
        # Telling two values of one row apart takes one row out and puts another in: twice epsilon.
        "right_guesses_of_a_value": right_guesses(2 * epsilon) if pure else None,
        "groups": [
            {"size": k, "unit": unit, "epsilon": k * epsilon, "right_guesses": right_guesses(k * epsilon)}
            for k in GROUPS
        ] if pure else [],
    }  # fmt: skip
