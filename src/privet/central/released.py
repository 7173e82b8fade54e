"""What every released model shares: the parameters that its file keeps, its promise, and how both are checked."""

import sys
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from privet.central.receipts import asked_epsilon, is_seeded
from privet.central.updates.update_files import PartCheck
from privet.central.updates.update_history import Version
from privet.central.weights.released import ROW_COUNT
from privet.checks import is_whole
from privet.counting.engines.executor import taken_apart
from privet.counting.opening import has_own_labels
from privet.counting.rows import Rows
from privet.errors import ModelFileError, PrivetError, SchemaError
from privet.estimator import PrivateClassifier, public_facts
from privet.privacy.events import Event, Parallel
from privet.privacy.guarantee import CURATOR, Guarantee
from privet.privacy.ledger import Ledger, NoReservation, Reservation
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.rational import MIN_EPSILON
from privet.rng import NoiseSource
from privet.schema import Schema
from privet.schema.encoding import Encoder

# Of epsilon, for a noisy number of rows where the schema declares none. What is tuned by it needs a rough number only.
ROW_COUNT_SHARE = 0.05


def row_count_share(epsilon: float) -> float:
    """Return what a noisy number of rows costs: none where it would be noise alone."""
    share = ROW_COUNT_SHARE * epsilon
    return share if share >= MIN_EPSILON else 0.0


class ReleasedClassifier(PrivateClassifier):
    """A model of released numbers."""

    # Constructor parameters that decide how released numbers are read, and so belong in the file.
    file_parameters: ClassVar[tuple[str, ...]] = ()
    # Who has to be trusted.
    trust: ClassVar[str] = CURATOR
    _fitted_with: dict[str, Any]
    _part_check: PartCheck | None

    @abstractmethod
    def check_parameters(self) -> float:
        """Refuse a parameter that is out of its range, before any data are read, and return epsilon."""

    @abstractmethod
    def _is_receipt(self, event: Event, forest: Any, schema: Schema) -> bool:
        """Return whether a fit of this model would have written ``event``."""

    def _assumptions(self, event: Event) -> list[str]:  # noqa: ARG002 - batches have one
        """Return what the caller promised."""
        return []

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters that belong in the file, as they are at the fit; any kind of number as a plain one."""
        return {name: _plain(getattr(self, name)) for name in self.file_parameters}

    def _guarantee(self, schema: Schema, event: Event) -> Guarantee:
        return Guarantee.from_event(
            event,
            public=[*public_facts(schema), "the method and its parameters"],
            leaks=schema.leaks,
            assumptions=[*self._assumptions(event), *self._stated_of_parts(event)],
            unit=self._unit(),
            trust=self.trust,
        )

    def _snapshot(self, *, adds: bool = False) -> Self:
        """Return a copy to fit; ``adds`` says whether the rows are added to those in the model."""
        snapshot, check = super()._snapshot(), None
        if isinstance(self.ledger, Ledger) and self.ledger.part is not None:
            check = PartCheck(self.ledger, Version.of(self) if adds else None)
        snapshot.__dict__["_part_check"] = check
        return snapshot

    def _take_over(self, fitted: Self) -> Self:
        """Take what was fitted, its rows on record if they are a named part of an account."""
        check = fitted.__dict__.pop("_part_check", None)
        if check is not None:
            check.record(fitted)
        return super()._take_over(fitted)

    def _open(
        self, X: Any, y: Any, reservation: Reservation | NoReservation, encoder: Encoder | None = None
    ) -> tuple[Encoder, Rows]:
        """Open rows as every estimator does; those of a named part are compared with what other parts have.

        Workers take no fingerprint.
        """
        check, (table, executor, sample_weight) = self._part_check, taken_apart(X)
        if check is None or check.is_done or executor is not None:
            return super()._open(X, y, reservation, encoder)
        if has_own_labels(table) and sample_weight is None:
            return super()._open(check.watching(table, self._compared_by()), y, reservation, encoder)
        encoder, rows = super()._open(X, y, reservation, encoder)
        check.check(Encoder(self._compared_by() or encoder.schema, self._unit().column), table, self._labels(y))
        return encoder, rows

    def _compared_by(self) -> Schema | None:
        """Return by whose codes rows are compared; None for the model's own schema.

        The declared one: methods cut numbers each in their own way.
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
        # Whether the fit was paid for as a part of an account of people is nowhere else in the file.
        stated = self._unit().one_part_each
        if self._unit().column is not None and stated in guarantee.assumptions:
            expected = replace(expected, assumptions=(*expected.assumptions, stated))
        if guarantee != expected or not self._is_receipt(guarantee.event, forest, schema):
            raise ModelFileError("the guarantee is not that of this schema and these trees; the file was changed")

    @classmethod
    def _unfitted(cls, parameters: object, schema: Schema, guarantee: Guarantee, **told: Any) -> Self:
        """Return an unfitted model of a file's ``parameters``, and of what its other parts have ``told``."""
        if not isinstance(parameters, Mapping) or set(parameters) != set(cls.file_parameters):
            raise ModelFileError("the model's parameters are not those of its method; the file is damaged")
        model = cls(
            schema, epsilon=asked_epsilon(guarantee.event), unit=guarantee.unit, max_rows=guarantee.max_rows,
            unsafe_seeded_noise=is_seeded(guarantee.event), **{**parameters, **told},
        )  # fmt: skip
        try:
            model.check_parameters()
        except PrivetError as error:
            raise ModelFileError("a parameter of the model is out of its range; the file was changed") from error
        return model

    def _encoder_of(self, schema: Schema) -> Encoder:
        try:
            return Encoder(schema, self._unit().column)
        except SchemaError as error:
            raise ModelFileError("the unit's column is one of the schema's; the file was changed") from error

    def _bought_rows(self, rows: Rows, share: float, noise: NoiseSource) -> tuple[int, Event]:
        """Return a noisy number of rows, for a ``share`` of epsilon, and its receipt."""
        exact = np.array([rows.exact_size()], dtype=np.int64)
        moves = self._unit().max_rows
        noisy, receipt = discrete_laplace(exact, epsilon=share, sensitivity=moves, what=ROW_COUNT, noise=noise)
        return int(noisy[0]), receipt

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"privet: {message}", file=sys.stderr)


def _plain(value: Any) -> Any:
    if value is True or value is False or not isinstance(value, Real):
        return value
    return int(value) if is_whole(value) else float(value)
