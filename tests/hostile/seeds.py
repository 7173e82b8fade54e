"""A small valid file of every kind that privet reads, and what is needed to use it."""

import gzip
import json
import math
import tempfile
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from privet import (
    Categorical,
    Channel,
    ColumnForest,
    CombinedForest,
    FieldSampling,
    GaussianNoise,
    HorizontalForest,
    Intervals,
    LaplaceNoise,
    Ledger,
    Numeric,
    PrivateForestClassifier,
    PrivateRDTClassifier,
    RandomizedResponse,
    RandomResponseForestClassifier,
    ReconstructionTreeClassifier,
    RecordComplement,
    SampledForestClassifier,
    Schema,
    Secret,
    UniformNoise,
    VerticalForest,
    perturb,
)
from privet.model_file import checksum
from privet.partitioned import (
    ForestRound,
    Party,
    PrivateKey,
    Roster,
    SecureSumForest,
    SplitStructure,
    Structure,
    SumParty,
    TableForest,
    TableRound,
    Terms,
)
from privet.registry import LOCAL_METHODS, METHODS, PARTY_METHODS
from privet.signing import ModelSignature
from tests.contracts.tasks import OF_CLASSES, OF_NUMBERS, labels_for, schema_for
from tests.contracts.test_damaged_files import SMALL
from tests.draws import cached
from tests.partitioned.sums import messages

N_ROWS = 60
DATASET = "survey"
SCHEMA = Schema(
    [Numeric("age", 0, 100, bins=4), Categorical("job", ["nurse", "cook"]), Numeric("pay", 0, 9, edges=[2.5, 5])],
    classes=["no", "yes"],
    rows=N_ROWS,
)


@dataclass(frozen=True)
class Seed:
    """A file: its kind, its name, what is in it and, where that is JSON, the document."""

    kind: str
    name: str
    content: bytes
    text: str | None = None

    @property
    def document(self) -> Any:
        """A fresh copy of the JSON document; None where the file is of another format."""
        return None if self.text is None else json.loads(self.text)


@dataclass
class Files:
    """All seeds, and the parties, rows and keys that go with them."""

    seeds: dict[str, list[Seed]] = field(default_factory=dict)
    parties: dict[str, Party] = field(default_factory=dict)
    structure: Any = None
    split: Any = None
    roster: Any = None
    releases: list[Any] = field(default_factory=list)
    halves: list[Any] = field(default_factory=list)
    terms: Any = None
    key_messages: dict[str, bytes] = field(default_factory=dict)
    masked_messages: dict[str, bytes] = field(default_factory=dict)
    sum_store: dict[str, bytes] = field(default_factory=dict)

    def add(self, kind: str, name: str, content: bytes) -> None:
        packed = content[:2] == b"\x1f\x8b"
        try:
            text = (gzip.decompress(content) if packed else content).decode()
            json.loads(text)
        except ValueError:
            text = None
        self.seeds.setdefault(kind, []).append(Seed(kind, name, content, text))


def rows() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(5)
    age = rng.integers(0, 100, N_ROWS).astype(float)
    table = pd.DataFrame({"age": age, "job": rng.choice(["nurse", "cook"], N_ROWS), "pay": rng.uniform(0, 9, N_ROWS)})
    return table, np.where(age > 50, "yes", "no")


@cached
def files() -> Files:
    """All seeds, made once a process."""
    made = Files()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for add in (
            _schemas, _central_models, _local_files, _parties, _party_models, _sums, _tables_of_parties, _ledgers,
            _tables, _evidence,
        ):  # fmt: skip
            add(made, folder)
    return made


def _schemas(made: Files, folder: Path) -> None:
    many = Schema(
        [Categorical(f"c{i}", list(range(i + 1))) for i in range(3)] + [Numeric("x", -1e300, 1e300, inferred=True)],
        classes=[5, 9, 12],
        target="group",
        classes_inferred=True,
    )
    for schema in (SCHEMA, many):
        schema.save(folder / "schema.json")
        made.add("schema", "schema.json", (folder / "schema.json").read_bytes())


