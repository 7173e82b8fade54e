"""Nodes taken together: sibling leaves that predict the same class say one thing in several rules."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.tree.conditions import Codes
from privet.tree.counted import CountedForest
from privet.tree.forest import LEAF, Forest


@dataclass(frozen=True, eq=False)
class Groups:
    """Nodes, each standing for itself or for several siblings too.

    Attributes
    ----------
    node : int64 array
        In level order; of several siblings the first.
    is_leaf : bool array
    counts : int64 array
        Released class counts.
    n_draws : int64 array
        How many draws of noise are in each of a group's class counts.
    codes : mapping
        For a node that stands for several siblings, what their parent's test answered.
    """

    node: NDArray[np.int64]
    is_leaf: NDArray[np.bool_]
    counts: NDArray[np.int64]
    n_draws: NDArray[np.int64]
    codes: Mapping[int, Codes]

    def take(self, chosen: NDArray[Any]) -> Self:
        """Return the groups at these positions, or where this is true."""
        arrays = {name: getattr(self, name)[chosen] for name in ("node", "is_leaf", "counts", "n_draws")}
        return replace(self, **arrays)


def single_nodes(counted: CountedForest) -> Groups:
    """Return every node by itself."""
    forest = counted.forest
    return Groups(np.arange(forest.n_nodes), forest.attribute == LEAF, counted.counts, counted.n_draws, {})


def merged_nodes(counted: CountedForest) -> Groups:
    """Return the nodes with those taken together that predict the same class.

    From the lowest level up, a node whose children are all leaves of one class becomes a leaf of that class. Then the
    leaves of one class under a test with a child per code become one. Predictions of single trees stay as they are.
    """
    single, forest = single_nodes(counted), counted.forest
    predicted = single.counts.argmax(axis=1)
    is_leaf = _with_children_taken_in(forest, predicted)
    kept = np.ones(forest.n_nodes, dtype=bool)
    for level in range(1, forest.depth + 1):
        own = slice(forest.level_start[level], forest.level_start[level + 1])
        parent = forest.parent[own]
        kept[own] = kept[parent] & ~is_leaf[parent]
    return _siblings_taken_together(forest, replace(single, is_leaf=is_leaf), predicted, kept)


def _with_children_taken_in(forest: Forest, predicted: NDArray[np.int64]) -> NDArray[np.bool_]:
    is_leaf: NDArray[np.bool_] = forest.attribute == LEAF
    for level in range(forest.depth - 1, -1, -1):
        start, middle, stop = forest.level_start[level : level + 3]
        inner = start + np.flatnonzero(forest.n_children[start:middle])
        agrees = is_leaf[middle:stop] & (predicted[middle:stop] == predicted[forest.parent[middle:stop]])
        is_leaf[inner] = np.logical_and.reduceat(agrees, forest.first_child[inner] - middle)
    return is_leaf


def _siblings_taken_together(
    forest: Forest, single: Groups, predicted: NDArray[np.int64], kept: NDArray[np.bool_]
) -> Groups:
    nodes = np.flatnonzero(kept)
    parent = forest.parent[nodes]
    mergeable = single.is_leaf[nodes] & (parent >= 0) & (forest.cut[parent] < 0)
    # A group's key: its parent and class where siblings may join, else the node itself.
    keys = np.stack([np.where(mergeable, parent, -1), np.where(mergeable, predicted[nodes], nodes)], axis=1)
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    counts = np.zeros((len(first), single.counts.shape[1]), dtype=np.int64)
    np.add.at(counts, group, single.counts[nodes])
    n_draws = np.bincount(group, weights=single.n_draws[nodes]).astype(np.int64)
    order = np.argsort(first)
    merged = Groups(nodes[first], single.is_leaf[nodes[first]], counts, n_draws, {}).take(order)
    return replace(merged, codes=_codes(forest, nodes, group, first))


def _codes(
    forest: Forest, nodes: NDArray[np.int64], group: NDArray[np.int64], first: NDArray[np.int64]
) -> dict[int, Codes]:
    several = np.flatnonzero(np.bincount(group)[group] > 1)
    codes: dict[int, list[int]] = {}
    for position in several:
        node = nodes[position]
        branch = int(node - forest.first_child[forest.parent[node]])
        codes.setdefault(int(nodes[first[group[position]]]), []).append(branch)
    return {node: tuple(branches) for node, branches in codes.items()}
