"""The recommended forest: small trees whose leaf weights are fitted together. The argument is in private_forest.md."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from privet.central.class_weight import ClassWeight
from privet.central.forest_plan import ForestPlan, epsilon_for_loss, planned_forest
from privet.central.receipts import composed
from privet.central.released_classifier import FitCall, row_count_share
from privet.central.updated_classifier import UpdatedClassifier, check_classes
from privet.central.weight_file import MOST_FITS
from privet.central.weight_forest import WeightForestClassifier
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
from privet.schema.encoding import Encoder


class PrivateForestClassifier(WeightForestClassifier, UpdatedClassifier):
    """A forest of small trees whose leaf weights are fitted together, with noise added once, in the objective.

    Nothing has to be tuned: what the parameters below leave open follows from epsilon, the number of rows and the
    schema.

    Parameters
    ----------
    schema : Schema, path or "infer"
        What is public about the table.
    epsilon : float
        The whole budget of the fit, from 1e-6 to inf; inf adds no noise and promises nothing.
    delta : float
        0 for pure differential privacy. Above it, normal noise is used where it is smaller: from about six trees on.
    n_attributes : int, optional
        How many attributes have a tree; where some are left out, choosing has its share of epsilon.
    n_bins : int, optional
        How many knots of equal distance numbers have that declare neither bins nor edges, up to 64; half as many finer
        ones are added at the lower bound, or as many around zero where the range spans it. Between knots a number's
        effect is a straight line; with fewer than 4 it has steps. By default knots lie where released counts find rows.
    group_size : int, optional
        How many categorical attributes share a tree, 1 to 3.
    prior_variance : float, optional
        How large weights may be before any row is seen, 0.01 to 100; noise makes it smaller.
    balance_share, selection_share : float, optional
        Of epsilon, for the class balance and for choosing attributes, 0.01 to 0.5.
    monotonic_cst : dict, optional
        Numbers that may move the chance of the second class one way only, by name: 1 up, -1 down. It is for two
        classes, and costs nothing.
    class_weight, unit, max_rows, ledger, random_state, n_jobs, verbose, unsafe_seeded_noise
        As in `PrivateRDTClassifier`; ``random_state`` fixes how attributes are grouped.

    Attributes
    ----------
    guarantee_ : Guarantee
        What the model promises.
    trees_ : Trees
        Which attributes each tree asks for.
    released_ : ReleasedWeights
        What left the room, as whole numbers.
    class_shares_ : array
        Each class's share of the rows, from the released class counts.
    n_rows_ : int
        About how many rows there were: as declared, unless the released class counts tell otherwise.
    feature_importances_ : array
        Each attribute's share in the size of effects, less what noise would show; all 0 where nothing is left. Rough
        where rows times epsilon are below 300 for each kept attribute: how many rows a cell has is not released then.
    cell_shares_ : dict or None
        Each cell's share of the rows, missing values last, by attribute, from released counts; None where they were
        not released.
    told_apart_ : array of bool
        Which attributes do more than noise alone would, however rows lie over their cells. About one in eight that
        does nothing passes too.
    leaf_weights_ : LeafWeights
        The fitted scores: offsets, and a weight for each leaf and class.
    noise_std_, tree_noise_std_ : float, array
        The standard deviation of the noise in the pull of a leaf, in rows: the mean, and of each tree.
    releases_ : tuple of ReleasedWeights
        What each batch released: one after `fit`, and one more after each `partial_fit`. ``released_`` is all together.
    noise_growth_ : array
        The standard deviation of the noise in the pull of a leaf after each batch, in rows.
    classes_, schema_, n_features_in_, feature_names_in_
        As in `PrivateRDTClassifier`; the schema has the cells that were used.

    Examples
    --------
    >>> from privet import PrivateForestClassifier
    >>> from privet.datasets import agrawal
    >>> data = agrawal(10_000, function=1, random_state=7)
    >>> model = PrivateForestClassifier(data.schema, epsilon=1.0).fit(data.X, data.y)
    >>> model.guarantee_.epsilon <= 1.0
    True
    """

    method = "private-forest"
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
        class_weight: ClassWeight = None,
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
        self.class_weight = class_weight
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

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, executor: Executor | None = None) -> Self:
        """Fit to the rows of ``X`` and their labels ``y``, or to files or batches.

        Parameters
        ----------
        X : table, path or batches
            A pandas, polars or Arrow table, a lazy frame, a stream of Arrow or a NumPy array, with labels in ``y``; or
            what holds its labels itself: such a table with the schema's target among its columns, paths to Parquet, CSV
            or Arrow files, patterns, folders of Parquet, batches of Arrow, a dask or Spark DataFrame. Named columns are
            found by name, NumPy columns by position.
        y : array of labels
            Each one of the schema's classes; left out where ``X`` holds them.
        sample_weight : array of 0 and 1, optional
            Leaves out rows of a table in memory. A row that weighs more than 1 would cost more than is charged.
        executor : concurrent.futures.Executor, optional
            Counts the rows in parts: processes, or a cluster's workers. What is released is the same.
        """
        return self._run(FitCall(X, y, sample_weight, executor, batch=self._part_check()))

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
            encoder, rows = self._open(call, reservation, Encoder(policy.cells, self._unit().column))
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
            known = Encoder(self._as_declared(self.schema_), self._unit().column)
        elif self.schema != "infer" and (schema := self._resolve_schema(None, None)).rows is not None:
            check_classes(schema, call.classes)
            return schema, schema.rows, epsilon, ()
        encoder, rows = self._open(call, reservation, known)
        check_classes(encoder.schema, call.classes)
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

    def epsilon_needed(
        self, n_rows: int | None = None, reliability: float | None = None, *, loss: float = 0.02
    ) -> float:
        """Return the least epsilon at which noise is expected to cost at most ``loss`` of accuracy; it reads no row.

        Parameters
        ----------
        n_rows : int, optional
            About how many rows there are; by default as the schema says.
        loss : float
            Against the same forest without noise, as a share of all rows: 0.02 are two points. Tables differ, and
            `plan` says how far.
        reliability : None
            Other methods have it. Here leaves are reliable long before the forest is any good, so it is refused.
        """
        self.check_parameters()
        if reliability is not None:
            raise ParameterError(
                f"reliability={reliability!r} says nothing of how good this forest is; "
                "pass loss=0.02 (--loss 0.02) for an expected loss of two points of accuracy"
            )
        schema = self._declared_schema()
        return epsilon_for_loss(
            loss, self._checked_rows(n_rows, schema), self._unit(), len(schema.attributes), len(schema.classes)
        )

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
