"""Trees split into what each attribute does alone and what several do together, from released numbers alone.

This is the functional analysis of variance of a tree, for attributes that have nothing to do with each other: the part
of some attributes is the mean over all others, less the parts of fewer of them. The parts of all trees that speak of
the same attributes are one effect. All effects and the start add up to the score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.trees import Axis, Trees

Floats = NDArray[np.float64]
# Of each attribute, the share of the rows at each of its codes, missing values last.
RowShares = Mapping[int, Floats]


def first_axes(trees: Trees) -> dict[int, Axis]:
    """Return how the first stage asks for each attribute."""
    return {axis.attribute: axis for own in trees.first.axes for axis in own}


def over_codes(axis: Axis, shares: Floats) -> Floats:
    """Return the shares of codes where the bins of a histogram have these ``shares``: codes of one bin are alike."""
    return _spread(axis, axis.bin_of_cell, shares)


def evenly(axis: Axis) -> Floats:
    """Return the shares of codes where all leaves but that of missing values are alike."""
    leaves = np.append(np.full(axis.n_known, 1 / axis.n_known), np.zeros(int(axis.own_missing)))
    return _spread(axis, axis.nearest, leaves)


def _spread(axis: Axis, group_of_cell: NDArray[np.int64], shares: Floats) -> Floats:
    group = group_of_cell[axis.cell_of]
    own = (shares / np.maximum(np.bincount(group, minlength=len(shares)), 1))[group]
    return own if len(own) > axis.n_values else np.append(own, 0.0)


def _cell_shares(axis: Axis, shares: Floats) -> Floats:
    cells: Floats = np.bincount(axis.cell_of, shares[: len(axis.cell_of)], minlength=axis.n_cells).astype(np.float64)
    return cells


def _leaves_of_cells(axis: Axis) -> Floats:
    of_cells: Floats = axis.shares.toarray() / axis.grid
    return of_cells


def leaf_shares(axis: Axis, shares: Floats) -> Floats:
    """Return what each leaf has of all rows, where codes have these ``shares``."""
    return _cell_shares(axis, shares) @ _leaves_of_cells(axis)


def gram(axis: Axis, shares: Floats) -> Floats:
    """Return how much every two leaves share of all rows: the mean square of leaf weights w is w' gram w."""
    of_cells = _leaves_of_cells(axis)
    shared: Floats = of_cells.T @ (_cell_shares(axis, shares)[:, None] * of_cells)
    return shared


def gram_of_tree(axes: Sequence[Axis], shares: RowShares) -> Floats:
    """Return how much every two leaves of a tree share of all rows, for attributes that have nothing in common."""
    return product_of([gram(axis, shares[axis.attribute]) for axis in axes])


def product_of(matrices: Sequence[Floats]) -> Floats:
    """Return the Kronecker product of matrices, over all combinations of their leaves."""
    product: Floats = np.ones((1, 1))
    for matrix in matrices:
        product = np.kron(product, matrix).astype(np.float64, copy=False)
    return product


@dataclass(frozen=True)
class Part:
    """What one tree says of some of its attributes: a table over their leaves, columns last."""

    axes: tuple[Axis, ...]
    table: Floats

    @cached_property
    def over_cells(self) -> Floats:
        """The same over cells."""
        table = self.table
        for i, axis in enumerate(self.axes):
            if axis.knots:
                table = np.moveaxis(np.tensordot(_leaves_of_cells(axis), table, (1, i)), 0, i)
        return table

    def at(self, codes: Sequence[NDArray[np.integer]]) -> Floats:
        """Return the values at all combinations of these ``codes`` of each attribute."""
        cells = [axis.cell_of[own] for axis, own in zip(self.axes, codes, strict=True)]
        values: Floats = self.over_cells[np.ix_(*cells)]
        return values

    def of_rows(self, codes: NDArray[np.integer]) -> Floats:
        """Return the values of rows."""
        values: Floats = self.over_cells[tuple(axis.cell_of[codes[:, axis.attribute]] for axis in self.axes)]
        return values


