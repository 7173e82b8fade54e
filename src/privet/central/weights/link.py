"""Scores to chances and back, for a loss with a margin.

A row's loss is the logarithm of 1 + sum over other classes of exp(their score - its own + margin). At the minimum the
chances that belong to scores s are not softmax(s) but v (1 - (1 - exp(-margin)) v) made to add up to 1, v = softmax(s):
the expected pulls of every two classes on each other then balance.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_HALVINGS = 200


def softmax(scores: Floats) -> Floats:
    """Return every line's class chances for a loss without a margin."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def chances_of(scores: Floats, margin: float) -> Floats:
    """Return every line's class chances."""
    shares = softmax(scores)
    adjusted = shares * (1 + np.expm1(-margin) * shares)
    chances: Floats = adjusted / adjusted.sum(axis=1, keepdims=True)
    return chances


def scores_of(chances: Floats, margin: float) -> Floats:
    """Return the scores, of mean zero, of one list of chances, none of which is 0."""
    bend, largest = -np.expm1(-margin), int(chances.argmax())
    rest = np.delete(chances, largest)

    def shares(total: float) -> Floats:
        # The smaller root of share (1 - bend share) = total chance; only the largest class can need the other root.
        root = np.sqrt(np.maximum(0.0, 1 - 4 * bend * total * rest))
        found: Floats = 2 * total * rest / (1 + root)
        return found

    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        own = 1 - shares(middle).sum()
        low, high = (middle, high) if own * (1 - bend * own) > middle * chances[largest] else (low, middle)
    found = shares(low)
    scores = np.log(np.insert(found, largest, 1 - found.sum()))
    centred: Floats = scores - scores.mean()
    return centred
