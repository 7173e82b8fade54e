"""The commands that are struck, each in a folder that was arranged for it."""

import json
from collections.abc import Callable, Collection
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from privet.cli.app import app
from privet.partitioned import Party, PrivateKey, Roster, Structure, SumParty, Terms
from privet.partitioned.secure_sum.messages import KEY, MASKED, SHARES, SURVIVORS
from privet.partitioned.transports.directory import Directory
from privet.schema import Schema
from tests.cli.conftest import SCHEMA, people
from tests.crashes.forked import STATE
from tests.crashes.write_points import Points

FIT = "fit rows.csv --schema schema.json --method private-rdt --trees 3 --height 2 --jobs 1"
EXISTS = "exists; choose another output with -o, or replace it with --force"
OTHERS = ("clinic", "mill")
LEDGER = "ledger.db"


def _nothing(_: Points) -> None:
    """Leave the child as it is."""


@dataclass(frozen=True)
class Command:
    """A command line, and what may be said when it is given again after a crash.

    ``advice`` holds pairs: a part of the sentence, and the words that following it adds to the line; None where all
    is done already. ``outputs`` are whole or as they were; ``price`` is what a release costs in the ledger.
    """

    name: str
    line: str
    outputs: tuple[str, ...]
    arrange: Callable[[], None] = lambda: None
    advice: tuple[tuple[str, str | None], ...] = ((EXISTS, "--force"),)
    price: float = 0.0
    beforehand: Callable[[Points], None] = _nothing
    warming: str | None = None

    @property
    def words(self) -> list[str]:
        return self.line.split()


def arranged(command: Command, folder: Path) -> None:
    """Put into ``folder`` what the command needs."""
    folder.mkdir()
    with chdir(folder):
        Path("elsewhere").mkdir()
        people().to_csv("rows.csv", index=False)
        Path("schema.json").write_text(json.dumps(SCHEMA))
        command.arrange()


def privet(line: str) -> None:
    # Copied with the folder: a head that is kept elsewhere would not fit the next copy of it.
    result = CliRunner().invoke(app, line, env={"XDG_STATE_HOME": str(Path.cwd() / STATE)})
    assert result.exit_code == 0, result.output


def with_ledger() -> None:
    privet(f"ledger init {LEDGER} --dataset people --epsilon 10")


def with_model() -> None:
    privet(f"{FIT} --epsilon 1")


def with_model_and_key() -> None:
    with_model()
    privet("party keygen bank")


def with_old_model() -> None:
    privet(f"{FIT} --epsilon 1 -o model.privet.gz")


def with_updatable() -> None:
    with_ledger()
    privet(f"{FIT} --epsilon 1 --ledger {LEDGER}")
    people(350)[300:].to_csv("new.csv", index=False)


def with_states() -> None:
    with_updatable()
    Path("models").mkdir()
    Path("model.privet").rename("models/2026-10-01.privet")


def with_parties(*more: str) -> None:
    with_ledger()
    keys = [PrivateKey.generate(name) for name in ("bank", *OTHERS, *more)]
    for key in keys:
        key.save(f"{key.name}.key")
    Roster([key.public for key in keys]).save("r.json")
    Structure.draw(Schema.load("schema.json"), epsilon=1.0, n_trees=2, height=1, random_state=3).save("s.json")
    Path("shared").mkdir()


def with_releases() -> None:
    with_parties()
    for name in OTHERS:
        privet(f"party release rows.csv --structure s.json --key {name}.key --jobs 1 -o {name}.json")


def with_other_parties() -> None:
    with_parties()
    rows = people()
    for party in _others():
        party.prepare(rows.drop(columns="class"), rows["class"])


def with_other_parties_and_one_that_vanishes() -> None:
    with_parties("school")
    rows = people()
    for party in _others(*OTHERS, "school", dropouts=1):
        party.prepare(rows.drop(columns="class"), rows["class"])


def with_secret() -> None:
    privet("perturb rows.csv --schema schema.json --noise gaussian --privacy 100 --secret key.json -o first.csv")


def others_take_part(points: Points) -> None:
    """Let the other parties answer whenever this one waits for them."""
    really = Directory.collect

    def collect(self: Directory, kind: str) -> dict[str, bytes]:
        with points.off():
            attempt = int(self.folder.name.removeprefix("attempt-"))
            for party in _others():
                made = party.key_message(attempt) if kind == KEY else party.masked_message(attempt, really(self, KEY))
                self.send(kind, party.name, made)
        return really(self, kind)

    Directory.collect = collect  # type: ignore[method-assign]


