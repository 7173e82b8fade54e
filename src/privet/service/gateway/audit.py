"""Who asked for what, when, and what became of it: lines that are only appended, each with the hash of the one before.

What was paid for stands in the ledger; this log also has what was refused, and what cost nothing. No row enters it.
"""

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_OWNER_ONLY = 0o600
_TAIL_BYTES = 2**16


class AuditLog:
    """An append-only file of JSON lines; a line is on the disk before what it is about is answered."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()

    def append(self, *, who: str, what: str, outcome: str, **noted: str | float) -> None:
        """Write a line, or raise OSError."""
        time = datetime.now(UTC).isoformat(timespec="seconds")
        entry = {"time": time, "who": who, "what": what, "outcome": outcome, **noted}
        with self._lock:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
            with os.fdopen(descriptor, "r+b", buffering=0) as file:
                last = _last_line(file)
                # A line that a crash has cut short is ended, and stands in the chain as it is.
                begin = b"" if not last or last.endswith(b"\n") else b"\n"
                line = json.dumps({**entry, "previous": _hash(last)}) + "\n"
                file.write(begin + line.encode())
                os.fsync(file.fileno())

    def last(self, most: int) -> list[dict[str, Any]]:
        """Return the newest lines, the newest first."""
        found = []
        for line in reversed(self._tail().splitlines()):
            try:
                found.append(json.loads(line))
            except ValueError:  # cut short by a crash, or by the beginning of the tail
                continue
        return found[:most]

    def first_broken(self) -> int | None:
        """Return the number of the first line that does not follow from the one before, if one does not."""
        previous = b""
        for number, line in enumerate(self._lines(), start=1):
            try:
                entry = json.loads(line)
            except ValueError:  # a crash has cut it short; the next line has its hash
                previous = line
                continue
            if entry.get("previous") != _hash(previous):
                return number
            previous = line
        return None

    def _lines(self) -> Iterator[bytes]:
        if self._path.exists():
            with self._path.open("rb") as file:
                yield from file

    def _tail(self) -> bytes:
        if not self._path.exists():
            return b""
        with self._path.open("rb") as file:
            file.seek(max(0, self._path.stat().st_size - _TAIL_BYTES))
            return file.read()


def _last_line(file: Any) -> bytes:
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - _TAIL_BYTES))
    tail: bytes = file.read()
    return tail.splitlines(keepends=True)[-1] if tail else b""


def _hash(line: bytes) -> str:
    return hashlib.sha256(line.rstrip(b"\n")).hexdigest() if line else ""
