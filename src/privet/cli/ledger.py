"""``privet ledger init|add|verify``: the data owner's account book. `ledger_show` prints it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from privet.cli import options, output
from privet.cli.stopped import tell_what_was_stopped
from privet.errors import LedgerError, ParameterError

if TYPE_CHECKING:
    from privet.privacy.ledger import Ledger

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
    as_json: options.Json = False,
) -> None:
    """Open an account: a data set and its budget, in a new ledger or in one that is there.

    The budget cannot be changed afterwards. Doing the same again changes nothing.
    """
    from privet.privacy.ledger import Ledger

    _report(Ledger(ledger, dataset=dataset, epsilon=epsilon, delta=delta, unit=unit), as_json=as_json)


def add(
    ledger: LedgerFile,
    what: Annotated[str, typer.Option("--what", help="What was released, in a few words.", show_default=False)],
    epsilon: Annotated[float, typer.Option("--epsilon", help="What it cost, per unit.", show_default=False)],
    delta: Annotated[float, typer.Option("--delta", help="At which delta.")] = 0.0,
    dataset: Dataset = None,
    part: options.Part = None,
    already_released: Annotated[
        bool, typer.Option("--already-released", help="Record it even if it exceeds the budget: it has happened.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Record a release about the same rows that another tool made."""
    book = open_ledger(ledger, dataset, part)
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
    as_json: options.Json = False,
) -> None:
    """Check that no entry was changed or removed, and print the head of the chain.

    Note the head elsewhere: whoever holds the file could otherwise cut off its end.
    """
    from privet.checks import counted
    from privet.privacy.ledger.account import accounts

    _, entries = accounts(ledger)
    if head is not None and head not in {entry.hash for entry in entries}:
        raise LedgerError(
            "the head that was noted is not in this ledger: its end was cut off, or it is another file; take it from a "
            "backup, and find out what happened"
        )
    if as_json:
        output.print_json({"ledger": str(ledger), "intact": True, "entries": len(entries), "head": entries[-1].hash})
    else:
        output.print_text(f"{counted(len(entries), 'entry', 'entries')}, chain intact")
        output.print_text(f"head: {entries[-1].hash}")


def chosen_ledger(
    path: Path | None, dataset: str | None, part: str | None, *, for_model: bool = False
) -> "Ledger | None":
    """Return the ledger that the options of a verb name, if they name one.

    ``for_model``: the verb will pay for a model, and is refused while an earlier one waits to be fetched.
    """
    if path is not None:
        return open_ledger(path, dataset, part, for_model=for_model)
    if dataset is not None or part is not None:
        raise ParameterError("--dataset and --part name an account in a ledger; pass its file with --ledger")
    return None


def open_ledger(path: Path, dataset: str | None, part: str | None, *, for_model: bool = False) -> "Ledger":
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
    found = Ledger(path, dataset=dataset, part=part)
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
    return (
        f"budget of {stand['dataset']!r}{part}: epsilon={spent} of {epsilon}{at} spent per {stand['unit']}, {left} left"
    )


def _report(ledger: "Ledger", *, as_json: bool) -> None:
    if as_json:
        output.print_json(ledger_summary(ledger))
    else:
        output.print_text(ledger_sentence(ledger))
