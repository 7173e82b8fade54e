"""The ledger's file: append-only, chained, safe to open."""

import json
import sqlite3
import subprocess
import sys

import pytest

from privet.errors import LedgerError
from privet.privacy.ledger.ledger_file import LedgerFile, first_broken


@pytest.fixture
def file(tmp_path):
    file = LedgerFile(tmp_path / "ledger.db")
    file.create()
    with file.transaction() as transaction:
        for number in range(4):
            transaction.append("note", {"number": number})
    return file


def tampered(file, statement):
    """Change the file as someone would who knows SQLite."""
    with sqlite3.connect(file.path) as connection:
        connection.executescript(f"DROP TRIGGER no_change; DROP TRIGGER no_removal; {statement}")
    connection.close()


def test_entries_come_back_in_order_behind_one_that_names_the_ledger(file):
    kinds = [entry.kind for entry in file.entries()]
    assert kinds == ["opened", "note", "note", "note", "note"]
    assert [entry.body for entry in file.entries()[1:]] == [{"number": number} for number in range(4)]
    assert [entry.number for entry in file.entries()] == [1, 2, 3, 4, 5]


def test_its_owner_alone_can_read_a_new_one(file):
    # An update keeps the key of its batches' fingerprints in it.
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_creating_it_again_changes_nothing(file):
    before = file.entries()
    file.create()
    assert file.entries() == before


def test_two_ledgers_have_different_chains(file, tmp_path):
    other = LedgerFile(tmp_path / "other.db")
    other.create()
    assert other.entries()[0].hash != file.entries()[0].hash


def test_sqlite_itself_refuses_to_change_or_remove_an_entry(file):
    with sqlite3.connect(file.path) as connection:
        for statement in ("UPDATE entries SET kind = 'x'", "DELETE FROM entries"):
            with pytest.raises(sqlite3.IntegrityError, match="entries stay as they are"):
                connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE entries SET body = '{\"number\": 7}' WHERE number = 3", 3),
        ("UPDATE entries SET time = '2020-01-01T00:00:00+00:00' WHERE number = 2", 2),
        ("UPDATE entries SET kind = 'withdrawn' WHERE number = 5", 5),
        ("DELETE FROM entries WHERE number = 3", 3),
        ("DELETE FROM entries WHERE number = 1", 1),
        ("UPDATE entries SET hash = 'aa' WHERE number = 4", 4),
        ("DELETE FROM entries WHERE number = 4; UPDATE entries SET number = 4 WHERE number = 5", 4),
        ("DELETE FROM entries", 1),
    ],
)
def test_a_changed_removed_or_moved_entry_is_noticed_at_the_next_reading_and_writing(file, statement, broken):
    tampered(file, statement)
    with pytest.raises(LedgerError, match=f"entry {broken} of the ledger .* was changed, or one before it removed"):
        file.entries()
    with pytest.raises(LedgerError, match="its hash does not fit"), file.transaction():
        pytest.fail("a broken chain must not be written to")


def test_a_chain_without_its_first_entry_is_broken_and_an_untouched_one_is_whole(file):
    assert first_broken([]) == 1
    with sqlite3.connect(file.path) as connection:
        rows = connection.execute("SELECT * FROM entries ORDER BY number").fetchall()
    connection.close()
    assert first_broken(rows) is None


def test_an_empty_file_is_a_lost_ledger_and_not_a_new_one(tmp_path):
    (tmp_path / "ledger.db").touch()
    LedgerFile(tmp_path / "ledger.db").create()
    with pytest.raises(LedgerError, match="is no privet ledger"):
        LedgerFile(tmp_path / "ledger.db").entries()


def test_a_full_disk_is_told_as_one_and_not_as_damage(file, tmp_path):
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from privet.privacy.ledger.ledger_file import LedgerFile\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2**13, 2**13))\n"
        "with LedgerFile(Path(sys.argv[1])).transaction() as transaction:\n"
        "    for number in range(100):\n"
        "        transaction.append('note', {'text': 'x' * 500})\n"
    )
    before = file.entries()
    result = subprocess.run([sys.executable, "-c", script, str(file.path)], capture_output=True, text=True)
    assert "the disk is full or failing; make room, see by" in result.stderr.splitlines()[-1]
    assert file.entries() == before


def test_an_error_within_a_turn_leaves_nothing_behind(file):
    before = file.entries()

    class Trouble(Exception):
        pass

    with pytest.raises(Trouble), file.transaction() as transaction:
        transaction.append("note", {"number": 99})
        raise Trouble
    assert file.entries() == before


def test_a_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path):
    text, other = tmp_path / "text.db", tmp_path / "other.db"
    text.write_text("these are notes about something else, long enough to be read as a header of a file")
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    for path, sentence in ((text, "is damaged or no ledger"), (other, "is no privet ledger")):
        before = path.read_bytes()
        with pytest.raises(LedgerError, match=sentence):
            LedgerFile(path).entries()
        LedgerFile(path).create()
        assert path.read_bytes() == before


def test_a_missing_file_is_not_created_by_reading(tmp_path):
    with pytest.raises(LedgerError, match="there is no ledger at .*; make one with `privet ledger init`"):
        LedgerFile(tmp_path / "none.db").entries()
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(LedgerError, match="cannot be written; check its path"):
        LedgerFile(tmp_path / "no folder" / "none.db").create()


def test_a_later_version_is_refused(file):
    with sqlite3.connect(file.path) as connection:
        connection.execute("PRAGMA user_version=7")
    connection.close()
    with pytest.raises(LedgerError, match="of a version that this privet does not know; update privet"):
        file.entries()


def test_a_file_cut_short_or_overwritten_is_told_as_damaged(file):
    data = file.path.read_bytes()
    for damaged in (data[:5000], data[:4096] + b"\xff" * (len(data) - 4096)):
        file.path.write_bytes(damaged)
        with pytest.raises(LedgerError, match="damaged|does not fit|no privet ledger"):
            file.entries()


def test_a_busy_ledger_says_so(file, monkeypatch):
    monkeypatch.setattr("privet.privacy.ledger.ledger_file._WAIT_SECONDS", 0.05)
    holder = sqlite3.connect(file.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="has been busy"), file.transaction():
        pytest.fail("somebody else is writing")
    holder.execute("ROLLBACK")
    holder.close()


def test_bodies_are_plain_json(file):
    connection = sqlite3.connect(file.path)
    bodies = [json.loads(body) for (body,) in connection.execute("SELECT body FROM entries")]
    connection.close()
    assert bodies[1] == {"number": 0}
