"""One greedy grower: level by level over all trees, one pass over the rows a level.

It knows arrays and has never heard of epsilon. What to split, and on which attribute, is asked of the method.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.schema import Attribute
from privet.tree.forest import LEAF, Forest


@dataclass
class Growth:
    """Trees while they grow: all levels so far, the last one still open.

    ``available[i, a]`` says whether the path to the i-th node of the last level has left attribute a; every split uses
    its attribute up and has a child for each code.
    """

    attributes: Sequence[Attribute]
    n_trees: int
    levels: list[NDArray[np.int64]]
    available: NDArray[np.bool_]
    tree: NDArray[np.int64]

    @classmethod
    def roots(cls, attributes: Sequence[Attribute], n_trees: int) -> "Growth":
        """Return trees that are roots alone."""
        return cls(
            attributes, n_trees, [np.full(n_trees, LEAF)], np.ones((n_trees, len(attributes)), dtype=bool),
            np.arange(n_trees),
        )  # fmt: skip

    @property
    def forest(self) -> Forest:
        """The trees as they are, the last level being leaves."""
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
        n_codes = np.array([*(a.n_values + 1 for a in self.attributes), 0])
        self.levels[-1] = chosen
        parent = np.repeat(np.arange(len(chosen)), n_codes[chosen])
        self.available, self.tree = self.available[parent], self.tree[parent]
        self.available[np.arange(len(parent)), chosen[parent]] = False
        self.levels.append(np.full(len(parent), LEAF))
        return parent
