"""What every released model shares: how it is fitted within a budget, what its file keeps, and what it guarantees."""

import math
import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np

from privet.central.class_weight import CLASS_WEIGHT, ClassWeightedClassifier, class_weight_from_json
from privet.central.receipts import ROW_COUNT, asked_epsilon, fit_of, is_seeded, is_trial, trial_of
from privet.central.updates.batches import BatchCheck, Version
from privet.checks import is_number, plain
from privet.counting.engines.executor import OnExecutor, check_executor
from privet.counting.engines.parts import PartitionedRows
from privet.counting.inputs import check_files_exist, has_own_labels, open_table
from privet.counting.rows import MemoryRows, Rows, RowWeights
from privet.errors import ModelFileError, ParameterError, PrivetError, SchemaError
from privet.estimator import PrivateEstimator, check_labels_given, public_facts
from privet.model_file import checksum_of
from privet.privacy.events import Event, Parallel
from privet.privacy.guarantee import CURATOR, Guarantee
from privet.privacy.ledger import Cost, Ledger, NoReservation, Reservation
from privet.privacy.ledger.account import Account
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.rational import MIN_EPSILON
from privet.rng import NoiseSource, SeededNoise, SystemNoise, noise_source
from privet.schema import Schema
from privet.schema.encoding import Encoder, encoder_of
from privet.schema.table import as_table, column_names, column_of, may_have_column, without_column

# Of epsilon, for a noisy number of rows where the schema declares none. What is tuned by it needs a rough number only.
ROW_COUNT_SHARE = 0.05


def row_count_share(epsilon: float) -> float:
    """Return what a noisy number of rows costs: none where it would be noise alone."""
    share = ROW_COUNT_SHARE * epsilon
    return share if share >= MIN_EPSILON else 0.0


@dataclass(frozen=True)
class FitCall:
    """One call of a fit: what was passed to it, and what is to be done before its cost is settled.

    ``batch`` checks the rows and puts them on record, ``save`` is given the fitted model, and ``adds`` says that the
    rows are added to those in the model. ``reservation`` is one that was made already, and ``searched`` the receipt of
    the trial that chose the method and its parameters.
    """

    X: Any
    y: Any = None
    sample_weight: Any = None
    max_sample_weight: float | None = None
    executor: Executor | None = None
    classes: Any = None
    batch: BatchCheck | None = None
    save: Callable[[Any], None] | None = None
    adds: bool = False
    reservation: Reservation | NoReservation | None = None
    searched: Event | None = None

    def __post_init__(self) -> None:
        most = self.max_sample_weight
        if most is None:
            return
        if self.sample_weight is None:
            raise ParameterError(
                "max_sample_weight is the largest of weights; pass them as sample_weight, or leave it out"
            )
        if not is_number(most) or not 0 < most < math.inf:
            raise ParameterError(f"max_sample_weight={most!r} must be a number above 0, the largest weight of a row")

    @cached_property
    def table(self) -> Any:
        """Rows in memory as a table; a fit that goes through them twice computes a lazy frame once."""
        return as_table(self.X)

    def labelled(self, target: str) -> tuple[Any, Any]:
        """Return the table and its labels; where none were passed, the column ``target`` of the table if it has one."""
        if self.y is None and target in (column_names(self.table) or ()):
            return without_column(self.table, target), column_of(self.table, target)
        return self.table, self.y


