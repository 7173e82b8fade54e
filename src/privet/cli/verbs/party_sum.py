"""``privet party sum|open``: one model from the sum of what several parties count; the parts stay closed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_output
from privet.cli.support.ledger import Dataset, chosen_ledger, ledger_sentence, ledger_summary
from privet.cli.support.options import reads_csv
from privet.cli.support.progress import Progress
from privet.cli.verbs.party import (
    NOT_IN_LEDGER,
    KeyFile,
    MostEpsilon,
    OwnRows,
    RosterFile,
    RosterHash,
    StructureFile,
    StructureHash,
)
from privet.errors import PartyError, PrivetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from privet.counting.sources import Files
    from privet.partitioned import Party, SecureSumForest, TableForest, Terms
    from privet.partitioned.secure_sum.round import Exchange
    from privet.privacy.ledger import Ledger

Folder: TypeAlias = Annotated[
    Path, typer.Option("--folder", metavar="FOLDER", help="Where all parties can write their messages.")
]
Honest: TypeAlias = Annotated[
    int | None, typer.Option("--honest", min=1, help="How many shares of noise are enough; by default all but one.")
]
Dropouts: TypeAlias = Annotated[
    int, typer.Option("--dropouts", min=0, help="How many parties may vanish after they have sent their keys.")
]
Attempt: TypeAlias = Annotated[
    int, typer.Option("--attempt", min=1, help="The same for all parties; after an abort, the next number.")
]
ModelOutput: TypeAlias = Annotated[Path, typer.Option("--output", "-o", help="The model file.")]


@reads_csv
def sum_(
    rows: OwnRows,
    structure_file: StructureFile,
    roster_file: RosterFile,
    key: KeyFile,
    folder: Folder,
    structure_hash: StructureHash = None,
    roster_hash: RosterHash = None,
    honest: Honest = None,
    dropouts: Dropouts = 0,
    attempt: Attempt = 1,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds to wait for the others, for each message.")
    ] = 600,
    epsilon: MostEpsilon = None,
    ledger: options.LedgerFile = None,
    dataset: Dataset = None,
    part: options.Part = None,
    no_person_in_two_parts: options.NoPersonInTwoParts = False,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FOLDER", help="Keeps the noised counts; by default beside the key."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Spend a second time after a crash, where nothing was sent yet.")
    ] = False,
    jobs: options.Jobs = -1,
    model_file: ModelOutput = Path("model.privet"),
    force: options.Force = False,
    progress: options.Progress = False,
    as_json: options.Json = False,
) -> None:
    """Count your own rows, and open the sum with all other parties; nobody sees the counts of one.

    All parties run this at about the same time. The noised counts are kept: another attempt costs nothing.

    With --dropouts, the sum opens without those who vanish. A party that has helped to open it opens no other.

    A table-forest has two rounds, which run one after the other. If the second fails, the model file has the first.

    Another structure, roster, --honest or --dropouts is a new sum, and costs epsilon again.

    Example:  privet party sum rows.csv --structure s.json --roster r.json --key bank.key --folder shared
    """
    from privet.counting.sources import Files
    from privet.partitioned import Party, SumParty, TableRound
    from privet.partitioned.tables import two_sums
    from privet.partitioned.transports.directory import Directory

    inputs = (*Files(*rows).paths, structure_file, roster_file, key)
    check_output(model_file, force=force, inputs=inputs, ledger=ledger)
    terms = _terms(structure_file, roster_file, structure_hash, roster_hash, honest, dropouts)
    account = chosen_ledger(ledger, dataset, part, stated=no_person_in_two_parts)
    kept = store or key.with_suffix(".releases")
    holder = Party(key, store=kept, ledger=account, epsilon=epsilon, n_jobs=jobs)

    def exchange(own: "Terms") -> Directory:
        return Directory(folder, own, attempt, timeout=timeout, say=output.say)

    carrier, party = exchange(terms), SumParty(holder, terms)
    if party.prepared:
        output.say("noised counts were drawn for this sum before: nothing more is spent, and the rows are not read")
        if not (account is None or party.has_paid):
            output.say(NOT_IN_LEDGER)
    if isinstance(terms.structure, TableRound):
        two_sums.check_budget(holder, terms)
    with Progress("reading the rows", lines=progress) as shown:
        party.prepare(Files(*rows, watch=shown.read), again=again)
    model: SecureSumForest | TableForest
    if isinstance(terms.structure, TableRound):
        model = _run_both(holder, terms, Files(*rows), exchange, attempt, again=again, model_file=model_file)
    else:
        model = party.run(attempt, carrier)
    model.save(model_file)
    _tell(model, model_file, terms, account, as_json=as_json)


def _run_both(
    party: "Party",
    terms: "Terms",
    files: "Files",
    exchange: "Callable[[Terms], Exchange]",
    attempt: int,
    *,
    again: bool,
    model_file: Path,
) -> "TableForest":
    """Run both rounds. The model of the first is saved before the second begins."""
    from privet.partitioned.tables import two_sums

    saved: list[str] = []

    def save(model: "TableForest") -> None:
        model.save(model_file)
        saved.append(str(model_file))

    try:
        return two_sums.run(party, terms, files, exchange=exchange, attempt=attempt, again=again, first=save)
    except PrivetError:
        if saved:
            output.say(
                f"the first round is open: {saved[0]!r} is its model, which is valid by itself; attempt "
                f"{attempt if terms.dropouts else attempt + 1} runs the second round, and costs nothing that was spent "
                "before"
            )
        raise


def open_(
    structure_file: StructureFile,
    roster_file: RosterFile,
    folder: Folder,
    structure_hash: StructureHash = None,
    roster_hash: RosterHash = None,
    honest: Honest = None,
    dropouts: Dropouts = 0,
    attempt: Attempt = 1,
    model_file: ModelOutput = Path("model.privet"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Open the sum from the messages of all parties, without being one of them.

    Anyone who can read the folder can do it: nothing private is needed, and nothing is spent.

    Example:  privet party open --structure s.json --roster r.json --folder shared -o model.privet
    """
    from privet.partitioned import SecureSumForest, TableForest, TableRound
    from privet.partitioned.secure_sum.messages import kinds_of
    from privet.partitioned.tables.two_sums import following_terms
    from privet.partitioned.transports.directory import Directory

    check_output(model_file, force=force, inputs=(structure_file, roster_file))
    terms = _terms(structure_file, roster_file, structure_hash, roster_hash, honest, dropouts)
    messages = Directory(folder, terms, attempt)
    kind = TableForest if isinstance(terms.structure, TableRound) else SecureSumForest
    model = kind.open(terms, attempt, *(messages.present(each) for each in kinds_of(terms)))
    if isinstance(model, TableForest):
        following = following_terms(model, terms)
        messages = Directory(folder, following, attempt)
        seen = [messages.present(each) for each in kinds_of(following)]
        if len(seen[-1]) >= following.threshold:
            model = TableForest.open(following, attempt, *seen)
        else:
            output.say("the second round is not complete: this is the model of the first, which is valid by itself")
    model.save(model_file)
    _tell(model, model_file, terms, None, as_json=as_json)


