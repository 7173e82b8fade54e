"""The store in one SQLite file. collect.md says what somebody who has the file can read from it."""

import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from privet.service.collect.store import Stored, StoreUnavailable

# Rows lie in the order of random keys; without rowids nothing counts them in the order in which they came.
_TABLES = """
CREATE TABLE IF NOT EXISTS token (hash BLOB PRIMARY KEY, mark BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS waiting (id BLOB PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS released (batch INTEGER, id BLOB, answer TEXT NOT NULL, PRIMARY KEY (batch, id))
WITHOUT ROWID;
"""
_ID_BYTES = 16
_WAIT_SECONDS = 10.0


class SQLiteStore:
    """Tokens and answers in a file; one connection, one writer at a time."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        # A rollback journal that is deleted keeps no history of writes, as a write-ahead log would.
        for pragma in ("journal_mode = DELETE", "synchronous = FULL", "secure_delete = ON"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.executescript(_TABLES)

    def add_tokens(self, hashes: Sequence[bytes]) -> None:
        """Add tokens that nobody has used."""
        with self._transaction():
            self._database.executemany("INSERT INTO token VALUES (?, NULL)", [(own,) for own in hashes])

    def knows(self, hashed: bytes) -> bool:
        """Return whether a token was given out."""
        with self._lock:
            return self._mark(hashed) is not None

    def put(self, hashed: bytes, mark: bytes, answer: str) -> Stored:
        """Mark a token as used and keep its answer, both or neither; on return it is on the disk."""
        with self._transaction():
            found = self._mark(hashed)
            if found is None:
                return Stored.UNKNOWN
            if found[0] is not None:
                return Stored.AGAIN if secrets.compare_digest(found[0], mark) else Stored.USED
            self._database.execute("UPDATE token SET mark = ? WHERE hash = ?", (mark, hashed))
            self._database.execute("INSERT INTO waiting VALUES (?, ?)", (secrets.token_bytes(_ID_BYTES), answer))
        return Stored.NEW

    def release(self, batch: int) -> int:
        """Move waiting answers to batches of ``batch``, shuffled; return how many answers were moved."""
        with self._transaction():
            (n_waiting,) = self._database.execute("SELECT count(*) FROM waiting").fetchone()
            n_moved = n_waiting // batch * batch
            (last,) = self._database.execute("SELECT coalesce(max(batch), 0) FROM released").fetchone()
            # By random keys: which of the waiting answers go, and in which order, says nothing of when they came.
            rows = self._database.execute("SELECT id, answer FROM waiting ORDER BY id LIMIT ?", (n_moved,)).fetchall()
            for j, (own, answer) in enumerate(rows):
                moved = (last + 1 + j // batch, secrets.token_bytes(_ID_BYTES), answer)
                self._database.execute("INSERT INTO released VALUES (?, ?, ?)", moved)
                self._database.execute("DELETE FROM waiting WHERE id = ?", (own,))
        return int(n_moved)

    def released(self) -> Iterator[str]:
        """Yield the released answers, batch by batch."""
        with self._lock:
            rows = self._database.execute("SELECT answer FROM released ORDER BY batch, id").fetchall()
        yield from (answer for (answer,) in rows)

    def n_released(self) -> int:
        """Return how many answers are released."""
        with self._lock:
            (n,) = self._database.execute("SELECT count(*) FROM released").fetchone()
        return int(n)

    def copy_to(self, path: Path) -> None:
        """Write the store as it is now to another file, while reports go on coming."""
        with self._lock, closing(sqlite3.connect(path)) as copy:
            self._database.backup(copy)

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            self._database.close()

    def _mark(self, hashed: bytes) -> tuple[bytes | None] | None:
        found: tuple[bytes | None] | None = self._database.execute(
            "SELECT mark FROM token WHERE hash = ?", (hashed,)
        ).fetchone()
        return found

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Do all or nothing; a full disk or a busy file leaves nothing behind."""
        with self._lock:
            try:
                self._database.execute("BEGIN IMMEDIATE")
                yield
                self._database.execute("COMMIT")
            except sqlite3.Error:
                raise StoreUnavailable from None
            finally:
                self._roll_back()

    def _roll_back(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")
