"""The store in one SQLite file. collect.md says what somebody who has the file can read from it."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from privet.errors import DataError
from privet.service.collect.store import AnswerStore, Statements, StoreUnavailable

# Rows lie in the order of random keys; without rowids nothing counts them in the order in which they came.
_TABLES = """
CREATE TABLE token (hash BLOB PRIMARY KEY, mark BLOB) WITHOUT ROWID;
CREATE TABLE waiting (id BLOB PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE released (batch INTEGER, id BLOB, answer TEXT NOT NULL, PRIMARY KEY (batch, id))
WITHOUT ROWID;
"""
_NOT_OPENED = "the answers in {!r} cannot be opened; check its folder, or restore a backup"
_WAIT_SECONDS = 10.0


class SQLiteStore(AnswerStore):
    """Tokens and answers in a file; one connection, one writer at a time."""

    def __init__(self, path: Path, *, new: bool = False) -> None:
        self._lock = threading.Lock()
        try:
            if new:
                path.touch(mode=0o600, exist_ok=False)
            elif not path.is_file():
                raise FileNotFoundError
            self._database = sqlite3.connect(path, _WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error):
            raise DataError(_NOT_OPENED.format(str(path))) from None
        try:
            # A rollback journal that is deleted keeps no history of writes, as a write-ahead log would.
            for pragma in ("journal_mode = DELETE", "synchronous = FULL", "secure_delete = ON"):
                self._database.execute(f"PRAGMA {pragma}")
            if new:
                self._database.executescript(_TABLES)
            self.n_released()
        except (sqlite3.Error, StoreUnavailable):
            self.close()
            raise DataError(_NOT_OPENED.format(str(path))) from None

    def copy_to(self, path: Path) -> None:
        """Write the store as it is now to a new SQLite file, while reports go on coming."""
        try:
            with self._lock, closing(sqlite3.connect(path)) as copy:
                self._database.backup(copy)
        except sqlite3.Error:
            raise StoreUnavailable from None

    def add_rows(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Add rows to one of the tables as they are."""
        values = ", ".join("?" * len(rows[0]))
        with self._transaction() as do:
            do.run_many(f"INSERT INTO {table} VALUES ({values})", rows)  # noqa: S608 - one of three constants

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            self._database.close()

    @contextmanager
    def _transaction(self, *, writes: bool = True) -> Iterator[Statements]:
        with self._lock:
            try:
                self._database.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                with closing(self._database.cursor()) as cursor:
                    yield Statements(cursor)
                self._database.execute("COMMIT")
            except sqlite3.Error:
                raise StoreUnavailable from None
            finally:
                self._roll_back()

    def _roll_back(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")
