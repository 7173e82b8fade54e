"""What an audit fits, and what it refuses to."""

import math
import warnings
from typing import Any

from privet.errors import NoGuaranteeWarning, ParameterError
from privet.estimator import PrivateClassifier
from privet.local.classifier import LocalClassifier


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