def others_take_part_and_one_vanishes(points: Points) -> None:
    """Let the other parties answer whenever this one waits for them, but the school after its key."""
    really = Directory.collect

    def collect(self: Directory, kind: str, of: Collection[str] | None = None, **options: Any) -> dict[str, bytes]:
        with points.off():
            attempt = int(self.folder.name.removeprefix("attempt-"))
            seen = {each: _listed(self, each) for each in (KEY, SHARES, MASKED, SURVIVORS)}
            for party in _others(*OTHERS, "school", dropouts=1):
                if kind == KEY or party.name != "school":
                    self.send(kind, party.name, party.message(kind, attempt, seen))
            if options.get("same"):
                self._timeout = 0.2  # all who will come are there
        return really(self, kind, of, **options)

    Directory.collect = collect  # type: ignore[method-assign, assignment]


def _listed(directory: Directory, kind: str) -> dict[str, bytes]:
    present = directory.present(kind)
    names = directory._read_list(directory._list_path(kind)) or present
    return {name: present[name] for name in names}


def _others(*names: str, dropouts: int = 0) -> list[SumParty]:
    terms = Terms(Structure.load("s.json"), Roster.load("r.json"), dropouts=dropouts)
    return [SumParty(Party(f"{name}.key", store=f"{name}.store", n_jobs=1), terms) for name in names or OTHERS]


PAID = f"--epsilon 1 --ledger {LEDGER}"
PARTY = f"--structure s.json --key bank.key --ledger {LEDGER} --jobs 1"
COMMANDS = (
    Command("fit", f"{FIT} --epsilon 1", ("model.privet",), with_ledger),
    Command("fit --ledger", f"{FIT} {PAID}", ("model.privet",), with_ledger, ((EXISTS, None),), 1.0),
    Command(
        "fit --ledger, a forest of weights",
        f"fit rows.csv --schema schema.json --jobs 1 {PAID}",
        ("model.privet",), with_ledger, ((EXISTS, None),), 1.0,
    ),
    Command("fit --force over a model", f"{FIT} --epsilon 1 -o model.privet.gz --force", ("model.privet.gz",),
            with_old_model),
    Command(
        "update --ledger", f"update model.privet new.csv --ledger {LEDGER} --jobs 1", ("model.privet",), with_updatable,
        (("this batch is in the model already", None),), 1.0,
    ),
    Command(
        "update of a folder", f"update models new.csv --dated 2026-11-01 --ledger {LEDGER} --jobs 1",
        ("models/2026-11-01.privet",), with_states, (("that state is there already", None),), 1.0,
    ),
    Command(
        "party release", f"party release rows.csv {PARTY} --store bank.store -o bank.json",
        ("bank.json",), with_parties, (("spend a second time with again=True (--again)", "--again"),), 1.0,
    ),
    Command(
        "party sum", f"party sum rows.csv {PARTY} --roster r.json --folder shared --timeout 20", ("model.privet",),
        with_other_parties,
        (
            ("spend a second time with again=True (--again)", "--again"),
            ("begin attempt 2", "--attempt 2"),
            (EXISTS, None),
        ),
        1.0, others_take_part, f"party release rows.csv {PARTY}",
    ),
    Command(
        "party sum --dropouts",
        f"party sum rows.csv {PARTY} --roster r.json --folder shared --timeout 20 --dropouts 1", ("model.privet",),
        with_other_parties_and_one_that_vanishes,
        (
            ("spend a second time with again=True (--again)", "--again"),
            ("begin attempt 2", "--attempt 2"),
            (EXISTS, None),
        ),
        1.0, others_take_part_and_one_vanishes, f"party release rows.csv {PARTY}",
    ),
    Command("party keygen", "party keygen bank", ("bank.key", "bank.pub"),
            advice=(("is never replaced; choose another name with -o", None),)),
    Command("ledger init", f"ledger init {LEDGER} --dataset people --epsilon 10", (LEDGER,)),
    Command("ledger init, a second account", f"ledger init {LEDGER} --dataset others --epsilon 10", (), with_ledger),
    Command("ledger add", f"ledger add {LEDGER} --what table --epsilon 1", (), with_ledger, (), 1.0),
    Command(
        "perturb --secret, a new one",
        "perturb rows.csv --schema schema.json --noise gaussian --privacy 100 --secret key.json",
        ("key.json", "rows.disturbed.csv", "rows.channel.json"),
    ),
    Command(
        "perturb --secret, one that has answered",
        "perturb rows.csv --schema schema.json --noise gaussian --privacy 100 --secret key.json",
        ("key.json", "rows.disturbed.csv", "rows.channel.json"), with_secret,
    ),
    Command("combine", "combine clinic.json mill.json --structure s.json --roster r.json", ("model.privet",),
            with_releases),
    Command("report", "report model.privet", ("model.html",), with_model),
    Command("report, a card", "report model.privet --format card", ("model.md",), with_model),
    Command("sign", "sign model.privet --key bank.key", ("model.privet.sig",), with_model_and_key),
    Command("export", "export model.privet --format python", ("model.py",), with_model),
    Command("predict", "predict model.privet rows.csv -o out.parquet", ("out.parquet",), with_model),
)  # fmt: skip


def named(name: str) -> Command:
    """Return the command of this name."""
    return next(command for command in COMMANDS if command.name == name)
