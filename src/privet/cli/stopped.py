"""What a command that was stopped has left behind: a reservation, and perhaps a model that is paid for."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from privet.cli import output
from privet.errors import LedgerError

if TYPE_CHECKING:
    from privet.privacy.ledger import Ledger
    from privet.privacy.ledger.account import Account, Spending
    from privet.privacy.ledger.book import Entry

_WITHHELD = "its model is withheld, and its price counts as spent"
_FETCH = "move it to where it is to be, or delete it if it is there already"


def tell_what_was_stopped(ledger: "Ledger", *, refuse: bool) -> None:
    """Say what became of a command that was stopped; ``refuse`` to go on while a model that it paid for waits."""
    _tell_what_is_open(ledger)
    tell_what_waits(ledger.path, ledger.dataset, refuse=refuse)


def tell_what_waits(ledger: Path, dataset: str, *, refuse: bool = False) -> None:
    """Say where a model of ``dataset`` is that was paid for and never saved; one that is not on record is removed."""
    from privet.privacy.ledger.account import accounts
    from privet.privacy.ledger.shelf import Shelf

    shelf = Shelf(ledger)
    for model in shelf.left_behind():
        found, entries = accounts(ledger)  # after the look at the shelf: whoever left it there writes no more
        name, spending = _release_of(found, model.stem)
        if spending is None:
            shelf.remove(model)  # its price was never settled, which is said elsewhere
        elif name == dataset and not _is_on_record(spending, model.stem, entries):
            shelf.remove(model)  # nobody could tell later which rows are in it, and they might be added once more
            output.say(f"{_stopped(spending)} before its batch was on record: {_WITHHELD}")
        elif name == dataset:
            _tell_where(model, spending, refuse=refuse)


def _tell_where(model: Path, spending: "Spending", *, refuse: bool) -> None:
    waits = f"{_stopped(spending)} while it saved its model, which is paid for and waits in {str(model)!r}"
    if refuse:
        raise LedgerError(f"{waits}; {_FETCH}, before you pay for another one")
    output.say(f"{waits}; {_FETCH}")


def _stopped(spending: "Spending") -> str:
    told = spending.to_json()
    return f"the command that made entry {told['entry']} ({told['method']}, {told['time']}) was stopped"


def _release_of(found: Sequence["Account"], checksum: str) -> "tuple[str, Spending | None]":
    """Return the data set and the release of a model, by its checksum."""
    settled = (
        (account.dataset, spending)
        for account in found
        for spending in account.spendings
        if spending.ended is not None and spending.ended.body.get("model") == checksum
    )
    return next(settled, ("", None))


def _is_on_record(spending: "Spending", checksum: str, entries: Sequence["Entry"]) -> bool:
    """Return whether all about a model is on record: of one that takes batches, also which it has taken."""
    from privet.central.leaf_counts import LeafCountClassifier
    from privet.privacy.ledger.bodies import BATCH
    from privet.registry import METHODS

    if not issubclass(METHODS.get(spending.begun.body["method"], object), LeafCountClassifier):
        return True
    return any(entry.kind == BATCH and entry.body["after"] == checksum for entry in entries)


def _tell_what_is_open(ledger: "Ledger") -> None:
    """Say that a release was never settled, for as long as it is the newest."""
    from privet.privacy.ledger.bodies import RESERVED

    newest = ledger.account().spendings[-1:]
    if newest and newest[0].state == RESERVED:
        told = newest[0].to_json()
        output.say(
            f"the last release of {ledger.dataset!r} (entry {told['entry']}, {told['method']}, {told['time']}) was "
            "never settled: its process was stopped, or is at work still; its "
            f"epsilon={output.amount(told['epsilon'])} counts as spent"
        )
