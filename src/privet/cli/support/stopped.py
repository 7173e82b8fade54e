"""What a command that was stopped has left behind: a reservation, and perhaps a model that is paid for."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.cli.support import output
from privet.errors import LedgerError, PrivetError

if TYPE_CHECKING:
    from privet.privacy.ledger import Ledger
    from privet.privacy.ledger.account import Account, Spending
    from privet.privacy.ledger.ledger_file import Entry

_WITHHELD = "its model is withheld, and its price counts as spent"
_FETCH = "move it to where it is to be, or delete it if it is there already"


def tell_what_was_stopped(ledger: "Ledger", *, refuse: bool) -> None:
    """Say what became of a command that was stopped; ``refuse`` to go on while a model that it paid for waits."""
    _tell_what_is_open(ledger)
    tell_what_waits(ledger.path, ledger.dataset, refuse=refuse)


def tell_what_waits(ledger: Path, dataset: str, *, refuse: bool = False) -> None:
    """Say where a model of ``dataset`` is that was paid for and never saved."""
    for model, spending in waiting_models(ledger, dataset):
        waits = f"{_stopped(spending)} while it saved its model, which is paid for and waits in {str(model)!r}"
        if refuse:
            raise LedgerError(f"{waits}; {_FETCH}, before you pay for another one")
        output.say(f"{waits}; {_FETCH}")


def waiting_models(ledger: Path, dataset: str) -> "Iterator[tuple[Path, Spending]]":
    """Yield where models of ``dataset`` wait, and their releases; an update that is not on record is removed."""
    from privet.privacy.ledger.account import accounts
    from privet.privacy.ledger.shelf import Shelf

    left_behind = Shelf(ledger).left_behind()
    found, entries = accounts(ledger) if left_behind else ([], [])  # in this order: who left them writes no more
    for left in left_behind:
        spending = _release_of([account for account in found if account.dataset == dataset], left.reservation)
        if spending is None:
            continue  # of another account, or of another ledger that had this name
        model = _whole_model(left.path, spending)
        if model is None and left.is_pending:
            left.remove()  # half written; that it counts as spent is said by `_tell_what_is_open`
        elif model is None:
            continue  # somebody has put another file in its place
        elif _lacks_its_batch(model, spending, entries):
            left.remove()
            output.say(f"{_stopped(spending)} before its batch was on record: {_WITHHELD}")
        else:
            yield left.hand_out(), spending


def was_settled(ledger: "Ledger", reservation: str) -> bool:
    """Return whether what was reserved by the entry with this hash has been settled."""
    from privet.privacy.ledger.bodies import SETTLED

    spending = _release_of([ledger.account()], reservation)
    return spending is not None and spending.state == SETTLED


def _stopped(spending: "Spending") -> str:
    told = spending.to_json()
    return f"the command that made entry {told['entry']} ({told['method']}, {told['time']}) was stopped"


def _release_of(found: Sequence["Account"], reservation: str) -> "Spending | None":
    """Return a release by how the hash of its reservation begins; none that was given back, or made elsewhere."""
    from privet.privacy.ledger.bodies import RESERVED, SETTLED

    spendings = [spending for account in found for spending in account.spendings]
    kept = [spending for spending in spendings if spending.state in (RESERVED, SETTLED)]
    return next((spending for spending in kept if spending.begun.hash.startswith(reservation)), None)


def _whole_model(path: Path, spending: "Spending") -> Any:
    """Return the model in a file, or None where it is half written, or not the one that was settled."""
    from privet.model_file import checksum_of
    from privet.registry import load

    try:
        model = load(path)
    except PrivetError:
        return None
    is_it = spending.ended is None or spending.ended.body.get("model") == checksum_of(model.to_document())
    return model if is_it else None


def _lacks_its_batch(model: Any, spending: "Spending", entries: Sequence["Entry"]) -> bool:
    """Return whether rows are in a model that nobody would know again, where that matters.

    They could be added to the model once more, or be paid for in another part as well.
    """
    from privet.central.updates.update_history import Version
    from privet.privacy.ledger.bodies import BATCH

    version = Version.of(model)
    known = any(entry.kind == BATCH and entry.body["after"] == version.checksum for entry in entries)
    return not known and (version.n_batches > 1 or spending.begun.body["part"] is not None)


def _tell_what_is_open(ledger: "Ledger") -> None:
    """Say that a release was never settled, for as long as it is the newest."""
    from privet.privacy.ledger.bodies import RESERVED

    newest = ledger.account().spendings[-1:]
    if newest and newest[0].state == RESERVED:
        told = newest[0].to_json()
        output.say(
            f"the last release of {ledger.dataset!r} (entry {told['entry']}, {told['method']}, {told['time']}) was "
            "never settled: its process was stopped, or is at work still; its "
            f"epsilon={output.amount(told['epsilon'])} counts as spent, and a further run costs as much again"
        )