def _central_models(made: Files, folder: Path) -> None:
    X, y = rows()
    models = [
        METHODS[name](schema_for(name, SCHEMA), **{"random_state": 0, **SMALL.get(name, {})}).fit(
            X, labels_for(name, SCHEMA, y)
        )
        for name in [*sorted(OF_CLASSES), *sorted(OF_NUMBERS)]
    ]
    exact = PrivateRDTClassifier(SCHEMA, n_trees=2, height=1, epsilon=math.inf).fit(X, y)
    normal = PrivateForestClassifier(SCHEMA, epsilon=1.0, delta=1e-6).fit(X, y)
    of_people = PrivateForestClassifier(SCHEMA, epsilon=9.0, unit="id", max_rows=2).fit(X.assign(id=range(N_ROWS)), y)
    updated = PrivateRDTClassifier(SCHEMA, n_trees=2, height=2, random_state=1).fit(X, y).partial_fit(X, y)
    for model in [*models, exact, normal, of_people, updated]:
        model.save(folder / "model.privet")
        made.add("model", "model.privet", (folder / "model.privet").read_bytes())
    updated.save(folder / "model.privet.gz")
    made.add("model", "model.privet.gz", (folder / "model.privet.gz").read_bytes())
    made.add("model", "model.privet", _of_version_1(made.seeds["model"][-2].document))


def _of_version_1(document: dict[str, Any]) -> bytes:
    guarantee = {key: value for key, value in document["guarantee"].items() if key != "max_rows"}
    gone = ("parameters", "checksum")
    first = {key: value for key, value in document.items() if key not in gone} | {"version": 1, "guarantee": guarantee}
    return json.dumps({**first, "checksum": checksum(first)}).encode()


def _local_files(made: Files, folder: Path) -> None:
    X, y = rows()
    both = RandomizedResponse(SCHEMA, epsilon=1.0, columns=["job"], label=True, covers_missing=True).channel
    channels = {
        "gaussian": GaussianNoise(SCHEMA, privacy=0.5).channel,
        "laplace": LaplaceNoise(SCHEMA, epsilon=4.0, columns=["age"]).channel | both,
        "uniform": UniformNoise(SCHEMA, privacy=0.5).channel,
        "intervals": Intervals(SCHEMA, bins=4).channel,
        "record": RecordComplement(SCHEMA, theta=0.9).channel,
        "answers": RandomizedResponse(SCHEMA, keep=0.9).channel,
        "clear": Channel.clear(SCHEMA),
        "questions": FieldSampling(SCHEMA, epsilon=1.0, pairs=[("age", "job")], epsilons={"pay": 0.5}).channel,
        "wave": FieldSampling(SCHEMA, epsilon=2.0, ask=2, wave="spring").channel,
    }
    trees, forests = ("gaussian", "uniform", "intervals"), ("record", "answers")
    for channel in channels.values():
        channel.save(folder / "channel.json")
        made.add("channel", "channel.json", (folder / "channel.json").read_bytes())
    people = X.assign(id=range(N_ROWS), **{"class": y})
    for name in ("laplace", "wave"):
        perturb(people, channels[name], Secret(folder / f"{name}.key"), person="id")
        made.add("secret", "secret.key", (folder / f"{name}.key").read_bytes())
    for name in (*trees, *forests):
        answers = perturb(X, channels[name], Secret())
        estimator = (
            ReconstructionTreeClassifier(channel=channels[name], random_state=0, height=2)
            if name in trees
            else RandomResponseForestClassifier(channel=channels[name], n_trees=2, max_depth=2, random_state=0)
        )
        estimator.fit(answers, y).save(folder / "local.privet")
        made.add("local model", "local.privet", (folder / "local.privet").read_bytes())
    for name in ("questions", "wave"):
        answers = perturb(people, channels[name], Secret(), person="id")
        SampledForestClassifier(channel=channels[name]).fit(answers).save(folder / "local.privet")
        made.add("local model", "local.privet", (folder / "local.privet").read_bytes())


