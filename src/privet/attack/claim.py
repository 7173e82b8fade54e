"""The claim that an audit tests: what is claimed, how it is fitted, and what a lower bound says about it."""

import math
import warnings
from numbers import Real
from typing import Any

from privet.errors import NoGuaranteeWarning, ParameterError
from privet.estimator import PrivateEstimator
from privet.local.classifier import LocalClassifier
from privet.privacy.accounting import check_delta

CAVEAT = "A lower bound proves no privacy: another attacker may get more."


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
