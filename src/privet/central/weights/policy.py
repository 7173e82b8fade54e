"""All that the recommended forest decides by itself, from public quantities alone.

What enters is the budget, a declared or noisy number of rows, and the schema. The constants were measured on public
tables, with splits of their own for tuning. What `Overrides` names can be fixed, and the budget then still adds up.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.trees import MOST_CELLS, Trees
from privet.errors import ParameterError
from privet.privacy.mechanisms.objective_perturbation import curvature_at_most, linear_at_most, n_columns, pulls
from privet.privacy.mechanisms.rational import MIN_EPSILON, remaining
from privet.schema import Attribute, Categorical, Numeric, Schema

# A row's loss is that of a score lower by this; it raises the pull of rows near the border and costs nothing.
MARGIN = 1.0
# Of epsilon, for the noise that hides how far the solver is from the minimiser, and the rounding.
_RELEASE_SHARE = 0.01
# Of epsilon, for how rows lie over cells. Below this many rows times epsilon for each kept attribute, the noise would
# be about as large as the counts, and nothing is paid. Both were measured: benchmarks/advice/results.
_HISTOGRAM_SHARE, _LEAST_HISTOGRAM = 0.05, 300.0
# Below this many rows times epsilon, or this epsilon, only the class balance is released: a fit would be noise.
_LEAST_SIGNAL, _LEAST_EPSILON = 16.0, 1e-4
# Leaves of all trees, and weights of all leaves; the prior's matrices grow with the square of a tree's leaves.
MOST_LEAVES, MOST_WEIGHTS = 2**12, 2**16
_ROWS_PER_ATTRIBUTE = 250
# Of epsilon, for choosing one attribute and for choosing several; and what a single choice has to have.
_PART_OF_ONE, _PART_OF_SOME, _LEAST_CHOICE = 0.35, 0.2, 4e-6
_ROWS_PER_CELL, _ROWS_PER_CELL_OF_ONE = 20, 30
_MOST_BINS = 16
_MOST_GROUPED = 3
_ROWS_OVER_NOISE = 10.0
# Rows crowd into some leaves: beyond this many leaves, more of them do not mean fewer rows in each.
_CROWDED = 8
# Of a tree's prior variance: what each attribute alone, pairs and triples have.
EFFECTS = {1: (1.0,), 2: (0.78, 0.22), 3: (0.7, 0.2, 0.1)}


@dataclass(frozen=True)
class Overrides:
    """What the caller fixed instead of the policy; None leaves the choice to it."""

    n_attributes: int | None = None
    n_bins: int | None = None
    group_size: int | None = None
    prior_variance: float | None = None
    balance_share: float | None = None
    selection_share: float | None = None


@dataclass(frozen=True)
class Shares:
    """How epsilon is split; the parts add up to it and never to more."""

    balance: float
    selection: float
    histograms: float
    release: float
    fit: float


@dataclass(frozen=True)
class Policy:
    """What a fit on about ``n_rows`` rows does with ``epsilon``."""

    schema: Schema
    epsilon: float
    n_rows: int
    fixed: Overrides = Overrides()

    @property
    def only_balance(self) -> bool:
        """Whether rows and epsilon are too few for anything but the class balance."""
        return self.n_rows * self.epsilon < _LEAST_SIGNAL or self.epsilon < _LEAST_EPSILON

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.schema.classes)

    @property
    def n_columns(self) -> int:
        """How many weights a leaf has."""
        return n_columns(self.n_classes)

    @cached_property
    def n_attributes(self) -> int:
        """How many attributes are kept. Where it would be half of them or more, all are, and no choice is paid for."""
        most = len(self.schema.attributes)
        if self.fixed.n_attributes is not None:
            return min(self.fixed.n_attributes, most, self._n_affordable)
        worth = self.n_rows * self.epsilon / _ROWS_PER_ATTRIBUTE
        kept = max(1, round(min(worth, most)))
        kept = min(most if 2 * kept >= most else kept, self._n_affordable)
        # Each choice has its own share of epsilon, which must not be too small for noise to be drawn.
        return kept if kept == most else max(1, int(min(kept, _PART_OF_SOME * self.epsilon / _LEAST_CHOICE)))

    @property
    def _n_affordable(self) -> int:
        """As many attributes as have room together, whichever are chosen."""
        widest = sorted((self._most_cells(a) for a in self.schema.attributes), reverse=True)
        return max(1, int((np.cumsum(widest) <= min(MOST_LEAVES, MOST_WEIGHTS // self.n_columns)).sum()))

    def _most_cells(self, attribute: Attribute) -> int:
        """Return how many cells an attribute can have at most, one for missing values included."""
        if isinstance(attribute, Numeric) and attribute.is_open:
            return 2 * (self.fixed.n_bins or _MOST_BINS) + 2
        return min(attribute.n_values, MOST_CELLS) + 1

    @property
    def chooses(self) -> bool:
        """Whether some attributes are left out, so that a choice has to be paid."""
        return self.n_attributes < len(self.schema.attributes)

    @property
    def _can_choose(self) -> bool:
        return not self.chooses or self.shares.selection / self.n_attributes >= MIN_EPSILON

    def check_choices(self) -> None:
        """Refuse more choices than the budget can pay, before one is drawn; a row count may have been paid for."""
        if not (self.only_balance or self._can_choose):
            raise ParameterError(
                f"choosing {self.n_attributes} attributes leaves each choice too little of epsilon; "
                "pass a smaller n_attributes, or raise epsilon"
            )

    @property
    def counts_cells(self) -> bool:
        """Whether it is released how rows lie over the cells of kept attributes; a single one needs no comparison."""
        return self.n_attributes > 1 and self.n_rows * self.epsilon >= _LEAST_HISTOGRAM * self.n_attributes

    @property
    def n_bins(self) -> int:
        """Into how many cells of equal width a number is cut, before the finer ones near zero."""
        if self.fixed.n_bins is not None:
            return self.fixed.n_bins
        rows = _ROWS_PER_CELL_OF_ONE if self.n_attributes == 1 else _ROWS_PER_CELL
        worth = self.n_rows * self.epsilon / (rows * self.n_attributes * pulls(self.n_classes))
        return max(2, round(min(worth, _MOST_BINS)))

    @cached_property
    def cells(self) -> Schema:
        """The schema with the cells of numbers."""
        return with_cells(self.schema, self.n_bins)

    @cached_property
    def shares(self) -> Shares:
        """How epsilon is split: class balance, choice of attributes, histograms of cells, rounding, and the fit."""
        if math.isinf(self.epsilon):
            return Shares(*[math.inf] * 5)
        part = self.fixed.balance_share
        balance = self.epsilon * (np.clip(8 / (self.n_rows * self.epsilon), 0.05, 0.2) if part is None else part)
        release = _RELEASE_SHARE * self.epsilon
        histograms = _HISTOGRAM_SHARE * self.epsilon if self.counts_cells else 0.0
        left = remaining(remaining(remaining(self.epsilon, float(balance)), release), histograms)
        part = self.fixed.selection_share
        usual = _PART_OF_ONE if self.n_attributes == 1 else _PART_OF_SOME
        wanted = self.epsilon * (usual if part is None else part)
        selection = min(wanted, 0.9 * left) if self.chooses else 0.0
        return Shares(float(balance), selection, histograms, release, remaining(left, selection))

    def with_rows(self, n_rows: int) -> "Policy":
        """Return the policy for about ``n_rows``. The cells and the epsilon of the class balance stay as they are."""
        if n_rows == self.n_rows:
            return self
        paid = None if math.isinf(self.epsilon) else self.shares.balance / self.epsilon
        better = replace(self, n_rows=n_rows, fixed=replace(self.fixed, n_bins=self.n_bins, balance_share=paid))
        return better if better._can_choose else self  # noqa: SLF001 - of its own class

    def trees(self, kept: list[int], public_rng: np.random.Generator) -> Trees:
        """Return the trees: one for each number; categorical attributes share trees in random, public groups."""
        names = self._categorical(kept)
        numbers = [[a] for a in kept if a not in names]
        order = [names[i] for i in public_rng.permutation(len(names))]
        for size in range(self.group_size(kept), 0, -1):
            groups = [sorted(order[i : i + size]) for i in range(0, len(order), size)]
            trees = Trees.of([*numbers, *groups], self.cells)
            if trees.n_leaves <= min(MOST_LEAVES, MOST_WEIGHTS // self.n_columns):
                break
        return trees

    def _categorical(self, kept: list[int]) -> list[int]:
        return [a for a in kept if isinstance(self.schema.attributes[a], Categorical)]

    def group_size(self, kept: list[int]) -> int:
        """Return the largest group of those kept whose leaves would still hold ten times more rows than noise."""
        names = self._categorical(kept)
        n_numbers = len(kept) - len(names)
        if self.fixed.group_size is not None or not names:
            return self.fixed.group_size or 1
        mean_size = sum(self.schema.attributes[a].n_codes for a in names) / len(names)
        linear = self.shares.fit * (1 - self._determinant_share)

        def rows_over_noise(size: int) -> float:
            n_trees = n_numbers + math.ceil(len(names) / size)
            noise = math.sqrt(2) * n_trees * pulls(self.n_classes) / linear
            return self.n_rows / (max(noise, 1.0) * mean_size**size)

        return max([1, *(size for size in range(2, _MOST_GROUPED + 1) if rows_over_noise(size) >= _ROWS_OVER_NOISE)])

    @property
    def _determinant_share(self) -> float:
        return min(0.2, 0.08 + 0.25 * self.epsilon)

    def curvature_and_linear(self, fit: float) -> tuple[float, float]:
        """Return the prior variance of a row's score and the budget of the linear noise; both cost ``fit``."""
        if math.isinf(fit):
            return math.inf, math.inf
        if self.n_classes == 2:
            curvature = fit * float(np.clip(self.epsilon, 1.0, 2.0))
            return curvature, linear_at_most(fit, curvature, 2)
        linear = fit * (1 - self._determinant_share)
        return curvature_at_most(fit, linear, self.n_classes), linear

    def prior_variances(
        self, trees: Trees, noise_std: NDArray[np.float64], balance: NDArray[np.float64], curvature: float
    ) -> NDArray[np.float64]:
        """Return the prior variance of a weight of each tree: small where noise would drown what rows say of it."""
        pull = max(float(np.mean(balance * (1 - balance))), 0.05)
        if self.n_classes > 2:  # noise that adds up to zero is a little smaller than noise that was made so
            noise_std = noise_std * math.sqrt(self.n_classes / (self.n_classes - 1))
        signal = self.n_rows * pull / np.minimum(trees.sizes, _CROWDED) + 1
        most = 2.0 if self.fixed.prior_variance is None else self.fixed.prior_variance
        return np.minimum(most / (1 + noise_std**2 / signal), curvature / trees.n_trees)


