"""A forest as flat arrays.

Nodes are in level order over all trees: first the roots, then their children from left to right, and so on. Two numbers
then describe a node: the attribute that it tests (`LEAF` for none) and, where it splits a numeric attribute in two, its
cut. The children of a node are contiguous. Where they start follows from the numbers of children before it, so a file
holds no pointers that could be wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import ModelFileError
from privet.schema import Attribute, Numeric

LEAF = -1

# A packed node, low bits first: where its children start (32), the attribute (15), whether it has one child per
# code (1), the threshold (16). One load per step makes the walk fast.
ATTRIBUTE_SHIFT, MULTIWAY_SHIFT, THRESHOLD_SHIFT = 32, 47, 48
NO_THRESHOLD = 2**16 - 1
MAX_NODES = 2**31


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees over the codes of a schema's attributes.

    Attributes
    ----------
    attribute : int32 array
        Per node, the number of the attribute it tests, or `LEAF`.
    cut : int32 array
        Per node; rows with a code <= ``cut`` go to the first child. -1 where each code has its own child.
    n_trees : int
        The first ``n_trees`` nodes are the roots.
    n_children : int64 array
        Per node, the number of its children.
    level_start : int64 array
        The first node of each level, and finally the number of nodes.
    """

    attribute: NDArray[np.int32]
    cut: NDArray[np.int32]
    n_trees: int
    n_children: NDArray[np.int64]
    level_start: NDArray[np.int64]

    @classmethod
    def from_nodes(
        cls, attribute: NDArray[np.int32], cut: NDArray[np.int32], n_trees: int, attributes: Sequence[Attribute]
    ) -> Self:
        """Build a forest from its nodes, and check that they form one."""
        _check_nodes(attribute, cut, n_trees, attributes)
        codes = np.array([*(a.n_codes for a in attributes), 0], dtype=np.int64)  # the last entry is LEAF's
        n_children = np.where(cut >= 0, 2, codes[attribute])
        return cls(attribute, cut, n_trees, n_children, _level_starts(n_children, n_trees))

    @property
    def n_nodes(self) -> int:
        """How many nodes all trees have together."""
        return len(self.attribute)

    @property
    def depth(self) -> int:
        """The number of tests on the longest path."""
        return len(self.level_start) - 2

    @cached_property
    def multiway(self) -> bool:
        """Whether some node has one child per code."""
        return bool(np.any((self.attribute != LEAF) & (self.cut < 0)))

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """The leaves, in order."""
        return np.flatnonzero(self.attribute == LEAF)

    @cached_property
    def first_child(self) -> NDArray[np.int64]:
        """Per node, its first child."""
        return self.n_trees + np.cumsum(self.n_children) - self.n_children

    @cached_property
    def parent(self) -> NDArray[np.int64]:
        """Per node, its parent; -1 for a root."""
        return np.concatenate([np.full(self.n_trees, -1), np.repeat(np.arange(self.n_nodes), self.n_children)])

    @cached_property
    def depth_of_node(self) -> NDArray[np.int64]:
        """Per node, the number of tests above it."""
        return np.repeat(np.arange(len(self.level_start) - 1), np.diff(self.level_start))

    @cached_property
    def tree_of_node(self) -> NDArray[np.int64]:
        """Per node, the number of its tree."""
        tree = np.arange(self.n_nodes)
        for start, stop in zip(self.level_start[1:-1], self.level_start[2:], strict=True):
            tree[start:stop] = tree[self.parent[start:stop]]
        return tree

    @cached_property
    def n_leaves_below(self) -> NDArray[np.int64]:
        """Per node, the number of leaves in its subtree; 1 for a leaf."""
        below: NDArray[np.int64] = self.sums_of_leaves(np.ones((len(self.leaves), 1), dtype=np.int64))[:, 0]
        return below

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """The packed nodes that the kernels walk. A leaf leads to itself."""
        is_leaf = self.attribute == LEAF
        base = np.where(is_leaf, np.arange(self.n_nodes), self.first_child)
        attribute = np.where(is_leaf, 0, self.attribute)
        multiway = ~is_leaf & (self.cut < 0)
        threshold = np.where(self.cut >= 0, self.cut, NO_THRESHOLD)
        fields = ((base, 0), (attribute, ATTRIBUTE_SHIFT), (multiway, MULTIWAY_SHIFT), (threshold, THRESHOLD_SHIFT))
        words = np.zeros(self.n_nodes, dtype=np.uint64)
        for field, shift in fields:
            words |= field.astype(np.uint64) << np.uint64(shift)
        return words

    def sums_of_leaves(self, leaf_counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return class counts for every node: a leaf's own, and for an inner node the sum over its leaves."""
        counts = np.zeros((self.n_nodes, leaf_counts.shape[1]), dtype=np.int64)
        counts[self.leaves] = leaf_counts
        for level in range(self.depth - 1, -1, -1):
            start, middle, stop = self.level_start[level : level + 3]
            inner = start + np.flatnonzero(self.n_children[start:middle])
            # The children of a level's inner nodes make up the next level, without gaps.
            counts[inner] = np.add.reduceat(counts[middle:stop], self.first_child[inner] - middle, axis=0)
        return counts


def with_missing_branches(forest: Forest, attributes: Sequence[Attribute]) -> tuple[Forest, NDArray[np.int64]]:
    """Return the forest with a way for every missing value, and for each of its nodes the node that it stands for.

    Where an attribute is never missing, no tree has a branch for missing values. For rows that lack the value all the
    same, a new leaf stands for the node that asks: as one more child where each code has its own, and where the first
    cut of a path through the attribute is, behind a new cut that only a missing value exceeds.
    """
    never_missing = np.array([*(a.never_missing for a in attributes), False])  # the last entry is LEAF's
    if not never_missing[forest.attribute].any():
        return forest, np.arange(forest.n_nodes)
    last_cell = np.array([*(a.n_values - 1 for a in attributes), -1])
    guarded = never_missing[forest.attribute] & (forest.cut >= 0)
    if guarded.any():
        guarded &= ~_tested_above(forest)
    node, is_new_leaf, is_guard = np.arange(forest.n_trees), np.zeros(forest.n_trees, bool), guarded[: forest.n_trees]
    stands_for, tested, cut = [], [], []
    while len(node):
        stands_for.append(node)
        tested.append(np.where(is_new_leaf, LEAF, forest.attribute[node]))
        cut.append(np.where(is_new_leaf, -1, np.where(is_guard, last_cell[forest.attribute[node]], forest.cut[node])))
        # A guard has the node itself and a new leaf below it; a child per code comes with a new leaf at the end.
        n_old = np.where(is_new_leaf, 0, np.where(is_guard, 1, forest.n_children[node]))
        adds = is_guard | (~is_new_leaf & never_missing[forest.attribute[node]] & (forest.cut[node] < 0))
        n_all = n_old + adds
        parent = np.repeat(np.arange(len(node)), n_all)
        rank = np.arange(len(parent)) - np.repeat(np.cumsum(n_all) - n_all, n_all)
        below_guard = is_guard[parent]
        is_new_leaf = rank == n_old[parent]
        node = np.where(is_new_leaf | below_guard, node[parent], forest.first_child[node[parent]] + rank)
        is_guard = ~is_new_leaf & ~below_guard & guarded[node]
    attribute, cuts = (np.concatenate(each).astype(np.int32) for each in (tested, cut))
    open_attributes = [replace(a, never_missing=False) for a in attributes]
    return Forest.from_nodes(attribute, cuts, forest.n_trees, open_attributes), np.concatenate(stands_for)


def _tested_above(forest: Forest) -> NDArray[np.bool_]:
    """Return which nodes test an attribute that a node above them has tested."""
    found = np.zeros(forest.n_nodes, dtype=bool)
    ancestor = forest.parent.copy()
    while (ancestor >= 0).any():
        found |= (ancestor >= 0) & (forest.attribute[ancestor] == forest.attribute)
        ancestor = np.where(ancestor >= 0, forest.parent[ancestor], -1)
    return found


def _check_nodes(
    attribute: NDArray[np.int32], cut: NDArray[np.int32], n_trees: int, attributes: Sequence[Attribute]
) -> None:
    n_nodes = len(attribute)
    if not (1 <= n_trees <= n_nodes < MAX_NODES and len(cut) == n_nodes):
        raise ModelFileError("the trees' arrays have different lengths or hold no root; the file is damaged")
    if attribute.min() < LEAF or attribute.max() >= len(attributes):
        raise ModelFileError("a tree tests an attribute that the schema lacks; the file is damaged")
    # The number of cells of a numeric attribute, 0 for a categorical one and, in the last entry, for LEAF.
    cells = np.array([*(a.n_values if isinstance(a, Numeric) else 0 for a in attributes), 0])[attribute]
    if np.any(cut < -1) or np.any(cut >= cells):
        raise ModelFileError("a tree's cut lies outside its attribute's cells; the file is damaged")


def _level_starts(n_children: NDArray[np.int64], n_trees: int) -> NDArray[np.int64]:
    """Return the first node of each level. Nodes that are left over or missing are an error."""
    starts = [0, n_trees]
    total = np.concatenate([[0], np.cumsum(n_children)])
    while starts[-1] <= len(n_children) and starts[-1] > starts[-2]:
        starts.append(starts[-1] + int(total[starts[-1]] - total[starts[-2]]))
    if starts[-1] != len(n_children):
        raise ModelFileError("the trees have too many or too few nodes; the file is damaged")
    return np.array(starts[:-1], dtype=np.int64)
