"""The ledger's file: entries that are only ever appended, each sealed with the hash of all before it.

An entry says what kind it is, when it was written and what it holds; the book does not know what that means. It is an
SQLite file, because SQLite survives a crash at any moment and lets many processes write in turn.
"""

import errno
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from privet.checks import is_hex
from privet.entropy import secure_bytes
from privet.errors import LedgerError
from privet.files.documents import parsed
from privet.files.whole_file import remove_unfinished, write_new
from privet.privacy.ledger.bodies import is_body
from privet.privacy.ledger.heads import HASH_BYTES, Head, HeadFolder, Seen, seen_of

# "prvt": tells a ledger from any other SQLite file.
_APPLICATION_ID = 0x70727674
_VERSION = 1
_WAIT_SECONDS = 60.0
OPENED = "opened"
_TABLE = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, "
    "hash TEXT NOT NULL) STRICT",
    "CREATE TRIGGER no_change BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries stay as they are'); END",
    "CREATE TRIGGER no_removal BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries stay as they are'); END",
)
_UNWRITABLE = "cannot be written; check its path, its folder and their permissions"
# An entry may be there all the same: a disk can fail after it, when the journal's end is put down.
_DISK = (
    "cannot be written: the disk is full or failing; make room, see by `privet ledger show` whether the entry is "
    "there, and try again"
)
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
# By the beginning of SQLite's name for what happened; longer names say more of the same.
_TROUBLES = {
    "SQLITE_BUSY": f"has been busy for {_WAIT_SECONDS:.0f} s; see who holds it, and try again",
    "SQLITE_READONLY": _UNWRITABLE,
    "SQLITE_CANTOPEN": _UNWRITABLE,
    "SQLITE_PERM": _UNWRITABLE,
    "SQLITE_FULL": _DISK,
    "SQLITE_IOERR": _DISK,
}
_DAMAGED = "is damaged or no ledger; check its name, or take it from a backup, and find out what happened"
_NOT_THE_SAME = (
    "is no longer the file it was: an older copy was put back, or a new one made; find the one that is missing, and "
    "what happened"
)
_NOT_AS_KEPT = (
    "lacks entry {}, which was seen before: its end was cut off, an older copy put back, or a copy of it spent from; "
    "find the file that has it, and what happened; if this one is to be used, take it as it is by `privet ledger "
    "verify --accept`"
)


@dataclass(frozen=True)
class Entry:
    """One line of the book."""

    number: int
    time: str
    kind: str
    body: Mapping[str, Any]
    hash: str


