"""A PostgreSQL server that lives as long as the tests, on a socket in a folder of its own."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psycopg

_MISSING = "these tests need PostgreSQL's server programs; install them with `make postgres-tools`"
_START_SECONDS = 60


class PostgresServer:
    """A server; as root it runs as another user, as PostgreSQL wants it."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="privet-postgres-"))
        owner = _owner()
        self._as = {} if owner is None else {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        if owner is not None:
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        made = [_program("initdb"), "-D", self._data, "-U", "privet", "-A", "trust", "-E", "UTF8", "--locale=C"]
        subprocess.run([*made, "--no-sync", "--wal-segsize=1"], check=True, capture_output=True, **self._how)
        self.start()
        self.answers = self.new_database("answers")

    def start(self, largest_file=None):
        """Start, and wait until it answers; files cannot grow beyond so many bytes."""
        limit = [] if largest_file is None else ["sh", "-c", f'ulimit -S -f {largest_file // 512}; exec "$0" "$@"']
        words = [*limit, _program("postgres"), "-D", self._data, "-k", str(self.folder), "-c", "listen_addresses="]
        words += ["-c", "shared_buffers=16MB", "-c", "max_connections=30"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(words, stdout=log, stderr=log, **self._how)
        end = time.monotonic() + _START_SECONDS
        while True:
            with suppress(psycopg.OperationalError):
                return psycopg.connect(self.url("postgres")).close()
            assert time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.05)

    def crash(self):
        """End it without a checkpoint, in the middle of whatever it does."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()

    def remove(self):
        self.crash()
        shutil.rmtree(self.folder)

    def url(self, database):
        return f"postgresql://privet@/{database}?host={self.folder}"

    def new_database(self, name):
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    @property
    def _data(self):
        return str(self.folder / "data")

    @property
    def _how(self):
        return {"cwd": self.folder, **self._as}


def _owner():
    if os.getuid() != 0:
        return None
    names = {own.pw_name: own for own in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _program(name):
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which(name) or next((str(own / name) for own in folders if (own / name).exists()), None)
    assert found, _MISSING
    return found
