"""The vote of several parties' trees, of which those stay silent whose party knows nothing of the row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.schema import Attribute
from privet.tree.counted import CountedForest
from privet.tree.vote import SummedCounts, class_shares


@dataclass(frozen=True, eq=False)
class UnionVote(SummedCounts):
    """Leaf counts added up over the trees of the parties that have a value of the row.

    Attributes
    ----------
    leaf_counts : int64 array
        As released.
    first_column : int64 array
        Where the columns of each party begin.
    missing : int64 array
        The code of a missing value, per column.
    """

    leaf_counts: NDArray[np.int64]
    first_column: NDArray[np.int64]
    missing: NDArray[np.int64]

    @classmethod
    def of_parties(
        cls, nodes: CountedForest, attributes: tuple[Attribute, ...], first_column: NDArray[np.int64]
    ) -> "UnionVote":
        """Prepare the vote of parties with equally many trees, whose columns begin at ``first_column``."""
        forest, counts = nodes.forest, nodes.counts[nodes.forest.leaves]
        vote = SummedCounts.of(forest, counts)
        missing = np.array([attribute.missing_code for attribute in attributes])
        return cls(forest, vote.roots, vote.otherwise, vote.weights, counts, first_column, missing)

    def _fill(self, codes: NDArray[Any], out: NDArray[np.float64]) -> None:
        knows = np.logical_or.reduceat(codes != self.missing, self.first_column, axis=1)
        if knows.all():
            super()._fill(codes, out)
            return
        for pattern in np.unique(knows, axis=0):
            rows = (knows == pattern).all(axis=1)
            answers = np.empty((int(rows.sum()), out.shape[1]))
            self._of_some(pattern)._fill(np.ascontiguousarray(codes[rows]), answers)  # noqa: SLF001 - of its own kind
            out[rows] = answers

    def _of_some(self, knows: NDArray[np.bool_]) -> SummedCounts:
        """Return the vote of the parties that know something; where none does, that of nobody: class totals."""
        forest = self.forest
        speaks = knows[np.arange(forest.n_trees) // (forest.n_trees // len(knows))]
        heard = speaks if knows.any() else ~speaks
        otherwise = class_shares(self.leaf_counts[heard[forest.tree_of_node[forest.leaves]]])
        return SummedCounts(forest, np.flatnonzero(speaks), otherwise, self.weights)
