"""Membership inference: telling a fitted model's own rows from others by how sure it is of their labels."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import DataError


@dataclass(frozen=True)
class Membership:
    """How well members are told from others.

    Attributes
    ----------
    advantage : float
        How much oftener the attacker says "member" of members than of others, at a border chosen on other rows.
    advantage_sd : float
        Its standard error.
    auc : float
        The chance that a member looks more like one than another row does; 1/2 is guessing.
    most : float
        The largest advantage that the model's epsilon and delta allow anybody.
    """

    advantage: float
    advantage_sd: float
    auc: float
    most: float

    def __str__(self) -> str:
        """Return the attack in words."""
        return self.sentence

    @property
    def sentence(self) -> str:
        """The attack in words."""
        allowed = "anything is allowed" if self.most >= 1 else f"at most {self.most:.3f} is allowed"
        return (
            f"An attacker who asks the model how sure it is of a row's label tells members from others with an "
            f"advantage of {self.advantage:.3f} (+- {self.advantage_sd:.3f}) and an AUC of {self.auc:.3f}; by the "
            f"model's promise {allowed}. Guessing has 0 and 0.5."
        )


def membership_inference(model: Any, members: tuple[Any, Any], others: tuple[Any, Any]) -> Membership:
    """Attack a fitted model.

    Parameters
    ----------
    model : estimator
        Fitted, of privet or with scikit-learn's face.
    members, others : X and y
        Rows that it was fitted to, and rows of the same kind that it was not fitted to.

    Privacy
    -------
    What is returned speaks of the rows, and to their owner: it is no part of a release.
    """
    inside, outside = _confidences(model, *members), _confidences(model, *others)
    if min(len(inside), len(outside)) < 4:
        raise DataError("membership inference takes at least four members and four other rows; pass more")
    border = _best_border(inside[::2], outside[::2])
    said = inside[1::2] > border, outside[1::2] > border
    rates = [float(own.mean()) for own in said]
    variance = sum(rate * (1 - rate) / len(own) for rate, own in zip(rates, said, strict=True))
    return Membership(rates[0] - rates[1], math.sqrt(variance), _auc(inside, outside), _most(model))


def _confidences(model: Any, X: Any, y: Any) -> NDArray[np.float64]:
    chances = model.predict_proba(X)
    places = {label: i for i, label in enumerate(model.classes_)}
    own = np.array([places.get(label, -1) for label in np.asarray(y, dtype=object)])
    if (own < 0).any():
        raise DataError("some labels are none of the model's classes; pass rows of its kind")
    return np.asarray(chances[np.arange(len(own)), own], dtype=np.float64)


def _best_border(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    borders = np.unique(np.concatenate([inside, outside]))
    above = [1 - np.searchsorted(np.sort(scores), borders, side="right") / len(scores) for scores in (inside, outside)]
    return float(borders[int(np.argmax(above[0] - above[1]))])


def _auc(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([inside, outside]))[: len(inside)]
    return float((ranks.sum() - len(inside) * (len(inside) + 1) / 2) / (len(inside) * len(outside)))


def _most(model: Any) -> float:
    """Return (e^epsilon - 1 + 2 delta) / (e^epsilon + 1), the total variation that the promise allows."""
    guarantee = getattr(model, "guarantee_", None)
    if guarantee is None or guarantee.epsilon is None or not math.isfinite(guarantee.epsilon):
        return 1.0
    epsilon, delta = float(guarantee.epsilon), float(guarantee.delta)
    return min(1.0, math.tanh(epsilon / 2) + 2 * delta / (1 + math.exp(epsilon)))
