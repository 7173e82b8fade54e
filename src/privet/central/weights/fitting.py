"""One fit, step by step: each step pays its share of epsilon and keeps the receipt."""

import math
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from privet.central.receipts import in_sequence
from privet.central.weights.coded_rows import CodedRows
from privet.central.weights.combining import Scales
from privet.central.weights.histograms import release_histograms
from privet.central.weights.interactions import Unexplained, choose_groups
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.link import scores_of
from privet.central.weights.minimiser import Grid, release_minimiser
from privet.central.weights.monotone import monotone, slack_of
from privet.central.weights.objective import Objective
from privet.central.weights.objective_noise import ObjectiveNoise, choose_noise, choose_stages
from privet.central.weights.order import Directions, Order, Slack
from privet.central.weights.part_rows import coded
from privet.central.weights.policy import MARGIN, Later, Normal, NormalPlan, Policy, row_pull
from privet.central.weights.prior import Prior, spread_of
from privet.central.weights.released_weights import (
    BALANCE,
    CELLS,
    CHOICES,
    COUNTS,
    DIGITS,
    GROUPS,
    LATER_DIGITS,
    LATER_WEIGHTS,
    WEIGHTS,
    ReleasedWeights,
)
from privet.central.weights.selection import choose_informative
from privet.central.weights.single_tree import choose_accurate, release_leaves, weights_of_counts
from privet.central.weights.trees import CROWDED, Knots, Trees, coarse_axes
from privet.counting.rows import Rows
from privet.counting.tables import TableLayout, exact_tables, exact_target_tables
from privet.privacy.events import DiscreteLaplace, Event, Seeded, drawn_from
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.rational import equal_share, multiple, remaining
from privet.rng import NoiseSource
from privet.tree.greedy import Growth


