"""Bombs that are schemas, models, ledgers and other documents."""

import json
import os
import pickle
import sqlite3
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import privet
from privet import Channel, Ledger, PrivateRDTClassifier, Schema, Secret
from privet.model_file import checksum
from privet.partitioned import Release, Roster
from privet.partitioned.split_structure import load_structure
from privet.privacy.ledger.account import accounts
from tests.contracts.tasks import answers
from tests.hostile.bomb import BOMBS, ENDLESS, Runs, bomb, packed
from tests.hostile.seeds import DATASET, SCHEMA, files

_READERS: dict[str, Callable[[Path], Any]] = {
    "schema": Schema.load,
    "model": privet.load,
    "channel": Channel.load,
    "secret": Secret,
    "structure": load_structure,
    "roster": Roster.load,
    "release": Release.load,
    "ledger": accounts,
}


def _schema(**changes: Any) -> dict[str, Any]:
    return {**SCHEMA.to_json(), **changes}


def _numbers(n: int, bins: int) -> list[dict[str, Any]]:
    return [{"name": f"x{i}", "type": "continuous", "bounds": [0, 1], "bins": bins} for i in range(n)]


def _written(folder: Path, document: object, name: str = "file.json") -> Path:
    (folder / name).write_text(json.dumps(document))
    return folder / name


def _model(folder: Path, change: Callable[[dict[str, Any]], object]) -> Any:
    """Change a model's document, give it a checksum that fits, load it and predict."""
    body = {name: value for name, value in files().seeds["model"][4].document.items() if name != "checksum"}
    change(body)
    path = _written(folder, {**body, "checksum": checksum(body)}, "model.privet")
    model = privet.load(path)
    return answers(model, np.full((2, model.n_features_in_), None))


@bomb
def _a_schema_that_claims_ten_to_the_twelve_cells(folder: Path) -> Any:
    return Schema.load(_written(folder, _schema(attributes=_numbers(2, 10**12))))


@bomb
def _a_schema_whose_cells_are_too_many_together(folder: Path) -> Any:
    return Schema.load(_written(folder, _schema(attributes=_numbers(10_000, 65_534))))


@bomb
def _a_schema_whose_trees_have_ten_to_the_twelve_leaves(folder: Path) -> Any:
    wide = [{"name": f"c{i}", "type": "categorical", "categories": list(range(10_000))} for i in range(3)]
    schema = Schema.load(_written(folder, _schema(attributes=wide, rows=2**53)))
    return PrivateRDTClassifier(schema, n_trees=10, height=3).fit(np.full((2, 3), None), ["no", "yes"])


@bomb
def _a_schema_with_more_classes_than_memory(folder: Path) -> Any:
    return Schema.load(_written(folder, _schema(classes=list(range(10**6)))))


@bomb
def _a_model_that_unfolds_to_eight_gigabytes_of_zeros(folder: Path) -> Any:
    return privet.load(packed(folder / "m.privet.gz", b"0", ENDLESS))


@bomb
def _a_model_that_unfolds_to_lists_in_lists(folder: Path) -> Any:
    return privet.load(packed(folder / "m.privet.gz", b"[", 2**27))


@bomb
def _a_model_with_counts_of_ten_to_the_fifteen(folder: Path) -> Any:
    return _model(folder, lambda body: body["released"]["counts"].__setitem__(0, 10**15))


@bomb
def _a_tree_whose_first_node_asks_for_an_attribute_that_is_not_there(folder: Path) -> Any:
    return _model(folder, lambda body: body["structure"]["attribute"].__setitem__(0, 2**29))


@bomb
def _a_tree_with_a_negative_attribute(folder: Path) -> Any:
    return _model(folder, lambda body: body["structure"]["attribute"].__setitem__(0, -7))


@bomb
def _a_tree_without_leaves(folder: Path) -> Any:
    return _model(folder, lambda body: body["structure"].update(attribute=[0] * 64, cut=[0] * 64))


@bomb
def _a_tree_that_would_be_its_own_child(folder: Path) -> Any:
    return _model(folder, lambda body: body["structure"].update(child=[[0, 0]], n_trees=1))


@bomb
def _more_trees_than_nodes(folder: Path) -> Any:
    return _model(folder, lambda body: body["structure"].update(n_trees=2**29))


@bomb
def _a_model_with_a_key_twice(folder: Path) -> Any:
    text = files().seeds["model"][4].content.decode()
    (folder / "m.privet").write_text(text.replace('"method":', '"method": "private-forest", "method":', 1))
    return privet.load(folder / "m.privet")


@bomb
def _a_model_with_tags_that_name_a_class(folder: Path) -> Any:
    (folder / "m.privet").write_text("!!python/object/apply:os.system ['touch owned']\n")
    return privet.load(folder / "m.privet")


@bomb
def _a_pickle_by_the_name_of_a_model(folder: Path) -> Any:
    (folder / "m.privet").write_bytes(pickle.dumps(Runs()))
    return privet.load(folder / "m.privet")


@bomb
def _an_npz_with_a_pickle_by_the_name_of_a_model(folder: Path) -> Any:
    with (folder / "m.privet").open("wb") as file:
        np.savez(file, model=np.array([Runs()], dtype=object))
    return privet.load(folder / "m.privet")


@bomb
def _a_zip_by_the_name_of_a_model(folder: Path) -> Any:
    with zipfile.ZipFile(folder / "m.privet", "w") as archive:
        archive.writestr("../../owned", "x")
    return privet.load(folder / "m.privet")


@bomb
def _a_ledger_that_is_a_view_without_end(folder: Path) -> Any:
    content = files().seeds["ledger"][0].content
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(content)
    connection.executescript(
        "DROP TABLE entries; CREATE VIEW entries AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT i AS number, 'x' AS time, 'added' AS kind, '{}' AS body, 'x' AS hash FROM n"
    )
    (folder / "ledger.db").write_bytes(connection.serialize())
    connection.close()
    return Ledger(folder / "ledger.db", dataset=DATASET)


def _of_every_reader(name: str, make: Callable[[Path], object], kinds: Iterable[str] = tuple(_READERS)) -> None:
    """Make one bomb of a file for each kind of document."""
    for kind in kinds:
        read = _READERS[kind]

        def drop(folder: Path, read: Callable[[Path], Any] = read) -> Any:
            make(folder / "file")
            return read(folder / "file")

        BOMBS[f"{name} as a {kind}"] = drop


_of_every_reader("nothing", lambda path: path.touch())
_of_every_reader("a hundred thousand lists in each other", lambda path: path.write_text("[" * 10**5 + "]" * 10**5))
_of_every_reader("a pipe that nobody writes to", os.mkfifo)
_of_every_reader("a device without end", lambda path: path.symlink_to("/dev/zero"), ("schema", "roster", "ledger"))
_of_every_reader("a folder", lambda path: path.mkdir())
_of_every_reader("a pickle", lambda path: path.write_bytes(pickle.dumps(Runs())))
_of_every_reader("a number of a million digits", lambda path: path.write_text("9" * 10**6))
_of_every_reader(
    "a text without end behind too many brackets",
    lambda path: path.write_bytes(b"[" * 201 + b'"' + b'\\"' * 500_000),
    ("schema", "model"),
)
