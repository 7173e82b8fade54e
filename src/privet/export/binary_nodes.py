"""A forest as the binary nodes of ONNX's TreeEnsemble operator.

A node asks whether its feature is below a split; false, and a missing number, go to the second branch. A node with one
child per code becomes a balanced search among its children, so that 65,000 categories take 16 steps and not 65,000;
among the cells of a number it goes by their borders, and a missing one, which is below none, comes out last.
Every tree's output is the number of the leaf that is reached.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.export.leaf_sums import Borders
from privet.tree.forest import LEAF, Forest

# The operator's numbers for "<=" and "<".
AT_MOST, BELOW = 0, 1


@dataclass(frozen=True, eq=False)
class BinaryNodes:
    """Arrays with one entry per binary node; a branch leads to a leaf's number or to another binary node.

    ``root`` has one entry per tree, ``tree_of_leaf`` one per leaf.
    """

    feature: NDArray[np.int64]
    mode: NDArray[np.uint8]
    split: NDArray[np.float64]
    branch_true: NDArray[np.int64]
    branch_false: NDArray[np.int64]
    true_is_leaf: NDArray[np.bool_]
    false_is_leaf: NDArray[np.bool_]
    root: NDArray[np.int64]
    tree_of_leaf: NDArray[np.int64]

    @classmethod
    def of(cls, forest: Forest, borders: Sequence[Borders]) -> "BinaryNodes":
        """Return the binary nodes of ``forest``, whose numbers have these borders between their cells."""
        is_leaf = forest.attribute == LEAF
        # The operator has no tree that is a leaf alone; such a root becomes a test whose branches both end there.
        lone = np.flatnonzero(is_leaf[: forest.n_trees])
        size = np.where(is_leaf, 0, forest.n_children - 1)
        size[lone] = 1
        start = np.cumsum(size) - size
        # Where a branch to a node leads: to the first of its binary nodes, or to its number among the leaves.
        target = np.where(is_leaf, np.cumsum(is_leaf) - 1, start)
        nodes = _Empty(int(size.sum()))
        for n_children in np.unique(forest.n_children[~is_leaf]):
            own = np.flatnonzero(forest.n_children == n_children)
            nodes.fill(own, _Search.among(int(n_children)), forest, start, target, is_leaf)
        _set_thresholds(nodes, forest, start, borders)
        nodes.fill_lone(start[lone], target[lone])
        tree = forest.tree_of_node[forest.leaves]
        return cls(**vars(nodes), root=start[: forest.n_trees], tree_of_leaf=tree)


@dataclass(frozen=True, eq=False)
class _Search:
    """A balanced search among children: is the code below the split? A branch is a step, or ``~child``."""

    split: NDArray[np.int64]
    below: NDArray[np.int64]
    above: NDArray[np.int64]

    @classmethod
    def among(cls, n_children: int) -> "_Search":
        steps: list[tuple[int, int, int]] = []

        def add(low: int, high: int) -> int:
            if high - low == 1:
                return ~low
            step, middle = len(steps), (low + high) // 2
            steps.append((middle, 0, 0))
            steps[step] = (middle, add(low, middle), add(middle, high))
            return step

        add(0, n_children)
        split, below, above = np.array(steps, dtype=np.int64).T
        return cls(split, below, above)


class _Empty:
    """Arrays that are about to be filled."""

    def __init__(self, n_nodes: int) -> None:
        self.feature = np.zeros(n_nodes, dtype=np.int64)
        self.mode = np.full(n_nodes, BELOW, dtype=np.uint8)
        self.split = np.zeros(n_nodes)
        self.branch_true = np.zeros(n_nodes, dtype=np.int64)
        self.branch_false = np.zeros(n_nodes, dtype=np.int64)
        self.true_is_leaf = np.ones(n_nodes, dtype=np.bool_)
        self.false_is_leaf = np.ones(n_nodes, dtype=np.bool_)

    def fill(
        self,
        own: NDArray[np.int64],
        search: _Search,
        forest: Forest,
        start: NDArray[np.int64],
        target: NDArray[np.int64],
        is_leaf: NDArray[np.bool_],
    ) -> None:
        """Write the searches of the nodes ``own``, which have equally many children."""
        at = start[own, None] + np.arange(len(search.split))
        self.feature[at] = forest.attribute[own, None]
        self.split[at] = search.split
        for branch, to_leaf, step in (
            (self.branch_true, self.true_is_leaf, search.below),
            (self.branch_false, self.false_is_leaf, search.above),
        ):
            child = forest.first_child[own, None] + np.where(step < 0, ~step, 0)
            branch[at] = np.where(step < 0, target[child], start[own, None] + step)
            to_leaf[at] = (step < 0) & is_leaf[child]

    def fill_lone(self, at: NDArray[np.int64], leaf: NDArray[np.int64]) -> None:
        """Write the tests of trees that are a leaf alone."""
        self.branch_true[at] = leaf
        self.branch_false[at] = leaf


def _set_thresholds(nodes: _Empty, forest: Forest, start: NDArray[np.int64], borders: Sequence[Borders]) -> None:
    """Put exact cell borders in the place of numeric nodes' codes: a code is below k where x is below border k - 1."""
    cut = np.flatnonzero(forest.cut >= 0)
    nodes.split[start[cut]] = forest.cut[cut] + 1
    is_numeric = np.array([own is not None for own in borders])
    numeric = np.flatnonzero(is_numeric[nodes.feature] & (nodes.split > 0))  # lone leaves ask for nothing
    ends = [np.empty(0) if own is None else np.append(own, np.inf) for own in borders]
    first = np.cumsum([0, *map(len, ends)])
    split = np.concatenate(ends)[first[nodes.feature[numeric]] + nodes.split[numeric].astype(np.int64) - 1]
    nodes.split[numeric] = split
    # Every number is at most infinite, and only a missing one fails the test.
    nodes.mode[numeric] = np.where(np.isinf(split), AT_MOST, BELOW)
