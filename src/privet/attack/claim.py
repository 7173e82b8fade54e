"""The claim that an audit tests, and the lower bounds on epsilon that are held against it.

Bounds follow from the number of an attacker's correct guesses. The argument is in audit.md.
"""

import math
import warnings
from numbers import Real
from typing import Any

from privet.errors import NoGuaranteeWarning, ParameterError
from privet.estimator import PrivateEstimator
from privet.local.classifier import LocalClassifier
from privet.privacy.accounting import check_delta

CAVEAT = "A lower bound proves no privacy: another attacker may get more."


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


def check_fits_rows(estimator: PrivateEstimator) -> None:
    """Refuse a model that is not fitted to original rows: its input was already released."""
    if isinstance(estimator, LocalClassifier):
        raise ParameterError(
            f"a {type(estimator).__name__} is grown from answers that were disturbed at the source, and those answers "
            "are the release; audit one answer: pass a function that disturbs a record, and two records"
        )


def fit_clone(estimator: Any, X: Any, y: Any, **parameters: Any) -> Any:
    """Return a fresh clone fitted to invented rows. The ledger is left out: invented rows cost nobody's privacy."""
    from sklearn.base import clone

    with warnings.catch_warnings():
        # The audit reports it once; thousands of fits need not warn.
        warnings.simplefilter("ignore", NoGuaranteeWarning)
        return clone(estimator).set_params(ledger=None, **parameters).fit(X, y)


def is_proven(subject: Any) -> bool | None:
    """Return whether privet has an argument for the claim; None for a function, whose claim is its author's."""
    if not isinstance(subject, PrivateEstimator):
        return None
    return subject._is_sound() and not subject.unsafe_seeded_noise and math.isfinite(subject.epsilon)  # noqa: SLF001


def claim_of(subject: Any, epsilon: float | None, delta: float | None) -> tuple[float, float]:
    """Return the claimed epsilon and delta, by default the subject's own parameters."""
    claimed = getattr(subject, "epsilon", None) if epsilon is None else epsilon
    if claimed is None:
        raise ParameterError("an audit of a callable needs the epsilon that it claims; pass epsilon=")
    if isinstance(claimed, bool) or not isinstance(claimed, Real) or not float(claimed) >= 0:
        raise ParameterError(f"epsilon={claimed!r} is no claim; pass a number that is not negative")
    if math.isinf(claimed):
        raise ParameterError(
            "epsilon=inf claims nothing that an audit could contradict; audit a finite epsilon, or pass one to compare "
            "fits without noise with"
        )
    return float(claimed), check_delta(getattr(subject, "delta", 0.0) if delta is None else delta)


def verdict(shown: float, most: float, claimed: float, *, proven: bool | None, trials: str) -> str:
    """Return in words how the shown epsilon compares with the claimed one.

    Parameters
    ----------
    shown, claimed : float
        Epsilons.
    most : float
        What an attacker who is always right would have shown in as many trials.
    proven : bool, optional
        Whether privet has an argument for the claim; None where the claim is another author's.
    trials : str
        The name of the trials, such as "runs".
    """
    if shown > claimed:
        return "more than is claimed: the claim is wrong"
    if most <= claimed:
        return f"by too few {trials} to contradict the claim"
    return "within what was requested, which is not proven" if proven is False else "which is within the claim"
