"""``privet party release``: a party's own counts, with noise, signed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_output
from privet.cli.support.progress import Progress
from privet.cli.verbs.ledger import Dataset, chosen_ledger, ledger_sentence, ledger_summary
from privet.cli.verbs.party import NOT_IN_LEDGER, KeyFile, MostEpsilon, OwnRows, StructureFile, StructureHash, tell

if TYPE_CHECKING:
    from privet.partitioned import Party, Release, Structure


def release(
    rows: OwnRows,
    structure_file: StructureFile,
    key: KeyFile,
    structure_hash: StructureHash = None,
    epsilon: MostEpsilon = None,
    ledger: options.LedgerFile = None,
    dataset: Dataset = None,
    part: options.Part = None,
    no_person_in_two_parts: options.NoPersonInTwoParts = False,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store", metavar="FOLDER", help="Keeps what was released; by default beside the key.", show_default=False
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Spend a second time where the stored release is lost.")
    ] = False,
    jobs: options.Jobs = -1,
    destination: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to send; by default NAME.release.json.", show_default=False),
    ] = None,
    force: options.Force = False,
    progress: options.Progress = False,
    as_json: options.Json = False,
) -> None:
    """Count your own rows, add noise, sign: one file to send, which may be published.

    It is stored first. Doing the same again gives the same file byte for byte and costs nothing: fresh noise would be a
    second release.

    Example:  privet party release rows.csv --structure s.json --key bank.key --ledger bank.db
    """
    from privet.counting.sources import Files
    from privet.partitioned import Party

    part_of = _own_part(structure_file, key, structure_hash)
    store = store or key.with_suffix(".releases")
    account = chosen_ledger(ledger, dataset, part, stated=no_person_in_two_parts)
    holder = Party(key, store=store, ledger=account, epsilon=epsilon, n_jobs=jobs)
    destination = destination or Path(f"{holder.key.name}.release.json")
    stored = holder.stored(part_of)
    with Progress("reading the rows", lines=progress) as shown:
        files = Files(*rows, watch=shown.read)
        if stored is None or not _holds(destination, stored):
            inputs = tuple(path for path in (*files.paths, structure_file, key, ledger) if path is not None)
            check_output(destination, force=force, inputs=inputs)
        made = holder.release(part_of, files, again=again)
    made.save(destination)
    _tell_release(made, part_of, holder, destination, replayed=stored is not None, as_json=as_json)


def _own_part(structure_file: Path, key: Path, structure_hash: str | None) -> "Structure":
    """Return what the holder of ``key`` is to count."""
    from privet.partitioned import PrivateKey, SplitStructure
    from privet.partitioned.split_structure import load_structure

    agreed = load_structure(structure_file, pin=structure_hash)
    return agreed.part_of(PrivateKey.load(key).name) if isinstance(agreed, SplitStructure) else agreed


def _holds(path: Path, release: "Release") -> bool:
    return path.is_file() and path.read_bytes() == release.bytes


def _tell_release(
    made: "Release", counted: "Structure", holder: "Party", path: Path, *, replayed: bool, as_json: bool
) -> None:
    facts: dict[str, Any] = {
        "release": str(path), "party": made.party, "round": counted.round, "epsilon": counted.epsilon,
        "hash": made.hash, "replayed": replayed,
    }  # fmt: skip
    if as_json and holder.ledger is not None:
        facts["ledger"] = ledger_summary(holder.ledger)
    tell(facts, as_json=as_json)
    if replayed:
        output.say(
            "this release was made before: the same bytes again, and nothing more was spent; the rows were not read, "
            "and other rows need a new round, with a new structure"
        )
        if not (holder.ledger is None or holder.has_paid(counted)):
            output.say(NOT_IN_LEDGER)
    if not as_json:
        kept = "no ledger was kept: further releases of these rows add to what they cost"
        output.print_text(kept if holder.ledger is None else ledger_sentence(holder.ledger))
