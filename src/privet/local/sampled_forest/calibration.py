"""How attributes are added up: naive Bayes, less what they say twice, with offsets that keep the class balance.

How far attributes repeat each other is measured where enough people answered about two at once. Else what they claim
together, over what there is to know of the class, is a hint; see sampled_forest.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.link import softmax
from privet.local.sampled_forest.redundancy import Redundancy
from privet.local.sampled_forest.value_weights import ValueWeights
from privet.rng import public_generator

Floats = NDArray[np.float64]
# Tuned on six public tables: how the spread of scores grows with what attributes claim together, at most how far, and
# how much of that the weights are divided by.
_REPEATED, _POWER, _MOST_SPREAD, _DIVIDED = 3.0, 2.0, 6.0, 0.45
# Of attributes that claim more than there is to know, the stronger ones count for more.
_FAVOUR = 1.5
# The balance alone is kept unless the model expects to be right more often, by so many standard errors of the balance,
# and by twice as many where that error is as large as the second number: such an expectation is itself mostly noise.
_AHEAD, _UNSURE = 0.5, 0.1
_PEOPLE, _STEPS, _SEED = 4_000, 60, 22


@dataclass(frozen=True)
class Calibrated:
    """Offsets of the classes, how much each attribute counts, and the accuracy that the model expects of itself."""

    offsets: Floats
    counts_for: Floats
    expected_accuracy: float

    @classmethod
    def balance_only(cls, balance: Floats, n_attributes: int) -> Self:
        """Return what says the same of everybody."""
        offsets = np.log(balance)
        return cls(offsets - offsets.mean(), np.zeros(n_attributes), float(balance.max()))


def calibrate(
    attributes: Sequence[ValueWeights], balance: Floats, balance_error: float, redundancy: Redundancy | None = None,
    *, cautious: bool = True,
) -> Calibrated:  # fmt: skip
    """Return how the attributes are added up, so that on average classes are as likely as the balance says.

    The balance alone is returned where the model would not expect to be right clearly more often than it.
    """
    told = np.array([own.information(balance) for own in attributes])
    known = -float((balance * np.log(balance)).sum())
    claimed = float(told.sum()) / known if known > 0 else 0.0
    favour = _FAVOUR * max(0.0, 1 - 1 / claimed) if claimed > 0 else 0.0
    strength = np.maximum(told / told.max(), 1e-9) ** favour if told.max(initial=0.0) > 0 else np.zeros(len(told))
    if redundancy is None:
        spread = min(1 + _REPEATED * claimed**_POWER, _MOST_SPREAD)
        counts_for = strength * spread**-_DIVIDED
    else:
        counts_for = strength * redundancy.counts_for()
        spread = redundancy.spread(counts_for)
    labels, scores = _imagined(attributes, balance, counts_for)
    for label in range(len(balance)):
        own = labels == label
        if own.any():
            middle = scores[own].mean(axis=0)
            scores[own] = middle + math.sqrt(spread) * (scores[own] - middle)
    offsets = np.log(balance)
    for _ in range(_STEPS):
        offsets = offsets + np.log(balance / np.maximum(softmax(offsets + scores).mean(axis=0), 1e-12))
    accuracy = float(softmax(offsets + scores).max(axis=1).mean())
    if cautious and accuracy - float(balance.max()) <= _AHEAD * balance_error * (1 + balance_error / _UNSURE):
        return Calibrated.balance_only(balance, len(told))
    return Calibrated(offsets - offsets.mean(), counts_for, accuracy)


def _imagined(
    attributes: Sequence[ValueWeights], balance: Floats, counts_for: Floats
) -> tuple[NDArray[np.int64], Floats]:
    """Return labels and scores of people whose attributes are independent in each class; the same at every call."""
    rng = public_generator(_SEED)
    labels = np.repeat(np.arange(len(balance)), np.maximum(np.rint(balance * _PEOPLE).astype(np.int64), 1))
    scores = np.zeros((len(labels), len(balance)))
    for own, factor in zip(attributes, counts_for, strict=True):
        joint = own.joint(balance)
        upper = np.cumsum(joint / joint.sum(axis=0), axis=0)
        drawn = rng.random(len(labels))
        values = np.minimum((drawn[:, None] > upper[:, labels].T).sum(axis=1), len(joint) - 1)
        scores += factor * own.weights[values]
    return labels, scores
