"""Pruning by minimum description length: a subtree stays if it pays for itself in errors (Mehta et al. 1995).

A leaf costs one bit and its errors; an inner node one bit, one for its test, and what its children cost.
"""

import numpy as np
from numpy.typing import NDArray

from privet.tree.forest import LEAF, Forest

LEAF_COST, SPLIT_COST = 1, 2


def worth_their_bits(forest: Forest, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which nodes become leaves: where a leaf describes the rows in no more bits than the whole subtree.

    ``counts`` has one line a node.
    """
    is_leaf: NDArray[np.bool_] = forest.attribute == LEAF
    cost = LEAF_COST + counts.sum(axis=1) - counts.max(axis=1)
    for level in range(forest.depth - 1, -1, -1):
        start, middle, stop = forest.level_start[level : level + 3]
        inner = start + np.flatnonzero(forest.n_children[start:middle])
        below = SPLIT_COST + np.add.reduceat(cost[middle:stop], forest.first_child[inner] - middle)
        is_leaf[inner] = cost[inner] <= below
        cost[inner] = np.minimum(cost[inner], below)
    return is_leaf
