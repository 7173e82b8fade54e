"""What a lower bound says of a claim, in words, and what can be claimed."""

import math
from numbers import Real
from typing import Any

from privet.errors import ParameterError
from privet.privacy.accounting import check_delta

CAVEAT = "A lower bound proves no privacy: another attacker may get more."


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
