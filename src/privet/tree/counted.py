"""A forest with the released class counts of all its nodes, and how noisy they are."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.tree.forest import Forest


@dataclass(frozen=True, eq=False)
class CountedForest:
    """What is known of every node.

    Attributes
    ----------
    forest : Forest
    counts : int64 array
        Released class counts, one line a node.
    n_draws : int64 array
        How many draws of noise are in each of a node's class counts.
    draw_variance : float
        Of one draw; 0 where no noise was added.
    """

    forest: Forest
    counts: NDArray[np.int64]
    n_draws: NDArray[np.int64]
    draw_variance: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.draw_variance < math.inf:
            raise ParameterError(f"draw_variance={self.draw_variance!r} must be finite and at least 0")

    @classmethod
    def of_leaves(cls, forest: Forest, leaf_counts: NDArray[np.int64], draw_variance: float) -> Self:
        """Return the forest with inner nodes counted by adding up their leaves."""
        return cls(forest, forest.sums_of_leaves(leaf_counts), forest.n_leaves_below, draw_variance)

    @cached_property
    def variance(self) -> NDArray[np.float64]:
        """Of the noise in one of a node's class counts."""
        spread: NDArray[np.float64] = self.draw_variance * self.n_draws.astype(np.float64)
        return spread