def _parties(made: Files, folder: Path) -> None:
    X, y = rows()
    names = ("bank", "clinic", "mill")
    made.parties = {
        name: Party(PrivateKey(name, name.encode().ljust(32, b".")), store=folder / name, epsilon=math.inf)
        for name in names
    }
    settings: dict[str, Any] = {"epsilon": 1.0, "n_trees": 2, "height": 1, "round_": "spring", "random_state": 3}
    made.structure = Structure.draw(SCHEMA, **settings)
    made.split = SplitStructure.draw(SCHEMA, {"bank": ["age", "pay"], "clinic": ["job"]}, **settings)
    made.roster = Roster(party.public for party in made.parties.values())
    made.releases = [party.release(made.structure, X[i::3], y[i::3]) for i, party in enumerate(made.parties.values())]
    for structure in (made.structure, made.split):
        structure.save(folder / "structure.json")
        made.add("structure", "structure.json", (folder / "structure.json").read_bytes())
    made.roster.save(folder / "roster.json")
    made.add("roster", "roster.json", (folder / "roster.json").read_bytes())
    for release in made.releases[:2]:
        made.add("release", "release.json", release.bytes)
    made.parties["bank"].key.save(folder / "bank.key")
    made.parties["bank"].public.save(folder / "bank.pub")
    for ending in ("key", "pub"):
        made.add("key", f"bank.{ending}", (folder / f"bank.{ending}").read_bytes())


def _party_models(made: Files, folder: Path) -> None:
    X, y = rows()
    whole = ForestRound.draw(SCHEMA, epsilon=8.0)
    halves = {str(part.party): list(part.schema.names) for part in made.split.parts}
    forests = SplitStructure.draw(SCHEMA, halves, method="private-forest", epsilon=8.0)
    made.halves, own = (
        [made.parties[part.party].release(part, X[halves[part.party]], y) for part in each.parts]
        for each in (made.split, forests)
    )
    for model in (
        HorizontalForest.combine(made.structure, made.roster, made.releases),
        HorizontalForest.combine(made.structure, made.roster, made.releases[:1]),
        VerticalForest.combine(made.split, made.roster, made.halves),
        ColumnForest.combine(forests, made.roster, own),
        CombinedForest.combine(whole, made.roster, [made.parties["bank"].release(whole, X, y)]),
    ):
        model.save(folder / "party.privet")
        made.add("party model", "party.privet", (folder / "party.privet").read_bytes())


def _sums(made: Files, folder: Path) -> None:
    X, y = rows()
    made.terms = Terms(made.structure, made.roster)
    holders = {name: SumParty(party, made.terms) for name, party in made.parties.items()}
    for i, holder in enumerate(holders.values()):
        holder.prepare(X[i::3], y[i::3])
    made.key_messages = {name: holder.key_message(1) for name, holder in holders.items()}
    # Before the masks are spent: the secret of the attempt is still there.
    store = folder / "bank" / f"sum-{made.terms.hash}"
    made.sum_store = {path.name: path.read_bytes() for path in store.iterdir()}
    made.key_messages, made.masked_messages = messages(holders)
    made.add("sum message", "bank.key.json", made.key_messages["bank"])
    made.add("sum message", "bank.masked.json", made.masked_messages["bank"])
    for name, content in made.sum_store.items():
        made.add("sum store", name, content)
    made.add("sum store", "attempt-1.masked", made.masked_messages["bank"])
    model = SecureSumForest.open(made.terms, 1, made.key_messages, made.masked_messages)
    model.save(folder / "sum.privet")
    made.add("party model", "sum.privet", (folder / "sum.privet").read_bytes())


