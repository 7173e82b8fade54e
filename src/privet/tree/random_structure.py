"""Random trees, drawn without looking at a row (Jagannathan et al. 2012, BuildTreeStructure).

Every node draws an attribute uniformly from those that are left on its path. A categorical attribute branches on all
its values and is then used up. A numeric one branches at a random border between the cells of the node's public
interval, and can be used again while that interval has two cells. All trees grow at once, level by level, in arrays.

Fletcher and Islam (2015, DP-RF) differ in two ways. Binned numeric attributes branch on all their cells, like
categorical ones. And a node is split only while it is expected to hold a minimum number of rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.errors import StructureTooLarge
from privet.schema import Attribute, Categorical, Numeric, Schema
from privet.tree.forest import LEAF, Forest

# Class counts of all leaves; at 8 bytes each they take 128 megabytes, and growing them a few times that.
MAX_LEAF_COUNTS = 2**24


@dataclass
class _Frontier:
    """The nodes of the level that is being grown, and the codes of each attribute that can still occur there.

    These are the codes from ``low`` to ``high``. A used-up categorical attribute has ``low == high``.
    """

    low: NDArray[np.uint16]
    high: NDArray[np.uint16]

    @classmethod
    def roots(cls, attributes: Sequence[Attribute], n_trees: int, *, binned: bool) -> "_Frontier":
        # Where each code has a branch, so has the missing code if there can be one. A cut in two sends it with the
        # last cell.
        last = [(a.n_codes if binned or isinstance(a, Categorical) else a.n_values) - 1 for a in attributes]
        high = np.tile(np.array(last, dtype=np.uint16), (n_trees, 1))
        return cls(np.zeros_like(high), high)

    def draw_attributes(self, public_rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw uniformly among the attributes that can still be split; `LEAF` where there are none."""
        nodes = np.arange(len(self.low))
        drawn = public_rng.integers(0, self.low.shape[1], size=nodes.shape)
        rejected = np.flatnonzero(self.low[nodes, drawn] >= self.high[nodes, drawn])
        drawn[rejected] = self._draw_among_splittable(rejected, public_rng)
        return drawn

    def _draw_among_splittable(self, nodes: NDArray[np.int64], public_rng: np.random.Generator) -> NDArray[np.int64]:
        so_far = np.cumsum(self.low[nodes] < self.high[nodes], axis=1, dtype=np.uint16)
        n_splittable = so_far[:, -1]
        rank = public_rng.integers(0, np.maximum(n_splittable, 1))
        # The first attribute at which more than `rank` splittable ones have been seen.
        return np.where(n_splittable > 0, (so_far > rank[:, None]).argmax(axis=1), LEAF)

    def draw_cuts(
        self, attribute: NDArray[np.int64], is_numeric: NDArray[np.bool_], public_rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw a border inside the node's interval for a numeric attribute; -1 for others."""
        cut = np.full(len(attribute), -1, dtype=np.int64)
        nodes = np.flatnonzero(is_numeric[attribute])
        cut[nodes] = public_rng.integers(self.low[nodes, attribute[nodes]], self.high[nodes, attribute[nodes]])
        return cut

    def children(
        self, attribute: NDArray[np.int64], cut: NDArray[np.int64], n_children: NDArray[np.int64]
    ) -> "_Frontier":
        """Return the next level's frontier."""
        parent = np.repeat(np.arange(len(attribute)), n_children)
        low, high = self.low.take(parent, axis=0), self.high.take(parent, axis=0)
        child = np.arange(len(parent))
        tested, own_cut = attribute[parent], cut[parent]
        first_child = np.cumsum(n_children) - n_children
        is_second = child - first_child[parent] == 1
        multiway, left, right = own_cut < 0, (own_cut >= 0) & ~is_second, (own_cut >= 0) & is_second
        high[child[multiway], tested[multiway]] = low[child[multiway], tested[multiway]]
        high[child[left], tested[left]] = own_cut[left]
        low[child[right], tested[right]] = own_cut[right] + 1
        return _Frontier(low, high)


@dataclass(frozen=True)
class Support:
    """The number of rows that each node of a level is expected to hold, and the minimum for a split."""

    expected: NDArray[np.float64]
    least: float

    def children(self, schema: Schema, attribute: NDArray[np.int64], n_children: NDArray[np.int64]) -> "Support":
        """Return the next level's support: a node's rows spread evenly over the domain of its attribute."""
        domain = np.array([*(a.n_values for a in schema.attributes), 1])
        parent = np.repeat(np.arange(len(attribute)), n_children)
        return Support((self.expected / domain[attribute])[parent], self.least)


def random_structure(
    schema: Schema,
    *,
    n_trees: int,
    height: int,
    public_rng: np.random.Generator,
    binned: bool = False,
    roots: NDArray[np.int64] | None = None,
    support: Support | None = None,
    max_leaf_counts: int = MAX_LEAF_COUNTS,
) -> Forest:
    """Return ``n_trees`` random trees with leaves at depth ``height``, or higher up where attributes run out.

    Parameters
    ----------
    schema : Schema
        Public. The structure depends on it, on the arguments below, and on nothing else.
    n_trees, height : int
        Both at least 1.
    public_rng : numpy.random.Generator
        The generator that draws the public structure.
    binned : bool
        Branch on all cells of a numeric attribute.
    roots : int array, optional
        The attributes of the roots, instead of random ones.
    support : Support, optional
        A node that is expected to hold too few rows becomes a leaf.
    max_leaf_counts : int
        Refuse more leaf counts (leaves times classes) than this.
    """
    # The last entry is LEAF's.
    codes = [a.n_codes if binned else a.branches for a in schema.attributes]
    branches = np.array([*codes, 0], dtype=np.int64)
    is_cut = np.array([*(isinstance(a, Numeric) and not binned for a in schema.attributes), False])
    frontier = _Frontier.roots(schema.attributes, n_trees, binned=binned)
    attributes, cuts, n_leaves = [], [], 0
    for level in range(height):
        attribute = frontier.draw_attributes(public_rng) if roots is None or level else roots.copy()
        if support is not None:
            attribute[support.expected < support.least] = LEAF
        cut = frontier.draw_cuts(attribute, is_cut, public_rng)
        n_children = branches[attribute]
        n_leaves += int(np.count_nonzero(n_children == 0))
        if (n_leaves + int(n_children.sum())) * len(schema.classes) > max_leaf_counts:
            raise _too_large(schema, n_trees, height, max_leaf_counts)
        attributes.append(attribute)
        cuts.append(cut)
        if not n_children.any():
            break
        if level < height - 1:
            frontier = frontier.children(attribute, cut, n_children)
            support = None if support is None else support.children(schema, attribute, n_children)
    last_level = np.full(n_children.sum(), LEAF)
    attribute, cut = np.concatenate([*attributes, last_level]), np.concatenate([*cuts, last_level])
    return Forest.from_nodes(attribute.astype(np.int32), cut.astype(np.int32), int(n_trees), schema.attributes)


def _too_large(schema: Schema, n_trees: int, height: int, cap: int) -> StructureTooLarge:
    # The number of its branches is not shown: of an inferred domain it would be the number of distinct values.
    widest = max(schema.attributes, key=lambda attribute: attribute.branches)
    return StructureTooLarge(
        f"{n_trees} trees of height {height} over this schema need more than {cap:,} leaf class counts; lower height "
        f"or n_trees, or merge categories of {widest.name!r}, which branches most"
    )
