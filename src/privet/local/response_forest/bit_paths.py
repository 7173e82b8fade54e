"""What a path of bits asks, in words: the values of each attribute whose codes have those bits."""

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.coding import Coding
from privet.tree.conditions import Codes, Paths, Runs
from privet.tree.forest import LEAF, Forest


class BitPaths(Paths):
    """The conditions on the way to the nodes of a forest over coded bits, on the attributes that were coded."""

    def __init__(self, forest: Forest, coding: Coding) -> None:
        super().__init__(forest, coding.schema)
        attribute_of_bit: list[int] = coding.attribute_of_bit.tolist()
        self._bit = self._tested
        self._tested = [bit if bit == LEAF else attribute_of_bit[bit] for bit in self._bit]
        self._values_of_bit = [
            (_neighbours(column == 0), _neighbours(column == 1))
            for code in coding.codes
            for column in code.bits_of_value.T
        ]

    def _answer(self, parent: int, node: int, codes: Codes | None) -> Runs:  # noqa: ARG002 - two children never merge
        """Return the values, and the missing one, that the bit tested by ``parent`` sends to ``node``."""
        return self._values_of_bit[self._bit[parent]][node - self._first_child[parent]]


def _neighbours(inside: NDArray[np.bool_]) -> Runs:
    """Return the first and the last of every run of values inside."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    return tuple((int(first), int(stop) - 1) for first, stop in edges.reshape(-1, 2))
