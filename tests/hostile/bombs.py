"""Files made to exhaust memory or time, to lead a kernel astray, or to run code: opened one by one, in limits.

``python -m tests.hostile.bombs`` opens all of them and prints a line of JSON on each: the name, what came of it, the
memory that it took, and what was run that should not have been.
"""

import gzip
import io
import json
import os
import pickle
import shutil
import sqlite3
import sys
import time
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import privet
from privet import Channel, Ledger, PrivateRDTClassifier, Schema, Secret
from privet.counting.files import read_batches
from privet.errors import PrivetError
from privet.model_file import checksum
from privet.partitioned import Release, Roster
from privet.partitioned.split_structure import load_structure
from privet.privacy.ledger.account import accounts
from privet.schema.encoding import Encoder
from tests.hostile.case import Hang, hostile_room, limited_time
from tests.hostile.choices import Choices
from tests.hostile.seeds import DATASET, SCHEMA, files
from tests.hostile.targets import TARGETS

Bomb = Callable[[Path], Any]
BOMBS: dict[str, Bomb] = {}
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
_ENDLESS = 2**33


def bomb(make: Bomb) -> Bomb:
    BOMBS[make.__name__.removeprefix("_").replace("_", " ")] = make
    return make


def _schema(**changes: Any) -> dict[str, Any]:
    return {**SCHEMA.to_json(), **changes}


def _numbers(n: int, bins: int) -> list[dict[str, Any]]:
    return [{"name": f"x{i}", "type": "continuous", "bounds": [0, 1], "bins": bins} for i in range(n)]


def _written(folder: Path, document: object, name: str = "file.json") -> Path:
    (folder / name).write_text(json.dumps(document))
    return folder / name


