"""The ledger that the options of a verb name: opened, what an earlier command left in it, where its budget stands."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from privet.cli.support import output
from privet.errors import LedgerError, ParameterError

if TYPE_CHECKING:
    from privet.privacy.ledger import Ledger
    from privet.privacy.ledger.heads import HeadFolder

Dataset: TypeAlias = Annotated[
    str | None, typer.Option("--dataset", metavar="NAME", help="Whose budget; may be left out where there is one.")
]


def heads_path() -> Path | None:
    """Return the folder in which this user keeps the heads of ledgers; None where there is no home folder."""
    named = os.environ.get("XDG_STATE_HOME", "")
    try:
        # The standard asks to pass over a path that is not absolute.
        state = Path(named) if Path(named).is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return state / "privet" / "ledgers"


def kept_heads() -> "HeadFolder | None":
    """Return the heads that this user keeps; None, with a message, where there is no folder for them."""
    from privet.privacy.ledger.heads import HeadFolder

    folder = heads_path()
    if folder is None:
        output.say("there is no home folder to keep heads of ledgers in; name one with XDG_STATE_HOME")
        return None
    return HeadFolder(folder, output.say)


def chosen_ledger(path: Path | None, dataset: str | None, part: str | None, *, stated: bool = False) -> "Ledger | None":
    """Return the ledger that the options of a verb name, if they name one; ``stated``: no person is in two parts."""
    if path is not None:
        return open_ledger(path, dataset, part, stated=stated)
    if dataset is not None or part is not None or stated:
        raise ParameterError("--dataset and --part name an account in a ledger; pass its file with --ledger")
    return None


def open_ledger(path: Path, dataset: str | None, part: str | None, *, stated: bool = False) -> "Ledger":
    """Return the ledger of ``dataset``, or of the only data set that there is; its file is read once."""
    from privet.privacy.ledger import Ledger
    from privet.privacy.ledger.account import names_in
    from privet.privacy.ledger.ledger_file import LedgerFile

    file = LedgerFile(path.resolve(), kept_heads())
    if dataset is None:
        names = names_in(file.entries())
        if not names:
            raise LedgerError("the ledger has no account yet; open one with `privet ledger init`")
        if len(names) != 1:
            raise LedgerError(f"the ledger has budgets for {', '.join(map(repr, names))}; say which with --dataset")
        dataset = names[0]
    found = Ledger(file, dataset=dataset, part=part, no_person_in_two_parts=stated)
    _say_if_not_settled(found)
    return found


def _say_if_not_settled(ledger: "Ledger") -> None:
    """Say that a release was never settled, for as long as it is the newest."""
    from privet.privacy.ledger.entry_kinds import RESERVED

    newest = ledger.last_account().spendings[-1:]
    if newest and newest[0].state == RESERVED:
        release = newest[0].to_json()
        output.say(
            f"the last release of {ledger.dataset!r} (entry {release['entry']}, {release['method']}, "
            f"{release['time']}) was never settled: its process was stopped, or is still at work; its "
            f"epsilon={output.amount(release['epsilon'])} counts as spent, and a further run costs as much again; a "
            "model that it saved is whole and may be used"
        )


def ledger_summary(ledger: "Ledger") -> dict[str, Any]:
    """Return where a data set's budget stands, as the ledger was last read or written."""
    account = ledger.last_account()
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