@dataclass
class Fitting:
    """A fit in progress.

    Attributes
    ----------
    policy : Policy
        What is public about the fit; its shares of epsilon are for one row. The released class balance may correct it.
    max_rows : int
        How many rows one unit of privacy may have; each release but the last costs that many times the share of a row.
    left : float
        What is left of the unit's epsilon.
    directions : mapping
        Which attributes may move a score one way only. The second stage starts from weights that keep to it.
    normal : NormalPlan or None
        Normal noise, planned before anything was released.
    is_planned : bool
        Whether normal noise was planned; the receipts are then joint, also where K-norm noise was drawn after all.
    """

    policy: Policy
    rows: Rows
    max_rows: int
    left: float
    public_rng: np.random.Generator
    noise: NoiseSource
    n_threads: int = 1
    directions: Directions = field(default_factory=dict)
    receipts: list[Event] = field(default_factory=list)
    normal: NormalPlan | None = None
    is_planned: bool = False

    def release(self) -> ReleasedWeights:
        """Release what the policy says: trees with weights, or the class balance alone."""
        policy = self.policy
        if policy.only_balance:
            return self.release_balance(self._exact_tables()[0].sum(axis=0), self.left)
        if policy.has_one_tree:
            return self.release_tree(self._exact_tables(), policy.n_rows)
        if policy.chooses:
            tables = self._exact_tables()
            return self._choose_and_fit(self._release_and_correct(tables[0].sum(axis=0)), tables)
        return self._fit_all()

    def _fit_all(self) -> ReleasedWeights:
        """Fit all attributes; one pass compresses and counts the rows."""
        every = list(range(len(self.policy.cells.attributes)))
        first, trees = self.policy, self.policy.trees(every, self.public_rng)
        rows = self._leaf_rows(trees)
        balance = self._release_and_correct(rows.exact_classes(first.n_classes, first.steps))
        if not self.policy.chooses and self.policy.group_size(every) == first.group_size(every):
            return self.fit_weights(trees, rows, balance)
        # There are far more or fewer rows than declared, or hardly any outside one class: other trees are needed.
        self.rows = rows.unpacked(trees)
        return self._choose_and_fit(balance, self._exact_tables())

    def _release_and_correct(self, exact_counts: NDArray[np.int64]) -> ReleasedWeights:
        """Release the class balance, and correct the policy where it shows other rows than were planned for."""
        planned, self.normal = self.policy, self.policy.normal_plan
        self.is_planned = self.normal is not None
        balance = self.release_balance(exact_counts, multiple(planned.shares.balance, self.max_rows))
        better = planned.with_rows(balance.about_rows(noise_scale(self.receipts, BALANCE)))
        self.policy = better.with_balance(self._shares(balance))
        if self.policy is not planned:
            # Its other shares were not part of the plan. Epsilons that add up need no plan.
            self.normal = None
        return balance

    def _choose_and_fit(self, balance: ReleasedWeights, tables: list[NDArray[np.int64]]) -> ReleasedWeights:
        """Choose attributes, where some are left out, and fit them; or release a tree where there are few rows."""
        if self.policy.has_one_tree:
            return self.release_tree(tables, balance.n_rows)
        kept = (
            self.choose_attributes(tables, self._shares(balance)) if self.policy.chooses else list(range(len(tables)))
        )
        trees = self.policy.trees(kept, self.public_rng)
        return self.fit_weights(trees, self._leaf_rows(trees), balance)

    def _leaf_rows(self, trees: Trees) -> CodedRows:
        return coded(self.rows, trees, n_labels=self.policy.n_labels)

    def _exact_tables(self) -> list[NDArray[np.int64]]:
        """Return the class counts of every attribute's codes, in one pass."""
        if self.policy.steps > 1:
            return exact_target_tables(self.rows, self.policy.cells, self.policy.steps)
        layout, root = TableLayout.of(self.policy.cells), Growth.roots(self.policy.cells.attributes, 1).forest
        ((_, table),) = exact_tables(root, np.array([0]), self.rows, layout)
        return [layout.of_attribute(table, a)[0] for a in range(len(self.policy.cells.attributes))]

    def release_balance(self, exact_counts: NDArray[np.int64], epsilon: float) -> ReleasedWeights:
        """Release how many rows each class has: a row is in one class, and moves one of these counts by 1."""
        noisy, receipt = discrete_laplace(
            exact_counts, epsilon=epsilon, sensitivity=self.max_rows, what=BALANCE, noise=self.noise
        )
        self._pay(epsilon, receipt)
        return ReleasedWeights.balance_only(Trees.of([], self.policy.cells), self.policy.n_rows, noisy)

    def choose_attributes(self, tables: list[NDArray[np.int64]], shares: NDArray[np.float64]) -> list[int]:
        """Choose the attributes that have a tree."""
        epsilon = multiple(self.policy.shares.selection, self.max_rows)
        kept, receipts = choose_informative(
            tables, self.policy.codings, shares, self.policy.n_attributes, epsilon=epsilon, rows=self.max_rows,
            what=CHOICES, noise=self.noise,
        )  # fmt: skip
        self._pay(epsilon, *receipts)
        return kept

    def release_tree(self, tables: list[NDArray[np.int64]], n_rows: int) -> ReleasedWeights:
        """Choose a single tree by how many rows it gets right, and release its leaves' class counts.

        ``n_rows`` were declared or bought; a file has them as they were, whatever the class balance has shown since.
        """
        policy, m = self.policy, self.max_rows
        epsilon = multiple(policy.shares.selection, m)
        (attribute, coding), receipt = choose_accurate(
            tables, policy.codings, epsilon=epsilon, rows=m, what=CHOICES, noise=self.noise
        )
        self._pay(epsilon, receipt)
        trees = policy.tree_of_coding(attribute, coding)
        noisy, receipt = release_leaves(
            trees, tables[attribute], epsilon=self.left, rows=m, what=COUNTS, noise=self.noise
        )
        self._pay(self.left, receipt)
        return weights_of_counts(trees, n_rows, noisy, noise_scale(self.receipts, COUNTS))

    def release_cells(self, exact_cells: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Release how many rows each bin of each kept attribute has."""
        epsilon = multiple(self.policy.shares.histograms, self.max_rows)
        noisy, receipt = release_histograms(
            exact_cells, epsilon=epsilon, rows=self.max_rows, what=CELLS, noise=self.noise
        )
        self._pay(epsilon, receipt)
        return noisy

    def fit_weights(self, trees: Trees, rows: CodedRows, balance: ReleasedWeights) -> ReleasedWeights:
        """Fit all weights together and release them, and before them how rows lie over cells where it is worth it.

        Where there is room for a second stage, it fits what the released weights leave unexplained.
        """
        policy, shares = self.policy, self._shares(balance)
        if policy.counts_cells:
            balance = replace(balance, trees=trees, cells=self.release_cells(rows.exact_bins(trees)))
        histograms = balance.histograms(noise_scale(self.receipts, CELLS), policy.n_rows)
        trees = Trees.of(trees.attributes, policy.cells, policy.knots(histograms, shares))
        later_knots = policy.later_knots(histograms)
        axes = {a: coarse_axes([a], policy.cells, later_knots)[0] for a in sorted(trees.kept)}
        stages = choose_stages(policy, trees, axes, shares, self.normal)
        later, self.normal, normal = stages.later, stages.normal, stages.normal_of_first
        digits = multiple(policy.shares.release, self.max_rows) if stages.has_share_of_digits else None
        start, names = scores_of(shares, MARGIN), (WEIGHTS, DIGITS)
        first = self._release_fit(trees, rows, start, shares, stages.fit, normal, digits, names, {})
        released = replace(balance, **first)
        if later is None:
            return released
        shown = monotone(released, self.directions, scales_of_receipts(self.receipts, released))
        model = LeafWeights(trees, start, shown.weights * np.float64(2.0**released.exponent), MARGIN)
        unexplained = Unexplained(rows, model, axes, self.n_threads, policy.steps)
        second = self._fit_later(shown, unexplained, later_knots, shares, later)
        return released.with_later(second)

    def _fit_later(
        self, first: ReleasedWeights, unexplained: Unexplained, knots: Knots, shares: NDArray[np.float64], later: Later
    ) -> ReleasedWeights:
        """Choose groups of attributes, fit what they explain of the first stage's residuals, and release it."""
        policy, epsilon = self.policy, multiple(later.groups, self.max_rows)
        groups, receipts = choose_groups(
            unexplained, policy.pairs(unexplained.axes, later), later, epsilon=epsilon, rows=self.max_rows,
            what=GROUPS, noise=self.noise,
        )  # fmt: skip
        # Groups that need fewer choices leave more for the fit, which has all but the last digits.
        self._pay(multiple(equal_share(epsilon, later.n_choices), len(receipts)), *receipts)
        digits = multiple(later.release, self.max_rows)
        fit = equal_share(remaining(self.left, digits), self.max_rows)
        trees = Trees.later(groups, policy.cells, knots)
        normal = None if self.normal is None else self.normal.later
        second = self._release_fit(
            trees, unexplained.rows_of(trees), np.zeros(policy.n_classes), shares, fit, normal, normal and digits,
            (LATER_WEIGHTS, LATER_DIGITS), slack_of(first, self.directions, trees),
        )  # fmt: skip
        return ReleasedWeights(n_rows=first.n_rows, balance=first.balance, **second)

    def _release_fit(
        self, trees: Trees, rows: CodedRows, offsets: NDArray[np.float64], shares: NDArray[np.float64], fit: float,
        normal: Normal | None, digits: float | None, names: tuple[str, str], slack: Slack,
    ) -> dict[str, Any]:  # fmt: skip
        """Fit the weights of ``trees``, pay a share for the noise and ``digits``, or all that is left, and release."""
        policy = self.policy
        chosen = choose_noise(policy, trees, fit, normal)
        event = chosen.event(names[0], rows=self.max_rows)
        self._pay(multiple(fit, self.max_rows), drawn_from(self.noise, event))
        # What is left was rounded down at every step, and may be a last digit less than its share.
        digits = self.left if digits is None else min(digits, self.left)
        public = PublicFit.of(policy, chosen, shares, digits)
        drawn = chosen.draw(self.noise)
        with _libraries().limit(
            limits=1, user_api="blas"
        ):  # its threads cost more than they gain, and would change the last digits
            prior = Prior.of(trees, policy.cells, public.variances, curvature=chosen.curvature)
            held = policy.n_rows * row_pull(shares) / CROWDED
            order = Order.of(trees, self.directions, slack, held=held)
            objective = Objective(
                rows, trees, prior, offsets, drawn.values, n_threads=self.n_threads, steps=policy.steps, order=order
            )
            weights, receipt = release_minimiser(
                objective, public.grid, noise_error=drawn.error, epsilon=digits, what=names[1], noise=self.noise
            )
        self._pay(digits, receipt)
        return {
            "trees": trees, "weights": weights, "exponent": public.grid.exponent, "variances": public.variances,
            "noise_std": chosen.noise_std,
        }  # fmt: skip

    def _shares(self, balance: ReleasedWeights) -> NDArray[np.float64]:
        return balance.class_shares(noise_scale(self.receipts, BALANCE))

    def _pay(self, epsilon: float, *receipts: Event) -> None:
        self.left = remaining(self.left, epsilon)
        self.receipts.extend(receipts)


@cache
def _libraries() -> ThreadpoolController:
    """Return what sets the number of threads of libraries; to find them takes longer than a small fit."""
    import scipy.linalg  # noqa: F401 - has a BLAS of its own, which must be loaded to be found

    return ThreadpoolController()


@dataclass(frozen=True)
class PublicFit:
    """What is public about a fit once its class balance is released."""

    variances: NDArray[np.float64]
    grid: Grid

    @classmethod
    def of(cls, policy: Policy, noise: ObjectiveNoise, shares: NDArray[np.float64], epsilon: float) -> "PublicFit":
        """Return it for ``noise`` in the objective and what ``epsilon`` is left for the last digits."""
        trees = noise.trees
        variances = policy.prior_variances(trees, noise.noise_std, shares, noise.curvature)
        grid = Grid.of(
            policy.n_rows, spread_of(trees, policy.cells, variances), shape=(trees.n_leaves, policy.n_columns),
            noise_error=noise.public_error, epsilon=epsilon,
        )  # fmt: skip
        return cls(variances, grid)


def noise_scale(receipts: list[Event], what: str) -> float:
    """Return the scale of the Laplace noise in what was released by this name; 0 without noise."""
    plain = [receipt.part if isinstance(receipt, Seeded) else receipt for receipt in receipts]
    scales = [each.scale for each in plain if isinstance(each, DiscreteLaplace) and each.what == what]
    return float(scales[0]) if scales else 0.0


def scales_of(event: Event, released: ReleasedWeights) -> Scales:
    """Return the noise in the counts of a fit; in classes' rows that are sums over leaves, that of noise as large."""
    return scales_of_receipts(list(in_sequence(event)), released)


def scales_of_receipts(receipts: list[Event], released: ReleasedWeights) -> Scales:
    """Return the same from the receipts of what was released."""
    summed = noise_scale(receipts, COUNTS) * math.sqrt(released.trees.n_leaves)
    return Scales(summed or noise_scale(receipts, BALANCE), noise_scale(receipts, CELLS))
