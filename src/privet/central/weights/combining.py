"""One forest of several that were fitted to different rows: batches of new rows, or parties with rows of their own.

Near its minimum each fit is a quadratic. Its weight w of a leaf minimises h/2 (w - w*)^2 + noise w + w^2 / (2 v), where
h is what the rows in that leaf hold and v the prior's variance. So (h + 1/v) w is what its rows and its noise say. The
sum of that over all fits, divided by what all rows and one prior hold, is about what one fit to all rows would have
found, with the noise of all. How rows lie over leaves is taken from released histograms, so a fit says little of leaves
where it has no rows. A fit whose rows hold little against its noise s counts for less, by h / (h + s^2).

Only released and public numbers enter: post-processing, which costs nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.link import scores_of
from privet.central.weights.parts import first_axes, leaf_shares, over_codes, product_of
from privet.central.weights.policy import MARGIN, row_pull
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.trees import COARSE_GRID, CROWDED, GRID, Axis, Trees, coarse_axes
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
# Rounds in which the levels of fits to different people are brought together.
_ROUNDS = 30


class Scales(NamedTuple):
    """The scale of the Laplace noise in each class's rows, and in the rows of each cell; 0 without noise."""

    balance: float
    cells: float


@dataclass(frozen=True)
class _Tree:
    """One tree of one fit: its weights over the cells of its attributes."""

    axes: tuple[Axis, ...]
    table: Floats
    precision: float
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

    def plus(self, other: "_Tree") -> "_Tree":
        """Return both trees of a fit as one; each has leaves for the same categories."""
        table = self.table + other.at_leaves(self.axes).reshape(self.table.shape)
        precision = 1 / (1 / self.precision + 1 / other.precision)
        return _Tree(self.axes, table, precision, math.hypot(self.noise_std, other.noise_std))


@dataclass(frozen=True)
class _Fit:
    """One fit: its trees by their attributes, what its rows pull, and how they lie over the codes it has counted."""

    trees: dict[frozenset[int], _Tree]
    pull: float
    noise_std: float
    row_shares: dict[int, Floats]
    start: Floats

    @classmethod
    def of(cls, released: ReleasedWeights, scales: Scales) -> "_Fit":
        """Return a fit from what it released, and the noise in its counts."""
        trees, found = released.trees, dict[frozenset[int], _Tree]()
        of_cells = trees.of_cells(released.weights * np.float64(2.0**released.exponent))
        for t, axes in enumerate(trees.axes):
            own = of_cells[trees.cell_starts[t] : trees.cell_starts[t] + trees.cell_sizes[t]]
            table = own.reshape(*(axis.n_cells for axis in axes), -1)
            tree = _Tree(axes, table, 1 / float(released.variances[t]), float(released.noise_std[t]))
            names = frozenset(tree.attributes)
            # Both stages may have a tree of the same categories.
            found[names] = found[names].plus(tree) if names in found else tree
        n_rows, axis_of = released.about_rows(scales.balance), first_axes(trees)
        counted = released.histograms(scales.cells, n_rows) or {}
        shares = {a: over_codes(axis_of[a], own.shares) for a, own in counted.items()}
        pull = n_rows * row_pull(released.class_shares(scales.balance))
        return cls(
            found, pull, float(released.noise_std.mean()) if found else math.inf, shares, _start(released, scales)
        )

    def shares(self, axes: Sequence[Axis]) -> Floats | None:
        """Return the share of its rows in each leaf of these axes, as if attributes had nothing to do with each other.

        None where rows were not counted.
        """
        if not all(axis.attribute in self.row_shares for axis in axes):
            return None
        return product_of([leaf_shares(axis, self.row_shares[axis.attribute])[:, None] for axis in axes]).ravel()

    def held(self, axes: Sequence[Axis]) -> Floats:
        """Return what its rows hold of each leaf of these axes; leaves of several attributes are taken to be alike."""
        shares, n_leaves = self.shares(axes), math.prod(axis.n_leaves for axis in axes)
        if shares is None or len(axes) > 1:
            return np.full(n_leaves, self.pull / min(n_leaves, CROWDED))
        return self.pull * shares

    def reliability(self, axes: Sequence[Axis], noise_std: float | None = None) -> float:
        """Return the precision of what it says beside that of its rows alone."""
        held = self.pull / min(math.prod(axis.n_leaves for axis in axes), CROWDED)
        return held / (held + (self.noise_std if noise_std is None else noise_std) ** 2)


def combined(releases: Sequence[ReleasedWeights], scales: Sequence[Scales], schema: Schema) -> ReleasedWeights:
    """Return about what one fit to the rows of all ``releases`` would have released.

    Parameters
    ----------
    releases, scales
        What each fit released, and the noise in its counts.
    schema : Schema
        With the cells that all fits have used.
    """
    whole, fits = _balance_of_all(releases), _with_all_shares(list(map(_Fit.of, releases, scales)))
    trees = [tree for fit in fits for tree in fit.trees.values()]
    if not trees:
        return whole
    every = [*_own_axes(trees, schema), *_shared_axes(trees, schema)]
    merged = [_Merged.of(axes, fits, whole.weights.shape[1]) for axes in every]
    start = _start(whole, combined_scales(releases, scales))
    weights = np.concatenate(_levelled(merged, np.array([fit.start - start for fit in fits])))
    all_trees = Trees(tuple(every), sum(len(axes) > 1 for axes in every))
    return replace(
        whole, trees=all_trees, weights=np.rint(weights * 2.0**-_EXPONENT).astype(np.int64), exponent=_EXPONENT,
        variances=np.array([1 / own.precision for own in merged]),
        noise_std=np.array([own.noise_std for own in merged]), cells=_cells_of_all(releases, all_trees),
    )  # fmt: skip


