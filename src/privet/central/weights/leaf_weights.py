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
    """A score for every class: an offset, and for each tree the weight of the cell that a row falls into."""

    trees: Trees
    offsets: Floats
    weights: Floats
    margin: float

    @cached_property
    def by_class(self) -> Floats:
        """The weights, leaves x classes; of two classes the first has the second's weights turned round."""
        return self.weights if self.weights.shape[1] > 1 else self.weights * np.array([-0.5, 0.5])

    @cached_property
    def of_cells(self) -> Floats:
        """The weights of a row in each cell, cells x classes."""
        return self.trees.of_cells(self.by_class)

    def of_tree(self, tree: int) -> Floats:
        """Return the weights of one tree, leaves x classes."""
        start = int(self.trees.starts[tree])
        return self.by_class[start : start + int(self.trees.sizes[tree])]

    def scores(self, codes: NDArray[np.integer]) -> Floats:
        """Return every row's scores."""
        scores = np.tile(self.offsets, (len(codes), 1))
        for start in range(0, len(codes), _BLOCK_ROWS):
            part = slice(start, start + _BLOCK_ROWS)
            kernels.scores_of(
                self.trees.cells(codes[part]).reshape(-1), self.trees.cell_starts, self.of_cells, scores[part]
            )
        return scores

    def explained(self, codes: NDArray[np.integer], class_: int | None) -> NDArray[np.int64]:
        """Return the place of the class whose score is explained of every row.

        It is ``class_`` where that is given, else the second of two; of more classes the one with the highest score.
        """
        if class_ is None and len(self.offsets) > 2:
            best: NDArray[np.int64] = np.argmax(self.scores(codes), axis=1)
            return best
        return np.full(len(codes), 1 if class_ is None else class_)

    def chances(self, codes: NDArray[np.integer]) -> Floats:
        """Return every row's class chances."""
        return chances_of(self.scores(codes), self.margin)
