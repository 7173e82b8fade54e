"""How the leaves that a row reaches decide (Jagannathan et al. 2012, Algorithm 3).

A class's probability is its share of the released counts of all leaves that the row reaches, negative counts taken as
0. Where nothing is left, the forest's released class totals decide.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.tree import kernels
from privet.tree.forest import Forest
from privet.tree.threads import n_threads

# Below this a thread costs more than it saves.
_ROWS_PER_THREAD = 4_096


@dataclass(frozen=True, eq=False)
class SummedCounts:
    """The vote of Algorithm 3, ready for the kernels."""

    forest: Forest
    roots: NDArray[np.int64]
    weights: NDArray[np.int64]
    otherwise: NDArray[np.float64]

    @classmethod
    def of(cls, forest: Forest, noisy_counts: NDArray[np.int64]) -> "SummedCounts":
        """Prepare the vote of ``forest`` with the released class counts of its leaves."""
        weights = np.zeros((forest.n_nodes, noisy_counts.shape[1]), dtype=np.int64)
        weights[forest.leaves] = np.maximum(noisy_counts, 0)
        return cls(forest, np.arange(forest.n_trees), weights, class_shares(noisy_counts))

    def probabilities(self, codes: NDArray[Any], *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return each row's class probabilities."""
        out = np.empty((len(codes), self.weights.shape[1]))
        n_parts = min(n_threads(n_jobs), 1 + len(codes) // _ROWS_PER_THREAD)
        if n_parts == 1:
            self._fill(codes, out)
            return out
        bounds = np.linspace(0, len(codes), n_parts + 1).astype(int)
        with ThreadPoolExecutor(n_parts) as pool:
            list(
                pool.map(
                    lambda i: self._fill(codes[bounds[i] : bounds[i + 1]], out[bounds[i] : bounds[i + 1]]),
                    range(n_parts),
                )
            )
        return out

    def _fill(self, codes: NDArray[Any], out: NDArray[np.float64]) -> None:
        forest = self.forest
        kernels.vote_shares(
            forest.words, self.roots, forest.depth, forest.multiway, codes.reshape(-1), codes.shape[1],
            self.weights, self.otherwise, out,
        )  # fmt: skip


def class_shares(noisy_counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the released shares of the classes over all leaves, equal ones where no positive total is left."""
    totals = np.maximum(noisy_counts.sum(axis=0, dtype=np.float64), 0.0)
    if not totals.any():
        return np.full(len(totals), 1.0 / len(totals))
    shares: NDArray[np.float64] = totals / totals.sum()
    return shares
