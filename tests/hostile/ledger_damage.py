"""Damage to a ledger that SQLite still opens: entries changed and sealed again, and tables that are none."""

import json
import sqlite3
from contextlib import closing, suppress
from typing import Any

from privet.privacy.ledger.ledger_file import _TABLE, _entry_hash
from tests.hostile.choices import Choices
from tests.hostile.json_damage import SCALARS, damaged_json, spelled
from tests.hostile.seeds import Seed

_KINDS = ("opened", "budget", "reserved", "settled", "withdrawn", "added", "", "other")
_COLUMNS = "number, time, kind, body, hash"
# Statements that leave a file with an ``entries`` that is not what privet made.
_STRANGE = (
    "ALTER TABLE entries RENAME TO others; CREATE VIEW entries AS SELECT * FROM others",
    "DROP TABLE entries",
    "ALTER TABLE entries RENAME COLUMN body TO text",
    "ALTER TABLE entries ADD COLUMN more TEXT",
    "CREATE TRIGGER more AFTER INSERT ON entries BEGIN SELECT RAISE(ABORT, 'no'); END",
    "CREATE TRIGGER more AFTER INSERT ON entries BEGIN INSERT INTO entries SELECT number + 1, 't', 'added', '{}', '' "
    "FROM entries ORDER BY number DESC LIMIT 1; END",
    "CREATE INDEX i ON entries (body COLLATE NOCASE)",
    "PRAGMA user_version=2",
    "PRAGMA application_id=0",
    "PRAGMA journal_mode=DELETE",
    "CREATE TABLE sqlite_sequences (x)",
    "DELETE FROM entries",
    "INSERT INTO entries VALUES (-1, '', '', '', '')",
)


def damaged_ledger(content: bytes, others: list[Seed], choices: Choices) -> bytes:
    """Return a ledger with an entry, or its tables, changed."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(content)
        for trigger in ("no_change", "no_removal"):
            connection.execute(f"DROP TRIGGER {trigger}")
        if choices.chance(0.1):
            with suppress(sqlite3.Error):
                connection.executescript(choices.pick(_STRANGE))
        else:
            _write_anew(connection, _damaged_entries(connection, others, choices))
        with suppress(sqlite3.Error):
            for statement in _TABLE[1:]:
                connection.execute(statement)
        return connection.serialize()


def _damaged_entries(connection: sqlite3.Connection, others: list[Seed], choices: Choices) -> list[list[Any]]:
    entries = [list(row) for row in connection.execute(f"SELECT {_COLUMNS} FROM entries ORDER BY number")]  # noqa: S608
    for _ in range(1 + choices.below(2)):
        entry = choices.pick(entries)
        what = choices.below(8)
        if what < 5:
            with suppress(ValueError, RecursionError):  # it may have been damaged before
                entry[3] = _text(damaged_json(json.loads(entry[3]), others, choices), choices)
        elif what == 5:
            entry[2] = choices.pick(_KINDS)
        elif what == 6:
            entry[1] = str(choices.pick(SCALARS))
        else:
            entries.insert(choices.below(len(entries)), list(choices.pick(entries)))
    return entries


def _text(document: Any, choices: Choices) -> str:
    text = spelled(document, choices)
    with suppress(UnicodeEncodeError):
        text.encode()
        return text
    return json.dumps(document)


def _write_anew(connection: sqlite3.Connection, entries: list[list[Any]]) -> None:
    """Write the entries with seals that fit: whoever has the file can compute them."""
    connection.execute("DELETE FROM entries")
    previous = ""
    for number, (_, time, kind, body, _) in enumerate(entries, start=1):
        plain = time.encode("utf-8", "replace").decode()
        previous = _entry_hash(previous, number, plain, kind, body)
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", (number, plain, kind, body, previous))
