"""One forest of several that were fitted to different rows: batches of new rows, or parties with rows of their own.

Near its minimum each fit is a quadratic. Its weights w minimise h/2 (w - w*)^2 + noise w + w^2 / (2 v), where h is what
its rows hold and v the prior's variance. So (h + 1/v) w is what its rows and its noise say. The sum of that over all
fits, divided by what all rows and one prior hold, is about what one fit to all rows would have found, with the noise of
all. A fit whose rows hold little against its noise s counts for less, by h / (h + s^2): that is its precision beside h.

Only released and public numbers enter: post-processing, which costs nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.policy import CROWDED, row_pull
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.trees import COARSE_GRID, GRID, Axis, Trees, coarse_axes
from privet.privacy.mechanisms.deviation import laplace_deviation
from privet.schema import Schema

Floats = NDArray[np.float64]
# Weights are whole numbers of 2 to this power.
_EXPONENT = -20
# Of the knots that several fits gave a number in trees of several attributes, at most so many are kept.
_MOST_KNOTS = 12
# A fit without a tree that others have says that its weights are small, not that they are 0. So much of what its rows
# hold of them is left open.
_LEFT_OPEN = 0.3
# The prior variance of an attribute's own tree where no fit has one; its weights are 0.
_NO_TREE = 1e-2


class Scales(NamedTuple):
    """The scale of the Laplace noise in each class's rows, and in the rows of each cell; 0 without noise."""

    balance: float
    cells: float


@dataclass(frozen=True)
class _Tree:
    """One tree of one fit: its weights over the cells of its attributes, and what they hold."""

    axes: tuple[Axis, ...]
    table: Floats
    held: float
    precision: float
    reliability: float
    noise_std: float

    @property
    def attributes(self) -> tuple[int, ...]:
        """Which attributes it asks for."""
        return tuple(axis.attribute for axis in self.axes)

    def at_leaves(self, axes: Sequence[Axis]) -> Floats:
        """Return what the tree says at the leaves of other axes of the same attributes: leaves x columns."""
        own = {axis.attribute: axis for axis in self.axes}
        cells = [own[axis.attribute].cell_of[_codes_of_leaves(axis)] for axis in axes]
        order = [self.attributes.index(axis.attribute) for axis in axes]
        table = self.table.transpose(*order, len(axes))
        return table[np.ix_(*cells)].reshape(-1, table.shape[-1])


def combined(releases: Sequence[ReleasedWeights], scales: Sequence[Scales], schema: Schema) -> ReleasedWeights:
    """Return about what one fit to the rows of all ``releases`` would have released.

    Parameters
    ----------
    releases, scales
        What each fit released, and the noise in its counts.
    schema : Schema
        With the cells that all fits have used.
    """
    whole = _balance_of_all(releases)
    trees = [tree for own, scale in zip(releases, scales, strict=True) for tree in _trees_of(own, scale)]
    if not trees:
        return whole
    # What all rows hold of a tree with one leaf; a leaf's share of it is the same for all fits.
    held = sum(math.prod(_held_by_rows(own, scale)) for own, scale in zip(releases, scales, strict=True))
    merged = []
    for axes in (*_own_axes(trees, schema), *_shared_axes(trees, schema)):
        own = [tree for tree in trees if set(tree.attributes) == {axis.attribute for axis in axes}]
        merged.append(_merged(axes, own, held, whole.weights.shape[1]))
    n_later = sum(len(axes) > 1 for axes, *_ in merged)
    all_trees = Trees(tuple(axes for axes, *_ in merged), n_later)
    weights = np.concatenate([weights for _, weights, *_ in merged])
    return replace(
        whole, trees=all_trees, weights=np.rint(weights * 2.0**-_EXPONENT).astype(np.int64), exponent=_EXPONENT,
        variances=np.array([variance for *_, variance, _ in merged]), noise_std=np.array([std for *_, std in merged]),
        cells=_cells_of_all(releases, all_trees),
    )  # fmt: skip


def combined_scales(releases: Sequence[ReleasedWeights], scales: Sequence[Scales]) -> Scales:
    """Return the scale of Laplace noise as large as that of all in the sums of their counts."""
    counted = sum(own.cells is not None for own in releases)
    each = len(releases) / max(counted, 1)  # counts of some stand for those of all
    balance, cells = (float(np.sqrt(np.square(own).sum())) for own in zip(*scales, strict=True))
    return Scales(balance, each * cells)


def noise_after_each(releases: Sequence[ReleasedWeights], scales: Sequence[Scales]) -> Floats:
    """Return the standard deviation of the noise in the pull of a leaf after each of the fits, in rows.

    A fit that counts for less brings less noise and fewer rows. The noise is scaled to all rows, so that it compares
    with one fit to all of them. Before any fit has a tree, it is the noise in a class's rows.
    """
    both = list(zip(releases, scales, strict=True))
    held, counts = np.array([_held_by_rows(own, scale) for own, scale in both]).T
    stds = np.array([own.noise_std.mean() if own.trees.n_trees else 0.0 for own in releases])
    of_classes = np.array([laplace_deviation(scale.balance) if scale.balance else 0.0 for scale in scales])
    noise, counted = np.sqrt(np.cumsum((counts * stds) ** 2)), np.cumsum(counts * held)
    balance = np.sqrt(np.cumsum(of_classes**2))
    found: Floats = np.where(counted > 0, noise * np.cumsum(held) / np.where(counted > 0, counted, 1.0), balance)
    return found


