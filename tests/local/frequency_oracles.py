"""The rivals of subset selection by formula: the chance that a true cell counts, and that any other does."""

import math


def rivals(cells, epsilon):
    """Return the two chances for k-ary response, unary encoding, local hashing and Hadamard response."""
    factor = math.exp(epsilon)
    hashed = [(factor / (factor + g - 1), 1 / g) for g in (max(2, round(factor + 1) + step) for step in (-1, 0, 1))]
    return {
        "k-ary randomized response": [(factor / (factor + cells - 1), 1 / (factor + cells - 1))],
        "optimised unary encoding": [(1 / 2, 1 / (factor + 1))],
        "optimised local hashing": hashed,
        "Hadamard response": [(factor / (factor + 1), 1 / 2)],
    }
