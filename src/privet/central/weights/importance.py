"""Which attributes matter, from released numbers alone: the size of their effects, less what noise would show.

A cell that no row reaches has a weight all the same: noise, and more of it than any other. So a cell counts by its
share of the rows, as the released histograms show it. A model without histograms has to guess: rows lie over a number's
cells in one of several ways, each believed as far as it explains the released weights, and evenly over categories.
Missing values then count for nothing.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri, softmax

from privet.central.weights.histograms import Histogram
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.link import chances_of
from privet.central.weights.prior import covariance_of
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.trees import cell_ends
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
    """What is released and public of one tree; ``rows`` are effective rows: rows times the mean curvature.

    ``histograms`` has one for each attribute, or is None where they were not released.
    """

    attributes: tuple[int, ...]
    n_cells: tuple[int, ...]
    weights: Floats
    covariance: Floats
    noise_std: float
    rows: float
    histograms: tuple[Histogram, ...] | None = None

    def effects(self, schema: Schema) -> Iterator[Effect]:
        """Return what each attribute does, and what several do together that fewer of them do not."""
        public_rng = public_generator(_PUBLIC_SEED)
        if self.histograms is None:
            margins, ways = self._guess_shares(schema, public_rng)
            n_draws, false = _DRAWS, _FALSE
        else:
            margins = [own.sure_shares for own in self.histograms]
            # With as few rows as there may be, noise shows most. An attribute of a larger tree has several effects.
            ways = _product([own.least_shares for own in self.histograms])[None]
            n_draws, false = _WAYS * _DRAWS, _FALSE / 2 ** (len(self.attributes) - 1)
        seen = self._squares(self.weights[None], margins)
        expected = self._squares(self._noise(_product(margins)[None], _DRAWS, public_rng), margins)
        possible = self._squares(self._noise(ways, n_draws, public_rng), margins)
        for subset, (square,) in seen.items():
            size = math.sqrt(max(0.0, square - expected[subset].mean()))
            own = tuple(self.attributes[i] for i in subset)
            yield Effect(own, size, size > 0 and bool(np.mean(possible[subset] >= square) < false))

    def _guess_shares(self, schema: Schema, public_rng: np.random.Generator) -> tuple[list[Floats], Floats]:
        """Return how rows probably lie over the cells of each attribute, and ways in which they may lie over leaves."""
        number = schema.attributes[self.attributes[0]]
        if isinstance(number, Numeric):  # it has a tree of its own
            likely = over_number(number)
            return [self.belief(likely) @ likely], over_number(number, even=0.0)
        margins = [
            _even(n, schema.attributes[a].never_missing) for n, a in zip(self.n_cells, self.attributes, strict=True)
        ]
        n_ways = _WAYS if len(self.weights) <= _LARGE else _WAYS_OF_LARGE
        return margins, np.array([_product([_uneven(each, public_rng) for each in margins]) for _ in range(n_ways)])

    def belief(self, ways: Floats) -> Floats:
        """Return how far each way in which rows may lie over the cells of a number is believed, the last one even."""
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

    def _noise(self, ways: Floats, n_draws: int, public_rng: np.random.Generator) -> Floats:
        """Return weights that are noise, and chance among so many rows, alone: draws x leaves x columns."""
        shape = (len(self.weights), n_draws * self.weights.shape[1])
        if self.noise_std == 0:
            return np.zeros((1, *self.weights.shape))
        drawn = []
        for way in ways:
            rows = (self.rows * way)[:, None]
            pull = self.noise_std / math.sqrt(2) * _laplace(public_rng, shape) + np.sqrt(rows) * ndtri(
                public_rng.random(shape)
            )
            # (K^-1 + rows)^-1 pull
            drawn.append(self.covariance @ np.linalg.solve(np.eye(len(rows)) + rows * self.covariance, pull))
        found = np.stack(drawn).reshape(len(ways), len(self.weights), n_draws, -1)
        return found.transpose(0, 2, 1, 3).reshape(-1, *self.weights.shape)

    def _squares(self, weights: Floats, margins: Sequence[Floats]) -> dict[tuple[int, ...], Floats]:
        """Return the mean square of each effect, for each of several sets of weights.

        Shares that are products make effects orthogonal: the mean square of what some attributes tell is the sum of
        those of all effects among them.
        """
        axes = range(len(margins))
        tables = weights.reshape(len(weights), *self.n_cells, -1)
        found: dict[tuple[int, ...], Floats] = {}
        for size in range(len(margins) + 1):
            for subset in combinations(axes, size):
                mean = tables
                for i in sorted(set(axes) - set(subset)):
                    mean = _mean(mean, margins[i], i + 1)
                square = reduce(lambda table, i: _mean(table, margins[i], i + 1), subset, mean**2)
                smaller = [found[less] for n in range(size) for less in combinations(subset, n)]
                found[subset] = square.reshape(len(weights), -1).sum(axis=1) - sum(smaller)
        del found[()]
        return found


def _product(margins: Sequence[Floats]) -> Floats:
    """Return the shares of all leaves of a tree, if attributes had nothing to do with each other."""
    shares: Floats = np.ones(1)
    for margin in margins:
        shares = np.outer(shares, margin).ravel()
    return shares


def _mean(table: Floats, shares: Floats, axis: int) -> Floats:
    mean: Floats = np.expand_dims(np.tensordot(table, shares, (axis, 0)), axis)
    return mean


def _even(n_cells: int, never_missing: bool) -> Floats:
    """Return even shares, and none for the missing value."""
    n_known = n_cells if never_missing else n_cells - 1
    return np.append(np.full(n_known, 1 / n_known), np.zeros(n_cells - n_known))


def _laplace(public_rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return Laplace variables of scale 1, for a simulation: nothing here is released noise."""
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
    inner = [attribute.cuts[end - 1] for end in cell_ends(attribute.n_values)[1:-1]]
    borders = np.array([attribute.low, *inner, attribute.high]) / (attribute.high - attribute.low)
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


