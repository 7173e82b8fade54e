"""Membership inference: separating a model's training rows from others by its confidence in their labels."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.attack.claim import greatest_rate, least_rate
from privet.errors import DataError, ParameterError

_CONFIDENCE = 0.95
_FEWEST = 4


@dataclass(frozen=True)
class Membership:
    """How well the attacker separates members from other rows.

    Attributes
    ----------
    advantage : float
        How much more often the attacker says "member" for members than for others, at a threshold chosen on other
        rows.
    interval : tuple of float
        A 95% confidence interval for the advantage, from Clopper and Pearson's bounds on both rates.
    auc : float
        The probability that a member scores higher than another row; guessing has 1/2.
    most : float
        The largest advantage that the model's epsilon and delta allow any attacker; 1 without a guarantee.
    promises : bool
        Whether the model has a guarantee.
    """

    advantage: float
    interval: tuple[float, float]
    auc: float
    most: float
    promises: bool

    @property
    def contradicts(self) -> bool:
        """Whether the interval lies above what the model's epsilon and delta allow."""
        return self.promises and self.interval[0] > self.most

    def to_json(self) -> dict[str, Any]:
        """Return the attack as plain values."""
        return {
            **asdict(self),
            "interval": list(self.interval),
            "contradicts": self.contradicts,
            "sentence": self.sentence,
        }

    def __str__(self) -> str:
        """Return the attack in words."""
        return self.sentence

    @property
    def sentence(self) -> str:
        """The attack in words."""
        allowed = f"its promise allows at most {self.most:.3f}" if self.promises else "the model made no promise"
        low, high = self.interval
        return (
            f"An attacker who asks the model how sure it is of a row's label tells members from others with an "
            f"advantage of {self.advantage:.3f} (95% confidence: {low:.3f} to {high:.3f}) and an AUC of "
            f"{self.auc:.3f}; {allowed}. Guessing has 0 and 0.5."
        )


def membership_inference(model: Any, members: tuple[Any, Any], others: tuple[Any, Any]) -> Membership:
    """Attack a fitted model.

    Parameters
    ----------
    model : estimator
        A fitted classifier of privet, or with the interface of scikit-learn.
    members, others : X and y
        Rows that the model was fitted to, and rows of the same kind that it was not fitted to.

    Privacy
    -------
    The result is about the rows themselves. It is for their owner, and is not part of a release.
    """
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        raise ParameterError(
            "membership inference needs the probabilities of a fitted model; fit it, or use one with predict_proba"
        )
    inside, outside = _confidences(model, members), _confidences(model, others)
    threshold = _best_threshold(inside[::2], outside[::2])
    said = inside[1::2] > threshold, outside[1::2] > threshold
    advantage = float(said[0].mean() - said[1].mean())
    return Membership(advantage, _interval(*said), _auc(inside, outside), *_largest_advantage(model))


def _confidences(model: Any, rows: Any) -> NDArray[np.float64]:
    if not isinstance(rows, tuple) or len(rows) != 2:
        raise ParameterError("members and others are rows and their labels; pass each as (X, y)")
    X, y = rows[0], np.ravel(np.asarray(rows[1], dtype=object))
    if len(y) != (X.shape[0] if hasattr(X, "shape") else len(X)):
        raise DataError("rows and their labels have different lengths; pass one label per row")
    if len(y) < _FEWEST:
        raise DataError("membership inference takes at least four members and four other rows; pass more")
    places = {label: i for i, label in enumerate(model.classes_)}
    own = np.array([places.get(label, -1) for label in y])
    if (own < 0).any():
        raise DataError("some labels are not among the model's classes; pass rows of the same kind")
    return np.asarray(model.predict_proba(X)[np.arange(len(own)), own], dtype=np.float64)


def _best_threshold(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    thresholds = np.unique(np.concatenate([inside, outside]))
    above = [
        1 - np.searchsorted(np.sort(scores), thresholds, side="right") / len(scores) for scores in (inside, outside)
    ]
    return float(thresholds[int(np.argmax(above[0] - above[1]))])


def _interval(inside: NDArray[np.bool_], outside: NDArray[np.bool_]) -> tuple[float, float]:
    """Return a confidence interval for the difference of two rates, a quarter of the error for each of four bounds."""
    doubt = (1 - _CONFIDENCE) / 4
    hits = [(int(said.sum()), len(said), doubt) for said in (inside, outside)]
    return least_rate(*hits[0]) - greatest_rate(*hits[1]), greatest_rate(*hits[0]) - least_rate(*hits[1])


def _auc(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([inside, outside]))[: len(inside)]
    return float((ranks.sum() - len(inside) * (len(inside) + 1) / 2) / (len(inside) * len(outside)))


def _largest_advantage(model: Any) -> tuple[float, bool]:
    """Return (e^epsilon - 1 + 2 delta) / (e^epsilon + 1), the total variation allowed, and if there is a guarantee."""
    guarantee = getattr(model, "guarantee_", None)
    if guarantee is None or guarantee.epsilon is None or not math.isfinite(guarantee.epsilon):
        return 1.0, False
    epsilon, delta = float(guarantee.epsilon), float(guarantee.delta)
    return min(1.0, math.tanh(epsilon / 2) + 2 * delta / (1 + math.exp(epsilon))), True