def _with_all_shares(fits: list[_Fit]) -> list[_Fit]:
    """Return the fits; one that has not counted the rows of an attribute is taken to have those of all that have."""
    found: dict[int, Floats] = {}
    for a in {a for fit in fits for a in fit.row_shares}:
        counted = [fit for fit in fits if a in fit.row_shares]
        found[a] = np.average([fit.row_shares[a] for fit in counted], axis=0, weights=[fit.pull for fit in counted])
    return [replace(fit, row_shares={**found, **fit.row_shares}) for fit in fits]


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
    fits = [_Fit.of(own, scale) for own, scale in both]
    held = np.array([fit.pull for fit in fits])
    counts = held / (held + CROWDED * np.array([fit.noise_std for fit in fits]) ** 2)
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


def _start(released: ReleasedWeights, scales: Scales) -> Floats:
    """Return where all rows of a fit start: a score of each column."""
    offsets = scores_of(released.class_shares(scales.balance), MARGIN)
    return offsets if released.weights.shape[1] > 1 else offsets[1:] - offsets[:1]


@dataclass(frozen=True)
class _Merged:
    """The trees of all fits on common axes: what each says of each leaf, and what its rows there hold.

    ``said`` is fits x leaves x columns, ``held`` and ``shares`` of the rows are fits x leaves; ``pulled`` is what the
    priors of the fits took away from all of them together.
    """

    said: Floats
    held: Floats
    shares: Floats | None
    pulled: Floats
    precision: float
    noise_std: float

    @classmethod
    def of(cls, axes: tuple[Axis, ...], fits: Sequence[_Fit], n_columns: int) -> "_Merged":
        """Return the trees of ``fits`` with these attributes; a fit without one says nothing of them."""
        names = frozenset(axis.attribute for axis in axes)
        nothing = np.zeros((math.prod(axis.n_leaves for axis in axes), n_columns))
        trees = [fit.trees.get(names) for fit in fits]
        said = np.array([nothing if tree is None else tree.at_leaves(axes) for tree in trees])
        parts = np.array(
            [
                fit.reliability(axes, None if tree is None else tree.noise_std)
                for fit, tree in zip(fits, trees, strict=True)
            ]
        )
        held = parts[:, None] * np.array([fit.held(axes) for fit in fits])
        held[[tree is None for tree in trees]] *= 1 - _LEFT_OPEN
        own = [(part, tree, say) for part, tree, say in zip(parts, trees, said, strict=True) if tree is not None]
        pulled = sum((part * tree.precision * say for part, tree, say in own), nothing)
        precision = float(np.mean([part * tree.precision for part, tree, _ in own])) if own else 1 / _NO_TREE
        std = math.sqrt(sum((part * tree.noise_std) ** 2 for part, tree, _ in own))
        counted = [each for each in (fit.shares(axes) for fit in fits) if each is not None]
        shares = np.array(counted) if len(counted) == len(fits) else None
        return cls(said, held, shares, pulled, precision, std)

    def weights(self, levels: Floats | None = None) -> Floats:
        """Return the weights of the leaves; what a fit says is raised by its level, fits x columns."""
        said = self.said if levels is None else self.said + levels[:, None]
        total: Floats = (self.held[:, :, None] * said).sum(axis=0) + self.pulled
        weights: Floats = total / (self.held.sum(axis=0) + self.precision)[:, None]
        return weights

    @property
    def own_means(self) -> Floats:
        """The mean of what each fit says over its own rows, fits x columns."""
        assert self.shares is not None  # noqa: S101 - asked for only where rows were counted
        means: Floats = (self.shares[:, :, None] * self.said).sum(axis=1)
        return means

    def means(self, weights: Floats) -> Floats:
        """Return the mean of leaf weights over the rows of each fit, fits x columns."""
        assert self.shares is not None  # noqa: S101 - asked for only where rows were counted
        return self.shares @ weights


def _levelled(merged: Sequence[_Merged], starts: Floats) -> list[Floats]:
    """Return the weights of all trees; ``starts`` are where the rows of each fit start, above where all do.

    A fit to old people alone finds that age tells little, and starts where old people are. So what a tree says is
    raised until the rows of each fit have on average the score that the fit itself gives them. One tree after another,
    round by round; where rows were not counted, trees are taken as they are.
    """
    weights = [own.weights() for own in merged]
    if any(own.shares is None for own in merged):
        return weights
    theirs = [own.own_means for own in merged]
    ours = [own.means(each) for own, each in zip(merged, weights, strict=True)]
    gap = starts + sum(theirs) - sum(ours)
    for _ in range(_ROUNDS):
        for t, own in enumerate(merged):
            # Without this tree, the rows of a fit lack the gap and what the tree says; the fit's own tree has its part.
            weights[t] = own.weights(gap + ours[t] - theirs[t])
            new = own.means(weights[t])
            gap, ours[t] = gap + ours[t] - new, new
    return weights


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
