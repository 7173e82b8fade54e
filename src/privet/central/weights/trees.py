"""Small trees: each asks for the cells of one to three attributes, and has a leaf for every combination of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import ModelFileError
from privet.schema import Schema

# An attribute with more values than this has neighbouring ones, in the order that the schema declares, share a cell.
MOST_CELLS = 255


def cell_ends(n_values: int) -> list[int]:
    """Return the code at which each of an attribute's cells begins, and where the last one ends."""
    n_cells = min(n_values, MOST_CELLS)
    return [-(-i * n_values // n_cells) for i in range(n_cells + 1)]


@dataclass(frozen=True)
class Trees:
    """Which attributes each tree asks for, and how many values each attribute has.

    Missing values have a cell of their own, the last, unless the attribute is never missing.
    """

    attributes: tuple[tuple[int, ...], ...]
    n_values: tuple[int, ...]
    never_missing: tuple[bool, ...]

    @classmethod
    def of(cls, attributes: Sequence[Sequence[int]], schema: Schema) -> "Trees":
        """Return trees over attributes of ``schema``."""
        return cls(
            tuple(map(tuple, attributes)),
            tuple(a.n_values for a in schema.attributes),
            tuple(a.never_missing for a in schema.attributes),
        )

    def with_missing_cells(self) -> "Trees":
        """Return the trees with a cell for missing values in every attribute."""
        return replace(self, never_missing=(False,) * len(self.n_values))

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return len(self.attributes)

    @property
    def kept(self) -> list[int]:
        """The attributes that have a tree, tree after tree."""
        return [a for own in self.attributes for a in own]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of leaves of each tree."""
        return np.array([np.prod([self.n_cells(a) for a in own]) for own in self.attributes], dtype=np.int64)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the leaves of each tree start among all leaves."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def n_leaves(self) -> int:
        """The number of leaves of all trees."""
        return int(self.sizes.sum())

    def n_cells(self, attribute: int) -> int:
        """Return how many cells an attribute has, one for missing values included if there can be."""
        return min(self.n_values[attribute], MOST_CELLS) + (not self.never_missing[attribute])

    def cell_of(self, attribute: int) -> NDArray[np.int64]:
        """Return the cell of each of an attribute's codes."""
        n_values = self.n_values[attribute]
        n_cells = min(n_values, MOST_CELLS)
        known = np.arange(n_values) * n_cells // n_values
        return known if self.never_missing[attribute] else np.append(known, n_cells)

    def leaves(self, codes: NDArray[np.integer]) -> NDArray[np.unsignedinteger[Any]]:
        """Return the leaf that each row reaches in each tree, counted within the tree."""
        narrowest = np.min_scalar_type(int(self.sizes.max(initial=1)) - 1)
        leaves = np.empty((len(codes), self.n_trees), dtype=narrowest)
        for t, own in enumerate(self.attributes):
            leaves[:, t] = self._leaf(codes, own)
        return leaves

    def _leaf(self, codes: NDArray[np.integer], own: tuple[int, ...]) -> NDArray[np.integer]:
        if len(own) == 1 and self.n_values[own[0]] <= MOST_CELLS:
            return codes[:, own[0]]
        leaf = np.zeros(len(codes), dtype=np.int64)
        for a in own:
            leaf = leaf * self.n_cells(a) + self.cell_of(a).take(codes[:, a])
        return leaf

    def titles(self, names: Sequence[str]) -> list[str]:
        """Return what each tree is called: by the names of its attributes."""
        return [" x ".join(names[a] for a in own) for own in self.attributes]

    def known(self, tree: int) -> NDArray[np.bool_]:
        """Return which leaves of a tree have no missing value."""
        known = np.ones(int(self.sizes[tree]), dtype=bool)
        for cell, a in zip(self.cells(tree), self.attributes[tree], strict=True):
            known &= cell < min(self.n_values[a], MOST_CELLS)
        return known

    def cells(self, tree: int) -> list[NDArray[np.int64]]:
        """Return, for each attribute that a tree asks for, the cell of each of its leaves."""
        shape = [self.n_cells(a) for a in self.attributes[tree]]
        return list(np.unravel_index(np.arange(self.sizes[tree]), shape))


def checked_trees(data: object, schema: Schema, *, most_leaves: int) -> Trees:
    """Read which attributes each tree asks for: one to three, no attribute twice, not more leaves than privet fits."""
    if not isinstance(data, list) or not all(isinstance(own, list) and 1 <= len(own) <= 3 for own in data):
        raise ModelFileError("the trees are not what privet writes there; the file is damaged")
    flat = [a for own in data for a in own]
    if any(type(a) is not int or not 0 <= a < len(schema.attributes) for a in flat) or len(set(flat)) < len(flat):
        raise ModelFileError("the trees ask for attributes that are not there, or twice for one; the file is damaged")
    trees = Trees.of(data, schema)
    if len(data) and (int(trees.sizes.max()) > 2**16 or trees.n_leaves > most_leaves):
        raise ModelFileError("the trees have more leaves than privet fits; the file is damaged")
    return trees
