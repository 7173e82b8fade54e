"""Votes: how the leaves that a row reaches decide its class.

Summed (Jagannathan et al. 2012, Algorithm 3): the probability of a class is its share of the weights of all leaves that
the row reaches. The weights are released counts, with negative ones as 0. Most confident (Fletcher and Islam 2015,
DP-RF): the most confident tree decides. Where no weight is left, the forest's released class totals decide.
"""

from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.checks import n_threads
from privet.schema import Attribute
from privet.tree import kernels
from privet.tree.counted import CountedForest
from privet.tree.forest import Forest, with_missing_branches

# Below this a thread costs more than it saves.
_ROWS_PER_THREAD = 4_096
# Steps of a share; sums over ten thousand trees stay far below 2^62.
SHARE_GRID = 2**30
# A mean over leaves is kept to 2^-20 of a row, where sums allow it.
_FINEST_MEAN = 20
# So small that it only breaks ties between equal confidences, even over ten thousand trees.
_TIE_WEIGHT = 1e-13


@dataclass(frozen=True, eq=False)
class Vote:
    """What all votes have in common: what each node says of the classes, and rows divided among threads.

    A row is answered by the leaf that it reaches. One that lacks a value which is never missing is answered by the node
    that asks for it: the forest has a leaf for that, made by `with_missing_branches`.
    """

    forest: Forest
    roots: NDArray[np.int64]
    otherwise: NDArray[np.float64]
    node_weights: NDArray[Any]

    @classmethod
    def of_nodes(
        cls, forest: Forest, node_weights: NDArray[Any], otherwise: NDArray[np.float64], attributes: Sequence[Attribute]
    ) -> Self:
        """Prepare the vote of a forest over ``attributes`` with what each of its nodes says of the classes."""
        opened, stands_for = with_missing_branches(forest, attributes)
        return cls(opened, np.arange(forest.n_trees), otherwise, node_weights[stands_for])

    def probabilities(self, codes: NDArray[Any], *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return each row's class probabilities."""
        out = np.empty((len(codes), len(self.otherwise)))
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

    @abstractmethod
    def _fill(self, codes: NDArray[Any], out: NDArray[np.float64]) -> None:
        """Write the probabilities of rows to ``out``."""


@dataclass(frozen=True, eq=False)
class SummedCounts(Vote):
    """The vote of Algorithm 3: whole weights of leaves, added up over the trees."""

    @classmethod
    def of_counts(cls, nodes: CountedForest, attributes: Sequence[Attribute]) -> Self:
        """Prepare the vote of released leaf counts; an inner node counts as much as one of its leaves on average."""
        means = np.maximum(nodes.counts, 0) / nodes.forest.n_leaves_below[:, None]
        totals = class_shares(nodes.counts[: nodes.forest.n_trees])
        vote = cls.of_nodes(nodes.forest, means, totals, attributes)
        grid = 1.0 if vote.forest is nodes.forest else _mean_grid(nodes.forest.n_trees * float(means.sum(axis=1).max()))
        return replace(vote, node_weights=np.rint(vote.node_weights * grid).astype(np.int64))

    @property
    def leaf_weights(self) -> NDArray[np.int64]:
        """The weights that are added up, leaves x classes."""
        weights: NDArray[np.int64] = self.node_weights[self.forest.leaves]
        return weights

    def _fill(self, codes: NDArray[Any], out: NDArray[np.float64]) -> None:
        forest = self.forest
        kernels.vote_shares(
            forest.words, self.roots, forest.depth, forest.multiway, codes.reshape(-1), codes.shape[1],
            self.node_weights, self.otherwise, out,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class MostConfident(Vote):
    """The vote of DP-RF: the class with the highest single confidence wins, ties by the sum of all confidences."""

    def _fill(self, codes: NDArray[Any], out: NDArray[np.float64]) -> None:
        forest = self.forest
        kernels.vote_most_confident(
            forest.words, self.roots, forest.depth, forest.multiway, codes.reshape(-1), codes.shape[1],
            self.node_weights, _TIE_WEIGHT, out,
        )  # fmt: skip
        total = out.sum(axis=1, keepdims=True)
        np.divide(out, total, out=out, where=total > 0)
        out[total[:, 0] <= 0] = self.otherwise


def _mean_grid(most_votes: float) -> float:
    """Return by what to multiply means of less than a row, so that they stay as whole numbers.

    It is a power of two, by which shares do not change, and keeps sums of up to ``most_votes`` below 2^53.
    """
    return float(2.0 ** np.clip(np.floor(53 - np.log2(most_votes + 1.0)), 0, _FINEST_MEAN))


def class_shares(noisy_counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the released shares of the classes over all leaves; equal shares if no total is positive."""
    totals = np.maximum(noisy_counts.sum(axis=0, dtype=np.float64), 0.0)
    if not totals.any():
        return np.full(len(totals), 1.0 / len(totals))
    shares: NDArray[np.float64] = totals / totals.sum()
    return shares


def node_shares(noisy_counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the classes' shares of each node's released counts, negative ones as 0; all 0 if nothing is left."""
    counts = np.maximum(noisy_counts, 0).astype(np.float64)
    shares: NDArray[np.float64] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return shares


def confidence_weights(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return votes for the majority class alone, weighted by its share (DPDF, section 3.3), in whole steps."""
    weights = np.zeros(shares.shape, dtype=np.int64)
    nodes, majority = np.arange(len(shares)), shares.argmax(axis=1)
    weights[nodes, majority] = np.round(shares[nodes, majority] * SHARE_GRID).astype(np.int64)
    return weights


def most_confident(forest: Forest, shares: NDArray[np.float64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for every node the most confident of the kept nodes on its path; of equal ones the highest."""
    confidence = np.where(kept, shares.max(axis=1), -1.0)
    best = np.arange(forest.n_nodes)
    for level in range(1, forest.depth + 1):
        own = np.arange(forest.level_start[level], forest.level_start[level + 1])
        above = best[forest.parent[own]]
        best[own] = np.where(confidence[own] > confidence[above], own, above)
    return best


def nearest_nonempty(forest: Forest, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for every node the nearest node on its path, itself included, with a positive released count."""
    best = np.arange(forest.n_nodes)
    for level in range(1, forest.depth + 1):
        own = np.arange(forest.level_start[level], forest.level_start[level + 1])
        best[own] = np.where(shares[own].any(axis=1), own, best[forest.parent[own]])
    return best
