"""What must hold in a folder after a crash, and after the command that was given again."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from privet import Channel, Secret, load
from privet.errors import PrivetError
from privet.model_file import read_document
from privet.partitioned import PrivateKey, PublicKey, Release
from privet.privacy.ledger.account import Account, accounts
from privet.signing import Roster, verify_model
from tests.crashes.commands import LEDGER, Command
from tests.crashes.forked import Outcome

LITTER = re.compile(r"\.[0-9a-f]{16}\.unfinished|.*-journal")
SPENT = re.compile("counts? as spent")
NOT_SETTLED = "never settled"
_SENTENCE = re.compile(r"[^.].*[;:] .+")
_ROWS = 300


@dataclass(frozen=True)
class State:
    """A folder at one moment."""

    files: dict[str, bytes]
    paid: int
    settled: frozenset[str]
    batches: frozenset[str]

    @classmethod
    def of(cls, folder: Path) -> "State":
        # Of folders only those that should not be there: an empty one is left behind as much as a file is.
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file() or LITTER.fullmatch(path.name)]
        files = {str(path.relative_to(folder)): b"" if path.is_dir() else path.read_bytes() for path in paths}
        return cls(files, len(spendings(folder)), *settled_and_batches(folder))

    @property
    def litter(self) -> list[str]:
        return [name for name in self.files if any(LITTER.fullmatch(part) for part in Path(name).parts)]

    def releases(self, command: Command) -> set[bytes]:
        """What has been paid for and is there: models, a party's releases or noised counts; each once."""
        finished = {name: data for name, data in self.files.items() if name not in self.litter}
        if command.name.startswith("party sum"):  # others' sums have a price too, in their own ledgers
            return {data for name, data in finished.items() if re.fullmatch(r"bank\.releases/.*/noised", name)}
        ends, begins = (".privet", "bank.json"), "bank.store/"
        return {data for name, data in finished.items() if name.endswith(ends) or name.startswith(begins)}

    def on_record(self, command: Command) -> frozenset[str]:
        """The checksums of models about which the ledger knows all."""
        return self.settled & self.batches if command.name.startswith("update") else self.settled

    def without_batch(self, command: Command) -> set[str]:
        """The models of an update whose last batch nobody would know again."""
        models = self.releases(command) if command.name.startswith("update") else set()
        return {json.loads(data)["checksum"] for data in models} - self.batches


def spendings(folder: Path) -> list[object]:
    """Return what counts as spent; the ledger must open, its chain whole."""
    account = account_of(folder)
    return [] if account is None else account.expenses


