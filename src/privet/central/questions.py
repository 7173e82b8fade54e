"""What greedy methods ask of the rows, level by level: each answer is noisy, and its receipt is kept."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from privet.privacy.events import Event
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip_each
from privet.privacy.mechanisms.rational import multiple
from privet.privacy.unit import Unit
from privet.rng import NoiseSource
from privet.schema import Schema
from privet.tree.criteria import Score


@dataclass
class Questions:
    """Asks; what was released and the receipts are kept here by those who ask.

    A row is in one node of each tree's level, so the nodes of a tree are asked in parallel and trees one after another.
    """

    schema: Schema
    epsilon: float
    n_trees: int
    n_levels: int
    unit: Unit
    noise: NoiseSource
    receipts: list[Event] = field(default_factory=list)
    released: list[NDArray[np.int64]] = field(default_factory=list)
    exact_levels: list[NDArray[np.int64]] = field(default_factory=list)

    def counts(
        self, exact_counts: NDArray[np.int64], what: str, *, epsilon: float, moves: int = 1
    ) -> tuple[NDArray[np.int64], Event]:
        """Release counts of all trees' nodes, at ``epsilon`` a tree; a row moves ``moves`` of a tree's counts by 1."""
        return discrete_laplace(
            exact_counts,
            epsilon=multiple(epsilon, self.n_trees),
            sensitivity=self.n_trees * moves * self.unit.max_rows,
            what=what,
            noise=self.noise,
        )

    def choices(
        self,
        exact_scores: NDArray[np.int64],
        allowed: NDArray[np.bool_],
        what: str,
        *,
        epsilon: float,
        score: Score,
    ) -> tuple[NDArray[np.int64], Event]:
        """Choose an attribute for every node; the receipt is for the nodes of one tree."""
        return permute_and_flip_each(
            exact_scores,
            allowed,
            epsilon=epsilon,
            sensitivity=score.sensitivity * self.unit.max_rows,
            monotone=score.monotone,
            what=what,
            noise=self.noise,
        )
