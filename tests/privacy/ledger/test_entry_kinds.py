"""Ledgers whose seals fit and whose entries do not: whoever has the file can compute a seal."""

import json
import sqlite3

import pytest

from privet import Ledger
from privet.errors import LedgerError
from privet.privacy.ledger.account import accounts
from privet.privacy.ledger.entry_kinds import is_body
from privet.privacy.ledger.ledger_file import _entry_hash

COST = {"dataset": "d", "epsilon": 1.0, "delta": 0.0}
RESERVED = {**COST, "part": None, "what": "fit", "method": "dp-rf"}


@pytest.fixture
def path(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="d", epsilon=2.0)
    ledger.add(0.5, what="a table")
    return tmp_path / "ledger.db"


def changed(path, statements):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(statements)
    connection.close()


def with_entry(path, number, body):
    """Write another body, and all seals again."""
    connection = sqlite3.connect(path, isolation_level=None)
    (guard,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'no_change'").fetchone()
    connection.execute("DROP TRIGGER no_change")
    connection.execute("UPDATE entries SET body = ? WHERE number = ?", (body, number))
    previous = ""
    for row in connection.execute("SELECT number, time, kind, body FROM entries ORDER BY number").fetchall():
        previous = _entry_hash(previous, *row)
        connection.execute("UPDATE entries SET hash = ? WHERE number = ?", (previous, row[0]))
    connection.execute(guard)
    connection.close()


@pytest.mark.parametrize(
    ("kind", "body", "fits"),
    [
        ("reserved", RESERVED, True),
        ("reserved", {**RESERVED, "epsilon": "inf"}, True),
        ("reserved", {**RESERVED, "structure": "a1"}, True),
        ("reserved", {**RESERVED, "epsilon": "-inf"}, False),
        ("reserved", {**RESERVED, "epsilon": float("nan")}, False),
        ("reserved", {**RESERVED, "epsilon": True}, False),
        ("reserved", {**RESERVED, "epsilon": 10**400}, False),
        ("reserved", {**RESERVED, "delta": 1}, False),
        ("reserved", {**RESERVED, "rho": "inf"}, False),
        ("reserved", {**RESERVED, "part": 7}, False),
        ("reserved", COST, False),
        ("budget", {**COST, "unit": "row"}, True),
        ("budget", {**COST, "unit": "row", "epsilon": "inf"}, False),
        ("budget", {**COST, "unit": ["row"]}, False),
        ("settled", {**COST, "reservation": 3}, True),
        ("settled", {**COST, "reservation": [3]}, False),
        ("settled", {**COST, "reservation": 3, "leaks": ["bounds of 'x'"], "model": "a1"}, True),
        ("settled", {**COST, "reservation": 3, "leaks": "none"}, False),
        ("withdrawn", {"dataset": "d"}, False),
        ("batch key", {"dataset": "d", "key": "a1" * 32}, True),
        ("batch key", {"dataset": "d", "key": "key"}, False),
        ("of a later privet", {"anything": [1]}, True),
        ("of a later privet", [], False),
    ],
)
def test_a_body_is_what_its_kind_asks_for(kind, body, fits):
    assert is_body(body, kind) == fits


@pytest.mark.parametrize(
    "body",
    [
        "[]",
        "7",
        "{",
        "[" * 10_000,
        "9" * 5_000,
        json.dumps({**RESERVED, "epsilon": []}),
        json.dumps({**RESERVED, "epsilon": float("nan")}),
        json.dumps({"dataset": ["d"]}),
        '{"dataset": "d", "dataset": "e"}',
    ],
)
@pytest.mark.parametrize("number", [2, 3])
def test_an_entry_that_privet_does_not_write_is_refused_though_its_seal_fits(path, number, body):
    with_entry(path, number, body)
    for read in (
        lambda: accounts(path),
        lambda: Ledger(path, dataset="d"),
        lambda: Ledger(path, dataset="d", epsilon=2.0),
    ):
        with pytest.raises(
            LedgerError, match=f"entry {number} of the ledger .* holds what privet does not write there"
        ):
            read()


def test_a_view_without_end_is_no_ledger(path):
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS number, 'x' AS time, 'added' "
    )
    changed(path, f"DROP TABLE entries; CREATE VIEW entries AS {endless} AS kind, '{{}}' AS body, 'x' AS hash FROM n")
    with pytest.raises(LedgerError, match="is damaged or no ledger"):
        accounts(path)


def test_a_trigger_of_a_stranger_does_not_run(path):
    changed(
        path, "CREATE TRIGGER more AFTER INSERT ON entries BEGIN INSERT INTO entries VALUES (99, '', '', '', ''); END"
    )
    with pytest.raises(LedgerError, match="is damaged or no ledger"):
        Ledger(path, dataset="d").add(0.1, what="a table")


def test_bytes_in_the_place_of_text_are_refused(path):
    """SQLite's strict tables hold text; a transaction that was changed by hand need not."""
    content = path.read_bytes()
    with_entry(path, 3, json.dumps(RESERVED))
    assert content != path.read_bytes()
    loosened = "UPDATE sqlite_master SET sql = replace(sql, ') STRICT', ')') WHERE name = 'entries';"
    changed(path, f"PRAGMA writable_schema=ON; {loosened}")
    changed(path, "DROP TRIGGER no_change; UPDATE entries SET body = x'ff00' WHERE number = 3")
    statement = "UPDATE sqlite_master SET sql = sql || ' STRICT' WHERE name = 'entries';"
    changed(path, f"PRAGMA writable_schema=ON; {statement}")
    with pytest.raises(LedgerError, match="is damaged or no ledger"):
        accounts(path)
