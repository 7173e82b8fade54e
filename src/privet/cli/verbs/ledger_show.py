"""``privet ledger show``: budgets, and every release with its cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.cli.support import output
from privet.cli.support.options import Json
from privet.cli.support.stopped import tell_what_waits, waiting_models
from privet.cli.verbs.ledger import Dataset, LedgerFile, kept_heads
from privet.errors import LedgerError

if TYPE_CHECKING:
    from privet.privacy.ledger.account import Account
    from privet.privacy.ledger.ledger_file import Entry

_HASH_SHOWN = 12
_ALIKE = "The {} {!r} and {!r} look alike, and each has a {} of its own."
_UNSTATED = (
    "Nobody has stated that no person is in two of the parts {}: they count side by side, as they were recorded. If a "
    "{} is in several of them, what was spent on it is their sum."
)
_HEADINGS = ["entry", "when", "what", "method", "part", "epsilon", "delta", "state", "model"]


def show(ledger: LedgerFile, dataset: Dataset = None, as_json: Json = False) -> None:
    """Print budgets, what was spent of them, and on what.

    A release that was reserved and never settled counts as spent: its process may still run, or was killed.

    Example:  privet ledger show ledger.db
    """
    from privet.privacy.ledger.account import accounts, names_alike

    found, entries = accounts(ledger)
    _say_if_cut(entries)
    chosen = [account for account in found if dataset in (None, account.dataset)]
    if not chosen and dataset is not None:
        raise LedgerError(f"the ledger has no budget for {dataset!r}; see all of them without --dataset")
    alike = names_alike([account.dataset for account in found])
    if as_json:
        datasets = [{**account.to_json(), "waiting": _waiting(ledger, account)} for account in chosen]
        output.print_json({"ledger": str(ledger), "head": entries[-1].hash, "alike": alike, "datasets": datasets})
        return
    for account in chosen:
        _print_account(account)
    for pair in alike:
        output.print_text(_ALIKE.format("accounts", *pair, "budget"))
    output.print_text(f"head: {entries[-1].hash}")
    for account in chosen:
        tell_what_waits(ledger, account.dataset)


def _say_if_cut(entries: "list[Entry]") -> None:
    """Say that an end was cut off; it is shown all the same, for the owner to find out what happened."""
    heads = kept_heads()
    kept = None if heads is None else heads.newest(entries[0].hash)
    if kept is not None and not kept.is_in(entries):
        output.say(
            f"entry {kept.number:,}, seen before, is not in this ledger: its end was cut off, an older copy put back, "
            "or a copy of it spent from; no command will spend from it"
        )


def _print_account(account: "Account") -> None:
    from privet.privacy.ledger.account import names_alike

    budget = account.budget
    at = f", delta={output.amount(budget.delta)}" if budget.delta else ""
    strict = ", strict" if budget.strict else ""
    title = f"{account.dataset}: epsilon={output.amount(budget.epsilon)}{at} per {budget.unit}{strict}"
    output.print_text(title, style="bold")
    output.print_text(
        f"spent {output.amount(account.spent())}, left {output.left_over(account.left())}  {_bar(account)}".rstrip()
    )
    if account.parts:
        cells = [
            (part, output.amount(account.spent(part)), output.left_over(account.left(part))) for part in account.parts
        ]
        output.print_table(["part", "spent", "left"], cells, right=[1, 2])
        for pair in names_alike(account.parts):
            output.print_text(_ALIKE.format("parts", *pair, "share"))
    if account.unstated_parts:
        output.print_text(_UNSTATED.format(", ".join(map(repr, account.unstated_parts)), budget.unit))
    if account.spendings:
        output.print_table(_HEADINGS, [_cells(spending.to_json()) for spending in account.spendings], right=[0, 5, 6])
    output.print_text()


def _waiting(ledger: Path, account: "Account") -> list[str]:
    return [str(model) for model, _ in waiting_models(ledger, account.dataset)]


def _bar(account: "Account") -> str:
    return output.bar(min(1.0, account.spent() / account.budget.epsilon), 30)


def _cells(release: dict[str, Any]) -> list[str]:
    because = release["because"]
    state = {
        "reserved": "not settled, counts as spent", "withdrawn": f"withdrawn ({because})",
        "failed": f"failed ({because}), counts as spent",
    }  # fmt: skip
    return [
        str(release["entry"]),
        release["time"].replace("T", " ").removesuffix("+00:00"),
        release["what"],
        release["method"],
        release["part"] or "",
        output.amount(release["epsilon"]),
        output.amount(release["delta"]),
        state.get(release["state"], release["state"]) + (", with leaks" if release["leaks"] else ""),
        (release["model"] or "")[:_HASH_SHOWN],
    ]
