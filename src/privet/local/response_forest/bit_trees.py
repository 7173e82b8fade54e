"""Trees on bits, grown one by one on bootstraps and put together in one forest."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.checks import n_threads
from privet.local.channels.coding import Coding
from privet.tree.forest import LEAF, Forest

# Nodes below this one are not split, whatever the bits say; deeper ones would be kept waiting in too much memory.
MAX_DEPTH = 64


@dataclass(frozen=True)
class Growth:
    """When a node is split: how many bits are tried, and how many rows it and its children must be thought to hold."""

    n_trees: int
    n_tried: int
    min_rows: float
    min_leaf: float
    max_depth: int
    bootstrap: bool


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree whose nodes are numbered as they were made.

    Attributes
    ----------
    bit : int32 array
        Per node, the bit it tests, -1 for a leaf.
    left : int64 array
        Per inner node, the child for 0; the one for 1 comes next.
    numbers : tuple of arrays
        What is known of each node, one line a node.
    """

    bit: NDArray[np.int32]
    left: NDArray[np.int64]
    numbers: tuple[NDArray[Any], ...]

    @classmethod
    def within(cls, n_rows: int, min_leaf: float, n_columns: Sequence[tuple[int, type]]) -> "GrownTree":
        """Return room for a tree: leaves hold ``min_leaf`` rows each, and estimates of leaves add up to all rows."""
        room = 2 * int(n_rows / min_leaf) + 1
        numbers: tuple[NDArray[Any], ...] = tuple(np.zeros((room, width), dtype=dtype) for width, dtype in n_columns)
        return cls(np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64), numbers)

    def cropped(self, n_nodes: int) -> "GrownTree":
        """Return the first nodes, leaving unused room behind."""
        numbers = tuple(number[:n_nodes].copy() for number in self.numbers)
        return GrownTree(self.bit[:n_nodes].copy(), self.left[:n_nodes].copy(), numbers)

    def levels(self) -> list[NDArray[np.int64]]:
        """Return the nodes of each level, from left to right."""
        levels = [np.zeros(1, dtype=np.int64)]
        while len(levels[-1]):
            inner = levels[-1][self.bit[levels[-1]] != LEAF]
            levels.append((self.left[inner][:, None] + np.arange(2)).reshape(-1))
        return levels[:-1]


@dataclass(frozen=True)
class Bag:
    """The rows that a tree is grown on: which, and how often each."""

    rows: NDArray[np.int64]
    times: NDArray[np.int64]
    draw: np.uint64

    @classmethod
    def sample(cls, n_rows: int, public_rng: np.random.Generator, *, bootstrap: bool) -> "Bag":
        """Return as many rows as there are, drawn with replacement, or all of them once."""
        times = np.ones(n_rows, dtype=np.int64)
        if bootstrap:
            times = np.bincount(public_rng.integers(n_rows, size=n_rows), minlength=n_rows)
        rows = np.flatnonzero(times)
        return cls(rows, times[rows], public_rng.integers(2**64, dtype=np.uint64))


def grow_on_bags(
    grow: Callable[[Bag], GrownTree], n_rows: int, growth: Growth, public_rng: np.random.Generator, n_jobs: int | None
) -> tuple[list[GrownTree], list[Bag]]:
    """Return trees, each grown on a bag of its own, and the bags; trees are shared out over threads."""
    streams = public_rng.spawn(growth.n_trees)

    def grown(stream: np.random.Generator) -> tuple[GrownTree, Bag]:
        bag = Bag.sample(n_rows, stream, bootstrap=growth.bootstrap)
        return grow(bag), bag

    with ThreadPoolExecutor(n_threads(n_jobs)) as pool:
        trees, bags = zip(*pool.map(grown, streams), strict=True)
    return list(trees), list(bags)


def joined(trees: Sequence[GrownTree], coding: Coding) -> tuple[Forest, tuple[NDArray[Any], ...]]:
    """Return trees as one forest over the coding's bits, and their nodes' numbers in its order."""
    levels = [tree.levels() for tree in trees]
    order = [
        (tree, own[depth])
        for depth in range(max(map(len, levels)))
        for tree, own in zip(trees, levels, strict=True)
        if depth < len(own)
    ]
    bit = np.concatenate([tree.bit[nodes] for tree, nodes in order])
    cut = np.where(bit == LEAF, -1, 0).astype(np.int32)
    numbers = tuple(
        np.concatenate([tree.numbers[i][nodes] for tree, nodes in order]) for i in range(len(trees[0].numbers))
    )
    return Forest.from_nodes(bit, cut, len(trees), coding.bit_schema.attributes), numbers
