"""Open a file and use it as its user would. Only privet's own errors may come out of this."""

import json
import math
import os
from collections.abc import Callable
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import privet
from privet import (
    Channel,
    HorizontalForest,
    Ledger,
    PrivateForestClassifier,
    PrivateForestRegressor,
    PrivateRDTClassifier,
    Schema,
    Secret,
    VerticalForest,
    perturb,
    reconstruct,
)
from privet.counting.files import file_columns, read_batches, read_whole
from privet.export import portable_document
from privet.export.formats import javascript_source, python_source
from privet.local.guarantee import LocalGuarantee
from privet.local.measures.measures import measure
from privet.partitioned import (
    NewtonRound,
    Party,
    PrivateKey,
    PublicKey,
    Release,
    Roster,
    SecureSumForest,
    SplitStructure,
    SumParty,
    TableRound,
)
from privet.partitioned.split_structure import load_structure
from privet.privacy.ledger.account import accounts
from privet.report import export_text
from privet.report.about import About
from privet.report.evidence import Attachment, Evidence
from privet.report.model_card import model_card
from privet.report.page.facts import facts
from privet.report.page.page import Report, page
from privet.schema import infer_schema
from privet.schema.encoding import Encoder
from privet.signing import ModelSignature
from tests.contracts.tasks import answers
from tests.hostile.choices import Choices
from tests.hostile.seeds import DATASET, SCHEMA, files, rows

# Of files that open, how many are put to their slower uses too.
_SELDOM = 0.04
_MOST_ATTRIBUTES = 50


def use_schema(path: Path, choices: Choices) -> None:
    schema = Schema.load(path)
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema
    schema.save(path)
    assert Schema.load(path) == schema
    assert len(Encoder(schema).encode(_unknown(schema, 2))) == 2
    if choices.chance(_SELDOM) and len(schema.attributes) < _MOST_ATTRIBUTES:
        kinds = [PrivateRDTClassifier, PrivateForestClassifier] if schema.number is None else [PrivateForestRegressor]
        model = choices.pick(kinds)(schema, epsilon=1.0, random_state=1)
        answers(model.fit(_unknown(schema, 8), _labels(schema, 8)), _unknown(schema, 2))


def _labels(schema: Schema, n_rows: int) -> list[Any]:
    """Return labels that fit the schema: all classes in turn, or the bounds of a number."""
    known = schema.classes if schema.number is None else (schema.number.low, schema.number.high)
    return [known[i % len(known)] for i in range(n_rows)]


def use_model(path: Path, choices: Choices) -> None:
    model = privet.load(path)
    for table in (_unknown(model.schema_, 2), _known(model.schema_)):
        found, number = answers(model, table), model.schema_.number
        low, high = (0, 1) if number is None else (number.low, number.high)
        assert np.isfinite(found).all()
        assert ((found >= low) & (found <= high)).all()
        assert len(model.predict(table)) == len(table)
    assert str(model.guarantee_)
    assert np.isfinite(model.feature_importances_).all()
    if hasattr(model, "explain") and choices.chance(0.2):
        model.explain(_unknown(model.schema_, 2))
    if choices.chance(_SELDOM):
        _read_model(model, path, choices)


def _read_model(model: Any, path: Path, choices: Choices) -> None:
    """Rules, the report, exports, the file again, another batch."""
    what = choices.below(7)
    if what == 0 and hasattr(model, "rules"):
        model.rules(merge=choices.chance(0.5))
    elif what == 1:
        report = Report.of(path)
        assert page(report.model, report.facts).startswith("<!")
    elif what in (2, 3):
        document = portable_document(model)
        (python_source if what == 2 else javascript_source)(document).encode()
    elif what == 4 and hasattr(model, "partial_fit"):
        model.partial_fit(_unknown(model.schema_, 2), _labels(model.schema_, 2))
    elif what == 5 and hasattr(model, "rules"):
        export_text(model)
    else:
        model.save(path)
        assert privet.load(path).to_document() == model.to_document()


def use_structure(path: Path, choices: Choices) -> None:
    made = files()
    structure = load_structure(path)
    structure.save(path)
    assert load_structure(path, pin=structure.hash).hash == structure.hash
    part = structure.parts[0] if isinstance(structure, SplitStructure) else structure
    if choices.chance(0.2):
        schema = part.schema
        party = Party(made.parties["bank"].key, store=path.parent / "store", epsilon=np.inf)
        party.release(part, _unknown(schema, 2), [schema.classes[0]] * 2)
    if isinstance(structure, SplitStructure):
        VerticalForest.combine(structure, made.roster, made.halves)
    elif not isinstance(structure, TableRound | NewtonRound):
        HorizontalForest.combine(structure, made.roster, made.releases).predict_proba(_unknown(part.schema, 2))


def use_roster(path: Path, choices: Choices) -> None:
    made = files()
    roster = Roster.load(path)
    roster.save(path)
    assert Roster.load(path, pin=roster.hash) == roster
    HorizontalForest.combine(made.structure, roster, made.releases)


def use_key(path: Path, choices: Choices) -> None:
    path.chmod(0o600)
    if path.name.endswith(".pub"):
        key = PublicKey.load(path)
        key.verifies({"a": 1}, "00" * 64)
        Roster([key]).save(path)
        return
    private = PrivateKey.load(path)
    assert private.public.verifies({"a": 1}, private.sign({"a": 1}))


def use_release(path: Path, choices: Choices) -> None:
    made = files()
    release = Release.load(path)
    assert release.hash
    others = [other for other in made.releases if other.party != release.party]
    HorizontalForest.combine(made.structure, made.roster, [release, *others]).predict_proba(_unknown(SCHEMA, 2))