def _terms(
    structure_file: Path,
    roster_file: Path,
    structure_hash: str | None,
    roster_hash: str | None,
    honest: int | None,
    dropouts: int,
) -> "Terms":
    from privet.partitioned import Roster, SplitStructure, Terms
    from privet.partitioned.split_structure import load_structure
    from privet.partitioned.structure import Counts

    agreed = load_structure(structure_file, pin=structure_hash)
    if isinstance(agreed, SplitStructure):
        raise PartyError(
            "parties with different attributes count different trees, so there is no sum; use `privet party release`"
        )
    if not isinstance(agreed, Counts):
        raise PartyError(
            "each party fits a forest of its own here, so there is no sum; use `privet party release`, or a structure "
            "of `privet party structure --method private-rdt`"
        )
    return Terms(agreed, Roster.load(roster_file, pin=roster_hash), honest, dropouts)


def _tell(
    model: "SecureSumForest | TableForest", model_file: Path, terms: "Terms", ledger: "Ledger | None", *, as_json: bool
) -> None:
    if as_json:
        output.print_json(_summary(model, model_file, terms, ledger))
        return
    output.print_text(model.guarantee_.sentence)
    output.print_text()
    output.print_text(f"parties: {', '.join(model.party_names)}")
    if vanished := _vanished(model, terms):
        output.print_text(f"not counted: {', '.join(vanished)}")
    output.print_text(f"noise: standard deviation {_noise_of(model):.3g} in each released count")
    if ledger is not None:
        output.print_text(ledger_sentence(ledger))
    output.print_text(f"model: {model_file}")


def _vanished(model: "SecureSumForest | TableForest", terms: "Terms") -> list[str]:
    return [name for name in terms.roster.names if name not in model.party_names]


def _noise_of(model: "SecureSumForest | TableForest") -> float:
    return float(getattr(model, "noise_std_of_counts_", model.noise_std_))


def _summary(
    model: "SecureSumForest | TableForest", model_file: Path, terms: "Terms", ledger: "Ledger | None"
) -> dict[str, Any]:
    spent = {"ledger": ledger_summary(ledger)} if ledger is not None else {}
    return {
        **spent,
        "model": str(model_file),
        "method": model.method,
        "parties": model.parties,
        **({"not_counted": _vanished(model, terms), "dropouts": terms.dropouts} if terms.dropouts else {}),
        "honest": terms.honest,
        "terms": terms.hash,
        "noise_standard_deviation": _noise_of(model),
        "guarantee": model.guarantee_.to_json(),
    }
