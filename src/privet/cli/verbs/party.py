"""Train with others who keep their rows: agree on trees, count, add noise, sign, send one file.

Example:  privet party keygen bank
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_output
from privet.cli.support.ledger import Dataset, chosen_ledger, ledger_sentence, ledger_summary
from privet.cli.support.options import reads_csv
from privet.cli.support.progress import Progress
from privet.errors import ParameterError, PartyError

if TYPE_CHECKING:
    from privet.partitioned import Party, PrivateKey, Release, SplitStructure
    from privet.partitioned.structure import Round

StructureFile: TypeAlias = Annotated[Path, typer.Option("--structure", metavar="FILE", help="What all parties count.")]
StructureHash: TypeAlias = Annotated[
    str | None, typer.Option("--structure-hash", metavar="HASH", help="Refuse a structure with another hash.")
]
RosterFile: TypeAlias = Annotated[
    Path, typer.Option("--roster", metavar="FILE", help="The parties and their public keys.")
]
RosterHash: TypeAlias = Annotated[
    str | None, typer.Option("--roster-hash", metavar="HASH", help="Refuse a roster with another hash.")
]
ReleaseFiles: TypeAlias = Annotated[
    list[Path], typer.Argument(metavar="RELEASES", help="Files that parties have sent.")
]
MostEpsilon: TypeAlias = Annotated[
    float | None, typer.Option("--epsilon", help="The most that you spend; refuse a structure that asks for more.")
]
MostDelta: TypeAlias = Annotated[
    float | None, typer.Option("--delta", help="The most delta that you spend; with --epsilon, 0 by default.")
]
OwnRows: TypeAlias = Annotated[
    list[Path], typer.Argument(metavar="ROWS...", help="Your own rows: files as for `privet fit`.")
]
KeyFile: TypeAlias = Annotated[Path, typer.Option("--key", metavar="FILE", help="The party's private key.")]

FOREST, TABLE_FOREST, PRIVATE_RDT = _METHODS = ("private-forest", "table-forest", "private-rdt")
NOT_IN_LEDGER = "this ledger has no entry of it, so it was made without; record it with `privet ledger add`"


def structure(
    schema: options.SchemaFile = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="private-forest: each party fits a forest; table-forest: class tables and a Newton step, in two "
            "rounds; private-rdt: random trees.",
        ),
    ] = FOREST,
    epsilon: Annotated[
        float, typer.Option("--epsilon", help="Of each release; with --split or table-forest, of all.")
    ] = 1.0,
    delta: Annotated[
        float, typer.Option("--delta", help="Of each forest; with --split, of all; 0 for pure privacy.")
    ] = 0.0,
    trees: Annotated[
        int | None,
        typer.Option("--trees", min=1, help="How many random trees; with --split, for each party.", show_default="10"),
    ] = None,
    height: options.Height = None,
    rows: Annotated[
        int | None,
        typer.Option("--rows", min=1, help="About how many rows all parties have together; for random trees."),
    ] = None,
    unit: options.Unit = "row",
    max_rows: options.MaxRows = 1,
    split: Annotated[
        Path | None,
        typer.Option(
            "--split", metavar="FILE", help='JSON: which attributes each party has: {"bank": ["income"], ...}.'
        ),
    ] = None,
    variant: Annotated[
        str, typer.Option("--variant", help="With --split: 'paper' lets each party spend the whole epsilon.")
    ] = "sound",
    round_: Annotated[
        str | None, typer.Option("--round", metavar="NAME", help="The round's name; else random.")
    ] = None,
    random_state: options.RandomState = None,
    destination: Annotated[Path, typer.Option("--output", "-o", help="The structure.")] = Path("structure.json"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Set what all parties release, and its epsilon.

    Everybody gets the file and compares its hash, by telephone for instance. No row is read.

    With --split, parties hold different attributes of the same rows, and share epsilon and delta.

    Example:  privet party structure --schema schema.json --epsilon 0.5

    Example:  privet party structure --schema schema.json --split split.json --epsilon 1

    Example:  privet party structure --method table-forest --schema schema.json --epsilon 1 --rows 50000
    """
    from privet.partitioned import ForestRound, SplitStructure, Structure, TableRound
    from privet.privacy.unit import Unit

    random_trees = {"--trees": trees, "--height": height}
    if method not in _METHODS:
        raise ParameterError(f"--method {method} is not one of parties; choose from {', '.join(_METHODS)}")
    if split is None and variant != "sound":
        raise ParameterError("--variant says how the epsilons of the parties add up, and needs --split")
    if split is not None and method == TABLE_FOREST:
        raise ParameterError("parties with different attributes have no common tables; leave --method out with --split")
    if method != PRIVATE_RDT and (given := [name for name, value in random_trees.items() if value is not None]):
        raise ParameterError(f"{given[0]} is for random trees; leave it out, or pass --method private-rdt")
    if method == FOREST and rows is not None:
        raise ParameterError(
            "--rows is not needed: each party may say how many rows it has with `privet party release --rows`"
        )
    if method != FOREST and delta:
        raise ParameterError("sums are released without delta; leave --delta out")
    inputs = tuple(path for path in (schema, split) if path is not None)
    check_output(destination, force=force, inputs=inputs)
    declared = options.load_schema(schema)
    common: dict[str, Any] = {"epsilon": epsilon, "unit": Unit(unit, max_rows), "round_": round_}
    drawn_trees: dict[str, Any] = {
        "n_trees": trees, "height": height, "n_rows": rows, "random_state": random_state,
    }  # fmt: skip
    drawn: Round | SplitStructure
    if split is not None:
        common |= {"method": method, "delta": delta, "variant": variant}
        drawn = SplitStructure.draw(declared, _read_split(split), **common, **drawn_trees)
    elif method == PRIVATE_RDT:
        drawn = Structure.draw(declared, **common, **{**drawn_trees, "n_trees": 10 if trees is None else trees})
    elif method == TABLE_FOREST:
        drawn = TableRound.draw(declared, n_rows=rows, **common)
    else:
        drawn = ForestRound.draw(declared, delta=delta, grouping=random_state or 0, **common)
    drawn.save(destination)
    tell(_structure_facts(drawn, destination), as_json=as_json)