def use_sum_message(path: Path, choices: Choices) -> None:
    made, message = files(), path.read_bytes()
    masked = path.name.endswith("masked.json")
    keys = made.key_messages if masked else {**made.key_messages, "bank": message}
    sums = {**made.masked_messages, "bank": message} if masked else made.masked_messages
    SecureSumForest.open(made.terms, 1, keys, sums).predict_proba(_unknown(SCHEMA, 2))


def use_sum_store(path: Path, choices: Choices) -> None:
    """Go on with a round from a party's folder, one file of which is not what it was."""
    made = files()
    store = path.parent / "store" / f"sum-{made.terms.hash}"
    store.mkdir(parents=True)
    for name, content in made.sum_store.items():
        _write_secret(store / name, content)
    _write_secret(store / path.name, path.read_bytes())
    party = SumParty(Party(made.parties["bank"].key, store=path.parent / "store", epsilon=np.inf), made.terms)
    keys = {**made.key_messages, "bank": party.key_message(1)}
    sums = {**made.masked_messages, "bank": party.masked_message(1, keys)}
    SecureSumForest.open(made.terms, 1, keys, sums)


def use_channel(path: Path, choices: Choices) -> None:
    channel = Channel.load(path)
    assert Channel.from_json(json.loads(json.dumps(channel.to_json()))) == channel
    channel.save(path)
    assert Channel.load(path) == channel
    assert str(LocalGuarantee(channel))
    assert channel.fingerprints is not None
    if channel.schema.names != SCHEMA.names or not choices.chance(0.3):
        return
    X, y = rows()
    answers = perturb(X[:4].assign(**{channel.schema.target: y[:4]}), channel, Secret())
    at = choices.below(3)
    attribute = channel.schema.attributes[at]
    if channel.record is None:
        reconstruct(answers[attribute.name], channel.columns[at], attribute=attribute, max_steps=20)
    if choices.chance(_SELDOM):
        measure(channel)


def use_secret(path: Path, choices: Choices) -> None:
    path.chmod(0o600)
    secret = Secret(path)
    X, y = rows()
    # The second channel is the one that the first secret answered through, the last one that of the second: a wave.
    channel = Channel.from_json(files().seeds["channel"][-1 if secret.spent else 1].document)
    people = X[:3].assign(id=[1, 2, 3], **{"class": y[:3]})
    perturb(people, channel, secret, person="id", max_epsilon=math.inf)
    Secret(path)


def use_ledger(path: Path, choices: Choices) -> None:
    found, _ = accounts(path)
    for account in found:
        json.dumps(account.to_json())
    ledger = Ledger(path, dataset=DATASET)
    assert ledger.left >= 0
    assert ledger.spent >= 0
    if choices.chance(0.1):
        ledger.add(0.01, what="a table")
        PrivateRDTClassifier(SCHEMA, epsilon=0.1, n_trees=1, height=1, ledger=ledger).fit(*rows())
        assert ledger.spent > 0


def use_table(path: Path, choices: Choices) -> None:
    """Fit from the file, predict from it, and draft a schema from it."""
    what = choices.below(3)
    if what == 0:
        PrivateRDTClassifier(SCHEMA, epsilon=1.0, n_trees=1, height=1, random_state=1).fit(path)
    elif what == 1:
        encoder = Encoder(SCHEMA)
        for batch in read_batches(path, SCHEMA, SCHEMA.names):
            encoder.encode(batch)
    else:
        assert file_columns(path)
        table = read_whole(path)
        if "class" in table.column_names:
            infer_schema(table.drop_columns(["class"]), table.column("class"))


def use_signature(path: Path, choices: Choices) -> None:
    signature = ModelSignature.load(path)
    signature.save(path)
    assert ModelSignature.load(path) == signature
    assert signature.check(signature.model, files().roster, today=date(2026, 1, 1)).name == signature.signer


def use_about(path: Path, choices: Choices) -> None:
    about = About.load(path)
    json.dumps(about.to_json(), allow_nan=False)
    _show(Evidence(about), choices)


def use_attachment(path: Path, choices: Choices) -> None:
    attached = Attachment.load(path, "0" * 64)
    json.dumps(attached.to_json(), allow_nan=False)
    _show(Evidence(attachments=(attached,)), choices)


def _show(evidence: Evidence, choices: Choices) -> None:
    if choices.chance(0.2):
        report = Report.of(_small_model())
        told = facts(report.model, model_checksum="0" * 64, evidence=evidence)
        assert page(report.model, told).count("<script") == 2
        assert "<script" not in model_card(report.model, told)


@cache
def _small_model() -> Any:
    return PrivateRDTClassifier(SCHEMA, epsilon=1.0, n_trees=1, height=1, random_state=1).fit(*rows())


TARGETS: dict[str, Callable[[Path, Choices], None]] = {
    "schema": use_schema,
    "model": use_model,
    "local model": use_model,
    "party model": use_model,
    "structure": use_structure,
    "roster": use_roster,
    "key": use_key,
    "release": use_release,
    "sum message": use_sum_message,
    "sum store": use_sum_store,
    "channel": use_channel,
    "secret": use_secret,
    "ledger": use_ledger,
    "csv": use_table,
    "packed csv": use_table,
    "parquet": use_table,
    "arrow": use_table,
    "signature": use_signature,
    "about": use_about,
    "attachment": use_attachment,
}


def _unknown(schema: Schema, n_rows: int) -> Any:
    """Return rows of which nothing is known: they fit any schema."""
    return np.full((n_rows, len(schema.attributes)), None)


def _known(schema: Schema) -> Any:
    """Return two rows with a value in every column."""
    columns = {
        a.name: [a.categories[0], a.categories[-1]] if hasattr(a, "categories") else [a.low, a.high]
        for a in schema.attributes
    }
    return pa.table(columns)


def _write_secret(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
