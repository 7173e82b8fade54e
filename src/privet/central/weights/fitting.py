"""One fit, step by step: each step pays its share of epsilon and keeps the receipt."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from privet.central.weights.histograms import release_histograms
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.link import scores_of
from privet.central.weights.minimiser import Grid, release_minimiser
from privet.central.weights.objective import Objective
from privet.central.weights.objective_noise import choose_noise, deviations, public_error
from privet.central.weights.policy import MARGIN, Policy
from privet.central.weights.prior import Prior, spread_of
from privet.central.weights.released_weights import BALANCE, CELLS, CHOICES, DIGITS, WEIGHTS, ReleasedWeights
from privet.central.weights.selection import choose_informative
from privet.central.weights.trees import Trees
from privet.counting.rows import MemoryRows, Rows
from privet.counting.tables import TableLayout, exact_tables
from privet.privacy.events import (
    DiscreteLaplace,
    Event,
    GaussianObjective,
    ObjectivePerturbation,
    Seeded,
    drawn_from,
)
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.rational import multiple, remaining
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
    """

    policy: Policy
    rows: Rows
    max_rows: int
    left: float
    delta: float
    public_rng: np.random.Generator
    noise: NoiseSource
    n_threads: int = 1
    receipts: list[Event] = field(default_factory=list)

    def release(self) -> ReleasedWeights:
        """Release what the policy says: trees with weights, or the class balance alone."""
        policy = self.policy
        if policy.only_balance:
            return self.release_balance(self._exact_tables()[0].sum(axis=0), self.left)
        if policy.chooses:
            tables = self._exact_tables()
            return self._choose_and_fit(self._release_and_correct(tables[0].sum(axis=0)), tables)
        return self._fit_all()

    def _fit_all(self) -> ReleasedWeights:
        """Fit all attributes; one pass compresses and counts the rows."""
        every = list(range(len(self.policy.cells.attributes)))
        first, trees = self.policy, self.policy.trees(every, self.public_rng)
        rows = self._leaf_rows(trees)
        balance = self._release_and_correct(rows.exact_classes(first.n_classes))
        if not self.policy.chooses and self.policy.group_size(every) == first.group_size(every):
            return self.fit_weights(trees, rows, balance)
        # There are far more or fewer rows than declared, so other trees are needed.
        self.rows = MemoryRows(*rows.unpacked(trees))
        return self._choose_and_fit(balance, self._exact_tables())

    def _release_and_correct(self, exact_counts: NDArray[np.int64]) -> ReleasedWeights:
        """Release the class balance, and correct the policy where it shows another number of rows."""
        balance = self.release_balance(exact_counts, multiple(self.policy.shares.balance, self.max_rows))
        self.policy = self.policy.with_rows(balance.about_rows(noise_scale(self.receipts, BALANCE)))
        return balance

    def _choose_and_fit(self, balance: ReleasedWeights, tables: list[NDArray[np.int64]]) -> ReleasedWeights:
        """Choose attributes, where some are left out, and fit them."""
        kept = (
            self.choose_attributes(tables, self._shares(balance)) if self.policy.chooses else list(range(len(tables)))
        )
        trees = self.policy.trees(kept, self.public_rng)
        return self.fit_weights(trees, self._leaf_rows(trees), balance)

    def _leaf_rows(self, trees: Trees) -> LeafRows:
        return LeafRows.of(self.rows, trees, n_classes=self.policy.n_classes)

    def _exact_tables(self) -> list[NDArray[np.int64]]:
        """Return the class counts of every attribute's codes, in one pass."""
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
            tables, shares, self.policy.n_attributes, epsilon=epsilon, rows=self.max_rows,
            what=CHOICES, noise=self.noise,
        )  # fmt: skip
        self._pay(epsilon, *receipts)
        return kept

    def release_cells(self, exact_cells: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Release how many rows each cell of each kept attribute has."""
        epsilon = multiple(self.policy.shares.histograms, self.max_rows)
        noisy, receipt = release_histograms(
            exact_cells, epsilon=epsilon, rows=self.max_rows, what=CELLS, noise=self.noise
        )
        self._pay(epsilon, receipt)
        return noisy

    def fit_weights(self, trees: Trees, rows: LeafRows, balance: ReleasedWeights) -> ReleasedWeights:
        """Fit all weights together and release them, and before them how rows lie over cells where it is worth it."""
        policy = self.policy
        cells = self.release_cells(rows.exact_cells(trees)) if policy.counts_cells else None
        chosen = choose_noise(policy, trees, delta=self.delta, rows=self.max_rows)
        event = chosen.event(WEIGHTS, rows=self.max_rows)
        self._pay(multiple(policy.shares.fit, self.max_rows), drawn_from(self.noise, event))
        public = PublicFit.of(policy, trees, self._shares(balance), event, self.left)
        drawn = chosen.draw(self.noise)
        prior = Prior.of(trees, policy.cells, public.variances, curvature=chosen.curvature)
        objective = Objective(rows, trees, prior, public.offsets, drawn.values, n_threads=self.n_threads)
        with threadpool_limits(1, "blas"):  # its threads cost more than they gain, and would change the last digits
            weights, receipt = release_minimiser(
                objective, public.grid, noise_error=drawn.error, epsilon=self.left, what=DIGITS, noise=self.noise
            )
        self._pay(self.left, receipt)
        return replace(
            balance, trees=trees, weights=weights, exponent=public.grid.exponent, variances=public.variances,
            noise_std=chosen.noise_std, cells=cells,
        )  # fmt: skip

    def _shares(self, balance: ReleasedWeights) -> NDArray[np.float64]:
        return balance.class_shares(noise_scale(self.receipts, BALANCE))

    def _pay(self, epsilon: float, *receipts: Event) -> None:
        self.left = remaining(self.left, epsilon)
        self.receipts.extend(receipts)


@dataclass(frozen=True)
class PublicFit:
    """What is public about a fit once its class balance is released."""

    variances: NDArray[np.float64]
    offsets: NDArray[np.float64]
    grid: Grid

    @classmethod
    def of(cls, policy: Policy, trees: Trees, shares: NDArray[np.float64], event: Event, epsilon: float) -> "PublicFit":
        """Return it for the noise of ``event`` and what ``epsilon`` is left for the last digits."""
        curvature = event.curvature if isinstance(event, ObjectivePerturbation | GaussianObjective) else math.inf
        variances = policy.prior_variances(trees, deviations(event, trees), shares, curvature)
        grid = Grid.of(
            policy.n_rows, spread_of(trees, policy.cells, variances), shape=(trees.n_leaves, policy.n_columns),
            noise_error=public_error(event, trees), epsilon=epsilon,
        )  # fmt: skip
        return cls(variances, scores_of(shares, MARGIN), grid)


def noise_scale(receipts: list[Event], what: str) -> float:
    """Return the scale of the Laplace noise in what was released by this name; 0 without noise."""
    plain = [receipt.part if isinstance(receipt, Seeded) else receipt for receipt in receipts]
    scales = [each.scale for each in plain if isinstance(each, DiscreteLaplace) and each.what == what]
    return float(scales[0]) if scales else 0.0
