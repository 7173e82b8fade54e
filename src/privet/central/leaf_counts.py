"""Forests whose structure is public and whose leaf counts are released, in one batch or several over disjoint rows."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Self

import numpy as np
from numpy.typing import NDArray

from privet.central.count_forest import CountForestClassifier
from privet.central.receipts import ROW_COUNT, in_parallel, in_sequence, is_count
from privet.central.released_classifier import FitCall, row_count_share
from privet.central.updated_classifier import UpdatedClassifier, check_classes
from privet.checks import pluralize
from privet.counting.rows import Rows, exact_leaf_counts
from privet.plan import Plan, Step, epsilon_needed, laplace_step
from privet.privacy.events import Event, Sequential
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.rational import remaining
from privet.rng import NoiseSource, public_generator
from privet.schema import Schema
from privet.tree.counted import CountedForest
from privet.tree.forest import Forest

LEAF_COUNTS = "class counts of leaves"


class LeafCountClassifier(CountForestClassifier, UpdatedClassifier):
    """Public trees with released leaf counts; subclasses draw the trees."""

    max_batches = 10_000
    height: int | None
    random_state: int | np.random.Generator | np.random.RandomState | None

    @abstractmethod
    def _needs_rows(self) -> bool:
        """Return whether drawing the trees takes a number of rows."""

    @abstractmethod
    def _draw_forest(self, schema: Schema, n_rows: int, epsilon: float, public_rng: np.random.Generator) -> Forest:
        """Draw the public trees for about ``n_rows`` rows and counts released at ``epsilon``."""

    def _run(self, call: FitCall) -> Self:
        snapshot = self._snapshot()
        fit = snapshot._fit_next_batch if call.adds else snapshot._fit_first_batch  # noqa: SLF001 - of its own class
        return self._take_over(fit(call))

    def _fit_next_batch(self, call: FitCall) -> Self:
        epsilon = self.check_parameters()
        check_classes(self.schema_, call.classes)
        self._check_next_batch()
        public_rng, stream = public_generator(self.random_state), len(self._batches)
        with self._reserve(epsilon, "update") as reservation:  # refuses here, before any data are read
            noise = self._noise(public_rng, reservation, stream=stream)
            _, rows = self._open(call, reservation, self._encoder)
            noisy_counts, receipt = self._release_counts(self.forest_, self.schema_, rows, epsilon, noise)
            counts = self.noisy_counts_ + noisy_counts
            event = self._with_batch(receipt)
            return self._set_released(self._encoder, self.forest_, counts, event, reservation, call, newest=receipt)

    def _fit_first_batch(self, call: FitCall) -> Self:
        epsilon = self.check_parameters()
        public_rng = public_generator(self.random_state)
        # Refuses here, before any data are read.
        with call.reservation or self._reserve(epsilon, "fit") as reservation:
            noise = self._noise(public_rng, reservation)
            encoder, rows = self._open(call, reservation)
            schema = encoder.schema
            check_classes(schema, call.classes)
            n_rows, left, bought = self._number_of_rows(schema, rows, epsilon, noise)
            forest = self._draw_forest(schema, n_rows, left, public_rng)
            trees, leaves = pluralize(forest.n_trees, "tree"), pluralize(len(forest.leaves), "leaf", "leaves")
            self._say(f"{trees} of height {forest.depth} with {leaves}: counting")
            noisy_counts, receipt = self._release_counts(forest, schema, rows, left, noise)
            event = Sequential((*bought, receipt)) if bought else receipt
            return self._set_released(encoder, forest, noisy_counts, event, reservation, call)

    @property
    def noise_growth_(self) -> NDArray[np.float64]:
        """The standard deviation of the noise in a released count after each batch."""
        return _growth(self._batches)

    def plan(self, n_rows: int | None = None) -> Plan:
        """Say what a fit would do with the budget at about ``n_rows`` rows, by default the schema's; costs nothing."""
        return self._planner(n_rows)(self.check_parameters())

    def epsilon_needed(self, n_rows: int | None = None, reliability: float = 0.95) -> float:
        """Return the least epsilon at which votes are as reliable as asked (see `Plan`); it reads no row."""
        self.check_parameters()
        return epsilon_needed(self._planner(n_rows), reliability)

    def _planner(self, n_rows: int | None) -> Callable[[float], Plan]:
        """Return the function that plans for an epsilon, with the trees that a fit at ``n_rows`` rows may have."""
        schema = self._declared_schema()
        n_rows = self._checked_rows(n_rows, schema)

        def planned(epsilon: float) -> Plan:
            left = remaining(epsilon, self._row_count_share(schema, epsilon))
            forest = self._draw_forest(schema, n_rows, left, public_generator(self.random_state))
            per_tree = len(forest.leaves) / forest.n_trees
            return Plan(
                self.method, epsilon, self._unit(), n_rows, forest.n_trees, forest.depth, per_tree,
                n_rows / per_tree, self._steps(schema, forest, epsilon), self._tuning(schema, n_rows, left),
            )  # fmt: skip

        return planned

    def _tuning(self, schema: Schema, n_rows: int, epsilon: float) -> dict[str, str]:  # noqa: ARG002 - not all tune
        """Return what the method tunes by itself, in words."""
        return {}

    def _steps(self, schema: Schema, forest: Forest, epsilon: float) -> tuple[Step, ...]:
        share, n_counts = self._row_count_share(schema, epsilon), len(forest.leaves) * len(schema.classes)
        max_rows = self._unit().max_rows
        leaves = laplace_step(
            LEAF_COUNTS, remaining(epsilon, share), sensitivity=forest.n_trees * max_rows, n_values=n_counts
        )
        if share == 0:
            return (leaves,)
        return laplace_step(ROW_COUNT, share, sensitivity=max_rows, n_values=1), leaves

    def _number_of_rows(
        self, schema: Schema, rows: Rows, epsilon: float, noise: NoiseSource
    ) -> tuple[int, float, tuple[Event, ...]]:
        """Return about how many rows there are, what is left of epsilon, and the receipt if the number was bought."""
        share = self._row_count_share(schema, epsilon)
        if share == 0:
            return schema.rows or 1, epsilon, ()
        rows.require_rereadable()
        noisy, receipt = self._release_row_count(rows, share, noise)
        return max(1, noisy), remaining(epsilon, share), (receipt,)

    def _row_count_share(self, schema: Schema, epsilon: float) -> float:
        """Return the share of epsilon for a noisy number of rows: none where it is not needed."""
        return row_count_share(epsilon) if self._needs_rows() and schema.rows is None else 0.0

    def _release_counts(
        self, forest: Forest, schema: Schema, rows: Rows, epsilon: float, noise: NoiseSource
    ) -> tuple[NDArray[np.int64], Event]:
        exact_counts = exact_leaf_counts(forest, rows, n_classes=len(schema.classes), n_jobs=self.n_jobs)
        # A row lands in one leaf of every tree, so it moves n_trees counts by 1; a person has up to max_rows rows.
        return discrete_laplace(
            exact_counts,
            epsilon=epsilon,
            sensitivity=forest.n_trees * self._unit().max_rows,
            what=LEAF_COUNTS,
            noise=noise,
        )

    def _counted(self, forest: Forest, noisy_counts: NDArray[np.int64], event: Event, schema: Schema) -> CountedForest:  # noqa: ARG002
        return CountedForest.of_leaves(forest, noisy_counts, float(_growth(in_parallel(event))[-1]) ** 2)

    def _compared_by(self, call: FitCall) -> Schema | None:  # noqa: ARG002 - of any call
        return None  # all that an update has is the model

    def _is_receipt(self, event: Event, forest: Forest, schema: Schema) -> bool:  # noqa: ARG002 - some methods look
        batches = in_parallel(event)
        return len(batches) <= self.max_batches and all(self._is_batch(batch, forest.n_trees) for batch in batches)

    def _is_batch(self, batch: Event, n_trees: int) -> bool:
        """Return whether ``batch`` is a receipt of leaf counts, or one of a row count and one of leaf counts."""
        *rows, leaves = in_sequence(batch)
        return (
            len(rows) == isinstance(batch, Sequential)
            and all(is_count(receipt, sensitivity=self.max_rows) for receipt in rows)
            and is_count(leaves, sensitivity=n_trees * self.max_rows)
        )


def _growth(batches: tuple[Event, ...]) -> NDArray[np.float64]:
    # A row count may stand before a batch's leaf counts.
    deviations = [standard_deviation(in_sequence(batch)[-1]) for batch in batches]
    growth: NDArray[np.float64] = np.sqrt(np.cumsum(np.square(deviations)))
    return growth
