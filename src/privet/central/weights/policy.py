"""All that the recommended forest decides by itself, from public quantities alone.

What enters is the budget, a declared or noisy number of rows, and the schema. The constants were measured on public
tables, with splits of their own for tuning. What `Overrides` names can be fixed, and the budget then still adds up.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.histograms import Histogram
from privet.central.weights.knots import cell_cuts, codings, knot_values, quantile_codes, with_cells
from privet.central.weights.noise_groups import NoiseGroups
from privet.central.weights.trees import CROWDED, GRID, MOST_CELLS, Axis, Knots, Trees
from privet.errors import ParameterError
from privet.privacy.mechanisms.joint_loss import Stage, largest_mu
from privet.privacy.mechanisms.objective_perturbation import curvature_at_most, linear_at_most, n_columns, pulls
from privet.privacy.mechanisms.rational import MIN_EPSILON, equal_share, multiple, remaining
from privet.schema import Attribute, Categorical, Numeric, Schema
from privet.schema.encoding import TARGET_STEPS

# A row's loss is that of a score lower by this; it raises the pull of rows near the border and costs nothing.
MARGIN = 1.0
# Of epsilon, for the noise that hides how far the solver is from the minimiser, and the rounding.
_RELEASE_SHARE = 0.01
# Of epsilon, for how rows lie over cells. Below this many rows times epsilon for each kept attribute, the noise would
# be about as large as the counts, and nothing is paid. Both were measured: benchmarks/advice/results.
_HISTOGRAM_SHARE, _LEAST_HISTOGRAM = 0.05, 350.0
# Below this many rows times epsilon, or this epsilon, only the class balance is released: a fit would be noise.
_LEAST_SIGNAL, _LEAST_EPSILON = 16.0, 1e-4
# Leaves of all trees, and weights of all leaves; the prior's matrices grow with the square of a tree's leaves.
MOST_LEAVES, MOST_WEIGHTS = 2**12, 2**16
# Attributes are kept up to this many rows times epsilon for each, and up to the power of a number of such rows. From
# some rows times epsilon on their number grows more slowly than noise falls; and with many classes there are fewer.
_ROWS_PER_ATTRIBUTE, _ROWS_PER_TREE, _TREE_POWER = 250.0, 110.0, 2 / 3
_MANY_ROWS, _POWER_OF_MANY, _MANY_CLASSES = 4000.0, 1 / 3, 10
_ROWS_OF_NUMBER = 4.0  # times as many where a number is learnt
# A categorical attribute of few values is half the cost of others. Nearly all attributes are better than a choice.
_FEW_VALUES, _COST_OF_FEW, _NEARLY_ALL, _ALMOST_ALL = 4, 0.5, 0.75, 3
# Of epsilon, for choosing one attribute and for choosing several; and what a single choice has to have.
_PART_OF_ONE, _PART_OF_SOME, _LEAST_CHOICE = 0.35, 0.2, 4e-6
# Below this many rows times epsilon for each class but one, and for many classes fewer each, a single tree is chosen by
# how many rows it gets right; of epsilon, its choice. The rest is for the counts of its leaves.
_ROWS_OF_ONE_TREE, _POWER_OF_CLASSES, _PART_OF_TREE = 75.0, 0.9, 0.5
# So it is where less than this share of rows is outside the largest class, and between so many of them times epsilon.
_LOPSIDED, _FEWEST_OUTSIDE, _MOST_OUTSIDE = 0.2, 60.0, 300.0
_ROWS_PER_CELL, _ROWS_PER_CELL_OF_ONE = 20, 30
_MOST_BINS = 16
# Knots where rows are counted: at least, and more for each row times epsilon of an attribute. In the second stage.
_FEWEST_KNOTS, _KNOTS_PER_ROW, _LATER_KNOTS = 4, 0.04, 4
# Bins of a histogram, of equal width.
FINE_BINS = 33
# With fewer cells numbers are not soft: a slope over the whole range tells less than a step.
_SOFT_FROM = 4
_MOST_GROUPED = 3
# A group's leaves hold so many times the noise in rows, and have no more weights than the solver is quick with.
_ROWS_OVER_NOISE, _MOST_GROUP_WEIGHTS = 6.0, 2**12
# Of a tree's prior variance: what each attribute alone, pairs, triples and fours have, in the first and second stage.
EFFECTS = {1: (1.0,), 2: (0.78, 0.22), 3: (0.7, 0.2, 0.1)}
LATER_EFFECTS = {2: (0.5, 0.5), 3: (0.35, 0.4, 0.25), 4: (0.3, 0.35, 0.2, 0.15)}
# The second stage: its part of what is left for fits, where the noise that is predicted for the first is below this
# (two classes, more), and how far that has to fall for another tree.
LATER_PART, _QUIET_OF_TWO, _QUIET_OF_MORE, _TREE_FALL, _MOST_LATER = 0.35, 0.012, 0.04, 100.0, 3
# The prior variance of a weight where no noise drowns it; where a number is learnt, of the weights of all trees. A
# number keeps to a small part of its range: its scores vary less than those of classes, and noise shows sooner in its
# mean than in which class is likelier. So the class balance, which tells its mean, has more of epsilon up to so many
# rows times epsilon; and a second stage waits until noise is less. Measured on tables that benchmarks/regression has
# not.
_MOST_VARIANCE, _MOST_VARIANCE_OF_NUMBER = 2.0, 0.5
_BALANCE, _BALANCE_OF_NUMBER = (8.0, 0.2), (80.0, 0.3)
_QUIET_OF_NUMBER = 0.0012
# With normal noise, the second stage's part of the precision.
_LATER_PRECISION = 0.4
# Of epsilon, the prior variance of a row's score with normal noise, for two classes and for more: in a fit that is
# alone, in the first and in the second one. More would cost precision, which joint_loss.md tells.
_CURVATURES = {True: (1.0, 0.6, 0.3), False: (0.25, 0.15, 0.05)}
# About which part of epsilon a fit with K-norm noise has, and which part of normal noise's precision others leave.
_USUAL_FIT, _JOINT_LOSS = 0.7, 0.92
# Of epsilon, for choosing its groups; at most half of what the stage has. Each group takes three choices.
_GROUPS_SHARE, CHOICES_A_GROUP = 0.06, 3
_MOST_GROUP_CELLS, _LEAST_GROUP_CELLS, _ROWS_OVER_GROUP_NOISE = 1000.0, 30.0, 4.0
# How far chance alone raises the score of a group, in deviations a cell.
_CHANCE = 0.4


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


class Normal(NamedTuple):
    """Normal noise of one fit: a row's sensitivity / sigma, and the prior variance of a row's score."""

    mu: float
    curvature: float


class NormalPlan(NamedTuple):
    """Normal noise of a fit that is alone, and of the first and the second where there are two."""

    alone: Normal
    first: Normal
    later: Normal


@dataclass(frozen=True)
class Later:
    """What the second stage has: trees, shares of epsilon, and how many leaves a tree may have.

    ``fit`` is what is left for the first stage's fit.
    """

    n_trees: int
    fit: float
    groups: float
    release: float
    later_fit: float
    most_cells: float
    chance: float

    @property
    def n_choices(self) -> int:
        """How many choices its groups take at most."""
        return CHOICES_A_GROUP * self.n_trees

    @property
    def most_cells_of_pair(self) -> float:
        """How many leaves a tree of two attributes may have."""
        return max(self.most_cells, _LEAST_GROUP_CELLS)

    def expected(self, n_cells: int) -> float:
        """Return about how large the score of so many cells is by chance alone."""
        return self.chance * math.sqrt(n_cells)


@dataclass(frozen=True)
class Policy:
    """What a fit on about ``n_rows`` rows does with ``epsilon``, which is for each of the ``max_rows`` of a unit."""

    schema: Schema
    epsilon: float
    n_rows: int
    fixed: Overrides = Overrides()
    delta: float = 0.0
    max_rows: int = 1
    is_lopsided: bool = False

    @property
    def only_balance(self) -> bool:
        """Whether rows and epsilon are too few for anything but the class balance."""
        return self.n_rows * self.epsilon < _LEAST_SIGNAL or self.epsilon < _LEAST_EPSILON

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.schema.n_classes

    @property
    def steps(self) -> int:
        """How many steps of the second class a row's label counts: 1 where it is a class, more where it is a number."""
        return 1 if self.schema.number is None else TARGET_STEPS

    @property
    def n_labels(self) -> int:
        """How many labels there are: classes, or steps of a number."""
        return self.n_classes if self.schema.number is None else self.steps + 1

    @property
    def n_columns(self) -> int:
        """How many weights a leaf has."""
        return n_columns(self.n_classes)

    @property
    def has_one_tree(self) -> bool:
        """Whether rows and epsilon allow for a single tree only, which is chosen by how many rows it gets right."""
        border = _ROWS_OF_ONE_TREE * (self.n_classes - 1) ** _POWER_OF_CLASSES
        # A share of the balance that is fixed is for a fit.
        is_few = self.fixed.balance_share is None and self.n_rows * self.epsilon < border
        return self.is_lopsided or (is_few and self._can_have_one_tree)

    @property
    def _can_have_one_tree(self) -> bool:
        """Whether the caller and the schema leave open which attribute there is, and its cells."""
        return self.fixed.n_attributes is None and self.fixed.n_bins is None and len(self.schema.attributes) > 1

    @property
    def lopsided(self) -> tuple[float, float]:
        """From which share of rows outside the largest class, and below which, a balance decides for a single tree."""
        is_open = self._can_have_one_tree and self.schema.number is None
        worth = self.n_rows * self.epsilon if is_open else math.inf
        least, most = _FEWEST_OUTSIDE / worth, min(_MOST_OUTSIDE / worth, _LOPSIDED)
        return (least, most) if least < most else (0.0, 0.0)

    @cached_property
    def n_attributes(self) -> int:
        """How many attributes are kept. Where it would be nearly all of them, all are, and no choice is paid for."""
        most = len(self.schema.attributes)
        if self.has_one_tree:
            return 1
        if self.fixed.n_attributes is not None:
            return min(self.fixed.n_attributes, most, self._n_affordable)
        worth, cost = self.n_rows * self.epsilon, self._mean_cost
        worth /= 1.0 if self.schema.number is None else _ROWS_OF_NUMBER
        linear = worth / _ROWS_PER_ATTRIBUTE / (cost if self.n_classes == 2 else 1.0)
        kept = min(linear, self._quiet_trees(worth) / cost, most)
        if self.delta:  # half of the way to as many as leave the noise of all trees together what it would be
            kept *= math.sqrt(max(1.0, self._advantage(kept)))
        kept = max(1, round(min(kept, most)))
        nearly = kept >= _NEARLY_ALL * most or (kept >= most - _ALMOST_ALL and kept > 1)
        kept = min(most if nearly else kept, self._n_affordable)
        # Each choice has its own share of epsilon, which must not be too small for noise to be drawn.
        return kept if kept == most else max(1, int(min(kept, _PART_OF_SOME * self.epsilon / _LEAST_CHOICE)))

    def _quiet_trees(self, worth: float) -> float:
        """Return how many trees rows times epsilon are enough for, so that their noise together does not grow."""
        few = (min(worth, _MANY_ROWS) / _ROWS_PER_TREE) ** _TREE_POWER
        many = max(1.0, worth / _MANY_ROWS) ** _POWER_OF_MANY
        return float(few * many * min(1.0, _MANY_CLASSES / self.n_classes) ** _TREE_POWER)

    def _advantage(self, n_trees: float) -> float:
        """Return about how many times less normal noise of so many trees is than K-norm noise; 0 without a delta."""
        if not self._usual_mu:
            return 0.0
        # As if each tree had as many leaves as still count.
        groups = NoiseGroups.of(np.full(max(1, round(n_trees)), CROWDED), self.n_classes)
        k_norm = float(groups.deviations(_USUAL_FIT * self.epsilon).mean())
        return k_norm * self._usual_mu / math.sqrt(n_trees * pulls(self.n_classes))

    @property
    def _worth(self) -> float:
        """Rows times epsilon; with a delta, the epsilon that would have as little K-norm noise."""
        return self.n_rows * self.epsilon * max(1.0, self._advantage(self.n_attributes))

    @cached_property
    def _usual_mu(self) -> float:
        """About the precision of normal noise in a fit that is alone; 0 where there is none."""
        if not self.delta or math.isinf(self.epsilon):
            return 0.0
        curvature, *_ = _CURVATURES[self.n_classes == 2]
        return _JOINT_LOSS * (self._largest_mu([], [(curvature * self.epsilon, 1.0)]) or 0.0)

    @cached_property
    def normal_plan(self) -> NormalPlan | None:
        """Normal noise, planned before anything is released; None where there is none.

        Both plans, with and without a second stage, have half of delta, so that releases may decide between them.
        """
        if not self.delta or math.isinf(self.epsilon) or self.only_balance or self.has_one_tree:
            return None
        m, shares = self.max_rows, self.shares
        pure = [multiple(each, m) for each in (shares.balance, shares.histograms, shares.release) if each]
        if self.chooses:
            pure += [equal_share(multiple(shares.selection, m), self.n_attributes)] * self.n_attributes
        # Choices of more groups are more and smaller ones, which cost no more together.
        groups = equal_share(multiple(self._groups_share, m), CHOICES_A_GROUP)
        alone, first, later = (own * self.epsilon for own in _CURVATURES[self.n_classes == 2])
        one = self._largest_mu(pure, [(alone, 1.0)])
        both = self._largest_mu(
            [*pure, *[groups] * CHOICES_A_GROUP, multiple(shares.release, m)],
            [(first, 1 - _LATER_PRECISION), (later, _LATER_PRECISION)],
        )
        if one is None or both is None:
            return None
        parts = [(both * math.sqrt(part)) for part in (1 - _LATER_PRECISION, _LATER_PRECISION)]
        return NormalPlan(Normal(one, alone), Normal(parts[0], first), Normal(parts[1], later))

    def _largest_mu(self, pure: list[float], fits: list[tuple[float, float]]) -> float | None:
        """Return the precision of fits with these curvatures and parts of it, beside the ``pure`` releases."""
        stages = [Stage(curvature, self.n_classes, self.max_rows, part) for curvature, part in fits]
        return largest_mu(multiple(self.epsilon, self.max_rows), self.delta / 2, pure, stages)

    @property
    def _mean_cost(self) -> float:
        """The mean cost of keeping an attribute."""
        few = [isinstance(a, Categorical) and a.n_values <= _FEW_VALUES for a in self.schema.attributes]
        return float(np.mean(np.where(few, _COST_OF_FEW, 1.0)))

    @property
    def _n_affordable(self) -> int:
        """As many attributes as have room together, whichever are chosen."""
        widest = sorted((self._most_cells(a) for a in self.schema.attributes), reverse=True)
        return max(1, int((np.cumsum(widest) <= min(MOST_LEAVES, MOST_WEIGHTS // self.n_columns)).sum()))

    def _most_cells(self, attribute: Attribute) -> int:
        """Return how many cells an attribute can have at most, one for missing values included."""
        if isinstance(attribute, Numeric) and attribute.is_open:
            return 2 * (self.fixed.n_bins or _MOST_BINS) + 3
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
        worth = self._worth / (rows * self.n_attributes * pulls(self.n_classes))
        return max(2, round(min(worth, _MOST_BINS)))

    @cached_property
    def cells(self) -> Schema:
        """The schema with the cells of numbers: many, so that knots can be placed among them once rows are counted."""
        return with_cells(self.schema, self.fixed.n_bins or FINE_BINS)

    @cached_property
    def _soft(self) -> dict[int, Numeric]:
        """The numbers that declare no cells, with those that they were given."""
        is_open = [isinstance(own, Numeric) and own.is_open for own in self.schema.attributes]
        return {a: own for a, own in enumerate(self.cells.attributes) if is_open[a] and isinstance(own, Numeric)}

    def public_knots(self, n_bins: int, *, soft: bool) -> Knots:
        """Return knots that follow from bounds alone; where they are not soft, the first code of each cell."""
        found = {}
        for a, own in self._soft.items():
            values = knot_values(own, n_bins) if soft else [own.low, *cell_cuts(own, n_bins, None)]
            codes = np.searchsorted(own.cuts, values, side="right") if soft else np.searchsorted(own.middles, values)
            found[a] = (tuple(np.unique(np.clip(codes, 0, own.n_values - 1)).tolist()), GRID if soft else 1)
        return found

    @property
    def is_soft(self) -> bool:
        """Whether numbers are linear between public knots; else they have steps."""
        return self.n_bins >= _SOFT_FROM

    def knots(self, histograms: Mapping[int, Histogram] | None, balance: NDArray[np.float64]) -> Knots:
        """Return the knots of numbers in the first stage: as many rows between any two, where it is known."""
        each = self._worth / (self.n_attributes * pulls(self.n_classes))
        if histograms is None or self.fixed.n_bins is not None:
            return self.public_knots(self.n_bins, soft=self.is_soft)
        n_knots = int(
            np.clip(round(_FEWEST_KNOTS + _KNOTS_PER_ROW * row_pull(balance) * min(each, 1e6)), 2, _MOST_BINS)
        )
        return self._quantile_knots(histograms, n_knots)

    def later_knots(self, histograms: Mapping[int, Histogram] | None) -> Knots:
        """Return the knots of numbers in the second stage: few."""
        if histograms is None or self.fixed.n_bins is not None:
            return self.public_knots(_LATER_KNOTS, soft=True)
        return self._quantile_knots(histograms, _LATER_KNOTS)

    def _quantile_knots(self, histograms: Mapping[int, Histogram], n_knots: int) -> Knots:
        return {
            a: (quantile_codes(own, histograms[a], n_knots), GRID) for a, own in self._soft.items() if a in histograms
        }

    @property
    def codings(self) -> list[list[NDArray[np.int64]]]:
        """Several ways to put every attribute's codes into cells, for its score."""
        return [codings(own, self.n_bins, soft=a in self._soft) for a, own in enumerate(self.cells.attributes)]

    def tree_of_coding(self, attribute: int, coding: int) -> Trees:
        """Return a tree of one attribute with the cells of one of its codings, none of them soft."""
        known = self.codings[attribute][coding][: self.cells.attributes[attribute].n_values]
        firsts = tuple(np.unique(known, return_index=True)[1].tolist())
        return Trees.of([[attribute]], self.cells, {attribute: (firsts, 1)} if attribute in self._soft else {})

    @cached_property
    def shares(self) -> Shares:
        """How epsilon is split: class balance, choice of attributes, histograms of cells, rounding, and the fit."""
        if math.isinf(self.epsilon):
            return Shares(*[math.inf] * 5)
        part = self.fixed.balance_share
        rows, most_part = _BALANCE if self.schema.number is None else _BALANCE_OF_NUMBER
        usual = np.clip(rows / (self.n_rows * self.epsilon), 0.05, most_part)
        balance = self.epsilon * (usual if part is None else part)
        if self.has_one_tree:
            paid = float(balance) if self.is_lopsided else 0.0
            left, part = remaining(self.epsilon, paid), self.fixed.selection_share
            choice = left * (_PART_OF_TREE if part is None else part)
            return Shares(paid, choice, 0.0, 0.0, remaining(left, choice))
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
        better = replace(self, n_rows=n_rows, fixed=replace(self.fixed, balance_share=paid))
        return better if better._can_choose else self  # noqa: SLF001 - of its own class

    def with_balance(self, balance: NDArray[np.float64]) -> "Policy":
        """Return the policy for released class shares: of a single tree, where few rows are outside the largest class.

        Noise would make a fit's weights so small there that next to no row's class changes. With fewer rows a tree says
        no more, and ranks rows worse.
        """
        least, most = self.lopsided
        return replace(self, is_lopsided=True) if least <= 1 - float(balance.max()) < most else self

    def trees(self, kept: list[int], public_rng: np.random.Generator) -> Trees:
        """Return the trees: one for each number; categorical attributes share trees in random, public groups.

        Ordered ones do too: with trees of their own, models of Car and Nursery were right less often.
        """
        names = self._categorical(kept)
        numbers = [[a] for a in kept if a not in names]
        every_code = self.public_knots(self.n_bins, soft=True)
        order = [names[i] for i in public_rng.permutation(len(names))]
        for size in range(self.group_size(kept), 0, -1):
            groups = [sorted(order[i : i + size]) for i in range(0, len(order), size)]
            trees = Trees.of([*numbers, *groups], self.cells, every_code)
            if trees.n_leaves <= min(MOST_LEAVES, MOST_WEIGHTS // self.n_columns):
                break
        return trees

    def _categorical(self, kept: list[int]) -> list[int]:
        return [a for a in kept if isinstance(self.schema.attributes[a], Categorical)]

    def group_size(self, kept: list[int]) -> int:
        """Return the largest group of those kept whose leaves would still hold several times more rows than noise."""
        names = self._categorical(kept)
        n_numbers = len(kept) - len(names)
        if self.fixed.group_size is not None or not names:
            return self.fixed.group_size or 1
        mean_size = sum(self.schema.attributes[a].n_codes for a in names) / len(names)
        linear = self.shares.fit * (1 - self._determinant_share)

        # As if trees did not share noise: groups are larger than trees that gain by it.
        def rows_over_noise(size: int) -> float:
            n_trees = n_numbers + math.ceil(len(names) / size)
            noise = math.sqrt(2) * n_trees * pulls(self.n_classes) / linear
            return self.n_rows / (max(noise, 1.0) * mean_size**size)

        def is_worth_it(size: int) -> bool:
            is_small = mean_size**size * self.n_columns <= _MOST_GROUP_WEIGHTS
            return is_small and rows_over_noise(size) >= _ROWS_OVER_NOISE

        return max([1, *filter(is_worth_it, range(2, _MOST_GROUPED + 1))])

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
        if self.n_classes > 2:  # noise that adds up to zero is a little smaller than noise that was made so
            noise_std = noise_std * math.sqrt(self.n_classes / (self.n_classes - 1))
        most = _MOST_VARIANCE if self.schema.number is None else _MOST_VARIANCE_OF_NUMBER / trees.n_trees
        most = most if self.fixed.prior_variance is None else self.fixed.prior_variance
        return np.minimum(most / (1 + noise_std**2 / self._signal(trees, balance)), curvature / trees.n_trees)

    def _signal(self, trees: Trees, balance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return about how much the rows of a leaf of each tree hold against noise."""
        signal: NDArray[np.float64] = self.n_rows * row_pull(balance) / np.minimum(trees.sizes, CROWDED) + 1
        return signal

    def noise(self, trees: Trees, balance: NDArray[np.float64], normal: NormalPlan | None = None) -> float:
        """Return about how far noise would move a row's score, as a variance, if the first fit had all that is left."""
        if math.isinf(self.epsilon):
            return 0.0
        if normal is not None:
            sigma = math.sqrt(trees.n_trees * pulls(self.n_classes)) / normal.alone.mu
            return self.score_variance(np.full(trees.n_trees, sigma), trees, balance)
        _, linear = self.curvature_and_linear(self.shares.fit)
        return self.score_variance(NoiseGroups.of(trees.sizes, self.n_classes).deviations(linear), trees, balance)

    def score_variance(self, noise_std: NDArray[np.float64], trees: Trees, balance: NDArray[np.float64]) -> float:
        """Return about how far noise of these deviations moves a row's score, as a variance."""
        return float(((noise_std / self._signal(trees, balance)) ** 2).sum())

    @property
    def _groups_share(self) -> float:
        """Of epsilon, what choosing the groups of a second stage may cost."""
        return min(_GROUPS_SHARE * self.epsilon, LATER_PART * self.shares.fit / 2)

    def later(
        self, trees: Trees, axes: Mapping[int, Axis], balance: NDArray[np.float64], normal: NormalPlan | None = None
    ) -> Later | None:
        """Return what the second stage has, or None where noise leaves no room for one; from released numbers alone."""
        noise, quiet = self.noise(trees, balance, normal), self._quiet
        if len(trees.kept) < 2 or noise >= quiet or not LATER_PART:
            return None
        falls = math.log(min(_QUIET_OF_TWO, quiet) / noise) / math.log(_TREE_FALL) if noise else math.inf
        n_trees = int(np.clip(1 + math.floor(min(falls, 9)), 1, _MOST_LATER))
        chance = _CHANCE * math.sqrt(self.n_rows * row_pull(balance) * self.n_classes / 2)
        if math.isinf(self.epsilon):
            later = Later(n_trees, math.inf, math.inf, math.inf, math.inf, _MOST_GROUP_CELLS, chance)
            return later if self.pairs(axes, later) else None
        fit, release = self.shares.fit, _RELEASE_SHARE * self.epsilon
        part, groups = LATER_PART * fit, self._groups_share
        later_fit = remaining(remaining(part, groups), release)
        worth = _ROWS_OVER_GROUP_NOISE * row_pull(balance) * self.n_rows * later_fit
        affordable = MOST_WEIGHTS // (self.n_columns * n_trees)
        # As if they had noise of their own: of trees this large none gains much by sharing it.
        most = min(worth / (2 * math.sqrt(2) * n_trees * pulls(self.n_classes)), _MOST_GROUP_CELLS, affordable)
        later = Later(n_trees, remaining(fit, part), groups, release, later_fit, most, chance)
        # Each choice and the last digits must not have too little for noise to be drawn.
        is_enough = later_fit > 0 and min(groups / later.n_choices, release) >= _LEAST_CHOICE
        is_enough = is_enough and affordable >= _LEAST_GROUP_CELLS
        return later if is_enough and self.pairs(axes, later) else None

    @property
    def _quiet(self) -> float:
        """How far noise may move a row's score in the first stage for a second one to follow."""
        if self.schema.number is not None:
            return _QUIET_OF_NUMBER
        return _QUIET_OF_TWO if self.n_classes == 2 else _QUIET_OF_MORE

    def pairs(self, axes: Mapping[int, Axis], later: Later) -> list[tuple[int, int]]:
        """Return which two attributes a tree of the second stage may have."""
        every = combinations(axes, 2)
        return [(a, b) for a, b in every if axes[a].n_leaves * axes[b].n_leaves <= later.most_cells_of_pair]


def row_pull(balance: NDArray[np.float64]) -> float:
    """Return about how far a row pulls at a class's score: the mean variance of a class, and not too little."""
    return max(float(np.mean(balance * (1 - balance))), 0.05)
