"""Class shares of nodes, drawn to those of the node above as far as noise may have made the difference.

What is estimated from disturbed answers is noise in most small nodes, and whoever decides by it does worse than by the
class balance. So a node's shares move away from its parent's by the positive part of James and Stein's factor,
1 - (SURE / z)^2, with z the difference in its standard deviations: not at all below SURE of them, and fully where the
noise is small. Arguments: reconstruction_tree.md, random_response_forest.md.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.tree.forest import Forest

Floats = NDArray[np.float64]
# The variance of what some nodes, a slice, hold of each class beyond the given shares of all that they hold.
Variance: TypeAlias = Callable[[slice, Floats], Floats]

# Of many splits the luckiest is grown, so two standard deviations would be no surprise.
SURE = 3.0


def shrunk_shares(forest: Forest, estimates: Floats, balance: Floats, variance: Variance) -> Floats:
    """Return the classes' shares in every node.

    Parameters
    ----------
    forest : Forest
        Whose nodes these are.
    estimates : array of nodes x classes
        Unbiased estimates of each class's rows; some may lie below 0.
    balance : array of classes
        The shares of all rows, which every root has.
    variance : function
        Of ``estimates - shares * total``, given nodes and the shares of the nodes above them.
    """
    own = _clipped(estimates)
    shares = np.empty_like(own)
    shares[: forest.n_trees] = balance
    for level in range(1, forest.depth + 1):
        nodes = slice(int(forest.level_start[level]), int(forest.level_start[level + 1]))
        above = shares[forest.parent[nodes]]
        away = estimates[nodes] - above * estimates[nodes].sum(axis=1, keepdims=True)
        noise = np.maximum(variance(nodes, above), 0.0)
        # The class that stands out most decides for all.
        square = np.divide(away**2, noise, out=np.full_like(away, np.inf), where=noise > 0).max(axis=1)
        weight = np.maximum(0.0, 1.0 - SURE**2 / np.maximum(square, SURE**2))
        has_rows = own[nodes].any(axis=1)
        shares[nodes] = above + np.where(has_rows, weight, 0.0)[:, None] * (own[nodes] - above)
    return shares


def balance_of(estimates: Floats) -> Floats:
    """Return the classes' shares of estimated counts, equal ones where none is above 0."""
    share = _clipped(estimates[None, :])[0]
    return share if share.any() else np.full(len(share), 1.0 / len(share))


def _clipped(estimates: Floats) -> Floats:
    """Return shares of the estimates above 0; all 0 where there are none."""
    counts = np.maximum(estimates, 0.0)
    total = counts.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return shares