def split_tree(axes: Sequence[Axis], table: Floats, shares: RowShares) -> dict[tuple[int, ...], Part]:
    """Return the parts of a tree's ``table``, leaves x columns, by the attributes they speak of; () is the mean."""
    order = sorted(range(len(axes)), key=lambda i: axes[i].attribute)
    table = table.reshape(*(axis.n_leaves for axis in axes), -1).transpose(*order, len(axes))
    axes = [axes[i] for i in order]
    margins = [leaf_shares(axis, shares[axis.attribute]) for axis in axes]
    found: dict[tuple[int, ...], Floats] = {}
    for size in range(len(axes) + 1):
        for subset in combinations(range(len(axes)), size):
            part = table
            for i in sorted(set(range(len(axes))) - set(subset)):
                part = np.expand_dims(np.tensordot(part, margins[i], (i, 0)), i)
            smaller = [found[less] for n in range(size) for less in combinations(subset, n)]
            found[subset] = reduce(np.subtract, smaller, part)
    return {
        tuple(axes[i].attribute for i in subset): Part(
            tuple(axes[i] for i in subset),
            part.reshape(*(n for i, n in enumerate(part.shape[:-1]) if i in subset), part.shape[-1]),
        )
        for subset, part in found.items()
    }


def effects_in(trees: Trees) -> list[tuple[int, ...]]:
    """Return which attributes have effects: each alone, then what pairs and more do together."""
    found = {
        subset
        for own in trees.attributes
        for size in range(1, len(own) + 1)
        for subset in combinations(sorted(own), size)
    }
    return sorted(found, key=lambda own: (len(own), own))


@dataclass(frozen=True)
class Split:
    """A model as a sum: where all rows start, and of each effect the parts of the trees that have it."""

    start: Floats
    parts: dict[tuple[int, ...], list[Part]]

    @classmethod
    def of(cls, model: LeafWeights, shares: RowShares) -> "Split":
        """Split the trees of a model, as rows of these ``shares`` see them."""
        start, trees = model.offsets.copy(), model.trees
        parts: dict[tuple[int, ...], list[Part]] = {own: [] for own in effects_in(trees)}
        for t, axes in enumerate(trees.axes):
            own = split_tree(axes, model.of_tree(t), shares)
            start += own.pop(()).table
            for attributes, part in own.items():
                parts[attributes].append(part)
        return cls(start, parts)

    def contributions(self, codes: NDArray[np.integer]) -> Floats:
        """Return what each effect adds to each class's score: rows x effects x classes."""
        added = np.zeros((len(codes), len(self.parts), len(self.start)))
        for i, own in enumerate(self.parts.values()):
            for part in own:
                added[:, i] += part.of_rows(codes)
        return added


@dataclass(frozen=True)
class Points:
    """Where an effect of an attribute may differ: stretches of codes that lie in the same cell of all its trees."""

    point_of: NDArray[np.int64]

    @classmethod
    def of(cls, axes: Sequence[Axis], *, has_missing: bool) -> "Points":
        """Return the points of an attribute that these axes ask for; the code of missing values is one of them."""
        n_codes = axes[0].n_values + has_missing
        cells = np.stack([axis.cell_of[:n_codes] for axis in axes], axis=1)
        _, point_of = np.unique(cells, axis=0, return_inverse=True)
        return cls(point_of.reshape(-1))

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The first code of each point."""
        return np.unique(self.point_of, return_index=True)[1]

    def last(self, n_values: int) -> NDArray[np.int64]:
        """Return the last code of a value of each point; one of missing values alone has none."""
        last = np.full(len(self.first), -1)
        last[self.point_of[:n_values]] = np.arange(n_values)
        return last

    def shares(self, shares: Floats) -> Floats:
        """Return the share of the rows at each point."""
        return np.bincount(self.point_of, shares[: len(self.point_of)]).astype(np.float64)
