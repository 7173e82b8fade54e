"""How likely permute-and-flip is to choose each candidate, worked out and not drawn."""

import itertools
import math

import numpy as np

from privet.privacy.mechanisms.rational import rate_at_most
from privet.tree.criteria import Score


def probabilities(steps, *, score: Score, epsilon: float) -> np.ndarray:
    """Return each candidate's probability, added up over all orders in which they may be asked."""
    rate = rate_at_most(score.sensitivity, epsilon, monotone=score.monotone)
    heads = [math.exp(-float(rate * int(max(steps) - step))) for step in steps]
    law = np.zeros(len(steps))
    for order in itertools.permutations(range(len(steps))):
        still = 1 / math.factorial(len(steps))
        for candidate in order:
            law[candidate] += still * heads[candidate]
            still *= 1 - heads[candidate]
    return law


def exponential(steps, *, score: Score, epsilon: float) -> np.ndarray:
    """Return each candidate's probability under the exponential mechanism, which is never the sharper one."""
    rate = float(rate_at_most(score.sensitivity, epsilon, monotone=score.monotone))
    weights = np.exp(rate * (np.asarray(steps, dtype=np.float64) - max(steps)))
    return weights / weights.sum()


def given_away(law: np.ndarray, other: np.ndarray) -> float:
    """Return the largest logarithm of a ratio of probabilities: the epsilon that a choice really costs."""
    return float(np.abs(np.log(law / other)).max())
