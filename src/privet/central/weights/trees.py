"""Small trees: each asks for one to four attributes, and has a leaf for every combination of their cells or knots.

A row falls into one cell of each tree. Of a category the cell is a leaf itself. A number is soft: a leaf is a knot, a
value on its range, and a cell between two knots belongs to both, by shares that are linear in between. So the shares of
a cell are not negative, add up to 1, and are multiples of a power of two.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from privet.errors import ModelFileError
from privet.schema import Attribute, Numeric, Schema

Floats = NDArray[np.float64]
Missing: TypeAlias = Literal["own", "middle", "never"]
# Of each number that is soft, the codes at which its knots lie, and its grid.
Knots: TypeAlias = Mapping[int, tuple[tuple[int, ...], int]]
# An attribute with more values than this has neighbouring ones, in the order that the schema declares, share a cell.
MOST_CELLS = 255
# Rows crowd into some leaves: beyond this many leaves, more of them do not mean fewer rows in each.
CROWDED = 8
# A leaf has a number's codes between two knots by shares in units of one over this.
GRID = 32
# A bin of a number's histogram has so many codes.
CODES_A_BIN = 4
# Cells between two knots in a tree of the second stage, at most, and cells of such a tree.
COARSE_GRID, _MOST_COARSE_CELLS = 8, 2**12
MOST_ATTRIBUTES = 4


def cell_ends(n_values: int) -> list[int]:
    """Return the code at which each of an attribute's cells begins, and where the last one ends."""
    n_cells = min(n_values, MOST_CELLS)
    return [-(-i * n_values // n_cells) for i in range(n_cells + 1)]


@dataclass(frozen=True)
class Axis:
    """How a tree asks for one attribute.

    Attributes
    ----------
    attribute : int
        Which of the schema's attributes.
    n_values : int
        How many codes stand for values; the next code is that of a missing value.
    missing : "own", "middle" or "never"
        Whether missing values have a leaf of their own, the last one, lie in the middle of all values, or never occur.
    knots : tuple of int
        The codes of a number at which its leaves lie; without any, every cell is a leaf.
    grid : int
        In which parts the codes between two knots belong to both; with 1 to the lower one alone.
    merged : bool
        Whether codes that belong to the same leaves by the same shares have one cell, and not each its own.
    """

    attribute: int
    n_values: int
    missing: Missing
    knots: tuple[int, ...] = ()
    grid: int = 1
    merged: bool = False

    @property
    def own_missing(self) -> bool:
        """Whether missing values have a leaf of their own."""
        return self.missing == "own"

    @property
    def n_known(self) -> int:
        """The number of leaves of values."""
        return len(self.knots) or min(self.n_values, MOST_CELLS)

    @cached_property
    def n_leaves(self) -> int:
        """The number of leaves, that of missing values included if there is one."""
        return self.n_known + self.own_missing

    @property
    def n_known_cells(self) -> int:
        """The number of cells of values."""
        if not self.knots:
            return self.n_known
        return (self.n_known - 1) * self.grid + 1 if self.merged else self.n_values

    @property
    def n_cells(self) -> int:
        """The number of cells, that of missing values included if there is one."""
        return self.n_known_cells + self.own_missing

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where each code lies among the knots, in units of one over the grid from the first one."""
        codes, knots = np.arange(self.n_values), np.array(self.knots)
        below = np.clip(np.searchsorted(knots, codes, side="right") - 1, 0, len(knots) - 1)
        above = np.minimum(below + 1, len(knots) - 1)
        length = np.maximum(knots[above] - knots[below], 1)
        far = np.clip(codes - knots[below], 0, knots[above] - knots[below])
        # Rounded to the nearest part, in whole numbers; codes that are not shared lie at the knot below.
        shared = self.grid > 1 or self.merged
        return below * self.grid + (_rounded(far * self.grid, length) if shared else far // length)

    @cached_property
    def cell_of(self) -> NDArray[np.int64]:
        """The cell of each code; that of missing values comes last unless they never occur."""
        codes, n_cells = np.arange(self.n_values), self.n_known_cells
        cells = codes * n_cells // self.n_values if not self.merged else self.places
        if self.missing == "never":
            return cells
        return np.append(cells, n_cells if self.own_missing else n_cells // 2)

    @cached_property
    def bin_of_cell(self) -> NDArray[np.int64]:
        """The bin of a histogram that each cell of the first stage lies in: a leaf, or four codes of a soft number."""
        known = np.arange(self.n_known_cells)
        bins = (known + CODES_A_BIN // 2) // CODES_A_BIN if self.knots else known
        return np.append(bins, bins[-1] + 1) if self.own_missing else bins

    @property
    def n_bins(self) -> int:
        """The number of bins of the attribute's histogram."""
        return int(self.bin_of_cell[-1]) + 1

    @cached_property
    def first_codes(self) -> NDArray[np.int64]:
        """A code of each cell, that of missing values last. Cells are those of the first stage, which all have one."""
        return np.unique(self.cell_of, return_index=True)[1]

    @cached_property
    def place_of_cell(self) -> NDArray[np.int64]:
        """Where each cell lies among the leaves, in units of one over the grid."""
        known = np.arange(self.n_known_cells) if self.merged or not self.knots else self.places
        return np.append(known, self.n_known * self.grid) if self.own_missing else known

    @cached_property
    def nearest(self) -> NDArray[np.int64]:
        """The leaf that has most of each cell."""
        return _rounded(self.place_of_cell, self.grid) if self.grid > 1 else self.place_of_cell

    @cached_property
    def shares(self) -> Any:
        """What each leaf has of a cell, in units of one over the grid: cells x leaves."""
        cells = np.arange(self.n_cells)
        leaf, far = np.divmod(self.place_of_cell, self.grid)
        shares = np.zeros((self.n_cells, self.n_leaves), dtype=np.int64)
        shares[cells, leaf] = self.grid - far
        shares[cells[far > 0], leaf[far > 0] + 1] = far[far > 0]
        return sparse.csr_array(shares)


def _rounded(numerator: NDArray[np.int64], denominator: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """Return the nearest whole numbers, halves upwards."""
    return (2 * numerator + denominator) // (2 * denominator)


@dataclass(frozen=True)
class Trees:
    """How each tree asks for its attributes. The last ``n_later`` trees are of the second stage."""

    axes: tuple[tuple[Axis, ...], ...]
    n_later: int = 0

    @classmethod
    def of(cls, attributes: Sequence[Sequence[int]], schema: Schema, knots: Knots | None = None) -> "Trees":
        """Return trees of the first stage; ``knots`` are those of numbers that are soft."""
        return cls(tuple(tuple(_fine_axis(schema, a, knots or {}) for a in own) for own in attributes))

    @classmethod
    def later(cls, attributes: Sequence[Sequence[int]], schema: Schema, knots: Knots) -> "Trees":
        """Return trees of the second stage: numbers have few knots, and missing ones lie in the middle."""
        return cls(tuple(coarse_axes(own, schema, knots) for own in attributes), len(attributes))

    def with_later(self, later: "Trees") -> "Trees":
        """Return the trees of both stages."""
        return Trees(self.axes + later.axes, later.n_trees)

    def with_missing_leaves(self) -> "Trees":
        """Return the trees with a leaf for missing values wherever they never occurred."""

        def opened(axis: Axis) -> Axis:
            return replace(axis, missing="own") if axis.missing == "never" else axis

        return replace(self, axes=tuple(tuple(map(opened, own)) for own in self.axes))

    @property
    def first(self) -> "Trees":
        """The trees of the first stage."""
        return self if not self.n_later else Trees(self.axes[: -self.n_later])

    @property
    def attributes(self) -> tuple[tuple[int, ...], ...]:
        """Which attributes each tree asks for."""
        return tuple(tuple(axis.attribute for axis in own) for own in self.axes)

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return len(self.axes)

    @property
    def kept(self) -> list[int]:
        """The attributes that have a tree of the first stage, tree after tree."""
        return [a for own in self.first.attributes for a in own]

    def is_later(self, tree: int) -> bool:
        """Return whether a tree is of the second stage."""
        return tree >= self.n_trees - self.n_later

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of leaves of each tree."""
        return np.array([math.prod(a.n_leaves for a in own) for own in self.axes], dtype=np.int64)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the leaves of each tree start among all leaves."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def n_leaves(self) -> int:
        """The number of leaves of all trees."""
        return int(self.sizes.sum())

    @cached_property
    def cell_sizes(self) -> NDArray[np.int64]:
        """The number of cells of each tree."""
        return np.array([math.prod(a.n_cells for a in own) for own in self.axes], dtype=np.int64)

    @cached_property
    def cell_starts(self) -> NDArray[np.int64]:
        """Where the cells of each tree start among all cells."""
        return np.cumsum(self.cell_sizes) - self.cell_sizes

    @property
    def is_soft(self) -> bool:
        """Whether cells and leaves are not the same."""
        return any(axis.knots for own in self.axes for axis in own)

    @cached_property
    def grids(self) -> NDArray[np.int64]:
        """Of each tree, what `whole_shares` of a cell add up to: a power of two."""
        return np.array([math.prod(a.grid for a in own) for own in self.axes], dtype=np.int64)

    def whole_shares(self, tree: int) -> Any:
        """Return what each leaf has of a cell, in whole numbers that add up to the tree's grid: cells x leaves."""
        return self._whole_shares[tree]

    @cached_property
    def _whole_shares(self) -> list[Any]:
        return [
            reduce(lambda left, right: sparse.kron(left, right, format="csr"), (a.shares for a in own))
            for own in self.axes
        ]

    @cached_property
    def shares(self) -> Any:
        """What each leaf has of a cell: all cells x all leaves."""
        own = [self.whole_shares(t) / float(grid) for t, grid in enumerate(self.grids)]
        shares = sparse.block_diag(own, format="csr") if own else sparse.csr_array((0, 0))
        shares.sort_indices()
        return shares

    @cached_property
    def _shares_by_leaf(self) -> Any:
        return self.shares.T.tocsr()

    def of_cells(self, weights: Floats) -> Floats:
        """Return what a row in each cell has of the leaves' ``weights``: cells x columns."""
        return self.shares @ weights if self.is_soft else weights

    def of_leaves(self, sums: Floats) -> Floats:
        """Return what the leaves have of ``sums`` over cells: leaves x columns."""
        return self._shares_by_leaf @ sums if self.is_soft else sums

    @property
    def narrowest(self) -> np.dtype[Any]:
        """The narrowest type that holds the number of a cell."""
        return np.min_scalar_type(int(self.cell_sizes.max(initial=1)) - 1)

    def cells(self, codes: NDArray[np.integer]) -> NDArray[np.unsignedinteger[Any]]:
        """Return the cell that each row falls into in each tree, counted within the tree."""
        cells = np.empty((len(codes), self.n_trees), dtype=self.narrowest)
        for t, own in enumerate(self.axes):
            cells[:, t] = self._cell(codes, own)
        return cells

    def _cell(self, codes: NDArray[np.integer], own: tuple[Axis, ...]) -> NDArray[np.integer]:
        if len(own) == 1 and own[0].n_cells == own[0].n_values + own[0].own_missing:
            return codes[:, own[0].attribute]
        cell = np.zeros(len(codes), dtype=np.int64)
        for axis in own:
            cell = cell * axis.n_cells + axis.cell_of.take(codes[:, axis.attribute])
        return cell

    def known(self, tree: int) -> NDArray[np.bool_]:
        """Return which leaves of a tree have no missing value."""
        places = self.leaf_places(tree)
        known = [place < axis.n_known for place, axis in zip(places, self.axes[tree], strict=True)]
        return np.array(np.logical_and.reduce(known), dtype=np.bool_)

    def leaf_places(self, tree: int) -> list[NDArray[np.int64]]:
        """Return, for each attribute that a tree asks for, which of its leaves each leaf of the tree has."""
        return list(np.unravel_index(np.arange(self.sizes[tree]), [a.n_leaves for a in self.axes[tree]]))

    def cell_places(self, tree: int) -> list[NDArray[np.int64]]:
        """Return, for each attribute that a tree asks for, which of its cells each cell of the tree has."""
        return list(np.unravel_index(np.arange(self.cell_sizes[tree]), [a.n_cells for a in self.axes[tree]]))


def _fine_axis(schema: Schema, attribute: int, knots: Knots) -> Axis:
    own = schema.attributes[attribute]
    codes, grid = knots.get(attribute, ((), 1))
    return Axis(attribute, own.n_values, "never" if own.never_missing else "own", codes, grid)


def coarse_axes(attributes: Sequence[int], schema: Schema, knots: Knots) -> tuple[Axis, ...]:
    """Return how a tree of the second stage asks for these attributes; the more there are, the wider the grid."""
    grid = COARSE_GRID
    while True:
        axes = tuple(
            Axis(a, schema.attributes[a].n_values, "middle", knots[a][0], grid, merged=True)
            if a in knots
            else _fine_axis(schema, a, {})
            for a in attributes
        )
        if grid == 1 or math.prod(axis.n_cells for axis in axes) <= _MOST_COARSE_CELLS:
            return axes
        grid //= 2


def knots_to_json(trees: Trees, n_attributes: int) -> dict[str, Any]:
    """Return what the file holds of soft trees: knots, the grid of the first stage, and which trees are later ones."""
    first, last = trees.axes[: trees.n_trees - trees.n_later], trees.axes[trees.n_trees - trees.n_later :]
    grids = {axis.grid for own in first for axis in own if axis.knots}
    listed = [{axis.attribute: list(axis.knots) for own in axes for axis in own} for axes in (first, last)]
    knots, later = ([own.get(a, []) for a in range(n_attributes)] for own in listed)
    return {"knots": knots, "grid": max(grids, default=1), "later": trees.n_later, "later_knots": later}


def checked_trees(structure: Mapping[str, Any], schema: Schema, *, most_leaves: int) -> Trees:
    """Read how trees ask for attributes, checked in every part.

    A tree of the first stage asks for one to three, and no attribute is in two of them; a tree of the second stage asks
    for two to four of theirs. ``structure`` has the attributes of each of the ``trees``, and in a file with soft trees
    what `knots_to_json` returns. The first stage has at most ``most_leaves``, and so has each tree of the second.
    """
    data, n_later = structure["trees"], structure.get("later", 0)
    none: list[list[int]] = [[] for _ in schema.attributes]
    grid, listed = structure.get("grid", 1), [structure.get(name, none) for name in ("knots", "later_knots")]
    if not isinstance(data, list) or not all(isinstance(own, list) for own in data):
        raise ModelFileError("the trees are not what privet writes there; the file is damaged")
    if type(n_later) is not int or not 0 <= n_later <= max(0, len(data) - 1):
        raise ModelFileError("the number of trees of the second stage is not that of a fit; the file is damaged")
    first, later = data[: len(data) - n_later], data[len(data) - n_later :]
    if not all(1 <= len(own) <= 3 for own in first) or not all(2 <= len(own) <= MOST_ATTRIBUTES for own in later):
        raise ModelFileError("the trees are not what privet writes there; the file is damaged")
    kept = [a for own in first for a in own]
    if not _are_attributes(kept, schema) or not all(_are_attributes(own, schema) for own in later):
        raise ModelFileError("the trees ask for attributes that are not there, or twice for one; the file is damaged")
    if not {a for own in later for a in own} <= set(kept):
        raise ModelFileError("the second stage asks for attributes that the first leaves out; the file is damaged")
    asked = set(kept), {a for own in later for a in own}
    if type(grid) is not int or grid not in (1, GRID) or not all(map(_are_knots, listed, asked, [schema] * 2)):
        raise ModelFileError("the knots are not codes of numbers that trees ask for; the file is damaged")
    knots, later_knots = ({a: (tuple(codes), grid) for a, codes in enumerate(own) if codes} for own in listed)
    stages = Trees.of(first, schema, knots), Trees.later(later, schema, later_knots)
    if stages[0].n_leaves > most_leaves or int(stages[1].sizes.max(initial=0)) > most_leaves:
        raise ModelFileError("the trees have more leaves than privet fits; the file is damaged")
    return stages[0].with_later(stages[1])


def _are_attributes(own: list[object], schema: Schema) -> bool:
    return all(type(a) is int and 0 <= a < len(schema.attributes) for a in own) and len(set(own)) == len(own)


def _are_knots(data: object, asked: set[int], schema: Schema) -> bool:
    """Return whether these are knots, attribute by attribute: rising codes of numbers that trees ask for."""
    return (
        isinstance(data, list)
        and len(data) == len(schema.attributes)
        and all(
            isinstance(codes, list) and (not codes or (a in asked and _are_codes(codes, schema.attributes[a])))
            for a, codes in enumerate(data)
        )
    )


def _are_codes(codes: list[object], attribute: Attribute) -> bool:
    if not isinstance(attribute, Numeric) or not all(type(code) is int for code in codes):
        return False
    return all(low < high for low, high in pairwise([-1, *codes, attribute.n_values]))  # type: ignore[operator]
