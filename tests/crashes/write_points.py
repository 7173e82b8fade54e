"""Every point at which a command writes, numbered as it comes, and a fault planted at one of them.

A forked child installs this before it runs a command. What Python writes goes through `os`, file objects and SQLite's
statements; each of these is passed through `Points`. An audit hook of the interpreter sees openings, renamings and
removals too, whoever asks for them, so a way to write that was forgotten here shows as `missed`. What SQLite does
inside of a statement is struck in `test_full_disk`.
"""

import builtins
import errno
import io
import os
import re
import signal
import sqlite3
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

KILLS = ("killed before", "killed in the midst of", "killed after")
ERRORS = {"full disk": errno.ENOSPC, "read-only": errno.EROFS, "forbidden": errno.EACCES}
KINDS = (*KILLS, *ERRORS)
_SQLITE = {errno.ENOSPC: "SQLITE_FULL", errno.EROFS: "SQLITE_READONLY", errno.EACCES: "SQLITE_CANTOPEN"}
# Flags of an opening that may change a file.
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_STATEMENTS = ("BEGIN", "INSERT", "COMMIT", "ROLLBACK", "CREATE", "PRAGMA APPLICATION_ID=", "PRAGMA USER_VERSION=")
_AUDITED = {"os.rename": "rename", "os.remove": "unlink", "os.link": "link", "os.mkdir": "mkdir", "os.chmod": "chmod"}
_CALLS = {
    "replace": "rename", "rename": "rename", "link": "link", "unlink": "unlink", "remove": "unlink",
    "mkdir": "mkdir", "rmdir": "rmdir", "chmod": "chmod", "fchmod": "chmod", "fsync": "fsync", "truncate": "truncate",
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """What happens at the point of this number, counted from 1."""

    at: int
    how: str


@dataclass
class Points:
    """The points passed so far."""

    fault: Fault | None = None
    seen: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    _is_off: bool = False
    _inside: list[str] = field(default_factory=list)

    @contextmanager
    def off(self):
        """Let others write: what they do is none of the command's points."""
        self._is_off, before = True, self._is_off
        try:
            yield
        finally:
            self._is_off = before

    def passed(self, kind, name, perform, half=None, error=OSError):
        """Do what ``perform`` does, unless the fault is here; ``half`` does a part of it, where there is a half."""
        if self._is_off:
            return perform()
        self.seen.append(f"{kind} {_plain(name)}".strip())
        how = self.fault.how if self.fault and self.fault.at == len(self.seen) else None
        if how == KILLS[0]:
            _die()
        if how in ERRORS or how == KILLS[1]:
            if half is not None:
                half()
            if how == KILLS[1]:
                _die()
            raise error(ERRORS[how], os.strerror(ERRORS[how]))
        self._inside.append(kind)
        try:
            result = perform()
        finally:
            self._inside.pop()
        if how == KILLS[2]:
            _die()
        return result

    def install(self, stdout_descriptor=None):
        """Pass all writing of this process through here; there is no way back."""
        for name, kind in _CALLS.items():
            setattr(os, name, self._wrapped(kind, getattr(os, name)))
        self._install_openings()
        self._install_sqlite()
        if stdout_descriptor is not None:
            raw = _Raw(stdout_descriptor, "wb", points=self, name="stdout")
            sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8")
        sys.addaudithook(self._audit)

    def _wrapped(self, kind, really):
        def call(path, *rest, **options):
            return self.passed(kind, path, lambda: really(path, *rest, **options))

        return call

    def _install_openings(self):
        really_open, really_io = os.open, io.open

        def os_open(path, flags, *rest, **options):
            perform = lambda: really_open(path, flags, *rest, **options)  # noqa: E731
            return self.passed("open", path, perform) if flags & WRITING else perform()

        def io_open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, **options):
            if not set(mode) & set("wxa+") or self._is_off:
                return really_io(file, mode, buffering, encoding, errors, newline, **options)
            if isinstance(file, int):
                raw = _Raw(file, mode.replace("b", ""), points=self, name="")
            else:
                raw = self.passed("open", file, lambda: _Raw(file, mode.replace("b", ""), points=self, name=file))
            binary = io.BufferedWriter(raw)
            return binary if "b" in mode else io.TextIOWrapper(binary, encoding, errors, newline)

        def fdopen(descriptor, mode="r", *rest, **options):
            return io_open(descriptor, mode, *rest, **options)

        os.open, os.fdopen = os_open, fdopen
        builtins.open = io.open = io_open

    def _install_sqlite(self):
        really, points = sqlite3.connect, self

        class Connection(sqlite3.Connection):
            def execute(self, statement, *values):
                perform = lambda: super(Connection, self).execute(statement, *values)  # noqa: E731
                if not statement.upper().startswith(_STATEMENTS):
                    return perform()
                return points.passed("sqlite", statement.split()[0], perform, error=_sqlite_error)

        def connect(place, **options):
            factory = {} if place == ":memory:" else {"factory": Connection}
            return really(place, **factory, **options)

        sqlite3.connect = connect

    def _audit(self, event, given):
        kind = _AUDITED.get(event)
        # A descriptor was opened before, and that was seen.
        if event == "open" and not isinstance(given[0], int) and given[2] & WRITING:
            kind = "open"
        if kind is not None and not self._is_off and kind not in self._inside:
            self.missed.append(f"{kind} {_plain(given[0])}")


class _Raw(io.FileIO):
    """A file whose every write is a point."""

    def __init__(self, file, mode, *, points, name):
        super().__init__(file, mode)
        self._points, self._told = points, name

    def write(self, data):
        data = bytes(data)
        really = super().write
        return self._points.passed(
            "write", self._told, lambda: really(data), half=lambda: really(data[: len(data) // 2])
        )


def _sqlite_error(code: int, words: str) -> Exception:
    error: Any = sqlite3.OperationalError(words)
    error.sqlite_errorname = _SQLITE[code]
    return error


def _plain(name: object) -> str:
    """Return a name without what is random in it, or where the folder is."""
    text = os.path.basename(os.fsdecode(name)) if isinstance(name, (str, bytes, os.PathLike)) else ""  # noqa: PTH119
    return re.sub(r"[0-9a-f]{16,}", "*", text)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()
