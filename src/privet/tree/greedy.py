"""Greedy growth: level by level over all trees, with one pass over the rows per level.

The method decides which nodes are split and on which attribute; this module keeps the trees.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.schema import Attribute
from privet.tree.forest import LEAF, Forest


@dataclass
class Growth:
    """Trees while they grow: all levels so far; the last is still open.

    ``available[i, a]`` says whether attribute a is still unused on the path to the i-th node of the last level. A split
    uses up its attribute and has a child for each code.
    """

    attributes: Sequence[Attribute]
    n_trees: int
    levels: list[NDArray[np.int64]]
    available: NDArray[np.bool_]
    tree: NDArray[np.int64]

    @classmethod
    def roots(cls, attributes: Sequence[Attribute], n_trees: int) -> "Growth":
        """Return trees that consist of their roots."""
        return cls(
            attributes, n_trees, [np.full(n_trees, LEAF)], np.ones((n_trees, len(attributes)), dtype=bool),
            np.arange(n_trees),
        )  # fmt: skip

    @property
    def forest(self) -> Forest:
        """The trees so far, with the last level as leaves."""
        attribute = np.concatenate(self.levels).astype(np.int32)
        return Forest.from_nodes(attribute, np.full_like(attribute, LEAF), self.n_trees, self.attributes)

    @property
    def last_level(self) -> NDArray[np.int64]:
        """The nodes of the last level, by their numbers in the forest."""
        before = sum(map(len, self.levels[:-1]))
        return np.arange(before, before + len(self.levels[-1]))

    def split(self, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """Split the last level's nodes on their ``chosen`` attributes, `LEAF` for none; return each child's parent.

        Parents are positions in the level that was split.
        """
        n_codes = np.array([*(a.n_codes for a in self.attributes), 0])
        self.levels[-1] = chosen
        parent = np.repeat(np.arange(len(chosen)), n_codes[chosen])
        self.available, self.tree = self.available[parent], self.tree[parent]
        self.available[np.arange(len(parent)), chosen[parent]] = False
        self.levels.append(np.full(len(parent), LEAF))
        return parent