def _packed(folder: Path, name: str, piece: bytes, size: int, beginning: bytes = b"") -> Path:
    """Write a gzip file of a few megabytes that unfolds to ``size`` bytes."""
    block = piece * (2**22 // len(piece))
    # Parts of one archive follow each other; packing the same block again would take most of the time.
    (folder / name).write_bytes(gzip.compress(beginning) + gzip.compress(block) * (size // len(block)))
    return folder / name


def _model(folder: Path, change: Callable[[dict[str, Any]], object]) -> Any:
    """Change a model's document, give it a checksum that fits, load it and predict."""
    body = {name: value for name, value in files().seeds["model"][4].document.items() if name != "checksum"}
    change(body)
    path = _written(folder, {**body, "checksum": checksum(body)}, "model.privet")
    model = privet.load(path)
    return model.predict_proba(np.full((2, model.n_features_in_), None))


def _fit(path: Path) -> Any:
    return PrivateRDTClassifier(SCHEMA, n_trees=1, height=1, random_state=1).fit(path)


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
    return privet.load(_packed(folder, "m.privet.gz", b"0", _ENDLESS))


@bomb
def _a_model_that_unfolds_to_lists_in_lists(folder: Path) -> Any:
    return privet.load(_packed(folder, "m.privet.gz", b"[", 2**27))


@bomb
def _a_packed_csv_of_one_endless_line(folder: Path) -> Any:
    return _fit(_packed(folder, "rows.csv.gz", b"age,", _ENDLESS))


@bomb
def _a_packed_csv_of_one_endless_field(folder: Path) -> Any:
    return _fit(_packed(folder, "rows.csv.gz", b"9", _ENDLESS, b"age,job,pay,class\n"))


@bomb
def _a_packed_csv_of_one_endless_quote(folder: Path) -> Any:
    return _fit(_packed(folder, "rows.csv.gz", b"x\n", _ENDLESS, b'age,job,pay,class\n1,"'))


@bomb
def _a_csv_with_a_hundred_thousand_columns(folder: Path) -> Any:
    (folder / "rows.csv").write_text(
        ",".join(["age", "job", "pay", "class", *(f"x{i}" for i in range(100_000))]) + "\n"
    )
    return _fit(folder / "rows.csv")


@bomb
def _a_parquet_with_a_hundred_thousand_columns(folder: Path) -> Any:
    names = [*SCHEMA_NAMES, *(f"x{i}" for i in range(100_000))]
    texts = {"job", SCHEMA.target}
    pq.ParquetWriter(
        folder / "rows.parquet", pa.schema([(name, pa.string() if name in texts else pa.float64()) for name in names])
    ).close()
    return _fit(folder / "rows.parquet")


def _rows(n: int) -> pa.Table:
    return pa.table(
        {"age": np.arange(n) % 97.0, "job": ["cook"] * n, "pay": np.ones(n), "class": ["no", "yes"] * (n // 2)}
    )


def _varint(value: int) -> bytes:
    """Return a whole number as Parquet's footer spells it."""
    value, spelled = 2 * value, b""
    while value >= 128:
        spelled, value = spelled + bytes([value % 128 + 128]), value // 128
    return spelled + bytes([value])


def _lying_parquet(folder: Path, truth: bytes, lie: bytes) -> None:
    """Replace each place where a Parquet file says ``truth``, one at a time, and read what comes out."""
    sink = io.BytesIO()
    pq.write_table(_rows(10_000), sink, compression="none", use_dictionary=["job"])
    content, at, refused = sink.getvalue(), -1, 0
    while (at := content.find(truth, at + 1)) >= 0:
        (folder / "rows.parquet").write_bytes(content[:at] + lie + content[at + len(truth) :])
        refused += _refused(folder / "rows.parquet")
    if not refused:
        return
    raise PrivetError(f"{refused} refused")


def _refused(path: Path) -> bool:
    encoder = Encoder(SCHEMA)
    try:
        for batch in read_batches(path, SCHEMA, SCHEMA.names):
            encoder.encode(batch)
    except PrivetError:
        return True
    return False


@bomb
def _a_parquet_that_lies_about_its_rows(folder: Path) -> Any:
    return _lying_parquet(folder, _varint(10_000), b"\xff\xff\x7f")


@bomb
def _a_parquet_that_lies_about_its_pages(folder: Path) -> Any:
    return _lying_parquet(folder, _varint(80_000), b"\xfe\xff\x7f")


@bomb
def _a_parquet_with_lying_statistics(folder: Path) -> Any:
    return _lying_parquet(folder, np.float64(96.0).tobytes(), np.float64(-1e300).tobytes())


@bomb
def _a_parquet_with_dictionary_codes_out_of_range(folder: Path) -> Any:
    sink = io.BytesIO()
    pq.write_table(_rows(40), sink, compression="none")
    content, refused = sink.getvalue(), 0
    column = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(1)
    start = column.dictionary_page_offset
    for at in range(start, start + column.total_compressed_size):
        for value in (0xFF, 0x7F, 0x02):
            (folder / "rows.parquet").write_bytes(content[:at] + bytes([value]) + content[at + 1 :])
            refused += _refused(folder / "rows.parquet")
    if refused:
        raise PrivetError(f"{refused} refused")


@bomb
def _an_arrow_file_whose_texts_lie_outside_of_it(folder: Path) -> Any:
    jobs = pa.array(["cook", "nurses"])
    rows = pa.record_batch([pa.array([1.0, 2.0]), jobs, pa.array([1.0, 2.0]), pa.array(["no", "yes"])], SCHEMA_NAMES)
    path = _ipc(folder, rows)
    truth, lie = (np.array(ends, dtype=np.int32).tobytes() for ends in ([0, 4, 10], [0, 2**30, 2**31 - 1]))
    assert path.read_bytes().count(truth) == 1
    path.write_bytes(path.read_bytes().replace(truth, lie))
    return _fit(path)


@bomb
def _an_arrow_file_whose_dictionary_codes_are_out_of_range(folder: Path) -> Any:
    jobs = pa.DictionaryArray.from_arrays(pa.array([0, 10**6], pa.int32()), pa.array(["cook"]), safe=False)
    rows = pa.record_batch([pa.array([1.0, 2.0]), jobs, pa.array([1.0, 2.0]), pa.array(["no", "yes"])], SCHEMA_NAMES)
    return _fit(_ipc(folder, rows))


SCHEMA_NAMES = [*SCHEMA.names, SCHEMA.target]


def _ipc(folder: Path, rows: Any) -> Path:
    with pa.OSFile(str(folder / "rows.arrow"), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
        writer.write_batch(rows)
    return folder / "rows.arrow"


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


class _Runs:
    def __reduce__(self) -> Any:
        return os.system, ("touch owned",)


@bomb
def _a_pickle_by_the_name_of_a_model(folder: Path) -> Any:
    (folder / "m.privet").write_bytes(pickle.dumps(_Runs()))
    return privet.load(folder / "m.privet")


@bomb
def _an_npz_with_a_pickle_by_the_name_of_a_model(folder: Path) -> Any:
    with (folder / "m.privet").open("wb") as file:
        np.savez(file, model=np.array([_Runs()], dtype=object))
    return privet.load(folder / "m.privet")


@bomb
def _a_zip_by_the_name_of_a_model(folder: Path) -> Any:
    with zipfile.ZipFile(folder / "m.privet", "w") as archive:
        archive.writestr("../../owned", "x")
    return privet.load(folder / "m.privet")


@bomb
def _a_parquet_with_a_pickle_in_its_metadata(folder: Path) -> Any:
    rows = _rows(40).replace_schema_metadata({b"pandas": pickle.dumps(_Runs()), b"ARROW:extension": b"x"})
    pq.write_table(rows, folder / "rows.parquet")
    return _fit(folder / "rows.parquet")


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
_of_every_reader("a pickle", lambda path: path.write_bytes(pickle.dumps(_Runs())))
_of_every_reader("a number of a million digits", lambda path: path.write_text("9" * 10**6))

for _ending in ("csv", "parquet", "arrow", "csv.gz"):
    for _name, _make in {
        "a pipe": os.mkfifo,
        "a device": lambda path: path.symlink_to("/dev/zero"),
        "a folder": lambda path: path.mkdir(),
        "nothing": lambda path: path.touch(),
    }.items():

        def _drop(folder: Path, make: Any = _make, ending: str = _ending) -> Any:
            make(folder / f"rows.{ending}")
            return _fit(folder / f"rows.{ending}")

        BOMBS[f"{_name} by the name of a {_ending}"] = _drop


# What a file must not bring about. Modules that privet imports when it first needs them are there by then.
_CODE = (
    "exec", "compile", "import", "pickle.find_class", "marshal.loads", "os.system", "os.exec", "os.posix_spawn",
    "os.fork",
    "subprocess.Popen", "socket.connect", "ctypes.dlopen", "sys.addaudithook",
)  # fmt: skip


def main() -> None:
    ran: list[str] = []
    watching = [False]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if watching[0] and event in _CODE:
            ran.append(f"{event} {arguments[:1]!r:.200}")

    sys.addaudithook(hook)
    with hostile_room() as room:
        _open_all_seeds(room)
        for name, drop in BOMBS.items():
            print(json.dumps({"begun": name}), flush=True)
            folder = room / "bomb"
            folder.mkdir()
            ran.clear()
            Path("/proc/self/clear_refs").write_text("5")
            before, begun = _peak(), time.process_time()
            outcome, told = _outcome(drop, folder, watching)
            seconds, grown = time.process_time() - begun, _peak() - before
            print(
                json.dumps(
                    {"name": name, "outcome": outcome, "told": told, "bytes": grown, "seconds": seconds, "ran": ran}
                ),
                flush=True,
            )
            shutil.rmtree(folder)


def _outcome(drop: Bomb, folder: Path, watching: list[bool]) -> tuple[str, str]:
    try:
        with limited_time():
            watching[0] = True
            drop(folder)
    except PrivetError as error:
        return "refused", str(error)
    except (Exception, Hang) as error:
        return "violation", f"{type(error).__name__}: {error}"
    finally:
        watching[0] = False
    return "opened", ""


def _open_all_seeds(room: Path) -> None:
    """Use every seed once, so that whatever is imported on first use is there."""
    for kind, seeds in files().seeds.items():
        for seed in seeds:
            for tape in (b"", b"\1", b"\2"):
                folder = room / "seed"
                folder.mkdir()
                (folder / seed.name).write_bytes(seed.content)
                TARGETS[kind](folder / seed.name, Choices(tape))
                shutil.rmtree(folder)


def _peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
