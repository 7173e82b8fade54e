"""A search among candidates that is paid for once. The argument is in private_search.md."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from privet.central.receipts import SETTINGS, one_trial_part_each
from privet.central.released_classifier import FitCall, ReleasedClassifier
from privet.checks import Constraint, Number, Whole, check_constraints
from privet.counting.inputs import has_own_labels
from privet.counting.rows import FirstRows, rows_of_weight_1
from privet.counting.sources import BatchStream, Source, engine_of, source_of
from privet.errors import DataError, ParameterError
from privet.privacy.events import Event, Parallel
from privet.privacy.guarantee import Guarantee
from privet.privacy.ledger import Cost, Ledger, NoReservation, Reservation
from privet.privacy.ledger.reservation import InnerReservation
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip
from privet.privacy.mechanisms.rational import MIN_EPSILON, check_epsilon, remaining
from privet.privacy.unit import MAX_ROWS, Unit
from privet.rng import SystemNoise
from privet.schema import Schema
from privet.schema.encoding import Encoder, encoder_of
from privet.schema.persons import Persons
from privet.schema.table import as_arrow, column_of, columns_of

MOST_CANDIDATES = 20
# Why a parameter of a candidate is refused, and the way out.
_WHY = {
    "schema": "is read from the rows, once for each candidate; declare one",
    "ledger": "is the search's to keep; pass it to PrivateSearch",
    "unsafe_seeded_noise": "makes a choice that nothing protects; leave it out",
    "delta": "above 0 has no argument here; leave it out",
    "unit": "or max_rows differs from the search's; pass them to PrivateSearch",
    "variant": "is a form that nothing is proven of; choose another",
}


class PrivateSearch(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Chooses one of several models by a trial, and fits that one to all rows; the whole costs epsilon once.

    Secret coins split the rows into as many parts as there are candidates, and one more. Each candidate is fitted to a
    part of its own at ``share`` of epsilon, and permute-and-flip chooses among them by how many rows of the last part
    they guess right. The parts have no row in common, so the trial costs its share once, however many candidates there
    are. The chosen one is fitted anew, to all rows, with the rest of epsilon. It leaves; the models and scores of the
    trial do not.

    Parameters
    ----------
    candidates : dict
        Unfitted models of a curator by names of one's own, 2 to 20 of them, over one schema. Their epsilon is set
        here; they have no ledger, no delta and no seeded noise.
    epsilon : float
        The whole budget.
    share : float
        Of epsilon, for the trial, 0.05 to 0.5. A candidate of the trial sees as little as a part of the rows at this
        share of epsilon, so many candidates and few rows make it a lottery.
    unit, max_rows, ledger
        As in `PrivateRDTClassifier`; all rows of a person are in one part.

    Attributes
    ----------
    best_ : str
        The name of the chosen candidate.
    model_ : classifier
        The fitted model. Its guarantee covers the trial too.
    guarantee_, classes_, schema_
        Those of ``model_``.

    Examples
    --------
    >>> from privet import PrivateForestClassifier, PrivateRDTClassifier, PrivateSearch
    >>> from privet.datasets import agrawal
    >>> data = agrawal(5_000, function=1, random_state=7)
    >>> candidates = {"forest": PrivateForestClassifier(data.schema), "random": PrivateRDTClassifier(data.schema)}
    >>> search = PrivateSearch(candidates, epsilon=1.0).fit(data.X, data.y)
    >>> search.guarantee_.epsilon <= 1.0
    True
    """

    method = "private-search"
    constraints: ClassVar[Mapping[str, Constraint]] = {"share": Number(0.05, 0.5), "max_rows": Whole(1, MAX_ROWS)}
    best_: str
    model_: ReleasedClassifier

    def __init__(
        self,
        candidates: Mapping[str, ReleasedClassifier] | None = None,
        *,
        epsilon: float = 1.0,
        share: float = 0.2,
        unit: str = "row",
        max_rows: int = 1,
        ledger: Ledger | None = None,
    ) -> None:
        self.candidates = candidates
        self.epsilon = epsilon
        self.share = share
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Choose by a trial, and fit to the rows of ``X`` and their labels ``y``, or to files or batches.

        ``sample_weight``, of 0 and 1, leaves out rows of a table in memory. Wrappers say by it that they draw a row
        several times, and are refused.
        """
        return self.fit_and_save(X, y, sample_weight=sample_weight)

    def fit_and_save(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, save: Callable[[Any], None] | None = None
    ) -> Self:
        """Do the same; ``save`` is given the fitted model before its cost is settled."""
        epsilon, trial, schema = self._check()
        models = {name: self._for_trial(model, trial, schema) for name, model in self._named().items()}
        if engine_of(X) is not None:
            raise ParameterError("a search splits rows that one process reads; pass a table, files or batches")
        reservation = self._reserve(epsilon)
        with reservation:
            call = FitCall(X, y, sample_weight)
            X, y, labels = self._check_rows(next(iter(models.values())), call, reservation)
            batches = batches_of(X, labels, schema, self._unit(), sample_weight)
            parts = RowParts(batches, len(models) + 1, self._unit())
            chosen, receipt = self._trial(models, parts, trial, reservation)
        best = clone(self._named()[chosen]).set_params(
            epsilon=remaining(epsilon, trial), unit=self.unit, max_rows=self.max_rows, ledger=self.ledger
        )
        best._run(FitCall(X, y, sample_weight, reservation=reservation, searched=receipt, save=save))  # noqa: SLF001
        # All at once: a fit that fails or is interrupted leaves what was there.
        self.__dict__.update(model_=best, best_=chosen)
        return self

    def _trial(
        self, models: Mapping[str, Any], parts: "RowParts", epsilon: float, reservation: Reservation | NoReservation
    ) -> tuple[str, Event]:
        """Return the name of a candidate, chosen by what each of them says of rows that none was fitted to."""
        inner, fitted = InnerReservation(reservation), []
        for number, model in enumerate(models.values()):
            rows = BatchStream(partial(parts.part, number))
            fitted.append(model._run(FitCall(rows, reservation=inner)))  # noqa: SLF001 - a model of this package
        exact_scores = self._exact_right_guesses(fitted, parts.part(len(fitted)))
        # One row more adds 0 or 1 to every score, and a person up to max_rows: all in the same direction.
        noise = reservation.watch(SystemNoise())
        chosen, choice = permute_and_flip(
            exact_scores, epsilon=epsilon, sensitivity=self.max_rows, monotone=True, what=SETTINGS, noise=noise
        )
        receipts = (*(model.guarantee_.event for model in fitted), choice)
        return list(models)[chosen], Parallel(receipts, one_trial_part_each(self._unit()))

    def _exact_right_guesses(self, fitted: list[Any], held_out: Iterator[Any]) -> NDArray[np.int64]:
        """Return how many rows each model guesses right, of at most ``max_rows`` a person."""
        schema, exact = fitted[0].schema_, np.zeros(len(fitted), dtype=np.int64)
        column, encoder = self._unit().column, Encoder(schema)
        first_rows = None if column is None else FirstRows(column, self.max_rows)
        for batch in held_out:
            counts = np.ones(batch.num_rows, dtype=bool)
            if first_rows is not None:
                counts = first_rows.keep(batch.column(column))
            labels, rows = encoder.encode_labels(batch.column(schema.target)), batch.select(list(schema.names))
            for i, model in enumerate(fitted):
                exact[i] += int((counts & (model.predict_proba(rows).argmax(axis=1) == labels)).sum())
        return exact

    def _check(self) -> tuple[float, float, Schema]:
        """Return epsilon, that of the trial, and the one schema; refuse before a row is read what cannot be sound."""
        check_constraints(self, self.constraints)
        epsilon, unit = check_epsilon(self.epsilon), self._unit()
        trial = self.share * epsilon
        if trial < MIN_EPSILON:
            raise ParameterError(f"epsilon={epsilon!r} leaves a trial less than {MIN_EPSILON}; pass more, or no search")
        schemas = [self._check_candidate(name, model, unit) for name, model in self._named().items()]
        if any(schema != schemas[0] for schema in schemas):
            raise ParameterError("candidates have different schemas; give all of them the same")
        for model in self._named().values():
            own = clone(model).set_params(epsilon=trial, unit=self.unit, max_rows=self.max_rows)
            own.check_parameters()
        return epsilon, trial, schemas[0]

    def _check_candidate(self, name: str, model: Any, unit: Unit) -> Schema:
        where = f"candidates[{name!r}]"
        if not isinstance(model, ReleasedClassifier):
            raise ParameterError(f"{where} is no model of a curator; pass such as PrivateForestClassifier(schema)")
        wrong = {
            "schema": isinstance(model.schema, str) and model.schema == "infer",
            "ledger": model.ledger is not None,
            "unsafe_seeded_noise": model.unsafe_seeded_noise,
            "delta": getattr(model, "delta", 0) != 0,
            "unit": Unit(model.unit, model.max_rows) not in (Unit(), unit),
            "variant": not model._is_sound(),  # noqa: SLF001 - a model of this package
        }
        for parameter, is_wrong in wrong.items():
            if is_wrong:
                raise ParameterError(f"{where}: {parameter} {_WHY[parameter]}")
        return model._resolve_schema(None, None)  # noqa: SLF001

    def _named(self) -> Mapping[str, ReleasedClassifier]:
        given = self.candidates
        if not isinstance(given, Mapping) or not 2 <= len(given) <= MOST_CANDIDATES:
            raise ParameterError(
                f"candidates must be a dict of 2 to {MOST_CANDIDATES} unfitted models by names of your own"
            )
        return given

    def _for_trial(self, model: Any, epsilon: float, schema: Schema) -> Any:
        """Return the candidate as it is fitted to a part: what it tunes by a number of rows, it tunes by the part's."""
        rows = None if schema.rows is None else max(1, schema.rows // (len(self._named()) + 1))
        return clone(model).set_params(
            schema=replace(schema, rows=rows), epsilon=epsilon, unit=self.unit, max_rows=self.max_rows
        )

    def _check_rows(self, model: Any, call: FitCall, reservation: Reservation | NoReservation) -> tuple[Any, Any, Any]:
        """Read all rows once, so that what a fit refuses is refused while nothing is spent.

        Return the rows as a table and its labels, also as plain ones; of files and batches there are none.
        """
        encoder, rows = model._open(call, reservation)  # noqa: SLF001 - a model of this package
        rows.require_rereadable()
        for _ in rows.blocks():
            pass
        if has_own_labels(call.X):
            return call.X, None, None
        X, y = call.labelled(encoder.schema.target)
        return X, y, model._labels(y)  # noqa: SLF001

    def _reserve(self, epsilon: float) -> Reservation | NoReservation:
        if self.ledger is None:
            return NoReservation()
        if not isinstance(self.ledger, Ledger):
            raise ParameterError("ledger must be a Ledger; make one with Ledger(path, dataset=..., epsilon=...)")
        if self.ledger.part is not None:
            raise ParameterError("a search compares no rows with other parts of an account; leave part (--part) out")
        return self.ledger.reserve(Cost(epsilon, 0.0), unit=self.unit, method=self.method, what="fit")

    def _unit(self) -> Unit:
        return Unit(self.unit, self.max_rows)

    @property
    def guarantee_(self) -> Guarantee:
        """What the chosen model promises, the trial included."""
        check_is_fitted(self, "model_")
        return self.model_.guarantee_

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of `predict_proba`."""
        check_is_fitted(self, "model_")
        return self.model_.classes_

    @property
    def schema_(self) -> Schema:
        """The schema of the chosen model."""
        check_is_fitted(self, "model_")
        return self.model_.schema_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return what the chosen model predicts."""
        check_is_fitted(self, "model_")
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the chosen model's class probabilities."""
        check_is_fitted(self, "model_")
        return self.model_.predict_proba(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the chosen model's accuracy on rows of one's own: an exact number, which nothing protects."""
        check_is_fitted(self, "model_")
        return self.model_.score(X, y, sample_weight)

    def save(self, path: Any) -> None:
        """Write the chosen model to a file, which `privet.load` reads."""
        check_is_fitted(self, "model_")
        self.model_.save(path)


class RowParts:
    """The rows of a table in parts. Every pass finds the same rows in the same part.

    Nobody may know the coins: who does, and sees what was fitted to a part, knows which rows can have changed it, and
    a row more or less moves the coins of all rows behind it. So they are drawn anew in each fit and kept nowhere else.
    """

    def __init__(self, batches: Callable[[], Iterator[Any]], n_parts: int, unit: Unit) -> None:
        self._batches, self._n_parts, self._unit = batches, n_parts, unit
        self._coins = np.zeros(0, dtype=np.uint32)

    def part(self, number: int) -> Iterator[Any]:
        """Yield Arrow batches of the rows of one part."""
        import pyarrow as pa

        seen, persons = 0, None if self._unit.column is None else Persons(self._unit.column)
        for batch in self._batches():
            if persons is None:
                units = np.arange(seen, seen + batch.num_rows)
                seen += batch.num_rows
            else:
                units = persons.number_rows(batch.column(persons.column))
            table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
            yield table.filter(pa.array(self._part_of(units) == number))

    def _part_of(self, units: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Return the part of each unit, by its number in the order of the table."""
        lacking = int(units.max(initial=-1)) + 1 - len(self._coins)
        if lacking > 0:
            # The last words below 2^32 favour the first parts by less than one in a billion, which costs nothing.
            self._coins = np.concatenate([self._coins, SystemNoise().words(lacking) % np.uint32(self._n_parts)])
        return self._coins[units]


class SameRows:
    """Batches of a source, in which every pass must find the same rows in the same order, by their codes.

    A coin is a row's by its place: a function that shuffles would put a row into several parts.
    """

    def __init__(self, source: Source, schema: Schema, unit: Unit) -> None:
        self._source, self._schema, self._encoder = source, schema, encoder_of(schema, unit.column)
        self._persons = None if unit.column is None else Persons(unit.column)
        self._digest: bytes | None = None

    def __call__(self) -> Iterator[Any]:
        """Yield the batches; refuse them at their end where they are not those of the first pass."""
        names, target = list(self._schema.names), self._schema.target
        person = [] if self._persons is None else [self._persons.column]
        rows, labels, persons = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
        for batch in self._source.batches(self._schema, [*names, target, *person]):
            rows.update(self._encoder.encode(batch.select(names)).tobytes())
            labels.update(self._encoder.encode_labels(batch.column(target)).tobytes())
            if self._persons is not None:
                persons.update(self._persons.number_rows(batch.column(self._persons.column)).tobytes())
            yield batch
        found = rows.digest() + labels.digest() + persons.digest()
        if self._digest not in (None, found):
            raise DataError(
                "the rows differed, or came in another order, when they were read again, and a search must find each "
                "in the same part; return the same ones every time"
            )
        self._digest = found


def batches_of(X: Any, y: Any, schema: Schema, unit: Unit, sample_weight: Any = None) -> Callable[[], Iterator[Any]]:
    """Return what yields the rows of files, of batches or of a table in memory, their labels and persons with them.

    Of a table in memory those of weight 0 are left out.
    """
    import pyarrow as pa

    person = [] if unit.column is None else [unit.column]
    names = [*schema.names, schema.target, *person]
    if has_own_labels(X):
        source = source_of(X)
        assert source is not None  # noqa: S101 - a cluster's frame was refused
        return SameRows(source, schema, unit)
    columns = columns_of(X, schema.names, label=schema.target, unit=unit.column)
    columns = [*columns, y, *(column_of(X, name) for name in person)]
    table = pa.table([as_arrow(own, name) for own, name in zip(columns, names, strict=True)], names=names)
    if sample_weight is not None:
        table = table.filter(pa.array(rows_of_weight_1(sample_weight, table.num_rows)))
    return lambda: iter([table])