def _tables_of_parties(made: Files, folder: Path) -> None:
    """Both rounds of class tables: structures, releases and models."""
    holder, (X, y) = Party(PrivateKey.generate("bank"), store=folder / "tables"), rows()
    structure: Any = TableRound.draw(SCHEMA, epsilon=2.0)
    for name in ("first", "second"):
        structure.save(folder / f"{name}.json")
        made.add("structure", f"{name}.json", (folder / f"{name}.json").read_bytes())
        model = TableForest.combine(structure, Roster([holder.public]), [holder.release(structure, X, y)])
        model.save(folder / f"{name}.privet")
        made.add("party model", f"{name}.privet", (folder / f"{name}.privet").read_bytes())
        structure = model.next_round


def _ledgers(made: Files, folder: Path) -> None:
    X, y = rows()
    for name, delta in (("pure", 0.0), ("normal", 1e-5)):
        ledger = Ledger(folder / f"{name}.db", dataset=DATASET, epsilon=30.0, delta=delta)
        Ledger(folder / f"{name}.db", dataset="other", epsilon=2.0)
        PrivateRDTClassifier(SCHEMA, n_trees=2, height=1, ledger=ledger.for_part("march")).fit(X, y)
        ledger.add(0.5, what="a table", delta=delta / 100)
        made.add("ledger", "ledger.db", (folder / f"{name}.db").read_bytes())


def _tables(made: Files, folder: Path) -> None:
    X, y = rows()
    table = X[:20].assign(**{"class": y[:20]})
    table.loc[3, "age"] = None
    table.to_csv(folder / "rows.csv", index=False)
    plain = (folder / "rows.csv").read_bytes()
    made.add("csv", "rows.csv", plain)
    made.add("csv", "rows.csv", plain.replace(b"nurse", b'"nurse"').replace(b"\n", b"\r\n"))
    made.add("packed csv", "rows.csv.gz", gzip.compress(plain, mtime=0))
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    for compression, by_dictionary in (("snappy", True), ("none", False), ("zstd", True)):
        pq.write_table(arrow, folder / "rows.parquet", compression=compression, use_dictionary=by_dictionary)
        made.add("parquet", "rows.parquet", (folder / "rows.parquet").read_bytes())
    feather.write_feather(arrow, folder / "rows.arrow", compression="uncompressed")
    made.add("arrow", "rows.arrow", (folder / "rows.arrow").read_bytes())
    with pa.OSFile(str(folder / "rows.arrows"), "wb") as file, pa.ipc.new_stream(file, arrow.schema) as stream:
        stream.write_table(arrow)
    made.add("arrow", "rows.arrows", (folder / "rows.arrows").read_bytes())


def _evidence(made: Files, folder: Path) -> None:
    """What goes with a model: a signature, what its owner states, what was run on it."""
    key, checksum_ = made.parties["bank"].key, "0" * 64
    for until in (None, date(2999, 12, 31)):
        ModelSignature.make(checksum_, key, until=until, today=date(2026, 1, 1)).save(folder / "model.sig")
        made.add("signature", "model.sig", (folder / "model.sig").read_bytes())
    filled = "".join(f'{name} = "a hospital"\n' for name in ("owner", "purpose", "period", "contact", "region"))
    made.add("about", "about.toml", f'{filled}published = 2026-01-01\nauthors = ["A"]\n'.encode())
    audit = {
        "model": checksum_,
        "claimed": {"epsilon": 1.0},
        "epsilon_shown": 0.5,
        "sentence": "s",
        "cases": [{"a": 1}],
    }
    scores = {"model": checksum_, "accuracy": 0.9, "by_group": {"sex": {"female": {"rows": 5, "auc": None}}}}
    for document in (audit, scores):
        made.add("attachment", "attached.json", json.dumps(document).encode())


def methods_with_a_seed() -> set[str]:
    """Return the methods of which there is a model among the seeds."""
    kinds = ("model", "local model", "party model")
    return {seed.document["method"] for kind in kinds for seed in files().seeds[kind]}


ALL_METHODS = {*METHODS, *LOCAL_METHODS, *PARTY_METHODS}
