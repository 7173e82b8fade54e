"""Which attributes matter, from released numbers alone: the size of their effects, less what noise would show.

An effect is what an attribute does in all trees, or what several do together: see `parts`. A cell that no row reaches
has a weight all the same: noise, and more of it than any other. So a cell counts by its share of the rows, as the
released histograms show it. A model without histograms has to guess: rows lie over a number's cells in one of several
ways, each believed as far as it explains the released weights, and evenly over categories. Missing values then count
for nothing.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri, softmax

from privet.central.weights.histograms import Histogram
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.link import chances_of
from privet.central.weights.parts import (
    Part,
    RowShares,
    effects_in,
    evenly,
    first_axes,
    gram,
    leaf_shares,
    over_codes,
    product_of,
    split_tree,
)
from privet.central.weights.prior import covariance_of
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.trees import Axis, Trees, cell_ends
from privet.rng import public_generator
from privet.schema import Numeric, Schema

Floats = NDArray[np.float64]
# Rows crowd near zero or the lower bound at every scale from the whole range to 2**-9 of it, or lie evenly, which is
# believed as much as all else together. A tenth of them lies evenly in any case.
_SCALES = 2.0 ** -np.arange(10)
_LOG_WIDTH, _EVEN = 0.7, 0.1
# How large true effects may be beside those of neighbouring cells, as variances.
_ROUGHNESS = (0.05, 0.3, 2.0)
# Noise alone is simulated: several ways in which rows may lie, and draws of noise for each. The logarithms of the
# shares of categories have deviation _UNEVEN. Large trees take long to solve, so fewer ways are tried.
_WAYS, _DRAWS, _UNEVEN = 20, 16, 3.0
_WAYS_OF_LARGE, _LARGE = 3, 400
# Rows that are drawn from released shares, to find the curvature of their loss.
_ROWS_DRAWN = 4096
# The seed is public and fixed, so that a model always gives the same importances.
_PUBLIC_SEED = 17
# An effect stands out from noise where at most this share of the draws, over all ways, is as large. About one in eight
# attributes without an effect seems to have one: benchmarks/advice/results.
_FALSE = 0.05


class Effect(NamedTuple):
    """The effect of some attributes: its size less what noise would show, and whether it stands out from noise."""

    attributes: tuple[int, ...]
    size: float
    stands_out: bool


@dataclass(frozen=True)
class TreeOfWeights:
    """What is released and public of one tree; ``rows`` are effective rows: rows times the mean curvature."""

    axes: tuple[Axis, ...]
    weights: Floats
    covariance: Floats
    noise_std: float
    rows: float

    def belief(self, ways: Floats) -> Floats:
        """Return how far each way in which rows may lie over the leaves of a number is believed, the last one even."""
        precision = np.linalg.inv(self.covariance)
        own = 1 / precision.diagonal()
        # A leaf's pull is the noise where no rows are. Where they are, they hold against it, and pull themselves.
        pulls, rows = np.abs(precision @ self.weights), self.rows * ways
        held, rough = 1 + own * rows, own / self.covariance.diagonal()
        scale = self.noise_std / math.sqrt(2) / held
        before = np.log(np.append(np.full(len(ways) - 1, 0.5 / (len(ways) - 1)), 0.5))
        found = []
        for variance in _ROUGHNESS:
            deviation = np.sqrt(rows + rows**2 * variance * rough) / held
            found.append(before + _log_density(pulls, deviation[..., None], scale[..., None]).sum(axis=(1, 2)))
        chances = np.exp(np.array(found) - np.max(found)).sum(axis=0)
        belief: Floats = chances / chances.sum()
        return belief

    def noise(self, ways: Sequence[RowShares], n_draws: int, public_rng: np.random.Generator) -> Floats:
        """Return weights that are noise, and chance among so many rows, alone: leaves x draws of each way x columns."""
        n_leaves, n_columns = self.weights.shape
        # Large trees take long to solve, so fewer ways are tried, and count several times.
        tried = ways if n_leaves <= _LARGE else ways[:_WAYS_OF_LARGE]
        shape, drawn = (n_leaves, n_draws * n_columns), []
        for way in tried:
            grams = [gram(axis, way[axis.attribute]) for axis in self.axes]
            held = self.rows * product_of(grams)
            root = math.sqrt(self.rows) * product_of(list(map(_root, grams)))
            pull = self.noise_std / math.sqrt(2) * _laplace(public_rng, shape) + root @ ndtri(public_rng.random(shape))
            # (K^-1 + rows)^-1 pull
            drawn.append(self.covariance @ np.linalg.solve(np.eye(n_leaves) + held @ self.covariance, pull))
        each = [drawn[i % len(drawn)] for i in range(len(ways))]
        return np.stack(each, axis=1).reshape(n_leaves, len(ways) * n_draws, n_columns)


@dataclass(frozen=True)
class _Sizes:
    """How large effects are, where rows lie as ``shares`` say."""

    trees: Trees
    shares: RowShares

    def squares(self, tables: Iterable[Floats]) -> dict[tuple[int, ...], Floats]:
        """Return the mean square of each effect for each of several draws; a tree's table is leaves x draws x columns.

        The parts of all trees are added up first.
        """
        fine = first_axes(self.trees)
        found: dict[tuple[int, ...], tuple[tuple[Axis, ...], Floats]] = {}
        n_draws = 1
        for axes, table in zip(self.trees.axes, tables, strict=True):
            n_draws = table.shape[1]
            for own, part in split_tree(axes, table.reshape(len(table), -1), self.shares).items():
                if own:
                    common = part if len(own) > 1 else _on_knots(part, fine[own[0]])
                    before = found[own][1] if own in found else 0.0
                    found[own] = common.axes, before + common.table
        return {own: self._square(*found[own], n_draws) for own in effects_in(self.trees)}

    def _square(self, axes: tuple[Axis, ...], table: Floats, n_draws: int) -> Floats:
        held = table
        for i, axis in enumerate(axes):
            held = np.moveaxis(np.tensordot(gram(axis, self.shares[axis.attribute]), held, (1, i)), 0, i)
        square: Floats = (table * held).reshape(-1, n_draws, table.shape[-1] // n_draws).sum(axis=(0, 2))
        return square


def _on_knots(part: Part, fine: Axis) -> Part:
    """Return what a tree says of one attribute at the leaves of the first stage."""
    codes = np.array([*fine.knots, *[fine.n_values] * fine.own_missing], dtype=np.int64)
    return part if part.axes[0] == fine else Part((fine,), part.at([codes]))


def _root(matrix: Floats) -> Floats:
    """Return the symmetric root of a matrix without negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    root: Floats = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root


