"""What a lower bound says of a claim, in words."""

from typing import Any

CAVEAT = "A lower bound proves no privacy: another attacker may get more."


def is_proven(subject: Any) -> bool:
    """Return whether an estimator promises anything; a callable's promise is its maker's."""
    return getattr(subject, "variant", "sound") == "sound"


def verdict(shown: float, most: float, claimed: float, *, proven: bool = True) -> str:
    """Return what was shown beside what is claimed.

    Parameters
    ----------
    shown, claimed : float
        Epsilons.
    most : float
        What an attacker who is always right would have shown in as many runs.
    proven : bool
        Whether there is a promise at all.
    """
    if shown > claimed:
        return "more than is claimed: the claim is wrong"
    if most <= claimed:
        return f"where so few runs could have shown no more than {most:.3g}: too few to contradict the claim"
    return "which is within the claim" if proven else "within what was asked for, of which nothing is proven"