class LedgerFile:
    """A ledger's file. Nothing is kept open between calls, so threads and forked processes share no connection.

    What was read or written before must be in the file ever after. ``heads`` remembers that beyond this process.
    """

    def __init__(self, path: Path, heads: HeadFolder | None = None) -> None:
        self.path, self.heads = path, heads
        self._seen: Seen | None = None

    @property
    def head(self) -> str:
        """The hash of the newest entry that this process has seen."""
        return "" if self._seen is None else self._seen.head.hash

    def entries(self) -> list[Entry]:
        """Return all entries, their chain checked."""
        with self._connection() as connection:
            self._check_format(connection)
            return self._read(connection)

    def check_has(self, seen: str) -> None:
        """Refuse a file that has no entry with this hash."""
        if seen not in {entry.hash for entry in self.entries()}:
            raise LedgerError(f"the ledger {self.path.name!r} {_NOT_THE_SAME}")

    def create(self) -> None:
        """Make the file if there is none: whole, and once, however many try. An empty file is a lost one."""
        if self.path.exists():
            remove_unfinished(self.path.parent)  # of a run that was stopped as soon as it had made this
            return
        try:
            with suppress(FileExistsError):
                write_new(self.path, _new_ledger(), anywhere=True)
        except OSError as error:
            told = _DISK if error.errno in _FULL else _UNWRITABLE
            raise LedgerError(f"the ledger {str(self.path)!r} {told}") from error

    @contextmanager
    def transaction(self) -> Iterator["Transaction"]:
        """Yield the entries and the way to append to them, while nobody else writes; an error undoes all of it."""
        with self._connection() as connection:
            with _committing(connection):
                self._check_format(connection)
                transaction = Transaction(self._read(connection), connection)
                yield transaction
            self._remember(transaction.last)  # it is on the disk

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise LedgerError(f"there is no ledger at {str(self.path)!r}; make one with `privet ledger init`")
        try:
            connection = sqlite3.connect(
                f"{self.path.as_uri()}?mode=rw", timeout=_WAIT_SECONDS, isolation_level=None, uri=True
            )
            try:
                # Spending is on the disk before a row is read, also if the machine loses power.
                connection.execute("PRAGMA synchronous=EXTRA")
                connection.execute("PRAGMA trusted_schema=OFF")
                yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise self._trouble(error) from error
        except UnicodeDecodeError as error:  # SQLite quotes damaged text in its own message
            raise LedgerError(f"the ledger {str(self.path)!r} {_DAMAGED}") from error

    def _trouble(self, error: sqlite3.Error) -> LedgerError:
        name = getattr(error, "sqlite_errorname", "")
        told = next((words for code, words in _TROUBLES.items() if name.startswith(code)), _DAMAGED)
        return LedgerError(f"the ledger {str(self.path)!r} {told}")

    def _check_format(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION_ID:
            raise LedgerError(f"{str(self.path)!r} is no privet ledger; pass the path that `privet ledger init` made")
        if version != _VERSION:
            raise LedgerError(
                f"the ledger {str(self.path)!r} is of a version that this privet does not know; update privet"
            )
        # In place of the table a file could have a view without end, or triggers that write more than was asked.
        found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master")}
        if not {_TABLE[0]} <= found <= set(_TABLE):
            raise LedgerError(f"the ledger {str(self.path)!r} {_DAMAGED}")

    def _read(self, connection: sqlite3.Connection) -> list[Entry]:
        # In this order: what others write meanwhile, and have seen, need not be in what is read here.
        must_have = self._seen_before(connection)
        rows = connection.execute("SELECT number, time, kind, body, hash FROM entries ORDER BY number").fetchall()
        if any([type(cell) for cell in row] != [int, str, str, str, str] for row in rows):
            raise LedgerError(f"the ledger {str(self.path)!r} {_DAMAGED}")
        broken = first_broken(rows)
        if broken is not None:
            raise LedgerError(
                f"entry {broken} of the ledger {str(self.path)!r} was changed, or one before it removed: its hash does "
                "not fit; take the file from a backup, and find out what happened"
            )
        entries = [
            Entry(number, time, kind, self._body(number, kind, body), seal) for number, time, kind, body, seal in rows
        ]
        for head, told in must_have:
            if not head.is_in(entries):
                raise LedgerError(f"the ledger {self.path.name!r} {told}")
        self._seen = self._seen or seen_of(entries[0].hash)
        self._remember(entries[-1])
        return entries

    def _seen_before(self, connection: sqlite3.Connection) -> list[tuple[Head, str]]:
        """Return the heads that the file must have, each with what is wrong where it has not."""
        first = connection.execute("SELECT hash FROM entries ORDER BY number LIMIT 1").fetchone()
        if first is None or not is_hex(first[0], HASH_BYTES):
            return []  # reading it will say what is wrong
        seen = self._seen or seen_of(first[0])
        kept = None if self.heads is None else self.heads.newest(first[0])
        return [(seen.head, _NOT_THE_SAME), *([] if kept is None else [(kept, _NOT_AS_KEPT.format(kept.number))])]

    def _remember(self, entry: Entry) -> None:
        if self._seen is None:
            return
        self._seen.take(Head(entry.number, entry.hash))
        if self.heads is not None:
            self.heads.keep(self._seen.identity, Head(entry.number, entry.hash))

    def _body(self, number: int, kind: str, text: str) -> Mapping[str, Any]:
        body = _read_body(kind, text)
        if body is not None:
            return body
        raise LedgerError(
            f"entry {number} of the ledger {str(self.path)!r} holds what privet does not write there; take the file "
            "from a backup, and find out what happened"
        )


class Transaction:
    """The entries so far, and the way to append to them within one turn."""

    def __init__(self, entries: list[Entry], connection: sqlite3.Connection) -> None:
        self.entries = entries
        self.last = entries[-1]
        self._connection = connection

    def append(self, kind: str, body: Mapping[str, Any]) -> Entry:
        """Append an entry and return it."""
        self.last = _append(self._connection, kind, body)
        return self.last


def first_broken(rows: list[tuple[int, str, str, str, str]]) -> int | None:
    """Return the number of the first entry that does not follow from those before it."""
    previous = ""
    for expected, (number, time, kind, body, seal) in enumerate(rows, start=1):
        if number != expected or seal != _entry_hash(previous, number, time, kind, body):
            return expected
        previous = seal
    return None if rows else 1


@contextmanager
def _committing(connection: sqlite3.Connection) -> Iterator[None]:
    """Let nobody else write until the block ends; an error undoes all of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        # SQLite has rolled back by itself where the disk failed; the first error is the one to tell.
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _new_ledger() -> bytes:
    """Return the file of a new ledger, made in memory: on the disk it is there whole or not at all."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for statement in (*_TABLE, f"PRAGMA application_id={_APPLICATION_ID}", f"PRAGMA user_version={_VERSION}"):
            connection.execute(statement)
        _append(connection, OPENED, {"ledger": secure_bytes(16).hex()})
        return connection.serialize()
    finally:
        connection.close()


def _append(connection: sqlite3.Connection, kind: str, body: Mapping[str, Any]) -> Entry:
    last = connection.execute("SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1").fetchone()
    number, previous = last or (0, "")
    time = datetime.now(UTC).isoformat(timespec="seconds")
    text, read = _written_and_read(kind, body)
    seal = _entry_hash(previous, number + 1, time, kind, text)
    connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", (number + 1, time, kind, text, seal))
    return Entry(number + 1, time, kind, read, seal)


def _written_and_read(kind: str, body: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the text of a body and what reading makes of it; what cannot be read stays for ever, so it is refused."""
    try:
        text = json.dumps(body, sort_keys=True, allow_nan=False)
        read = _read_body(kind, text)
    except (TypeError, ValueError, RecursionError):  # no JSON; its text may quote a value
        read = None
    if read is None:
        raise LedgerError(
            f"an entry of the kind {kind!r} would hold what the ledger cannot read again, and was not written; note "
            "plain JSON values only, and what, method and model as text"
        )
    return text, read


def _read_body(kind: str, text: str) -> Mapping[str, Any] | None:
    """Return what the text of an entry says; None where no entry of its kind says that."""
    try:
        body: object = parsed(text.encode())
    except ValueError:
        return None
    return body if is_body(body, kind) else None


def _entry_hash(previous: str, number: int, time: str, kind: str, body: str) -> str:
    return hashlib.sha256(json.dumps([previous, number, time, kind, body]).encode()).hexdigest()
