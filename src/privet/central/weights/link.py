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
    """Return the scores, of mean zero, of each line of chances, none of which is 0; of one list as of a line."""
    lines, bend = np.atleast_2d(chances), -np.expm1(-margin)
    is_largest = np.arange(lines.shape[1]) == lines.argmax(axis=1)[:, None]
    largest, rest = lines[is_largest], lines[~is_largest].reshape(len(lines), -1)

    def shares(total: Floats) -> Floats:
        # The smaller root of share (1 - bend share) = total chance; only the largest class can need the other root.
        root = np.sqrt(np.maximum(0.0, 1 - 4 * bend * total[:, None] * rest))
        found: Floats = 2 * total[:, None] * rest / (1 + root)
        return found

    low, high = np.zeros(len(lines)), np.ones(len(lines))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        own = 1 - shares(middle).sum(axis=1)
        is_low = own * (1 - bend * own) > middle * largest
        before, (low, high) = (low, high), (np.where(is_low, middle, low), np.where(is_low, high, middle))
        if np.array_equal(before, (low, high)):
            break
    found, scores = shares(low), np.empty_like(lines)
    scores[~is_largest], scores[is_largest] = found.ravel(), 1 - found.sum(axis=1)
    scores = np.log(scores)
    centred: Floats = (scores - scores.mean(axis=1, keepdims=True)).reshape(chances.shape)
    return centred