def tree_shares(trees: Trees) -> list[Fraction]:
    """Return which share of the linear noise's budget each tree has: more where there are more leaves to tell apart."""
    roots = [Fraction(math.sqrt(min(int(size), _CROWDED))) for size in trees.sizes]
    return [root / sum(roots) for root in roots]


def with_cells(schema: Schema, n_bins: int) -> Schema:
    """Return the schema with the cells of numbers that declare neither bins nor edges; no row is looked at.

    Many numbers about people (incomes, durations, debts) crowd near zero or near their lower bound, where cells of
    equal width tell nothing apart; so the cell there is halved again and again.
    """
    return schema.with_attributes(
        replace(a, edges=_edges(a, n_bins)) if isinstance(a, Numeric) and a.is_open else a for a in schema.attributes
    )


def _edges(attribute: Numeric, n_bins: int) -> tuple[float, ...]:
    low, high = attribute.low, attribute.high
    steps = [i / n_bins for i in range(1, n_bins)]
    edges = {low * (1 - step) + high * step for step in steps}
    halvings = [2.0**-j / n_bins for j in range(1, math.ceil(n_bins / 2) + 1)]
    if low < 0 < high:
        edges |= {0.0, *(high * part for part in halvings), *(low * part for part in halvings)}
    else:
        edges |= {low * (1 - part) + high * part for part in halvings}
    return _apart(sorted(edges), low, high)


def _apart(edges: list[float], low: float, high: float) -> tuple[float, ...]:
    """Return the edges inside the bounds, without those that rounding alone tells from a neighbour, or from 0."""
    least = (high - low) * 2.0**-30
    apart = [low]
    for edge in (0.0 if abs(edge) < least else edge for edge in edges):
        if edge - apart[-1] > least and high - edge > least:
            apart.append(edge)
    return tuple(apart[1:])
