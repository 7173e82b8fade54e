"""Keep the account book: what may be spent on a data set, and what has been.

Example:  privet ledger show ledger.db
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from privet.cli.support import options, output
from privet.cli.support.ledger import Dataset, kept_heads, ledger_sentence, ledger_summary, open_ledger
from privet.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privet.privacy.ledger import Ledger
    from privet.privacy.ledger.account import Account
    from privet.privacy.ledger.heads import HeadFolder
    from privet.privacy.ledger.ledger_file import Entry

LedgerFile: TypeAlias = Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger's file.")]
_HASH_SHOWN = 12
_ALIKE = "The {} {!r} and {!r} look alike, and each has a {} of its own."
_UNSTATED = (
    "Nobody has stated that no person is in two of the parts {}: they count side by side, as they were recorded. If a "
    "{} is in several of them, what was spent on it is their sum."
)
_HEADINGS = ["entry", "when", "what", "method", "part", "epsilon", "delta", "state", "model"]


def init(
    ledger: LedgerFile,
    dataset: Annotated[str, typer.Option("--dataset", metavar="NAME", help="The rows that the budget is about.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="What all releases may cost together.")],
    delta: Annotated[float, typer.Option("--delta", help="0 for pure differential privacy.")] = 0.0,
    unit: options.Unit = "row",
    strict: Annotated[
        bool, typer.Option("--strict", help="For others to spend from: failures count too once the rows are opened.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Open an account: a data set and its budget, in a new ledger or in one that is there.

    The budget cannot be changed afterwards. Doing the same again changes nothing.

    Whether a fit fails can tell what a row holds. Where others than the owner of the rows choose schemas and fits, open
    the account with --strict: a fit that fails after it has opened the rows is charged, the account takes a hundred
    fits at most, failed ones included, and it has no parts.

    Example:  privet ledger init ledger.db --dataset patients --epsilon 3
    """
    from privet.privacy.ledger import Ledger

    opened = Ledger(
        ledger, dataset=dataset, epsilon=epsilon, delta=delta, unit=unit, strict=strict or None, heads=kept_heads()
    )
    _report(opened, as_json=as_json)


def show(ledger: LedgerFile, dataset: Dataset = None, as_json: options.Json = False) -> None:
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
        datasets = [account.to_json() for account in chosen]
        output.print_json({"ledger": str(ledger), "head": entries[-1].hash, "alike": alike, "datasets": datasets})
        return
    for account in chosen:
        _print_account(account)
    for pair in alike:
        output.print_text(_ALIKE.format("accounts", *pair, "budget"))
    output.print_text(f"head: {entries[-1].hash}")


def add(
    ledger: LedgerFile,
    what: Annotated[str, typer.Option("--what", help="What was released, in a few words.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="What it cost, per unit.")],
    delta: Annotated[float, typer.Option("--delta", help="At which delta.")] = 0.0,
    dataset: Dataset = None,
    part: options.Part = None,
    no_person_in_two_parts: options.NoPersonInTwoParts = False,
    already_released: Annotated[
        bool, typer.Option("--already-released", help="Record it even if it exceeds the budget: it has happened.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Record a release about the same rows that another tool made.

    Example:  privet ledger add ledger.db --what 'a histogram of ages' --epsilon 0.2
    """
    opened = open_ledger(ledger, dataset, part, stated=no_person_in_two_parts)
    opened.add(epsilon, delta=delta, what=what, already_released=already_released)
    _report(opened, as_json=as_json)


def verify(
    ledger: LedgerFile,
    head: Annotated[
        str | None, typer.Option("--head", metavar="HASH", help="A head noted earlier: it must be in the chain.")
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Use the file as it is from now on: it was put back on purpose.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Check that no entry was changed or removed, and print the head of the chain.

    Whoever holds the file could cut off its end. So the head is kept on this machine too, in
    $XDG_STATE_HOME/privet/ledgers, and every command refuses a ledger that lacks it. Note it elsewhere for others.

    Example:  privet ledger verify ledger.db --head 5f0c...
    """
    from privet.checks import pluralize
    from privet.privacy.ledger.account import accounts

    heads = kept_heads()
    _, entries = accounts(ledger, None if accept else heads)
    if head is not None and head not in {entry.hash for entry in entries}:
        raise LedgerError(
            "the head that was noted is not in this ledger: its end was cut off, or it is another file; take it from a "
            "backup, and find out what happened"
        )
    if accept and heads is not None:
        _accept(entries, heads)
    output.answer(
        {"ledger": str(ledger), "intact": True, "entries": len(entries), "head": entries[-1].hash},
        f"{pluralize(len(entries), 'entry', 'entries')}, chain intact",
        f"head: {entries[-1].hash}",
        as_json=as_json,
    )


def _accept(entries: "Sequence[Entry]", heads: "HeadFolder") -> None:
    """Keep the head of a chain, and say if another one was kept."""
    from privet.privacy.ledger.heads import Head

    kept = heads.newest(entries[0].hash)
    if kept is not None and not kept.is_in(entries):
        output.say(
            f"entry {kept.number:,}, seen before, is not in this ledger: what was spent there and is not here counts "
            "no longer; record it with `privet ledger add --already-released`"
        )
    heads.keep(entries[0].hash, Head(entries[-1].number, entries[-1].hash), also_older=True)


def _report(ledger: "Ledger", *, as_json: bool) -> None:
    output.answer(ledger_summary(ledger), ledger_sentence(ledger), as_json=as_json)


def _say_if_cut(entries: "Sequence[Entry]") -> None:
    """Say that an end was cut off; the rest is shown all the same, so that the owner can find out what happened."""
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
    bar = output.bar(min(1.0, account.spent() / account.budget.epsilon), 30)
    output.print_text(
        f"spent {output.amount(account.spent())}, left {output.left_over(account.left())}  {bar}".rstrip()
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
