"""Keep the account book: what may be spent on a data set, and what has been.

Example:  privet ledger show ledger.db
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from privet.cli.support import options, output
from privet.cli.support.stopped import tell_what_was_stopped
from privet.errors import LedgerError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privet.privacy.ledger import Ledger
    from privet.privacy.ledger.heads import HeadFolder
    from privet.privacy.ledger.ledger_file import Entry

LedgerFile: TypeAlias = Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger's file.", show_default=False)]
Dataset: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--dataset", metavar="NAME", help="Whose budget; may be left out where there is one.", show_default=False
    ),
]


def init(
    ledger: LedgerFile,
    dataset: Annotated[
        str, typer.Option("--dataset", metavar="NAME", help="The rows that the budget is about.", show_default=False)
    ],
    epsilon: Annotated[
        float, typer.Option("--epsilon", help="What all releases may cost together.", show_default=False)
    ],
    delta: Annotated[float, typer.Option("--delta", help="0 for pure differential privacy.")] = 0.0,
    unit: options.Unit = "row",
    strict: Annotated[
        bool,
        typer.Option("--strict", help="For others to spend from: failures count too once the rows are opened."),
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


def add(
    ledger: LedgerFile,
    what: Annotated[str, typer.Option("--what", help="What was released, in a few words.", show_default=False)],
    epsilon: Annotated[float, typer.Option("--epsilon", help="What it cost, per unit.", show_default=False)],
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
    book = open_ledger(ledger, dataset, part, stated=no_person_in_two_parts)
    book.add(epsilon, delta=delta, what=what, already_released=already_released)
    _report(book, as_json=as_json)


def verify(
    ledger: LedgerFile,
    head: Annotated[
        str | None,
        typer.Option(
            "--head", metavar="HASH", help="A head noted earlier: it must be in the chain.", show_default=False
        ),
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
    from privet.checks import counted
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
    if as_json:
        output.print_json({"ledger": str(ledger), "intact": True, "entries": len(entries), "head": entries[-1].hash})
    else:
        output.print_text(f"{counted(len(entries), 'entry', 'entries')}, chain intact")
        output.print_text(f"head: {entries[-1].hash}")


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


def kept_heads() -> "HeadFolder | None":
    """Return the folder in which this user keeps the heads of ledgers; None, and told, where there is none."""
    from privet.privacy.ledger.heads import HeadFolder

    named = os.environ.get("XDG_STATE_HOME", "")
    try:
        # The standard asks to pass over a path that is not absolute.
        state = Path(named) if Path(named).is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:
        output.say("there is no home folder to keep heads of ledgers in; name one with XDG_STATE_HOME")
        return None
    return HeadFolder(state / "privet" / "ledgers", output.say)


def chosen_ledger(
    path: Path | None, dataset: str | None, part: str | None, *, stated: bool = False, for_model: bool = False
) -> "Ledger | None":
    """Return the ledger that the options of a verb name, if they name one.

    ``stated``: no person is in two parts. ``for_model``: the verb will pay for a model, and is refused while an earlier
    one waits to be fetched.
    """
    if path is not None:
        return open_ledger(path, dataset, part, stated=stated, for_model=for_model)
    if dataset is not None or part is not None or stated:
        raise ParameterError("--dataset and --part name an account in a ledger; pass its file with --ledger")
    return None


def open_ledger(
    path: Path, dataset: str | None, part: str | None, *, stated: bool = False, for_model: bool = False
) -> "Ledger":
    """Return the ledger of ``dataset``, or of the only data set that there is."""
    from privet.privacy.ledger import Ledger
    from privet.privacy.ledger.account import accounts

    if dataset is None:
        names = [account.dataset for account in accounts(path)[0]]
        if not names:
            raise LedgerError("the ledger has no account yet; open one with `privet ledger init`")
        if len(names) != 1:
            raise LedgerError(f"the ledger has budgets for {', '.join(map(repr, names))}; say which with --dataset")
        dataset = names[0]
    found = Ledger(path, dataset=dataset, part=part, no_person_in_two_parts=stated, heads=kept_heads())
    tell_what_was_stopped(found, refuse=for_model)
    return found


def ledger_summary(ledger: "Ledger") -> dict[str, Any]:
    """Return where a data set's budget stands."""
    account = ledger.account()
    return {
        "dataset": ledger.dataset,
        "part": ledger.part,
        "unit": account.budget.unit,
        "epsilon": account.budget.epsilon,
        "delta": account.budget.delta,
        "strict": account.budget.strict,
        "spent": account.spent(ledger.part),
        "left": account.left(ledger.part),
    }


def ledger_sentence(ledger: "Ledger") -> str:
    """Return where a data set's budget stands, in words."""
    stand = ledger_summary(ledger)
    spent, epsilon, delta = (output.amount(stand[name]) for name in ("spent", "epsilon", "delta"))
    left = output.left_over(stand["left"])
    part = f", part {stand['part']!r}" if stand["part"] else ""
    at = f" at delta={delta}" if stand["delta"] else ""
    kind = "strict budget" if stand["strict"] else "budget"
    return (
        f"{kind} of {stand['dataset']!r}{part}: epsilon={spent} of {epsilon}{at} spent per {stand['unit']}, {left} left"
    )


def _report(ledger: "Ledger", *, as_json: bool) -> None:
    if as_json:
        output.print_json(ledger_summary(ledger))
    else:
        output.print_text(ledger_sentence(ledger))