def _balance_of_all(releases: Sequence[ReleasedWeights]) -> ReleasedWeights:
    # The file of an earlier privet may hold the difference of two classes; its counts follow from the number of rows.
    counts = np.sum([np.rint(own.class_counts) for own in releases], axis=0).astype(np.int64)
    return ReleasedWeights.balance_only(Trees(()), sum(own.n_rows for own in releases), counts)


def _held_by_rows(released: ReleasedWeights, scale: Scales) -> tuple[float, float]:
    """Return what a fit's rows hold of the weight of a tree with one leaf, and how far it counts beside its noise."""
    held = released.about_rows(scale.balance) * row_pull(released.class_shares(scale.balance))
    if not released.trees.n_trees:
        return held, 0.0
    return held, _reliability(held / CROWDED, float(released.noise_std.mean()))


def _reliability(held: float, noise_std: float) -> float:
    return held / (held + noise_std**2)


def _trees_of(released: ReleasedWeights, scale: Scales) -> list[_Tree]:
    found, trees = [], released.trees
    of_cells = trees.of_cells(released.weights * np.float64(2.0**released.exponent))
    rows = released.about_rows(scale.balance) * row_pull(released.class_shares(scale.balance))
    for t, axes in enumerate(trees.axes):
        own = of_cells[trees.cell_starts[t] : trees.cell_starts[t] + trees.cell_sizes[t]]
        held, std = rows / min(int(trees.sizes[t]), CROWDED), float(released.noise_std[t])
        table = own.reshape(*(axis.n_cells for axis in axes), -1)
        found.append(_Tree(axes, table, held, 1 / float(released.variances[t]), _reliability(held, std), std))
    return found


def _merged(
    axes: tuple[Axis, ...], trees: Sequence[_Tree], held: float, n_columns: int
) -> tuple[tuple[Axis, ...], Floats, float, float]:
    """Return the weights of all ``trees`` on common ``axes``, their prior variance and the noise in a leaf's pull."""
    n_leaves = int(np.prod([axis.n_leaves for axis in axes]))
    if not trees:
        return axes, np.zeros((n_leaves, n_columns)), _NO_TREE, 0.0
    precision = float(np.mean([tree.reliability * tree.precision for tree in trees]))
    said = sum(tree.reliability * (tree.held + tree.precision) * tree.at_leaves(axes) for tree in trees)
    by_all, by_own = held / min(n_leaves, CROWDED), sum(tree.reliability * tree.held for tree in trees)
    without = max(by_all - by_own, 0.0)
    weights: Floats = np.asarray(said) / (by_all - _LEFT_OPEN * without + precision)
    std = float(np.sqrt(sum((tree.reliability * tree.noise_std) ** 2 for tree in trees)))
    return axes, weights, 1 / precision, std


def _own_axes(trees: Sequence[_Tree], schema: Schema) -> list[tuple[Axis, ...]]:
    """Return an axis for each attribute alone, with the knots of all fits that gave it a tree of its own."""
    found: list[tuple[Axis, ...]] = []
    for a in sorted({a for tree in trees for a in tree.attributes}):
        own = [tree.axes[0] for tree in trees if tree.attributes == (a,)] or [Trees.of([[a]], schema).axes[0][0]]
        knots = sorted({code for axis in own for code in _knots(axis)})
        found.append((replace(own[0], knots=tuple(knots), grid=GRID if knots else 1, merged=False),))
    return found


def _knots(axis: Axis) -> set[int]:
    """Return the codes of an axis' knots; a step lies between two neighbouring codes."""
    steps = {code - 1 for code in axis.knots[1:]} if axis.grid == 1 else set()
    return {*axis.knots, *steps}


def _shared_axes(trees: Sequence[_Tree], schema: Schema) -> list[tuple[Axis, ...]]:
    """Return axes for each group of attributes that share a tree; a number has the same knots in all of them."""
    shared = [tree for tree in trees if len(tree.axes) > 1]
    knots: dict[int, set[int]] = {}
    for axis in (axis for tree in shared for axis in tree.axes if axis.knots):
        knots.setdefault(axis.attribute, set()).update(axis.knots)
    kept = {a: (_thinned(sorted(own)), GRID) for a, own in knots.items()}
    groups = sorted({tuple(sorted(tree.attributes)) for tree in shared})
    return [coarse_axes(group, schema, kept) for group in groups]


def _thinned(codes: list[int]) -> tuple[int, ...]:
    """Return a few of the codes, so far apart that there is a code at every part of the way from one to the next."""
    apart = codes[:1]
    for code in codes:
        if code - apart[-1] >= COARSE_GRID:
            apart.append(code)
    places = np.unique(np.rint(np.linspace(0, len(apart) - 1, min(len(apart), _MOST_KNOTS))).astype(int))
    return tuple(apart[i] for i in places)


def _codes_of_leaves(axis: Axis) -> NDArray[np.int64]:
    """Return a code that lies at each leaf, that of missing values last."""
    known = np.array(axis.knots) if axis.knots else axis.first_codes[: axis.n_known]
    return np.append(known, axis.n_values) if axis.own_missing else known


def _cells_of_all(releases: Sequence[ReleasedWeights], trees: Trees) -> NDArray[np.int64] | None:
    """Return the rows in each cell of each attribute; where only some fits counted them, as many as all rows would be.

    None where no fit counted those of some attribute.
    """
    counted = [own.histograms(0.0, 1) or {} for own in releases]
    found = []
    for a in trees.kept:
        counts = [own[a].noisy for own in counted if a in own]
        if not counts:
            return None
        known = sum(own.n_rows for own, by in zip(releases, counted, strict=True) if a in by)
        found.append(np.sum(counts, axis=0) * sum(own.n_rows for own in releases) // known)
    return np.concatenate(found)