def _read_split(path: Path) -> dict[str, list[str]]:
    from privet.signing.documents import read_canonical

    split = read_canonical(path, "split")
    if not all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in split.values()):
        raise PartyError(f'the split {str(path)!r} must give every party a list of names: {{"bank": ["income"], ...}}')
    return split


def _structure_facts(drawn: "Round | SplitStructure", path: Path) -> dict[str, Any]:
    from privet.partitioned import SplitStructure, Structure, TableRound
    from privet.privacy.mechanisms.deviation import standard_deviation

    if isinstance(drawn, TableRound):
        return {
            "structure": str(path),
            "round": drawn.round,
            "method": drawn.method,
            "trees": drawn.trees.n_trees,
            "counts": drawn.shape[0] * drawn.shape[1],
            "epsilon of both rounds": drawn.total_epsilon,
            "epsilon of the tables": drawn.epsilon,
            "epsilon of the Newton step": drawn.newton_epsilon,
            "hash": drawn.hash,
        }
    parts = drawn.parts if isinstance(drawn, SplitStructure) else (drawn,)
    counted = [part for part in parts if isinstance(part, Structure)]
    facts: dict[str, Any] = {"structure": str(path), "round": drawn.round, "method": parts[0].method}
    if counted:
        facts |= {
            "trees": sum(part.forest.n_trees for part in counted),
            "height": max(part.forest.depth for part in counted),
            "counts": sum(part.shape[0] * part.shape[1] for part in counted),
        }
    facts["epsilon of a party"] = parts[0].epsilon
    if counted:
        facts["noise in a count of a party"] = round(standard_deviation(counted[0].receipt), 2)
    if parts[0].cost.delta:
        facts["delta of a party"] = parts[0].cost.delta
    split = {str(part.party): list(part.schema.names) for part in parts if part.party}
    together: dict[str, Any] = {"epsilon together": len(parts) * parts[0].epsilon} if split else {}
    if split and parts[0].cost.delta:
        together["delta together"] = len(parts) * parts[0].cost.delta
    together |= {"split": split} if split else {}
    return {**facts, **together, "hash": drawn.hash}


