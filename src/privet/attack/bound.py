"""Lower bounds on epsilon from the number of an attacker's correct guesses. The argument is in audit.md."""

import math

from privet.errors import ParameterError
from privet.privacy.accounting import check_delta


def check_confidence(confidence: float) -> float:
    """Return ``confidence`` as a float, or refuse one outside [0.5, 1)."""
    if not 0.5 <= confidence < 1:
        raise ParameterError(f"confidence={confidence!r} must be at least 0.5 and below 1; 0.95 is usual")
    return float(confidence)


def least_rate(hits: int, runs: int, doubt: float) -> float:
    """Return a lower confidence bound on a rate; the true rate is below it with probability at most ``doubt``."""
    from scipy.stats import beta

    return 0.0 if hits == 0 else float(beta.ppf(doubt, hits, runs - hits + 1))


def greatest_rate(hits: int, runs: int, doubt: float) -> float:
    """Return an upper confidence bound on a rate; the true rate is above it with probability at most ``doubt``."""
    return 1.0 - least_rate(runs - hits, runs, doubt)


def epsilon_of_rates(rate_with: float, rate_without: float, delta: float) -> float:
    """Return the smallest epsilon that allows an event these rates in two neighbouring tables; 0 if every one does.

    Uses both directions: the event, which is likelier with the row, and its absence, which is likelier without.
    """
    ways = [(rate_with, rate_without), (1.0 - rate_without, 1.0 - rate_with)]
    shown = [math.inf if other <= 0 else math.log((one - delta) / other) for one, other in ways if one > delta]
    return max(0.0, *shown) if shown else 0.0


def epsilon_shown(
    hits_with: int, hits_without: int, runs: int, *, delta: float = 0.0, confidence: float = 0.95
) -> float:
    """Return a lower bound on epsilon from Clopper and Pearson's bounds on both rates.

    Each bound may be wrong with half of the error probability, so both hold together with the stated confidence.
    ``runs`` is the number of runs with each of the two tables.
    """
    doubt = (1.0 - check_confidence(confidence)) / 2
    return epsilon_of_rates(
        least_rate(hits_with, runs, doubt), greatest_rate(hits_without, runs, doubt), check_delta(delta)
    )


def epsilon_of_guesses(right: int, guesses: int, *, confidence: float = 0.95) -> float:
    """Return a lower bound on epsilon from guesses about rows that were each in the table with probability 1/2.

    Under epsilon-DP, each guess is right with probability at most e^epsilon / (1 + e^epsilon), whatever the other
    guesses are (Steinke, Nasr, Jagielski 2023, for delta = 0).
    """
    if guesses == 0:
        return 0.0
    chance = least_rate(right, guesses, 1.0 - check_confidence(confidence))
    return max(0.0, math.log(chance / (1.0 - chance))) if 0.0 < chance < 1.0 else 0.0