def settled_and_batches(folder: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return the checksums of models that are settled, and of those of which a batch is known."""
    account = account_of(folder)
    if account is None:
        return frozenset(), frozenset()
    settled = {each.ended.body["model"] for each in account.spendings if each.ended and each.state == "settled"}
    batches = {entry.body["after"] for entry in accounts(folder / LEDGER)[1] if entry.kind == "batch"}
    return frozenset(settled), frozenset(batches)


def account_of(folder: Path) -> Account | None:
    """Return the account of the rows, where there is a ledger."""
    if not (folder / LEDGER).exists():
        return None
    return next((account for account in accounts(folder / LEDGER)[0] if account.dataset == "people"), None)


def violations_at_rest(
    folder: Path, command: Command, before: State, outcome: Outcome, *, may_litter: bool
) -> list[str]:
    """Return what is wrong after a crash, before anything else is done."""
    try:
        now = State.of(folder)
    except PrivetError as error:
        return [f"the ledger does not open: {error}"]
    found = [
        f"{name} is neither as it was nor whole"
        for name in command.outputs
        if now.files.get(name) != before.files.get(name) and not is_whole(folder / name)
    ]
    paid, new = now.paid - before.paid, _new_releases(command, before, now)
    if command.price and len(new) > paid:
        found.append(f"{len(new)} released, {paid} spent")
    if paid > 1:
        found.append(f"spent {paid} times")
    if now.without_batch(command) - before.without_batch(command):
        found.append("a model is there whose batch is not on record")
    if now.litter and not may_litter:
        found.append(f"left behind: {now.litter}")
    is_new = "privet" in "".join(command.outputs) and now.on_record(command) > before.on_record(command)
    if is_new and not new and "its model is withheld" not in outcome.stderr:
        found.append("a model is on record and nowhere else")
    if not outcome.killed:
        found += _wrong_words(outcome, was_lost=paid > 0 and not new and bool(command.outputs))
    return found


def violations_in_the_end(
    folder: Path, command: Command, before: State, struck: State, advised: str, *, may_litter: bool
) -> list[str]:
    """Return what is wrong after the command was given again, and what it advised was done."""
    now = State.of(folder)
    found = [f"{name} is missing or not whole" for name in command.outputs if not is_whole(folder / name)]
    # A journal that never became valid goes with the next turn of writing.
    if not may_litter and any(not name.endswith("-journal") for name in now.litter):
        found.append(f"left behind for good: {now.litter}")
    paid, new = now.paid - before.paid, _new_releases(command, before, now)
    lost = struck.paid - before.paid > 0 and not _new_releases(command, before, struck)
    if command.price and paid > 1 and not lost and command.name != "ledger add":
        found.append(f"spent {paid} times for one release")
    if command.price and len(new) > paid:
        found.append(f"{len(new)} released, {paid} spent")
    if command.name.startswith("party") and lost and paid > 1 and "--again" not in advised:
        found.append("spent a second time unasked")
    return found


def _new_releases(command: Command, before: State, now: State) -> set[bytes]:
    return now.releases(command) - before.releases(command) if command.price else set()


def _wrong_words(outcome: Outcome, *, was_lost: bool) -> list[str]:
    if outcome.code == 0:
        return []
    found = []
    if outcome.code not in (2, 3, 4) or "Traceback" in outcome.stderr or "unexpected" in outcome.stderr:
        found.append(f"exit {outcome.code}: {outcome.stderr}")
    if not _SENTENCE.fullmatch(outcome.sentence):
        found.append(f"no way out: {outcome.sentence!r}")
    if was_lost and not SPENT.search(outcome.stderr):
        found.append(f"does not say that it is spent: {outcome.sentence!r}")
    return found


def is_whole(path: Path) -> bool:
    """Return whether a file is there and can be used for what it is."""
    try:
        return path.is_file() and _READERS[_kind(path)](path)
    except (PrivetError, ValueError, OSError, UnicodeDecodeError):
        return False


def _kind(path: Path) -> str:
    return path.name if path.name in _READERS else path.name.removesuffix(".gz").rpartition(".")[2]


def _is_model(path: Path) -> bool:
    read_document(path)
    load(path)
    return True


_READERS = {
    "privet": _is_model,
    "bank.json": lambda path: bool(Release.load(path)),
    "bank.key": lambda path: bool(PrivateKey.load(path)),
    "bank.pub": lambda path: PublicKey.load(path) == PrivateKey.load(path.with_suffix(".key")).public,
    LEDGER: lambda path: bool(accounts(path)[1]),
    "key.json": lambda path: bool(path.read_bytes()) and bool(Secret(path)),
    "rows.channel.json": lambda path: bool(Channel.load(path)),
    "csv": lambda path: len(path.read_text().splitlines()) == _ROWS + 1,
    "parquet": lambda path: pq.read_table(path).num_rows == _ROWS,
    "html": lambda path: path.read_text().rstrip().endswith("</html>"),
    "md": lambda path: path.read_text().rstrip().endswith("```"),
    "sig": lambda path: verify_model(path.with_suffix(""), Roster.gather([path.parent / "bank.pub"])).signer == "bank",
    "py": lambda path: bool(compile(path.read_text(), path.name, "exec")),
}