@reads_csv
def check(
    rows: OwnRows,
    structure_file: StructureFile,
    structure_hash: StructureHash = None,
    party: Annotated[
        str | None, typer.Option("--party", metavar="NAME", help="Whose part to check, where each has one.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Check that your own rows fit the structure, before anything is spent; what is found stays with you.

    Every row is read as a release would read it. What the schema does not know of is listed by column.

    Example:  privet party check rows.csv --structure structure.json
    """
    from privet.cli.verbs.schema import check_rows
    from privet.partitioned import SplitStructure
    from privet.partitioned.split_structure import load_structure

    agreed = load_structure(structure_file, pin=structure_hash)
    if isinstance(agreed, SplitStructure):
        if party is None:
            raise ParameterError("the structure has a part for each party; say which is yours with --party")
        agreed = agreed.part_of(party)
    for path in rows:
        check_rows(path, agreed.schema, as_json=as_json)


def keygen(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the party is called.")],
    destination: Annotated[
        Path | None, typer.Option("--output", "-o", help="The private key; by default NAME.key here.")
    ] = None,
    passphrase: Annotated[
        bool,
        typer.Option(
            "--passphrase",
            help="Lock the private key by a passphrase, asked for or in the file that PRIVET_PASSPHRASE_FILE names.",
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Make a key pair: the private key stays, the public key goes to whoever makes the roster, or checks your models.

    A key that is there is never replaced.

    Example:  privet party keygen bank
    """
    from privet.signing import PrivateKey
    from privet.signing.passphrases import ask_for_new

    key = PrivateKey.generate(name)
    private = destination or Path(f"{key.name}.key")
    public = private.with_suffix(".pub")
    if private.is_file() and not public.exists():
        found = PrivateKey.load(private)
        if found.name == key.name:
            output.say("the private key is there, of a run that was stopped: its public key is written now")
            found.public.save(public)
            tell(_key_facts(found, private, public), as_json=as_json)
            return
    for path in (private, public):
        if path.exists():
            raise ParameterError(f"{str(path)!r} exists, and a key is never replaced; choose another name with -o")
        check_output(path, force=False)
    key.save(private, passphrase=ask_for_new(f"the private key {str(private)!r}") if passphrase else None)
    key.public.save(public)
    tell(_key_facts(key, private, public), as_json=as_json)


def _key_facts(key: "PrivateKey", private: Path, public: Path) -> dict[str, Any]:
    return {"party": key.name, "private key": str(private), "public key": str(public), "fingerprint": key.public.hex}


def roster(
    keys: Annotated[list[Path], typer.Argument(metavar="KEYS", help="Public keys, one file a party.")],
    destination: Annotated[Path, typer.Option("--output", "-o", help="The roster.")] = Path("roster.json"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """List who takes part, by name and public key; everybody compares the hash.

    Example:  privet party roster bank.pub clinic.pub -o roster.json
    """
    from privet.partitioned import PublicKey, Roster

    check_output(destination, force=force, inputs=tuple(keys))
    listed = Roster([PublicKey.load(path) for path in keys])
    listed.save(destination)
    tell({"roster": str(destination), "parties": list(listed.names), "hash": listed.hash}, as_json=as_json)


@reads_csv
def release(
    rows: OwnRows,
    structure_file: StructureFile,
    key: KeyFile,
    structure_hash: StructureHash = None,
    epsilon: MostEpsilon = None,
    delta: MostDelta = None,
    ledger: options.LedgerFile = None,
    dataset: Dataset = None,
    part: options.Part = None,
    no_person_in_two_parts: options.NoPersonInTwoParts = False,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FOLDER", help="Keeps what was released; by default beside the key."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Spend a second time where the stored release is lost.")
    ] = False,
    own_rows: Annotated[
        int | None,
        typer.Option(
            "--rows", min=1, help="About how many rows you have, if that is public; else a noisy number is paid for."
        ),
    ] = None,
    jobs: options.Jobs = -1,
    destination: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to send; by default NAME.release.json.")
    ] = None,
    force: options.Force = False,
    progress: options.Progress = False,
    as_json: options.Json = False,
) -> None:
    """Fit or count your own rows with noise, and sign: one file to send, which may be published.

    It is stored first. Doing the same again gives the same file byte for byte and costs nothing: fresh noise would be a
    second release.

    Example:  privet party release rows.csv --structure s.json --key bank.key --ledger bank.db
    """
    from privet.counting.sources import Files
    from privet.partitioned import Party

    part_of = _own_part(structure_file, key, structure_hash)
    store = store or key.with_suffix(".releases")
    account = chosen_ledger(ledger, dataset, part, stated=no_person_in_two_parts)
    holder = Party(key, store=store, ledger=account, epsilon=epsilon, delta=delta, n_jobs=jobs)
    destination = destination or Path(f"{holder.key.name}.release.json")
    stored = holder.stored(part_of)
    with Progress("reading the rows", lines=progress) as shown:
        files = Files(*rows, watch=shown.read)
        if stored is None or not (destination.is_file() and destination.read_bytes() == stored.bytes):
            inputs = (*files.paths, structure_file, key)
            check_output(destination, force=force, inputs=inputs, ledger=ledger)
        made = holder.release(part_of, files, again=again, n_rows=own_rows)
    made.save(destination)
    _tell_release(made, part_of, holder, destination, replayed=stored is not None, as_json=as_json)


def _own_part(structure_file: Path, key: Path, structure_hash: str | None) -> "Round":
    """Return what the holder of ``key`` counts."""
    from privet.partitioned import PrivateKey, SplitStructure
    from privet.partitioned.split_structure import load_structure

    agreed = load_structure(structure_file, pin=structure_hash)
    return agreed.part_of(PrivateKey.load(key).name) if isinstance(agreed, SplitStructure) else agreed


def _tell_release(
    made: "Release", counted: "Round", holder: "Party", path: Path, *, replayed: bool, as_json: bool
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


def verify(
    releases: ReleaseFiles,
    structure_file: StructureFile,
    roster_file: RosterFile,
    structure_hash: StructureHash = None,
    roster_hash: RosterHash = None,
    as_json: options.Json = False,
) -> None:
    """Check files that parties have sent: who signed them, for which round, with which noise.

    The first one that is not right ends the command with what is wrong.

    Example:  privet party verify bank.release.json --structure structure.json --roster roster.json
    """
    from privet.partitioned import Release, Roster, SplitStructure
    from privet.partitioned.release import check_releases
    from privet.partitioned.split_structure import load_structure

    agreed = load_structure(structure_file, pin=structure_hash)
    known = Roster.load(roster_file, pin=roster_hash)
    parts = agreed.parts if isinstance(agreed, SplitStructure) else (agreed,)
    found = list(check_releases(parts, known, [Release.load(path) for path in releases]))
    missing = [name for name in known.names if name not in found]
    facts = {"intact": found, "not heard of": missing, "structure": agreed.hash, "roster": known.hash}
    tell(facts, as_json=as_json)


def tell(facts: dict[str, Any], *, as_json: bool) -> None:
    """Print what was done: a line a fact, or all as JSON."""
    if as_json:
        output.print_json({name.replace(" ", "_"): value for name, value in facts.items()})
        return
    for name, value in facts.items():
        output.print_text(f"{name}: {_in_words(value)}")


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
