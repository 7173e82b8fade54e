"""What keeps tokens and answers: tables without a link between their rows, the same in SQLite and in PostgreSQL."""

import hmac
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar

from privet.entropy import secure_bytes
from privet.errors import DataError, PrivetError

TABLES = ("token", "waiting", "released")
_ID_BYTES = 16
# Rows lie in the order of random keys; without rowids nothing counts them in the order in which they came.
_TABLES = """
CREATE TABLE token (hash BLOB PRIMARY KEY, mark BLOB) WITHOUT ROWID;
CREATE TABLE waiting (id BLOB PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE released (batch INTEGER, id BLOB, answer TEXT NOT NULL, PRIMARY KEY (batch, id))
WITHOUT ROWID;
"""
_NOT_OPENED = "the answers in {!r} cannot be opened; check its folder, or restore a backup"
_WAIT_SECONDS = 10.0


class Stored(Enum):
    """What became of a report."""

    NEW = "new"
    AGAIN = "again"
    UNKNOWN = "unknown"
    USED = "used"


class StoreUnavailable(PrivetError):
    """Nothing was confirmed: the disk is full, or the database does not answer."""

    def __init__(self) -> None:
        super().__init__(
            "the answers cannot be reached at the moment, and nothing was confirmed; try the same again later"
        )


class Statements:
    """Statements of one transaction, with ``?`` for each value."""

    def __init__(self, cursor: Any, placeholder: str = "?") -> None:
        self._cursor, self._placeholder = cursor, placeholder

    def run(self, statement: str, *values: Any) -> None:
        """Run one statement."""
        self._cursor.execute(self._own(statement), values)

    def run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for every row."""
        self._cursor.executemany(self._own(statement), list(rows))

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what one statement finds."""
        self.run(statement, *values)
        found: list[tuple[Any, ...]] = self._cursor.fetchall()
        return found

    def _own(self, statement: str) -> str:
        return statement.replace("?", self._placeholder)


class AnswerStore(ABC):
    """Tokens, answers that wait, and answers in released batches; collect.md says what they tell and what not."""

    # What the two databases say in different words.
    _lock_row: ClassVar[str] = ""
    _alone: ClassVar[tuple[str, ...]] = ()
    _empty_waiting: ClassVar[str] = "DELETE FROM waiting"

    @abstractmethod
    def _transaction(self, *, writes: bool = True) -> AbstractContextManager[Statements]:
        """Do all or nothing, on the disk at the end; raise StoreUnavailable where that fails."""

    @abstractmethod
    def copy_to(self, path: Path) -> None:
        """Write the store as it is now to a new SQLite file, while reports go on coming."""

    @abstractmethod
    def close(self) -> None:
        """Close the store."""

    def add_tokens(self, hashes: Sequence[bytes]) -> None:
        """Add tokens that nobody has used."""
        with self._transaction() as do:
            # Sorted, as hashes are random, so that not even the pages tell in which order links were made.
            do.run_many("INSERT INTO token VALUES (?, NULL)", [(own,) for own in sorted(hashes)])

    def knows(self, hashed: bytes) -> bool:
        """Return whether a token was given out."""
        with self._transaction(writes=False) as do:
            return bool(do.rows("SELECT 1 FROM token WHERE hash = ?", hashed))

    def put(self, hashed: bytes, mark: bytes, answer: str) -> Stored:
        """Mark a token as used and keep its answer, both or neither; on return it is on the disk."""
        with self._transaction() as do:
            found = do.rows(f"SELECT mark FROM token WHERE hash = ?{self._lock_row}", hashed)  # noqa: S608 - a constant
            if not found:
                return Stored.UNKNOWN
            kept = found[0][0]
            if kept is not None:
                return Stored.AGAIN if hmac.compare_digest(bytes(kept), mark) else Stored.USED
            do.run("UPDATE token SET mark = ? WHERE hash = ?", mark, hashed)
            do.run("INSERT INTO waiting VALUES (?, ?)", _new_id(), answer)
        return Stored.NEW

    def release(self, batch: int, *, last: bool = False) -> int:
        """Move waiting answers to shuffled batches and return how many were moved.

        A batch's worth stays behind, so that what comes after it never has to go by itself. As the ``last`` release it
        goes too, and answers beyond a whole batch join the last one. Fewer than ``batch`` in all stay.
        """
        if _n_batches(self._number("SELECT count(*) FROM waiting"), batch, last=last) < 1:
            return 0
        with self._transaction() as do:
            for statement in self._alone:
                do.run(statement)
            rows = do.rows("SELECT id, answer FROM waiting ORDER BY id")
            n_batches = _n_batches(len(rows), batch, last=last)
            if n_batches < 1:
                return 0
            n_moved = len(rows) if last else n_batches * batch
            ((first,),) = do.rows("SELECT coalesce(max(batch), 0) + 1 FROM released")
            # By random keys: which of the waiting answers go, and in which order, says nothing of when they came.
            answers = [answer for _, answer in rows]
            moved = [(first + min(j // batch, n_batches - 1), _new_id(), answers[j]) for j in range(n_moved)]
            do.run(self._empty_waiting)
            do.run_many("INSERT INTO released VALUES (?, ?, ?)", sorted(moved))
            do.run_many("INSERT INTO waiting VALUES (?, ?)", sorted((_new_id(), own) for own in answers[n_moved:]))
        return n_moved

    def released(self) -> Iterator[str]:
        """Yield the released answers, batch by batch."""
        with self._transaction(writes=False) as do:
            rows = do.rows("SELECT answer FROM released ORDER BY batch, id")
        yield from (answer for (answer,) in rows)

    def n_released(self) -> int:
        """Return how many answers are released."""
        return self._number("SELECT count(*) FROM released")

    def n_batches(self) -> int:
        """Return in how many batches they are."""
        return self._number("SELECT coalesce(max(batch), 0) FROM released")

    def _number(self, statement: str) -> int:
        with self._transaction(writes=False) as do:
            return int(do.rows(statement)[0][0])


def _n_batches(n_waiting: int, batch: int, *, last: bool) -> int:
    return n_waiting // batch - (0 if last else 1)


def _new_id() -> bytes:
    return secure_bytes(_ID_BYTES)


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