def _laplace(public_rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return Laplace variables of scale 1, for a simulation: nothing here is released noise.

    Noise that trees share is taken as Laplace noise of the same deviation: one tree is looked at at a time, and what
    noise shows is rather too much then.
    """
    uniform = public_rng.random(shape) - 0.5
    variables: Floats = -np.sign(uniform) * np.log1p(-2 * np.abs(uniform))
    return variables


def _uneven(even: Floats, public_rng: np.random.Generator) -> Floats:
    """Return shares as uneven as those of categories may be."""
    drawn = even * np.exp(_UNEVEN * ndtri(public_rng.random(len(even))))
    shares: Floats = drawn / drawn.sum()
    return shares


def over_number(attribute: Numeric, even: float = _EVEN) -> Floats:
    """Return ways in which rows may lie over a number's cells, the even one last; no value is missing.

    A part ``even`` of the rows lies evenly in any case.
    """
    borders = attribute.place(attribute.borders[cell_ends(attribute.n_values)])
    borders = borders / (borders[-1] - borders[0])
    widths = np.diff(borders)
    # Where small numbers crowd: as in `with_cells`, at zero if the range spans it, else at the lower bound.
    place = borders if attribute.low < 0 < attribute.high else borders - borders[0]
    far, side = np.abs(place) / _SCALES[:, None], np.sign(place)
    humps, slopes = ndtr(np.log(np.maximum(far, 1e-12)) / _LOG_WIDTH), -np.expm1(-far)
    crowded = np.diff(side * np.concatenate([humps, slopes]), axis=1)
    crowded = (1 - even) * crowded / crowded.sum(axis=1, keepdims=True) + even * widths
    ways = np.concatenate([crowded, widths[None]])
    return ways if attribute.never_missing else np.concatenate([ways, np.zeros((len(ways), 1))], axis=1)


def _log_density(size: Floats, deviation: Floats, scale: Floats) -> Floats:
    """Return the logarithm of the density of normal plus Laplace noise, at a ``size`` of either sign."""
    # Where one of the two is far smaller than the other it does not show, and is raised to keep the formula in range.
    deviation = np.maximum(deviation, np.maximum(scale / 100, 1e-12))
    scale = np.maximum(scale, deviation / 20)
    ratio = deviation / scale
    above = log_ndtr(size / deviation - ratio) - size / scale
    below = log_ndtr(-size / deviation - ratio) + size / scale
    density: Floats = ratio**2 / 2 + np.logaddexp(above, below) - np.log(2 * scale)
    return density


def mean_curvature(model: LeafWeights, shares: RowShares) -> tuple[float, RowShares]:
    """Return the mean second derivative of a row's loss by the score of a class, and each code's share in its sum.

    Rows are drawn as they lie by released ``shares``. The better a model predicts some of them, the less they hold
    their weights against the noise.
    """
    public_rng, n_classes, axes = public_generator(_PUBLIC_SEED), len(model.offsets), first_axes(model.trees)
    codes = np.zeros((_ROWS_DRAWN, max(shares) + 1), dtype=np.int64)
    for a, own in shares.items():
        codes[:, a] = np.searchsorted(np.cumsum(own)[:-1], public_rng.random(_ROWS_DRAWN), side="right")
        codes[:, a] = np.minimum(codes[:, a], len(axes[a].cell_of) - 1)
    scores = model.scores(codes)
    total = np.zeros(_ROWS_DRAWN)
    for chances, own_class in zip(chances_of(scores, model.margin).T, np.eye(n_classes), strict=True):
        found = softmax(scores - model.margin * own_class, axis=1)
        total += chances * (found * (1 - found)).mean(axis=1)
    mean, curved = float(total.mean()), {}
    for a, own in shares.items():
        leaf_of = axes[a].nearest[axes[a].cell_of]
        leaf, n_leaves = leaf_of[codes[:, a]], axes[a].n_leaves
        # A leaf in which hardly a row was drawn has about the mean.
        sums = np.bincount(leaf, total, n_leaves) + mean
        factor = sums / (np.bincount(leaf, minlength=n_leaves) + 1) / mean
        curved[a] = own * np.append(factor[leaf_of], np.ones(len(own) - len(leaf_of)))
    return mean, curved


def effects_of_trees(
    model: LeafWeights,
    schema: Schema,
    released: ReleasedWeights,
    *,
    rows: float,
    histograms: dict[int, Histogram] | None,
) -> list[Effect]:
    """Return what each attribute does, and what several do together that fewer of them do not, in all trees.

    ``rows`` are effective rows.
    """
    public_rng, trees = public_generator(_PUBLIC_SEED), model.trees
    own_trees = [
        TreeOfWeights(
            axes, model.weights[start : start + size], covariance_of(trees, t, schema, float(released.variances[t])),
            float(released.noise_std[t]), rows,
        )
        for t, (axes, start, size) in enumerate(zip(trees.axes, trees.starts, trees.sizes, strict=True))
    ]  # fmt: skip
    if histograms is None:
        shares, ways = _guess_shares(own_trees[: trees.first.n_trees], schema, public_rng)
        n_draws = _DRAWS
    else:
        axes = first_axes(trees)
        shares = {a: over_codes(axes[a], own.sure_shares) for a, own in histograms.items()}
        # With as few rows as there may be, noise shows most.
        ways = [{a: over_codes(axes[a], own.least_shares) for a, own in histograms.items()}]
        n_draws = _WAYS * _DRAWS
    sizes = _Sizes(trees, shares)
    seen = sizes.squares(tree.weights[:, None] for tree in own_trees)
    if not released.noise_std.any():
        return [Effect(own, math.sqrt(max(0.0, float(square[0]))), bool(square[0] > 0)) for own, square in seen.items()]
    expected = sizes.squares(tree.noise([shares], _DRAWS, public_rng) for tree in own_trees)
    possible = sizes.squares(tree.noise(ways, n_draws, public_rng) for tree in own_trees)
    found = []
    for own, (square,) in seen.items():
        size = math.sqrt(max(0.0, square - float(expected[own].mean())))
        # An attribute has several effects, each of which may seem to stand out.
        n_effects = max(sum(a in other for other in seen) for a in own)
        false = _FALSE if histograms is None else _FALSE / n_effects
        found.append(Effect(own, size, size > 0 and bool(np.mean(possible[own] >= square) < false)))
    return found


def _guess_shares(
    trees: Sequence[TreeOfWeights], schema: Schema, public_rng: np.random.Generator
) -> tuple[RowShares, list[RowShares]]:
    """Return how rows probably lie over the codes of each attribute, and ways in which they may lie."""
    likely: dict[int, Floats] = {}
    ways: list[dict[int, Floats]] = [{} for _ in range(2 * len(_SCALES) + 1)]
    for tree in trees:
        for axis in tree.axes:
            attribute = schema.attributes[axis.attribute]
            if isinstance(attribute, Numeric):  # it has a tree of its own
                own = [_of_number(axis, way) for way in over_number(attribute)]
                belief = tree.belief(np.array([leaf_shares(axis, way) for way in own]))
                likely[axis.attribute] = belief @ np.array(own)
                others = [_of_number(axis, way) for way in over_number(attribute, even=0.0)]
            else:
                likely[axis.attribute] = evenly(axis)
                even = leaf_shares(axis, evenly(axis))
                others = [over_codes(axis, _uneven(even, public_rng)) for _ in ways]
            for way, each in zip(ways, others, strict=True):
                way[axis.attribute] = each
    return likely, list(ways)


def _of_number(axis: Axis, cells: Floats) -> Floats:
    """Return the shares of a number's codes from those of its cells."""
    if not axis.knots:
        return over_codes(axis, cells)
    return cells if len(cells) > axis.n_values else np.append(cells, 0.0)


def shares_of_effects(effects: Iterable[Effect], n_attributes: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Return each attribute's share in the size of all effects, and which attributes stand out from noise.

    An effect of several attributes is split evenly among them. All shares are 0 where no effect is larger than noise.
    """
    sizes, stand_out = np.zeros(n_attributes), np.zeros(n_attributes, dtype=bool)
    for attributes, size, stands_out in effects:
        sizes[list(attributes)] += size / len(attributes)
        stand_out[list(attributes)] |= stands_out
    total = sizes.sum()
    return (sizes / total if total > 0 else sizes), stand_out