class ReleasedModel(PrivateEstimator):
    """A model of released numbers."""

    # Constructor parameters that decide how released numbers are read, and so belong in the file.
    file_parameters: ClassVar[tuple[str, ...]] = ()
    # Parameters that version 0.1.0 did not have, each with the value that acts as 0.1.0 did. A file leaves a parameter
    # out where it has that value.
    later_parameters: ClassVar[Mapping[str, Any]] = {}
    # Who has to be trusted.
    trust: ClassVar[str] = CURATOR

    def _class_weight_in_file(self) -> dict[str, Any]:
        """Return the class weights as a file has them; only classifiers have some."""
        return {}

    def _check_class_weight(self, schema: Schema) -> None:
        """Refuse a weight for a class that the schema lacks."""

    @abstractmethod
    def _is_receipt(self, event: Event, forest: Any, schema: Schema) -> bool:
        """Return whether a fit of this model would have written ``event``."""

    def _assumptions(self, event: Event) -> list[str]:  # noqa: ARG002 - batches have one
        """Return what the caller promised."""
        return []

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters that belong in the file, as they are at the fit; any kind of number as a plain one."""
        values = {name: plain(getattr(self, name)) for name in self.file_parameters}
        later = self.later_parameters
        used = {name: value for name, value in values.items() if name not in later or value != later[name]}
        return used | self._class_weight_in_file()

    def _guarantee(self, schema: Schema, event: Event) -> Guarantee:
        return Guarantee.from_event(
            event,
            public=[*public_facts(schema), _settings(event)],
            leaks=schema.leaks,
            assumptions=[*schema.assumptions, *self._assumptions(event), *self._stated_of_parts(event)],
            unit=self._unit(),
            trust=self.trust,
        )

    def _run(self, call: FitCall) -> Self:
        """Fit a snapshot, and take over what it released."""
        return self._take_over(self._snapshot()._fit(call))  # noqa: SLF001 - of its own class

    def _fit(self, call: FitCall) -> Self:
        """Reserve the cost, open the rows, release, settle: all of it on this snapshot."""
        raise NotImplementedError

    def _part_check(self, *, adds: bool = False) -> BatchCheck | None:
        """Return the check of rows that are a named part of an account; ``adds``: they are added to the model's."""
        if not isinstance(self.ledger, Ledger) or self.ledger.part is None:
            return None
        return BatchCheck(self.ledger, Version.of(self) if adds else None)

    def _reserve(self, epsilon: float, what: str, delta: float = 0.0) -> Reservation | NoReservation:
        """Set the cost of a release aside in the ledger, where one is kept, or refuse."""
        if self.ledger is None:
            return NoReservation()
        if not isinstance(self.ledger, Ledger):
            raise ParameterError("ledger must be a Ledger; make one with Ledger(path, dataset=..., epsilon=...)")
        cost = Cost(math.inf if self.unsafe_seeded_noise or not self._is_sound() else epsilon, delta)
        return self.ledger.reserve(cost, unit=self.unit, method=self.method, what=what, check=self._check_account)

    def _check_account(self, account: Account) -> None:
        if account.budget.strict and self.schema == "infer":
            raise ParameterError(
                f'the account {account.dataset!r} is strict, and schema="infer" reads the rows without noise; declare '
                "a schema"
            )

    def _noise(
        self, public_rng: np.random.Generator, reservation: Reservation | NoReservation, *, stream: int = 0
    ) -> NoiseSource:
        return reservation.watch(noise_source(public_rng, unsafe_seeded_noise=self.unsafe_seeded_noise, stream=stream))

    def _settle(self, event: Event, reservation: Reservation | NoReservation, call: FitCall) -> None:
        """Put the rows on record, save the model, settle its cost: in this order (see update.md and ledger.md)."""
        if call.batch is not None:
            call.batch.record(self)
        save = None if call.save is None else partial(call.save, self)
        reservation.settle(event, self._ledger_note, save)

    def _ledger_note(self) -> dict[str, Any]:
        """Return what the ledger holds about the model: nothing that its file does not."""
        return {"model": checksum_of(self.to_document()), "leaks": list(self.guarantee_.leaks)}

    def _open(
        self, call: FitCall, reservation: Reservation | NoReservation, encoder: Encoder | None = None
    ) -> tuple[Encoder, Rows]:
        """Return the encoder, by default the resolved schema's, and the encoded rows; the model stays as it is.

        What can be refused whatever the rows are, is refused before the reservation learns that they are opened. A
        batch is checked in the first pass, unless workers count: they take no fingerprint.
        """
        unit = self._unit()
        if encoder is not None:
            self._check_class_weight(encoder.schema)
        if call.executor is not None:
            check_executor(call.executor, unit)
        batch = None if call.executor is not None or call.batch is None or call.batch.is_done else call.batch
        if has_own_labels(call.X):
            self._check_source(call, has_encoder=encoder is not None)
            encoder = encoder or self._declared_encoder()
            check_files_exist(call.X)
            reservation.mark_opened()  # a column's type, or its being there, may depend on rows too
            table = call.X if batch is None else batch.watch(call.X, self._compared_by(call))
            return encoder, open_table(table, encoder, unit, call.executor)
        if encoder is None and self.schema != "infer":
            encoder = self._declared_encoder()
        if encoder is None or not may_have_column(call.X, encoder.schema.target):
            check_labels_given(call.y, type(self).__name__)
        reservation.mark_opened()
        X, y = self._with_labels(call, encoder)
        labels = self._labels(y)
        if encoder is None:
            encoder = encoder_of(self._adapted(self._resolve_schema(X, labels)), unit.column)
            self._check_class_weight(encoder.schema)
        rows = MemoryRows(encoder.encode(X), encoder.encode_labels(labels))
        rows = rows.bounded(unit, X, y, self._row_weights(call))
        if batch is not None:
            batch.check_table(encoder_of(self._compared_by(call) or encoder.schema, unit.column), X, labels)
        if call.executor is not None:
            return encoder, PartitionedRows(OnExecutor(rows.partitions(), call.executor), encoder)
        return encoder, rows

    def _row_weights(self, call: FitCall) -> RowWeights | None:
        """Return what rows count for, where that was said."""
        if call.sample_weight is None:
            return None
        coins = SeededNoise(0) if self.unsafe_seeded_noise else SystemNoise()
        return RowWeights(call.sample_weight, call.max_sample_weight, coins)

    def _with_labels(self, call: FitCall, encoder: Encoder | None) -> tuple[Any, Any]:
        """Return a table in memory and its labels, or refuse it without any."""
        X, y = (call.table, call.y) if encoder is None else call.labelled(encoder.schema.target)
        check_labels_given(y, type(self).__name__)
        return X, y

    def _check_source(self, call: FitCall, *, has_encoder: bool) -> None:
        """Refuse what does not go with rows that hold their labels: files, streams of batches, a cluster's frames."""
        if call.sample_weight is not None:
            raise ParameterError("sample_weight is for a table in memory; leave out rows where they are written")
        if call.y is not None:
            raise ParameterError(
                "leave y out when fitting from a file, batches or a cluster's frame: the label is the schema's target "
                "column there"
            )
        if self.schema == "infer" and not has_encoder:
            raise ParameterError(
                'schema="infer" needs a table in memory; draft a schema with `privet schema init` instead'
            )

    def _declared_encoder(self) -> Encoder:
        encoder = encoder_of(self._adapted(self._resolve_schema(None, None)), self._unit().column)
        self._check_class_weight(encoder.schema)
        return encoder

    def _compared_by(self, call: FitCall) -> Schema | None:  # noqa: ARG002 - batches differ from first fits
        """Return the schema by whose codes rows are compared; None for the model's own.

        It is the declared one, since each method cuts numbers in its own way.
        """
        return None if self.schema == "infer" else self._resolve_schema(None, None)

    def _stated_of_parts(self, event: Event) -> list[str]:
        """Return what was stated of the people in a part of an account, for this release or an earlier batch of it."""
        unit = self._unit()
        said = unit.column is not None and self.ledger is not None and self.ledger.no_person_in_two_parts
        before = self.guarantee_.assumptions if isinstance(event, Parallel) and hasattr(self, "guarantee_") else ()
        return [unit.one_part_each] if said or unit.one_part_each in before else []

    def _check_guarantee(self, guarantee: Guarantee, schema: Schema, forest: Any) -> None:
        """Refuse a guarantee that a fit of this model over this schema and forest would not have written."""
        expected = replace(self._guarantee(schema, guarantee.event), versions=guarantee.versions)
        # Whether the fit was of a part of an account of people is nowhere else in the file.
        stated = self._unit().one_part_each
        if self._unit().column is not None and stated in guarantee.assumptions:
            expected = replace(expected, assumptions=(*expected.assumptions, stated))
        trial = trial_of(guarantee.event)
        is_whole = trial is None or is_trial(trial, self._unit())
        if guarantee != expected or not is_whole or not self._is_receipt(guarantee.event, forest, schema):
            raise ModelFileError("the guarantee is not that of this schema and these trees; the file was changed")

    @classmethod
    def _unfitted(cls, parameters: object, schema: Schema, guarantee: Guarantee, **others: Any) -> Self:
        """Return an unfitted model with a file's ``parameters`` and ``others`` that follow from the rest of it."""
        later = {*cls.later_parameters, *([CLASS_WEIGHT] if issubclass(cls, ClassWeightedClassifier) else [])}
        if not isinstance(parameters, Mapping) or {*parameters, *later} != {*cls.file_parameters, *later}:
            raise ModelFileError("the model's parameters are not those of its method; the file is damaged")
        own = {**cls.later_parameters, **parameters}
        if CLASS_WEIGHT in own:
            own[CLASS_WEIGHT] = class_weight_from_json(own[CLASS_WEIGHT])
        model = cls(
            schema, epsilon=asked_epsilon(fit_of(guarantee.event)), unit=guarantee.unit, max_rows=guarantee.max_rows,
            unsafe_seeded_noise=is_seeded(guarantee.event), **{**own, **others},
        )  # fmt: skip
        try:
            model.check_parameters()
            model._check_class_weight(schema)
        except PrivetError as error:
            raise ModelFileError("a parameter of the model is out of its range; the file was changed") from error
        return model

    def _encoder_of(self, schema: Schema) -> Encoder:
        try:
            return encoder_of(schema, self._unit().column)
        except SchemaError as error:
            raise ModelFileError("the unit's column is one of the schema's; the file was changed") from error

    def _release_row_count(self, rows: Rows, share: float, noise: NoiseSource) -> tuple[int, Event]:
        """Return a noisy number of rows, for a ``share`` of epsilon, and its receipt."""
        exact = np.array([rows.exact_size()], dtype=np.int64)
        moves = self._unit().max_rows
        noisy, receipt = discrete_laplace(exact, epsilon=share, sensitivity=moves, what=ROW_COUNT, noise=noise)
        return int(noisy[0]), receipt

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"privet: {message}", file=sys.stderr)


class ReleasedClassifier(ClassWeightedClassifier, ReleasedModel):
    """A classifier of released numbers."""


class CuratorClassifier(ReleasedClassifier):
    """A classifier that one curator fits to rows; parties make theirs of what each of them released."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        max_sample_weight: float | None = None,
        executor: Executor | None = None,
    ) -> Self:
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
        sample_weight : array, optional
            Leaves out rows of a table in memory: 1 keeps a row, 0 does not. Other weights need ``max_sample_weight``.
        max_sample_weight : float, optional
            The largest weight that a row may have, declared beforehand; larger ones count as it. A row is then kept
            with a chance of its weight over this maximum, by a secret coin: a high maximum leaves few rows.
        executor : concurrent.futures.Executor, optional
            Counts the rows in parts: processes, or a cluster's workers. What is released is the same.
        """
        return self._run(FitCall(X, y, sample_weight, max_sample_weight, executor, batch=self._part_check()))


def _settings(event: Event) -> str:
    """Return in words what was public about the method."""
    trial = trial_of(event)
    return "the method and its parameters" if trial is None else f"{len(trial.parts) - 1} candidates for the method"
