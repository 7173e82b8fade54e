"""Pruning: which nodes of a grown tree to keep, decided from released counts alone."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.schema import Schema
from privet.tree.counted import CountedForest
from privet.tree.forest import LEAF, Forest

# Numbers per node, by name; and a function that says which inner nodes gain by their children, from their sums.
Measures: TypeAlias = dict[str, NDArray[np.float64]]
Gains: TypeAlias = Callable[[NDArray[np.int64], Measures], NDArray[np.bool_]]
# C4.5's confidence of 25 %: the upper quartile of the normal distribution.
_UPPER_QUARTILE = 0.6744897501960817


def cut_back(forest: Forest, is_leaf: NDArray[np.bool_], schema: Schema) -> tuple[Forest, NDArray[np.int64]]:
    """Return the forest without the nodes below new leaves, and the numbers of the nodes that remain."""
    kept = np.ones(forest.n_nodes, dtype=bool)
    for level in range(1, forest.depth + 1):
        own = slice(forest.level_start[level], forest.level_start[level + 1])
        parent = forest.parent[own]
        kept[own] = kept[parent] & ~is_leaf[parent]
    nodes = np.flatnonzero(kept)
    attribute = np.where(is_leaf, LEAF, forest.attribute)[nodes].astype(np.int32)
    cut = np.where(is_leaf, -1, forest.cut)[nodes].astype(np.int32)
    return Forest.from_nodes(attribute, cut, forest.n_trees, schema.attributes), nodes


def useful_splits(forest: Forest, noisy_counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which nodes become leaves because their children are no purer than they are (DPDF, eq. 27)."""
    counts = np.maximum(noisy_counts, 0).astype(np.float64)
    size = counts.sum(axis=1)
    impurity = size - (counts**2).sum(axis=1) / np.maximum(size, 1.0)
    share = impurity / np.maximum(size, 1.0)

    def gains(inner: NDArray[np.int64], sums: Measures) -> NDArray[np.bool_]:
        gained: NDArray[np.bool_] = share[inner] > sums["impurity"] / np.maximum(sums["size"], 1.0)
        return gained

    return _bottom_up(forest, {"impurity": impurity, "size": size}, gains)


def error_based(forest: Forest, noisy_counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which nodes become leaves because they are expected to err no more than their children (C4.5)."""
    errors = expected_errors(np.maximum(noisy_counts, 0).astype(np.float64))

    def gains(inner: NDArray[np.int64], sums: Measures) -> NDArray[np.bool_]:
        return errors[inner] > sums["errors"]

    return _bottom_up(forest, {"errors": errors}, gains)


def expected_errors(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return C4.5's pessimistic error of a leaf, in rows: the upper 25 % confidence limit."""
    n = counts.sum(axis=1)
    some, z = np.maximum(n, 1.0), _UPPER_QUARTILE
    f = (n - counts.max(axis=1)) / some
    upper = (f + z**2 / (2 * some) + z * np.sqrt(f / some - f**2 / some + z**2 / (4 * some**2))) / (1 + z**2 / some)
    errors: NDArray[np.float64] = n * upper
    return errors


def reliable_nodes(nodes: CountedForest, *, noise_factor: float) -> NDArray[np.bool_]:
    """Return the nodes whose signal, and that of all nodes above them, is at least their noise (DP-RF, eq. 10).

    A draw of discrete Laplace noise has nearly the deviation sqrt(2) / epsilon_per_tree of the paper's formula.
    """
    forest, support = nodes.forest, nodes.counts.sum(axis=1).astype(np.float64)
    noise = noise_factor * np.sqrt(nodes.variance)
    strong: NDArray[np.bool_] = (support > 0) & (support >= noise)
    strong[: forest.n_trees] = True
    for level in range(1, forest.depth + 1):
        own = slice(forest.level_start[level], forest.level_start[level + 1])
        strong[own] &= strong[forest.parent[own]]
    return strong


def _bottom_up(forest: Forest, measures: Measures, gains: Gains) -> NDArray[np.bool_]:
    """Turn nodes into leaves, from the lowest level up, where all children are leaves and nothing is gained.

    A subtree that stays passes the sums over its leaves up to its parent.
    """
    is_leaf: NDArray[np.bool_] = forest.attribute == LEAF
    measures = {name: measure.copy() for name, measure in measures.items()}
    for level in range(forest.depth - 1, -1, -1):
        start, middle, stop = forest.level_start[level : level + 3]
        inner = start + np.flatnonzero(forest.n_children[start:middle])
        first = forest.first_child[inner] - middle
        over_leaves = np.logical_and.reduceat(is_leaf[middle:stop], first)
        sums = {name: np.add.reduceat(measure[middle:stop], first) for name, measure in measures.items()}
        useful = gains(inner, sums)
        is_leaf[inner] = over_leaves & ~useful
        for name, measure in measures.items():
            measure[inner] = np.where(is_leaf[inner], measure[inner], sums[name])
    return is_leaf
