"""``privet ledger show``: budgets, and every release with its cost."""

from typing import TYPE_CHECKING, Any

from privet.cli import output
from privet.cli.ledger import Dataset, LedgerFile
from privet.cli.options import Json
from privet.errors import LedgerError

if TYPE_CHECKING:
    from privet.privacy.ledger.account import Account, Spending

_HASH_SHOWN = 12
_HEADINGS = ["entry", "when", "what", "method", "part", "epsilon", "delta", "state", "model"]


def show(ledger: LedgerFile, dataset: Dataset = None, as_json: Json = False) -> None:
    """Print budgets, what was spent of them, and on what.

    A release that was reserved and never settled counts as spent: its process may still run, or was killed.
    """
    from privet.privacy.ledger.account import accounts

    found, entries = accounts(ledger)
    chosen = [account for account in found if dataset in (None, account.dataset)]
    if not chosen:
        raise LedgerError(f"the ledger has no budget for {dataset!r}; see all of them without --dataset")
    if as_json:
        output.print_json({"ledger": str(ledger), "head": entries[-1].hash, "datasets": [_data(a) for a in chosen]})
        return
    for account in chosen:
        _print_account(account)
    output.print_text(f"head: {entries[-1].hash}")


def _data(account: "Account") -> dict[str, Any]:
    return {
        "dataset": account.dataset,
        **vars(account.budget),
        "spent": account.spent(),
        "left": account.left(),
        "parts": {part: {"spent": account.spent(part), "left": account.left(part)} for part in account.parts},
        "releases": [_release(spending) for spending in account.spendings],
    }


def _release(spending: "Spending") -> dict[str, Any]:
    begun, ended = spending.begun, spending.ended
    amounts = ended.body if ended is not None and "epsilon" in ended.body else begun.body
    return {
        "entry": begun.number,
        "time": begun.time,
        "what": begun.body["what"],
        "method": begun.body["method"],
        "part": begun.body["part"],
        "epsilon": amounts["epsilon"],
        "delta": amounts["delta"],
        "state": spending.state,
        "settled": None if ended is None else ended.time,
        "model": None if ended is None else ended.body.get("model"),
        "because": None if ended is None else ended.body.get("because"),
    }


def _print_account(account: "Account") -> None:
    budget = account.budget
    at = f", delta={budget.delta:g}" if budget.delta else ""
    output.print_text(f"{account.dataset}: epsilon={budget.epsilon:g}{at} per {budget.unit}", style="bold")
    output.print_text(f"spent {account.spent():.12g}, left {account.left():.12g}  {_bar(account)}".rstrip())
    if account.parts:
        cells = [(part, f"{account.spent(part):.12g}", f"{account.left(part):.12g}") for part in account.parts]
        output.print_table(["part", "spent", "left"], cells, right=[1, 2])
    if account.spendings:
        output.print_table(_HEADINGS, [_cells(_release(spending)) for spending in account.spendings], right=[0, 5, 6])
    output.print_text()


def _bar(account: "Account") -> str:
    return output.bar(min(1.0, account.spent() / account.budget.epsilon), 30)


def _cells(release: dict[str, Any]) -> list[str]:
    state = {"reserved": "not settled, counts as spent", "withdrawn": f"withdrawn ({release['because']})"}
    return [
        str(release["entry"]),
        release["time"].replace("T", " ").removesuffix("+00:00"),
        release["what"],
        release["method"],
        release["part"] or "",
        f"{release['epsilon']:g}",
        f"{release['delta']:g}",
        state.get(release["state"], release["state"]),
        (release["model"] or "")[:_HASH_SHOWN],
    ]
