"""The store in a PostgreSQL database. collect.md says what somebody who has the database can read from it."""

import hashlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from privet.errors import DataError, ParameterError
from privet.lazy import of_extra
from privet.service.collect.store import TABLES, AnswerStore, SQLiteStore, Statements, StoreUnavailable

if TYPE_CHECKING:
    import psycopg

URL_VARIABLE = "PRIVET_STORE_URL"
SCHEMES = ("postgresql://", "postgres://")
_TABLES = """
CREATE SCHEMA {0};
CREATE TABLE {0}.token (hash BYTEA PRIMARY KEY, mark BYTEA);
CREATE TABLE {0}.waiting (id BYTEA PRIMARY KEY, answer TEXT NOT NULL);
CREATE TABLE {0}.released (batch INTEGER, id BYTEA, answer TEXT NOT NULL, PRIMARY KEY (batch, id));
"""
_CONNECT_SECONDS, _STATEMENT_MILLISECONDS = 10, 20_000
_UNREACHABLE = (
    "the PostgreSQL database cannot be opened; check host, name and rights, and give the password in ~/.pgpass or the "
    f"whole URL in {URL_VARIABLE}"
)
_EMPTY = "the PostgreSQL database has no answers of this collection; correct its URL, or restore a backup"
_TWICE = "this collection is in the database already; restore it to another database"
_SETTINGS = {
    "fsync": ("on", "it may lose what it has confirmed; turn fsync on"),
    "track_commit_timestamp": ("off", "it keeps the time of every report; turn track_commit_timestamp off"),
}
_IN_STEPS_OF = 10_000


def check_store_url(url: str) -> None:
    """Refuse an address of no PostgreSQL database, and one with a password, which would lie in the settings."""
    if not url.startswith(SCHEMES):
        raise ParameterError("--store is the URL of a PostgreSQL database, postgresql://user@host/name; correct it")
    conninfo = _driver().conninfo
    try:
        has_password = "password" in conninfo.conninfo_to_dict(url)
    except _driver().Error:
        raise ParameterError("--store is no URL that PostgreSQL can read; correct it") from None
    if has_password:
        raise ParameterError(
            f"--store has a password, which others on this machine could see; put it into ~/.pgpass, or the whole URL "
            f"into {URL_VARIABLE}, and leave it out here"
        )


def url_to_use(settled: str) -> str:
    """Return the URL of the environment, or of the file that it names, or else the one that was settled."""
    file = os.environ.get(f"{URL_VARIABLE}_FILE")
    if file is None:
        return os.environ.get(URL_VARIABLE) or settled
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise ParameterError(f"the file that {URL_VARIABLE}_FILE names cannot be read; correct its path") from None


class PostgresStore(AnswerStore):
    """Tokens and answers in tables of their own, in a schema that only this collection's key leads to."""

    _lock_row: ClassVar[str] = " FOR UPDATE"
    _alone: ClassVar[tuple[str, ...]] = ("LOCK TABLE waiting IN ACCESS EXCLUSIVE MODE",)
    # A new file: deleted rows would stay in the old one for a while, with the transaction that marked their token.
    _empty_waiting: ClassVar[str] = "TRUNCATE waiting"

    def __init__(self, url: str, key: bytes, *, new: bool = False) -> None:
        self._url, self._schema = url, f"privet_{hashlib.sha256(b'privet schema' + key).hexdigest()[:32]}"
        self._lock = threading.Lock()
        self._psycopg = _driver()
        try:
            self._connection = self._connect()
            if new:
                with self._closed_on_error(), self._connection.transaction():
                    self._connection.execute(_TABLES.format(self._schema))
        except self._psycopg.errors.DuplicateSchema:
            raise ParameterError(_TWICE) from None
        except self._psycopg.Error:
            # The driver's own words may quote the URL.
            raise DataError(_UNREACHABLE) from None
        try:
            with self._closed_on_error():
                self.n_released()
        except StoreUnavailable:
            raise DataError(_EMPTY) from None

    def copy_to(self, path: Path) -> None:
        """Write the store as it is now to a new SQLite file, while reports go on coming."""
        try:
            # A connection of its own, so that reports go on; the snapshot begins after the lock, and no release can
            # empty a table that is still to be read.
            with self._connect() as connection, connection.transaction(), closing(SQLiteStore(path, new=True)) as copy:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                connection.execute("LOCK TABLE waiting IN ACCESS SHARE MODE")
                for table in TABLES:
                    with connection.cursor(table) as cursor:
                        cursor.execute(f"SELECT * FROM {table}")  # noqa: S608 - one of three constants
                        while rows := cursor.fetchmany(_IN_STEPS_OF):
                            copy.add_rows(table, rows)
        except self._psycopg.Error:
            raise StoreUnavailable from None

    def fill_from(self, path: Path) -> None:
        """Take in what `copy_to` wrote, into a new store."""
        try:
            with closing(sqlite3.connect(path)) as copy, self._transaction() as do:
                for table in TABLES:
                    rows = copy.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - one of three constants
                    if rows:
                        values = ", ".join("?" * len(rows[0]))
                        do.run_many(f"INSERT INTO {table} VALUES ({values})", rows)  # noqa: S608 - no values in it
        except sqlite3.Error:
            raise DataError("the answers of the backup are damaged; take another one") from None

    def close(self) -> None:
        """Close the store."""
        with self._lock, suppress(self._psycopg.Error):
            self._connection.close()

    @contextmanager
    def _transaction(self, *, writes: bool = True) -> Iterator[Statements]:  # noqa: ARG002 - SQLite asks
        with self._lock:
            try:
                if self._connection.closed:
                    self._connection = self._connect()
                with self._connection.transaction(), self._connection.cursor() as cursor:
                    yield Statements(cursor, "%s")
            except self._psycopg.Error:
                raise StoreUnavailable from None

    @contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        try:
            yield
        except Exception:
            self.close()
            raise

    def _connect(self) -> "psycopg.Connection[Any]":
        # Prepared statements would outlive a TRUNCATE badly behind poolers; none of ours is dear to plan.
        connection: psycopg.Connection[Any] = self._psycopg.connect(
            self._url, autocommit=True, connect_timeout=_CONNECT_SECONDS, prepare_threshold=None
        )
        for name, (wanted, why) in _SETTINGS.items():
            ((found,),) = connection.execute(f"SHOW {name}").fetchall()
            if found != wanted:
                connection.close()
                raise DataError(f"this PostgreSQL does not suit: {why}")
        # A report is confirmed when it is on the disk, whatever the database's own setting is.
        connection.execute("SET synchronous_commit = on")
        connection.execute(f"SET statement_timeout = {_STATEMENT_MILLISECONDS}")
        connection.execute(f"SET search_path = {self._schema}")
        return connection


def _driver() -> Any:
    return of_extra("psycopg", "postgres", "a store in PostgreSQL")
