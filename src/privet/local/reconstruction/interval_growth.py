"""Growing one tree on the cells of disturbed rows, level by level, and pruning it.

A node's counts are a sum over rows here as everywhere; what is special is that the cells of a row may be found again at
a node, from the answers of that node's rows alone (Agrawal and Srikant 2000, section 4.2, "Local").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.counting.rows import MemoryRows
from privet.counting.tables import TableLayout, exact_tables
from privet.local.channels.cells import Ints
from privet.local.reconstruction import interval_kernels
from privet.local.reconstruction.hidden_columns import HiddenColumn
from privet.schema import Attribute, Numeric, Schema
from privet.tree import kernels
from privet.tree.forest import LEAF, Forest

# In bits: a leaf costs one and its errors; an inner node one, one for its test, and what its children cost.
LEAF_COST, SPLIT_COST = 1, 2
# What rounding makes of no gain at all.
_NO_GAIN = 1e-12


@dataclass(frozen=True)
class GrowthLimits:
    """When a node stays a leaf: fewer rows, a larger share of one class, more tests above it, or a smaller gain.

    ``min_reconstructed`` is the least number of rows whose cells are found again; None for never.
    """

    min_rows: int
    purity: float
    height: int
    min_gain: float
    min_reconstructed: int | None = None


@dataclass
class IntervalGrowth:
    """A tree while it grows: all levels so far, the last one still open.

    ``untested[i, a]`` says whether the path to the i-th node of the last level has not tested attribute a.
    """

    schema: Schema
    rows: MemoryRows
    hidden: Sequence[HiddenColumn]
    limits: GrowthLimits
    attribute: list[Ints]
    cut: list[Ints]
    untested: NDArray[np.bool_]

    @classmethod
    def root(
        cls, schema: Schema, rows: MemoryRows, hidden: Sequence[HiddenColumn], limits: GrowthLimits
    ) -> "IntervalGrowth":
        """Return the tree that is a root alone."""
        leaf = np.full(1, LEAF)
        return cls(schema, rows, hidden, limits, [leaf], [leaf], np.ones((1, len(schema.attributes)), dtype=bool))

    @property
    def forest(self) -> Forest:
        """The tree as it is, the last level being leaves."""
        attribute, cut = (np.concatenate(parts).astype(np.int32) for parts in (self.attribute, self.cut))
        return Forest.from_nodes(attribute, cut, 1, self.schema.attributes)

    def grow(self) -> Forest:
        """Grow until no node of the last level is worth a split."""
        counts = np.bincount(self.rows.labels, minlength=len(self.schema.classes))[None, :]
        for level in range(self.limits.height):
            nodes = np.flatnonzero(self._worth_splitting(counts))
            if not len(nodes):
                break
            forest = self.forest
            if level > 0 and self.limits.min_reconstructed is not None:
                self._place_anew(forest, nodes[counts[nodes].sum(axis=1) >= self.limits.min_reconstructed])
            counts = self._split(forest, nodes, len(counts))
        return self.forest

    def _worth_splitting(self, counts: Ints) -> NDArray[np.bool_]:
        size = counts.sum(axis=1)
        worth: NDArray[np.bool_] = (size >= self.limits.min_rows) & (counts.max(axis=1) < self.limits.purity * size)
        return worth

    def _place_anew(self, forest: Forest, nodes: Ints) -> None:
        """Find the cells of these nodes' rows again, for attributes that their paths have not tested.

        Rows that were chosen by an answer no longer have noise in it that is independent of the value.
        """
        if not len(nodes):
            return
        n_classes = len(self.schema.classes)
        slot = np.full(forest.n_nodes, len(nodes))
        slot[int(forest.level_start[-2]) + nodes] = np.arange(len(nodes))
        group = slot[self._leaves(forest)] * n_classes + self.rows.labels
        for column in self.hidden:
            untested = np.append(self.untested[nodes, column.position], False)  # the last entry is for all other nodes
            if untested.any():
                asked = np.where(np.repeat(untested, n_classes), np.arange(len(untested) * n_classes), -1)
                column.place(asked[group], len(nodes) * n_classes, self.rows.codes)

    def _leaves(self, forest: Forest) -> NDArray[np.uint32]:
        codes = self.rows.codes
        leaves = np.empty(len(codes), dtype=np.uint32)
        kernels.route(
            forest.words, 0, forest.depth, forest.multiway, codes.reshape(-1), codes.shape[1], 0, len(codes), leaves
        )
        return leaves

    def _split(self, forest: Forest, nodes: Ints, n_open: int) -> Ints:
        """Split the last level's ``nodes`` where it gains enough; return the class counts of all children."""
        layout = TableLayout.of(self.schema)
        attribute, cut = np.full(n_open, LEAF), np.full(n_open, LEAF)
        children = [np.empty((0, layout.n_classes), dtype=np.int64)]
        first = int(forest.level_start[-2])
        for some, tables in exact_tables(forest, first + nodes, self.rows, layout):
            chosen, where = self._chosen(tables, layout)
            attribute[some - first], cut[some - first] = chosen, where
            children += [
                children_counts(layout.of_attribute(tables[i : i + 1], int(a))[0], int(at))
                for i, (a, at) in enumerate(zip(chosen, where, strict=True))
                if a != LEAF
            ]
        self._add_level(attribute, cut)
        return np.concatenate(children)

    def _chosen(self, tables: Ints, layout: TableLayout) -> tuple[Ints, Ints]:
        attribute, cut, purity = np.empty(len(tables), np.int64), np.empty(len(tables), np.int64), np.empty(len(tables))
        binary = np.array([isinstance(a, Numeric) for a in self.schema.attributes])
        offsets = layout.offsets.astype(np.int64)
        interval_kernels.best_splits(tables, offsets, layout.n_codes, binary, layout.n_classes, attribute, cut, purity)
        counts = layout.classes(tables).astype(np.float64)
        size = counts.sum(axis=1)
        gain = (purity - (counts**2).sum(axis=1) / size) / size
        enough = gain > max(self.limits.min_gain, _NO_GAIN)
        return np.where(enough, attribute, LEAF), np.where(enough, cut, LEAF)

    def _add_level(self, attribute: Ints, cut: Ints) -> None:
        self.attribute[-1], self.cut[-1] = attribute, cut
        parent = np.repeat(np.arange(len(attribute)), n_children(attribute, cut, self.schema.attributes))
        self.untested = self.untested[parent]
        self.untested[np.arange(len(parent)), attribute[parent]] = False
        leaf = np.full(len(parent), LEAF)
        self.attribute, self.cut = [*self.attribute, leaf], [*self.cut, leaf]


