"""What an audit fits, and what it refuses to."""

import math
import warnings
from numbers import Real
from typing import Any

from privet.errors import NoGuaranteeWarning, ParameterError
from privet.estimator import PrivateClassifier
from privet.local.classifier import LocalClassifier
from privet.privacy.accounting import check_delta

CAVEAT = "A lower bound proves no privacy: another attacker may get more."


def check_fits_rows(estimator: PrivateClassifier) -> None:
    """Refuse a model that is not fitted to clear rows: what it is grown from was released before."""
    if isinstance(estimator, LocalClassifier):
        raise ParameterError(
            f"a {type(estimator).__name__} is grown from answers that were disturbed at the source, and they are the "
            "release; audit one answer: a function that disturbs a record, and two records"
        )


def fitted_apart(estimator: Any, X: Any, y: Any, **parameters: Any) -> Any:
    """Return a fresh clone fitted to invented rows; its owner's ledger does not pay for them."""
    from sklearn.base import clone

    with warnings.catch_warnings():
        # Said once, by the audit, and not in each of thousands of fits.
        warnings.simplefilter("ignore", NoGuaranteeWarning)
        return clone(estimator).set_params(ledger=None, **parameters).fit(X, y)


def is_proven(subject: Any) -> bool | None:
    """Return whether an argument of privet's stands behind the claim; None of a function, whose maker's it is."""
    if not isinstance(subject, PrivateClassifier):
        return None
    return subject._is_sound() and not subject.unsafe_seeded_noise and math.isfinite(subject.epsilon)  # noqa: SLF001


def claim_of(subject: Any, epsilon: float | None, delta: float | None) -> tuple[float, float]:
    """Return the epsilon and delta that a bound is held against, by default the subject's own."""
    asked = getattr(subject, "epsilon", None) if epsilon is None else epsilon
    if asked is None:
        raise ParameterError("an audit of a callable needs the epsilon that it claims; pass epsilon=")
    if isinstance(asked, bool) or not isinstance(asked, Real) or not float(asked) >= 0:
        raise ParameterError(f"epsilon={asked!r} is no claim; pass a number that is not negative")
    if math.isinf(asked):
        raise ParameterError(
            "epsilon=inf claims nothing that an audit could contradict; audit a finite epsilon, or pass one to hold "
            "fits without noise against"
        )
    return float(asked), check_delta(getattr(subject, "delta", 0.0) if delta is None else delta)


def verdict(shown: float, most: float, claimed: float, *, proven: bool | None, trials: str) -> str:
    """Return what was shown beside what is claimed.

    Parameters
    ----------
    shown, claimed : float
        Epsilons.
    most : float
        What an attacker who is always right would have shown in as many trials.
    proven : bool, optional
        Whether there is a promise at all; None where it is another's.
    trials : str
        What there are more or fewer of.
    """
    if shown > claimed:
        return "more than is claimed: the claim is wrong"
    if most <= claimed:
        return f"by too few {trials} to contradict the claim"
    return "within what was asked for, of which nothing is proven" if proven is False else "which is within the claim"