def mean_curvature(model: LeafWeights, histograms: dict[int, Histogram]) -> float:
    """Return the mean second derivative of a row's loss by the score of a class, for rows that lie as released.

    The better a model predicts, the less its rows hold their weights against the noise.
    """
    public_rng, trees, n_classes = public_generator(_PUBLIC_SEED), model.trees, len(model.offsets)
    scores = np.tile(model.offsets, (_ROWS_DRAWN, 1))
    for t, own in enumerate(trees.attributes):
        borders = [np.cumsum(histograms[a].shares)[:-1] for a in own]
        cells = [np.searchsorted(each, public_rng.random(_ROWS_DRAWN), side="right") for each in borders]
        scores += model.of_tree(t)[np.ravel_multi_index(cells, [trees.n_cells(a) for a in own])]
    total = np.zeros(_ROWS_DRAWN)
    for chances, own_class in zip(chances_of(scores, model.margin).T, np.eye(n_classes), strict=True):
        found = softmax(scores - model.margin * own_class, axis=1)
        total += chances * (found * (1 - found)).mean(axis=1)
    return float(total.mean())


def effects_of_trees(
    model: LeafWeights,
    schema: Schema,
    released: ReleasedWeights,
    *,
    rows: float,
    histograms: dict[int, Histogram] | None,
) -> Iterator[Effect]:
    """Return the effects of all trees; ``rows`` are effective rows."""
    trees = model.trees
    for t, own in enumerate(trees.attributes):
        weights = model.weights[trees.starts[t] : trees.starts[t] + trees.sizes[t]]
        covariance = covariance_of(trees, t, schema, float(released.variances[t]))
        n_cells = tuple(map(trees.n_cells, own))
        known = None if histograms is None else tuple(histograms[a] for a in own)
        tree = TreeOfWeights(own, n_cells, weights, covariance, float(released.noise_std[t]), rows, known)
        yield from tree.effects(schema)


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
