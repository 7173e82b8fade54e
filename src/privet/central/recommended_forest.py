"""What the recommended forest is for classes as for a number: small trees whose leaf weights are fitted together.

The argument is in private_forest.md, and what a number changes of it in private_forest_regressor.md.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from privet.central.forest_plan import ForestPlan, planned_forest
from privet.central.receipts import composed
from privet.central.released_classifier import FitCall, row_count_share
from privet.central.updated_classifier import UpdatedModel, check_classes
from privet.central.weight_file import MOST_FITS
from privet.central.weight_forest import WeightForest
from privet.central.weights.fitting import Fitting
from privet.central.weights.knots import without_cells
from privet.central.weights.monotone import directions_of
from privet.central.weights.order import Directions
from privet.central.weights.policy import FINE_BINS, Overrides, Policy
from privet.central.weights.released_weights import ReleasedWeights
from privet.checks import Number, OneOfTwoWays, Whole, n_threads, pluralize
from privet.errors import ParameterError
from privet.privacy.accounting import check_delta
from privet.privacy.events import Event, Parallel
from privet.privacy.ledger import Ledger, NoReservation, Reservation
from privet.privacy.mechanisms.rational import equal_share, remaining
from privet.rng import NoiseSource, public_generator
from privet.schema import Schema
from privet.schema.encoding import encoder_of


class RecommendedForest(WeightForest, UpdatedModel):
    """A forest of small trees whose leaf weights are fitted together; a row is a unit of noise, whatever it teaches."""

    max_batches = MOST_FITS
    file_parameters = (
        "delta", "n_attributes", "n_bins", "group_size", "prior_variance", "balance_share", "selection_share",
        "monotonic_cst",
    )  # fmt: skip
    later_parameters: ClassVar = {"monotonic_cst": None}
    constraints: ClassVar = {
        "n_attributes": Whole(1, 2**15 - 1, optional=True),
        "n_bins": Whole(1, 64, optional=True),
        "group_size": Whole(1, 3, optional=True),
        "prior_variance": Number(0.01, 100, optional=True),
        "balance_share": Number(0.01, 0.5, optional=True),
        "selection_share": Number(0.01, 0.5, optional=True),
        "monotonic_cst": OneOfTwoWays(),
    }

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        n_attributes: int | None = None,
        n_bins: int | None = None,
        group_size: int | None = None,
        prior_variance: float | None = None,
        balance_share: float | None = None,
        selection_share: float | None = None,
        monotonic_cst: Mapping[str, int] | None = None,
        unit: str = "row",
        max_rows: int = 1,
        ledger: Ledger | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        unsafe_seeded_noise: bool = False,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.delta = delta
        self.n_attributes = n_attributes
        self.n_bins = n_bins
        self.group_size = group_size
        self.prior_variance = prior_variance
        self.balance_share = balance_share
        self.selection_share = selection_share
        self.monotonic_cst = monotonic_cst
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unsafe_seeded_noise = unsafe_seeded_noise

    def check_parameters(self) -> float:
        """Refuse a parameter that is out of its range, before any data are read, and return epsilon."""
        check_delta(self.delta)
        return super().check_parameters()

    def _fit(self, call: FitCall) -> Self:
        epsilon, delta = self.check_parameters(), check_delta(self.delta)
        what, n_before = ("update", len(self._batches)) if call.adds else ("fit", 0)
        if call.adds:
            self._check_next_batch()
        public_rng = public_generator(self.random_state)
        # Refuses here, before any data are read.
        with call.reservation or self._reserve(epsilon, what, delta) as reservation:
            noise = self._noise(public_rng, reservation, stream=n_before)
            schema, n_rows, left, bought = self._number_of_rows(call, epsilon, noise, reservation)
            policy = self._policy(schema, left, n_rows)
            encoder, rows = self._open(call, reservation, encoder_of(policy.cells, self._unit().column))
            if policy.chooses:  # by one pass, and fits what it chose by another
                rows.require_rereadable()
            fitting = Fitting(
                policy, rows, self._unit().max_rows, left, public_rng, noise, n_threads(self.n_jobs),
                self._directions(schema),
            )  # fmt: skip
            self._say(f"fitting up to {pluralize(policy.n_attributes, 'attribute')}")
            released = fitting.release()
            # A bought number of rows decides whether there is a plan; the promise is about all that it could have been.
            planned = delta if fitting.is_planned or bought else 0.0
            receipt = composed(fitting.receipts, left, planned, first=bought)
            releases, event = [released], receipt
            if call.adds:
                releases, event = [*self.releases_, released], self._with_batch(receipt)
            return self._set_released(encoder, releases, event, reservation, call)

    def _check_next_batch(self) -> None:
        super()._check_next_batch()
        plain, fitted = self._plain_parameters(), self._fitted_with
        changed = [name for name in self.file_parameters if plain.get(name) != fitted.get(name)]
        if changed:
            raise ParameterError(f"{changed[0]} changed since the first batch; set it back, or fit again")

    def _as_declared(self, schema: Schema) -> Schema:
        """Return the schema without the cells that a fit with these parameters gives to numbers."""
        return without_cells(schema, self._plain_parameters()["n_bins"] or FINE_BINS)

    def _compared_by(self, call: FitCall) -> Schema | None:
        # A file's schema has the cells of the fit; rows are known again by the codes of the declared one.
        schema = self.schema_ if call.adds else super()._compared_by(call)
        return None if schema is None else self._as_declared(schema)

    def _number_of_rows(
        self, call: FitCall, epsilon: float, noise: NoiseSource, reservation: Reservation | NoReservation
    ) -> tuple[Schema, int, float, tuple[Event, ...]]:
        """Return the schema, about how many rows there are, what is left of epsilon, and a receipt if one was paid."""
        known = None
        if call.adds:  # the rows that its schema declares are those of the first batch
            known = encoder_of(self._as_declared(self.schema_), self._unit().column)
        elif self.schema != "infer" and (schema := self._resolve_schema(None, None)).rows is not None:
            check_classes(schema, call.classes)
            return schema, schema.rows, epsilon, ()
        encoder, rows = self._open(call, reservation, known)
        check_classes(encoder.schema, call.classes)
        self._directions(encoder.schema)  # refuses what this schema does not have, while nothing is spent
        share = row_count_share(epsilon)
        if share == 0:
            return encoder.schema, 1, epsilon, ()
        rows.require_rereadable()
        noisy, receipt = self._release_row_count(rows, share, noise)
        return encoder.schema, max(2, noisy), remaining(epsilon, share), (receipt,)

    def _directions(self, schema: Schema) -> Directions:
        return directions_of(self.monotonic_cst, schema)

    def _policy(self, schema: Schema, epsilon: float, n_rows: int) -> Policy:
        """Return the policy at a row's share of what a unit may cost."""
        self._directions(schema)  # refuses what this schema does not have
        plain = self._plain_parameters()
        fixed = Overrides(**{name: plain[name] for name in Overrides.__dataclass_fields__})
        m = self._unit().max_rows
        policy = Policy(schema, equal_share(epsilon, m), n_rows, fixed, check_delta(self.delta), m)
        policy.check_choices()
        return policy

    def _buys_rows(self, batch: int, schema: Schema) -> bool:
        return batch > 0 or super()._buys_rows(batch, schema)

    def _is_receipt(self, event: Event, forest: Sequence[ReleasedWeights], schema: Schema) -> bool:
        because = event.because if isinstance(event, Parallel) else self._unit().one_batch_each
        return because == self._unit().one_batch_each and super()._is_receipt(event, forest, schema)

    def plan(self, n_rows: int | None = None) -> ForestPlan:
        """Say what a fit would do with the budget at about ``n_rows`` rows, by default the schema's; costs nothing."""
        return self._planner(n_rows)(self.check_parameters())

    def _planner(self, n_rows: int | None) -> Callable[[float], ForestPlan]:
        schema = self._declared_schema()
        n_rows = self._checked_rows(n_rows, schema)

        def planned(epsilon: float) -> ForestPlan:
            share = 0.0 if schema.rows is not None else row_count_share(epsilon)
            policy = self._policy(schema, remaining(epsilon, share), n_rows)
            return planned_forest(
                self.method, epsilon, self._unit(), policy, row_count=share,
                public_rng=public_generator(self.random_state),
            )  # fmt: skip

        return planned
