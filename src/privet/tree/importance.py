"""Which attributes matter, read off released counts: post-processing, so it costs nothing."""

import numpy as np
from numpy.typing import NDArray

from privet.tree.forest import LEAF, Forest


def gini_importances(
    forest: Forest, noisy_counts: NDArray[np.int64], *, noise_variance: float, n_attributes: int
) -> NDArray[np.float64]:
    """Return each attribute's share of the fall in Gini impurity over all nodes that test it.

    Noise alone looks like a fall in impurity, most of all where a node has many children. So the squares of noisy
    counts are corrected by the variance that noise adds to them, and a node whose support does not exceed its own noise
    counts as empty. All zero where nothing but noise is left.
    """
    counts = forest.sums_of_leaves(noisy_counts).astype(np.float64)
    leaves_below = forest.sums_of_leaves(np.ones((len(forest.leaves), 1), dtype=np.int64))[:, 0]
    impurity = _impurity(counts, noise_variance * leaves_below)
    inner = np.flatnonzero(forest.attribute != LEAF)
    below = np.zeros(forest.n_nodes)
    np.add.at(below, forest.parent[forest.n_trees :], impurity[forest.n_trees :])
    fall = np.zeros(n_attributes)
    np.add.at(fall, forest.attribute[inner], impurity[inner] - below[inner])
    fall = np.maximum(fall, 0.0)
    return fall / fall.sum() if fall.any() else fall


def _impurity(counts: NDArray[np.float64], variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return n * Gini = n - sum of squares / n per node; ``variance`` is that of one class count of the node."""
    n_classes = counts.shape[1]
    support = counts.sum(axis=1)
    reliable = support > np.sqrt(n_classes * variance)
    squares = (counts**2).sum(axis=1) - n_classes * variance
    # A sum of squares lies between its values for equal classes and for a single one, whatever the noise did.
    squares = np.clip(squares, support**2 / n_classes, support**2)
    return np.where(reliable, support - squares / np.where(reliable, support, 1.0), 0.0)
