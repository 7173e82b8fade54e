"""What a choice of the split attribute gives away, worked out on a pair of neighbouring nodes.

The paper takes the sensitivity of the Gini index at the noisy size of a node (Theorem 1). A node of one row may seem to
hold a thousand: then its sensitivity is taken for a 250th of what it is.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

# Of every attribute the class counts, a line a value.
Node: TypeAlias = tuple[NDArray[np.int64], ...]
# The exponent of each attribute's probability, without epsilon.
Exponent: TypeAlias = Callable[[Node], NDArray[np.float64]]

# One row; and another of the other class, which the second attribute tells from it.
ONE_ROW: Node = (np.array([[1, 0], [0, 0]]), np.array([[1, 0], [0, 0]]))
TWO_ROWS: Node = (np.array([[1, 1], [0, 0]]), np.array([[1, 0], [0, 1]]))
# As Table 1 has it for 4 trees and a budget of 0.1.
PRICE = 0.003
SEEMING_SIZE = 1000


def impurity(node: Node) -> NDArray[np.float64]:
    """Return n times the Gini index of every attribute: sum over its values of n_v - sum_c n_vc^2 / n_v."""
    left = []
    for counts in node:
        sizes = np.maximum(counts.sum(axis=1), 1)
        left.append(float((counts.sum(axis=1) - (counts**2).sum(axis=1) / sizes).sum()))
    return np.array(left)


def paper_exponent(seeming_size: int) -> Exponent:
    """Return the paper's: the Gini index over twice its sensitivity at the size that the node seems to have."""
    n = seeming_size
    sensitivity = 1 - (n / (n + 1)) ** 2 - (1 / (n + 1)) ** 2
    return lambda node: -impurity(node) / node[0].sum() / (2 * sensitivity)


def sound_exponent(node: Node) -> NDArray[np.float64]:
    """Return n times the Gini index over its sensitivity of 2, which no size enters; scores move one way, so once."""
    return -impurity(node) / 2


def choice(node: Node, exponent: Exponent, price: float) -> NDArray[np.float64]:
    """Return how likely each attribute is chosen by the exponential mechanism."""
    weights = np.exp(price * exponent(node))
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def given_away(exponent: Exponent, price: float) -> tuple[float, float]:
    """Return the largest logarithm of a ratio of the neighbours' probabilities, and that of the likeliest choice."""
    one, two = choice(ONE_ROW, exponent, price), choice(TWO_ROWS, exponent, price)
    ratios = np.abs(np.log(two / one))
    return float(ratios.max()), float(ratios[two.argmax()])


def chance_of_seeming(size: int, price: float) -> float:
    """Return how often a node of one row and two classes seems to hold ``size`` rows or more.

    Two Laplace noises of scale 1 / price add up to more than x / price with probability exp(-x) (2 + x) / 4.
    """
    x = (size - 1) * price
    return math.exp(-x) * (2 + x) / 4
