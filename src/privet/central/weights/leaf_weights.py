"""Released leaf weights, and what they say of a row."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.central.weights import kernels
from privet.central.weights.link import chances_of
from privet.central.weights.trees import Trees

Floats = NDArray[np.float64]
_BLOCK_ROWS = 65_536


@dataclass(frozen=True)
class LeafWeights:
    """A score for every class: an offset, and a weight for the leaf that a row reaches in each tree."""

    trees: Trees
    offsets: Floats
    weights: Floats
    margin: float

    @cached_property
    def by_class(self) -> Floats:
        """The weights, leaves x classes; of two classes the first has the second's weights turned round."""
        return self.weights if self.weights.shape[1] > 1 else self.weights * np.array([-0.5, 0.5])

    @cached_property
    def levels(self) -> Floats:
        """What a tree's cells add alike, trees x classes: the mean over leaves without a missing value."""
        means = [self.of_tree(t)[self.trees.known(t)].mean(axis=0) for t in range(self.trees.n_trees)]
        return np.array(means).reshape(-1, self.by_class.shape[1])

    @property
    def start(self) -> Floats:
        """Every class's score before a row's cells are looked at."""
        start: Floats = self.offsets + self.levels.sum(axis=0)
        return start

    def of_tree(self, tree: int) -> Floats:
        """Return the weights of one tree, leaves x classes."""
        start = int(self.trees.starts[tree])
        return self.by_class[start : start + int(self.trees.sizes[tree])]

    def scores(self, codes: NDArray[np.integer]) -> Floats:
        """Return every row's scores."""
        scores = np.tile(self.offsets, (len(codes), 1))
        for start in range(0, len(codes), _BLOCK_ROWS):
            part = slice(start, start + _BLOCK_ROWS)
            leaves = self.trees.leaves(codes[part])
            kernels.scores_of(leaves.reshape(-1), self.trees.starts, self.by_class, scores[part])
        return scores

    def chances(self, codes: NDArray[np.integer]) -> Floats:
        """Return every row's class chances."""
        return chances_of(self.scores(codes), self.margin)

    def contributions(self, codes: NDArray[np.integer]) -> Floats:
        """Return what each tree adds to each class's score beside its level: rows x trees x classes."""
        leaves = self.trees.leaves(codes).astype(np.int64) + self.trees.starts
        parts: Floats = self.by_class[leaves] - self.levels
        return parts