def n_children(attribute: Ints, cut: Ints, attributes: Sequence[Attribute]) -> Ints:
    """Return how many children each node has."""
    n_codes = np.array([*(a.n_codes for a in attributes), 0])
    return np.where(cut >= 0, 2, n_codes[attribute])


def children_counts(table: Ints, cut: int) -> NDArray[Any]:
    """Return the class counts of a node's children, given those of the codes of the attribute that it tests."""
    if cut < 0:
        return table
    return np.stack([table[: cut + 1].sum(axis=0), table[cut + 1 :].sum(axis=0)])


def nodes_to_cut(forest: Forest, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which nodes become leaves: where a leaf describes the rows in no more bits than the whole subtree.

    This is pruning by minimum description length (Mehta et al. 1995). ``counts`` has one line a node.
    """
    is_leaf: NDArray[np.bool_] = forest.attribute == LEAF
    cost = LEAF_COST + counts.sum(axis=1) - counts.max(axis=1)
    for level in range(forest.depth - 1, -1, -1):
        start, middle, stop = forest.level_start[level : level + 3]
        inner = start + np.flatnonzero(forest.n_children[start:middle])
        below = SPLIT_COST + np.add.reduceat(cost[middle:stop], forest.first_child[inner] - middle)
        is_leaf[inner] = cost[inner] <= below
        cost[inner] = np.minimum(cost[inner], below)
    return is_leaf
