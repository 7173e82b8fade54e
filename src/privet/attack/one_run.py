"""An audit in one fit: many rows, each in the table by a coin of its own, and a guess for each. Argued in audit.md."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.attack.bound import check_confidence, epsilon_of_guesses
from privet.attack.claim import CAVEAT, check_fits_rows, claim_of, fitted_apart, is_proven, verdict
from privet.checks import check_whole
from privet.errors import ParameterError
from privet.estimator import PrivateClassifier
from privet.model_file import counts_from_json, structure_from_json
from privet.privacy.unit import ROW
from privet.rng import public_generator
from privet.schema import Categorical, Schema
from privet.schema.encoding import Encoder

_CLASSES = ("no", "yes")
# Rows of the other class for each canary, all in a category of their own: a weight is pulled by how unlikely a row is.
_CROWD = 9


@dataclass(frozen=True)
class OneRun:
    """What guesses about the rows of one fit have shown.

    Attributes
    ----------
    epsilon : float
        The claim.
    epsilon_shown : float
        With the stated confidence, the fit's true epsilon is no smaller.
    right, guesses : int
        How many guesses, one a canary, were right.
    proven : bool or None
        Whether an argument of privet's stands behind the claim.
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
        """What an attacker who is always right would have shown by as many guesses."""
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

    The estimator is fitted to a table of its own making: one attribute with a category for each canary, in which
    canaries share no leaf. Its schema is not used, its other parameters are.

    Parameters
    ----------
    estimator : estimator
        Unfitted, of a trusted curator, with delta 0, that protects rows.
    epsilon : float, optional
        The claim; by default the estimator's own.
    n_canaries : int
        Each is in the table with a chance of one half.
    confidence : float
        That the bound is none by bad luck.
    """
    n_canaries = check_whole("n_canaries", n_canaries, least=10, most=60_000)
    confidence = check_confidence(confidence)
    claimed = _claim(estimator, epsilon)
    there = public_generator(None).random(n_canaries) < 0.5
    scores = _scores(_fitted(estimator, there), n_canaries)
    right = int(((scores > scores.mean()) == there).sum())
    shown = epsilon_of_guesses(right, n_canaries, confidence=confidence)
    return OneRun(claimed, shown, right, n_canaries, confidence, is_proven(estimator))


def _claim(estimator: Any, epsilon: float | None) -> float:
    if not isinstance(estimator, PrivateClassifier):
        raise ParameterError("one run is of an estimator of privet; audit a callable by many runs")
    check_fits_rows(estimator)
    claimed, delta = claim_of(estimator, epsilon, None)
    if delta > 0:
        raise ParameterError("one run can be held against an epsilon with delta 0 only; audit by many runs")
    if estimator.unit != ROW:
        raise ParameterError("one run plants rows, and this estimator protects people; audit by many runs")
    return claimed


def _fitted(estimator: Any, there: NDArray[np.bool_]) -> Any:
    n = len(there)
    schema = Schema([Categorical("canary", range(n + 1))], classes=list(_CLASSES), rows=(_CROWD + 1) * n)
    rows = np.concatenate([np.flatnonzero(there), np.full(_CROWD * n, n)])[:, None]
    labels = np.where(rows[:, 0] < n, _CLASSES[1], _CLASSES[0])
    return fitted_apart(estimator, rows, labels, schema=schema)


def _scores(model: Any, n_canaries: int) -> NDArray[np.float64]:
    """Return how much the model speaks for each canary."""
    canaries = np.arange(n_canaries)[:, None]
    document = model.to_document()
    if "counts" not in document["released"]:
        chances = np.clip(model.predict_proba(canaries)[:, 1], 1e-12, 1 - 1e-12)
        return np.asarray(np.log(chances / (1 - chances)))
    forest = structure_from_json(document["structure"], model.schema_.attributes)
    counted = np.arange(forest.n_nodes) if model.counts_every_node else forest.leaves
    noisy = counts_from_json(document["released"]["counts"], n_leaves=len(counted), n_classes=2)[:, 1]
    every = np.zeros(forest.n_nodes)
    # Under Laplace noise, over the scale, the logarithm of how much likelier one row makes this count than none.
    every[counted] = np.abs(noisy) - np.abs(noisy - 1)
    roots = np.flatnonzero(forest.n_children[: forest.n_trees])
    codes = Encoder(model.schema_).encode(canaries)[:, 0].astype(np.int64)
    return np.asarray(sum((every[forest.first_child[root] + codes] for root in roots), np.zeros(n_canaries)))
