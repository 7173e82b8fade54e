"""A cost that is set aside before a row is read, and what becomes of it. Argued in ledger.md."""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.entropy import secure_bytes
from privet.errors import LedgerError, Note
from privet.privacy import events
from privet.privacy.ledger.account import with_cost
from privet.privacy.ledger.entry_kinds import SETTLED, WITHDRAWN
from privet.privacy.ledger.ledger_file import Entry, LedgerFile
from privet.privacy.ledger.spending import Cost
from privet.rng import NoiseSource

_ROUNDING = 1e-9
_SALT_BYTES = 16
COUNTS_AS_SPENT = (
    "noise was drawn by then, so epsilon={:g} counts as spent, and a further run costs as much again "
    "(`privet ledger show`)"
)
_STRICT = (
    "the rows were opened by then, and this account is strict, so epsilon={:g} counts as spent (`privet ledger show`)"
)
_NOT_GIVEN_BACK = (
    "the ledger could not be told that nothing was released, so epsilon={:g} counts as spent (`privet ledger show`)"
)
_SAVED = "the model was saved before this, is whole and may be used"


class Reservation:
    """A cost that is set aside: settled with the release, or given back if no secret bit was drawn for one.

    Privacy
    -------
    Without noise there is no release. So a fit that failed before it drew any has cost nothing, except for what its
    failure tells, and only the owner of the rows sees that. Where others may spend, the account is strict, and a fit
    that fails after it has opened the rows counts as spent. After the first noise every failed fit does.
    """

    def __init__(self, file: LedgerFile, dataset: str, cost: Cost, number: int, *, strict: bool = False) -> None:
        self._file, self._dataset, self._cost, self._number = file, dataset, cost, number
        self._strict = strict
        self._opened = self._drawn = False
        self._process = os.getpid()

    def watch(self, noise: NoiseSource) -> NoiseSource:
        """Return ``noise`` as it is, except that its first word marks this reservation as drawn."""
        return _Watched(noise, self)

    def mark_drawn(self) -> None:
        """Count as spent from now on, whatever happens."""
        self._drawn = True

    def mark_opened(self) -> None:
        """Note that what happens from now on may depend on rows."""
        self._opened = True

    def settle(
        self, event: events.Event, note: Callable[[], dict[str, Any]] = dict, save: Callable[[], None] | None = None
    ) -> None:
        """Record what was really released; it may not have cost more than was set aside.

        ``save`` is called when that is sure, and the reservation open, before the settlement is written. So a crash at
        any moment leaves a model that counts as spent, and never one that is settled and lost.
        """
        self.mark_drawn()
        cost = Cost.of(event, self._cost.delta)
        if not self._cost.covers(cost):
            raise LedgerError("the release cost more than was reserved for it; it is withheld, and counts as spent")
        # What shares of epsilon lack by rounding is not worth a digit in the ledger.
        nearly = cost.epsilon > (1 - _ROUNDING) * self._cost.epsilon and not cost.delta
        charged = replace(self._cost, delta=0.0) if nearly else cost
        body = {**with_cost(charged, note()), "event": events.to_json(event)}
        if save is None:
            self._close(SETTLED, body)
            return
        try:
            self._check_open(self._file.entries())
        except LedgerError as error:
            error.add_note(Note("the model is withheld"))
            raise
        save()
        try:
            self._close(SETTLED, body)
        except BaseException as error:
            error.add_note(Note(_SAVED))
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A forked process does not know what became of the other's noise.
        if kind is None or error is None or os.getpid() != self._process:
            return
        if self._drawn:
            error.add_note(Note(COUNTS_AS_SPENT.format(self._cost.epsilon)))
            return
        is_spent = self._strict and self._opened
        try:
            if is_spent:
                error.add_note(Note(_STRICT.format(self._cost.epsilon)))
                self._close(SETTLED, with_cost(self._cost, {"because": kind.__name__, **salt()}))
            else:
                self._close(WITHDRAWN, {"because": kind.__name__})
        except LedgerError:  # the first error is the one to report
            if not is_spent:
                error.add_note(Note(_NOT_GIVEN_BACK.format(self._cost.epsilon)))

    def _close(self, kind: str, body: dict[str, Any]) -> None:
        with self._file.transaction() as transaction:
            # In the same transaction: a copy of this reservation, in another process too, may have closed it.
            self._check_open(transaction.entries)
            transaction.append(kind, {**body, "dataset": self._dataset, "reservation": self._number})

    def _check_open(self, entries: Iterable[Entry]) -> None:
        if any(entry.body.get("reservation") == self._number for entry in entries):
            raise LedgerError("this reservation is closed; a further release needs one of its own")


class NoReservation:
    """In place of a reservation where no ledger is kept: nothing is set aside."""

    def watch(self, noise: NoiseSource) -> NoiseSource:
        """Return ``noise`` as it is."""
        return noise

    def mark_opened(self) -> None:
        """Note nothing."""

    def settle(
        self,
        event: events.Event,  # noqa: ARG002 - as of a reservation
        note: Callable[[], dict[str, Any]] = dict,  # noqa: ARG002
        save: Callable[[], None] | None = None,
    ) -> None:
        """Save, and record nothing."""
        if save is not None:
            save()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave all as it is."""


class InnerReservation(NoReservation):
    """In place of a reservation for one of several releases that are reserved and settled as a whole."""

    def __init__(self, whole: Reservation | NoReservation) -> None:
        self._whole = whole

    def watch(self, noise: NoiseSource) -> NoiseSource:
        """Return ``noise``, whose first word marks the whole as drawn."""
        return self._whole.watch(noise)

    def mark_opened(self) -> None:
        """Note it of the whole."""
        self._whole.mark_opened()


class _Watched:
    """Noise that marks its reservation as drawn when it is used."""

    def __init__(self, noise: NoiseSource, reservation: Reservation) -> None:
        self._noise, self._reservation = noise, reservation
        self.secure = noise.secure

    def words(self, n: int) -> NDArray[np.uint32]:
        """Return the next ``n`` words."""
        self._reservation.mark_drawn()
        return self._noise.words(n)


def salt() -> dict[str, str]:
    """Return what nobody can guess: without it, whoever has the hashes of the entries around would try every error."""
    return {"salt": secure_bytes(_SALT_BYTES).hex()}
