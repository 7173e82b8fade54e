"""An audit by a single fit: each of many rows is in the table with probability 1/2, and the attacker guesses which.

The argument is in audit.md.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.attack.claim import (
    CAVEAT,
    check_confidence,
    check_fits_rows,
    claim_of,
    epsilon_of_guesses,
    fit_clone,
    is_proven,
    verdict,
)
from privet.attack.evidence import canary_scores
from privet.checks import check_whole
from privet.errors import ParameterError
from privet.estimator import PrivateClassifier
from privet.privacy.unit import ROW
from privet.rng import public_generator
from privet.schema import Categorical, Schema

_CLASSES = ("no", "yes")
# Rows of the other class per canary, all in one category. They make a canary unlikely, so that it pulls on its weight.
_CROWD = 9


@dataclass(frozen=True)
class OneRun:
    """What guesses about the rows of one fit show.

    Attributes
    ----------
    epsilon : float
        The claim.
    epsilon_shown : float
        With the stated confidence, the true epsilon of the fit is at least this large.
    right, guesses : int
        The number of right guesses, and of all guesses, one for each canary.
    proven : bool or None
        Whether privet has an argument for the claim.
    """

    epsilon: float
    epsilon_shown: float
    right: int
    guesses: int
    confidence: float
    proven: bool | None = None

    def __str__(self) -> str:
        """Return the audit in words."""
        return self.sentence

    @property
    def contradicts(self) -> bool:
        """Whether more was shown than is claimed."""
        return self.epsilon_shown > self.epsilon

    @property
    def most(self) -> float:
        """The bound that an attacker who is always right would have shown by as many guesses."""
        return epsilon_of_guesses(self.guesses, self.guesses, confidence=self.confidence)

    @property
    def sentence(self) -> str:
        """The audit in words."""
        found = verdict(self.epsilon_shown, self.most, self.epsilon, proven=self.proven, trials="canaries")
        return (
            f"An attacker who saw one fit guessed of {self.guesses:,} planted rows whether they were in it, "
            f"{self.right / self.guesses:.1%} rightly: at least epsilon = {self.epsilon_shown:.3g}, {found} "
            f"(epsilon = {self.epsilon:g}). By so many guesses at most {self.most:.3g} could have been shown, with "
            f"{100 * self.confidence:.6g}% confidence. {CAVEAT}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the audit as plain values."""
        return {
            "claimed": {"epsilon": self.epsilon, "delta": 0.0},
            "epsilon_shown": self.epsilon_shown,
            "could_show_at_most": self.most,
            "proven": self.proven,
            "confidence": self.confidence,
            "guesses": self.guesses,
            "right": self.right,
            "contradicts": self.contradicts,
            "sentence": self.sentence,
        }


def audit_in_one_run(
    estimator: Any, *, epsilon: float | None = None, n_canaries: int = 2_000, confidence: float = 0.95
) -> OneRun:
    """Return a lower bound on epsilon from a single fit.

    The estimator is fitted to an invented table: one attribute with a category for each canary, so that canaries share
    no leaf. The estimator's schema is not used; its other parameters are.

    Parameters
    ----------
    estimator : estimator
        Unfitted, for a trusted curator, with delta 0, and with rows as the unit.
    epsilon : float, optional
        The claim; by default the estimator's own.
    n_canaries : int
        Each is in the table with probability 1/2.
    confidence : float
        The probability that the bound does not exceed the true epsilon by chance.
    """
    n_canaries = check_whole("n_canaries", n_canaries, least=10, most=60_000)
    confidence = check_confidence(confidence)
    claimed = _claim(estimator, epsilon)
    present = public_generator(None).random(n_canaries) < 0.5
    scores = canary_scores(_fit_canaries(estimator, present), n_canaries)
    right = int(((scores > scores.mean()) == present).sum())
    shown = epsilon_of_guesses(right, n_canaries, confidence=confidence)
    return OneRun(claimed, shown, right, n_canaries, confidence, is_proven(estimator))


def _claim(estimator: Any, epsilon: float | None) -> float:
    if not isinstance(estimator, PrivateClassifier):
        raise ParameterError("one run takes a classifier of privet; audit a regressor or a callable by many runs")
    check_fits_rows(estimator)
    claimed, delta = claim_of(estimator, epsilon, None)
    if delta > 0:
        raise ParameterError("one run can test an epsilon with delta 0 only; audit by many runs")
    if estimator.unit != ROW:
        raise ParameterError("one run plants single rows, and this estimator protects people; audit by many runs")
    return claimed


def _fit_canaries(estimator: Any, present: NDArray[np.bool_]) -> Any:
    n = len(present)
    schema = Schema([Categorical("canary", range(n + 1))], classes=list(_CLASSES), rows=(_CROWD + 1) * n)
    rows = np.concatenate([np.flatnonzero(present), np.full(_CROWD * n, n)])[:, None]
    labels = np.where(rows[:, 0] < n, _CLASSES[1], _CLASSES[0])
    return fit_clone(estimator, rows, labels, schema=schema)
