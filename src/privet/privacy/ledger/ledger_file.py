"""The ledger's file: entries that are only ever appended, each with the hash of all before it.

An entry says what kind it is, when it was written and what it holds; this module does not know what that means. The
file is an SQLite database, because SQLite survives a crash at any moment and lets many processes write in turn.
"""

import errno
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from privet.checks import is_hex
from privet.entropy import secure_bytes
from privet.errors import LedgerError
from privet.files.documents import parse_json
from privet.files.whole_file import remove_unfinished, write_new
from privet.privacy.ledger.entry_kinds import is_body
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
# The entry may be there all the same: a disk can fail after it, while the end of the journal is written.
_DISK = (
    "cannot be written: the disk is full or failing; make room, see by `privet ledger show` whether the entry is "
    "there, and try again"
)
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
# By the beginning of SQLite's error name; longer names are special cases.
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


Row = tuple[int, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a ledger. Its body cannot be changed: the next decision may be made by what was read before."""

    number: int
    time: str
    kind: str
    body: Mapping[str, Any]
    hash: str


class LedgerFile:
    """A ledger's file. Nothing is kept open between calls, so threads and forked processes share no connection.

    What was read or written before must be in the file ever after; ``heads`` remembers that beyond this process. The
    whole chain is checked when it is first read. After that, what was checked is compared, and only what is new is
    checked.
    """

    def __init__(self, path: Path, heads: HeadFolder | None = None) -> None:
        self.path, self.heads = path, heads
        self._seen: Seen | None = None
        # One attribute, so that a thread never sees rows of one moment and entries of another.
        self._checked: tuple[tuple[Row, ...], tuple[Entry, ...]] = (), ()

    @property
    def head(self) -> str:
        """The hash of the newest entry that this process has seen."""
        return "" if self._seen is None else self._seen.head.hash

    @property
    def last_read(self) -> tuple[Entry, ...]:
        """All entries as this object last read or wrote them; the file is read if it never was."""
        return self._checked[1] or self.entries()

    def entries(self) -> tuple[Entry, ...]:
        """Read all entries, and check their chain."""
        with self._connection() as connection:
            self._check_format(connection)
            return self._read(connection)[1]

    def check_has(self, seen: str) -> None:
        """Refuse a file that has no entry with this hash."""
        if seen not in {entry.hash for entry in self.last_read}:
            raise LedgerError(f"the ledger {self.path.name!r} {_NOT_THE_SAME}")

    def copy_to(self, path: Path) -> str:
        """Write the ledger as it is now to a new file, while others go on writing; return the copy's newest hash."""
        with self._connection() as connection:
            self._check_format(connection)
            connection.execute("BEGIN")  # what is checked is what is copied
            _, entries = self._read(connection)
            with closing(sqlite3.connect(path)) as copy:
                connection.backup(copy)
        return entries[-1].hash

    def create(self) -> None:
        """Make the file if there is none: whole, and once, however many processes try. An empty file is a lost one."""
        if self.path.exists():
            remove_unfinished(self.path.parent)  # left by a run that was stopped right after it made this file
            return
        try:
            with suppress(FileExistsError):
                write_new(self.path, _new_ledger(), anywhere=True)
        except OSError as error:
            trouble = _DISK if error.errno in _FULL else _UNWRITABLE
            raise LedgerError(f"the ledger {str(self.path)!r} {trouble}") from error

    @contextmanager
    def transaction(self) -> Iterator["Transaction"]:
        """Yield the entries and the way to append to them, while nobody else writes; an error undoes all of it."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._check_format(connection)
                transaction = Transaction(*self._read(connection), connection)
                yield transaction
            except BaseException:
                # SQLite has rolled back by itself where the disk failed; the first error is the one to report.
                if connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            self._checked = transaction.rows, transaction.entries
            self._remember(transaction.entries[-1])

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
        trouble = next((words for code, words in _TROUBLES.items() if name.startswith(code)), _DAMAGED)
        return LedgerError(f"the ledger {str(self.path)!r} {trouble}")

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

    def _read(self, connection: sqlite3.Connection) -> tuple[tuple[Row, ...], tuple[Entry, ...]]:
        # In this order: what others write meanwhile, and have seen, need not be in what is read here.
        must_have = self._seen_before(connection)
        rows = tuple(connection.execute("SELECT number, time, kind, body, hash FROM entries ORDER BY number"))
        entries = self._check_chain(rows)
        for head, trouble in must_have:
            if not head.is_in(entries):
                raise LedgerError(f"the ledger {self.path.name!r} {trouble}")
        self._seen = self._seen or seen_of(entries[0].hash)
        self._checked = rows, entries
        self._remember(entries[-1])
        return rows, entries

    def _check_chain(self, rows: tuple[Row, ...]) -> tuple[Entry, ...]:
        """Return the entries of all rows; those that were checked before need only be the same."""
        old_rows, old_entries = self._checked
        if rows[: len(old_rows)] != old_rows:
            old_rows, old_entries = (), ()
        new = rows[len(old_rows) :]
        if any([type(cell) for cell in row] != [int, str, str, str, str] for row in new):
            raise LedgerError(f"the ledger {str(self.path)!r} {_DAMAGED}")
        broken = first_broken(new, old_entries[-1:])
        if broken is not None:
            raise LedgerError(
                f"entry {broken} of the ledger {str(self.path)!r} was changed, or one before it removed: its hash does "
                "not fit; take the file from a backup, and find out what happened"
            )
        added = (Entry(row[0], row[1], row[2], self._body(row[0], row[2], row[3]), row[4]) for row in new)
        return *old_entries, *added

    def _seen_before(self, connection: sqlite3.Connection) -> list[tuple[Head, str]]:
        """Return the heads that the file must have, each with what is wrong where it lacks one."""
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
    """The entries so far, and the way to append to them while nobody else writes."""

    def __init__(self, rows: tuple[Row, ...], entries: tuple[Entry, ...], connection: sqlite3.Connection) -> None:
        self.rows, self.entries = rows, entries
        self._connection = connection

    def append(self, kind: str, body: Mapping[str, Any]) -> Entry:
        """Append an entry and return it."""
        row, entry = _append(self._connection, kind, body)
        self.rows, self.entries = (*self.rows, row), (*self.entries, entry)
        return entry


def first_broken(rows: Sequence[Row], after: Sequence[Entry] = ()) -> int | None:
    """Return the number of the first entry that does not follow from the one before; ``after`` was checked already."""
    previous, last = (after[-1].hash, after[-1].number) if after else ("", 0)
    for expected, (number, time, kind, body, hash_) in enumerate(rows, start=last + 1):
        if number != expected or hash_ != _entry_hash(previous, number, time, kind, body):
            return expected
        previous = hash_
    return None if rows or after else 1


def _new_ledger() -> bytes:
    """Return the bytes of a new ledger, made in memory: on the disk it is there whole or not at all."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for statement in (*_TABLE, f"PRAGMA application_id={_APPLICATION_ID}", f"PRAGMA user_version={_VERSION}"):
            connection.execute(statement)
        _append(connection, OPENED, {"ledger": secure_bytes(16).hex()})
        return connection.serialize()
    finally:
        connection.close()


def _append(connection: sqlite3.Connection, kind: str, body: Mapping[str, Any]) -> tuple[Row, Entry]:
    last = connection.execute("SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1").fetchone()
    number, previous = last or (0, "")
    time = datetime.now(UTC).isoformat(timespec="seconds")
    text, read = _written_and_read(kind, body)
    row = (number + 1, time, kind, text, _entry_hash(previous, number + 1, time, kind, text))
    connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", row)
    return row, Entry(row[0], time, kind, read, row[4])


def _written_and_read(kind: str, body: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the text of a body and what reading makes of it; what could not be read again is refused."""
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
        body: object = parse_json(text.encode())
    except ValueError:
        return None
    return _frozen(body) if is_body(body, kind) else None


def _frozen(value: Any) -> Any:
    """Return a JSON value whose objects and lists cannot be changed, at any depth."""
    if isinstance(value, dict):
        return MappingProxyType({name: _frozen(each) for name, each in value.items()})
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _entry_hash(previous: str, number: int, time: str, kind: str, body: str) -> str:
    return hashlib.sha256(json.dumps([previous, number, time, kind, body]).encode()).hexdigest()
