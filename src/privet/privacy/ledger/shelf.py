"""Where a model lies from before its price is settled until it is saved: beside the ledger. Argued in ledger.md.

A process that dies in between has paid; the next command finds here what it has paid for.
"""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from privet.files.file_lock import is_abandoned, lock_within, remove_abandoned, takes_locks, unlock
from privet.files.whole_file import keep_name

_OWNER_ONLY = 0o600
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_PENDING, _READY = ".pending", ".privet"
_HASH_DIGITS = 16
# Who looks whether a file is left behind holds its lock for a moment.
_TRIES, _PATIENCE_SECONDS = 5, 1.0


@dataclass(frozen=True)
class LeftBehind:
    """A model whose process ended before it was saved, and how the hash of its reservation's entry begins."""

    path: Path
    reservation: str

    @property
    def is_pending(self) -> bool:
        """Whether nobody was told of it yet."""
        return self.path.suffix == _PENDING

    def hand_out(self) -> Path:
        """Give the file the ending of a model, and return where it is."""
        return handed_out(self.path)

    def remove(self) -> None:
        """Remove it, unless somebody has taken it up meanwhile."""
        with suppress(OSError):
            remove_abandoned(self.path)


class Shelf:
    """Files beside a ledger, for their owner alone, each called by the entry of its reservation.

    Whoever writes one holds its lock until it is gone: that tells what a dead process left from what a living one is
    saving. Where there are no locks, or the disk takes no file, nothing is kept.
    """

    def __init__(self, ledger: Path) -> None:
        # Of the ledger itself: a link to it has the same shelf.
        self._ledger = ledger.resolve()
        self._path: Path | None = None
        self._descriptor = -1
        self.reservation = ""

    def begin(self, reservation: str) -> None:
        """Take note of the hash of the entry that the next model is paid for by."""
        self.leave()
        self.reservation = reservation
        self._path = self._ledger.with_name(f"{self._ledger.name}.{reservation[:_HASH_DIGITS]}{_PENDING}")

    def put(self, text: str) -> None:
        """Write a model down, on the disk and held, if that can be."""
        if self._path is None:
            return
        try:
            self._descriptor = _locked_new(self._path)
            with os.fdopen(os.dup(self._descriptor), "w", encoding="utf-8") as file:
                file.write(text)
            os.fsync(self._descriptor)
            keep_name(self._path.parent)
        except OSError:
            self.take_away()

    @property
    def holds_a_model(self) -> bool:
        """Whether this process has put one here and not let go of it."""
        return self._descriptor >= 0

    def take_away(self) -> None:
        """Remove the model that this process put here."""
        if self._path is not None and self.holds_a_model:
            with suppress(OSError):
                self._path.unlink()
        self.leave()

    def leave(self) -> Path | None:
        """Let the model lie for the next command to find, and return where it is, if it is anywhere."""
        if self._path is None or not self.holds_a_model:
            return None
        with suppress(OSError):
            unlock(self._descriptor)  # at once, though a forked process may have a copy
            os.close(self._descriptor)
        self._descriptor = -1
        return self._path if self._path.exists() else None

    def left_behind(self) -> list[LeftBehind]:
        """Return what nobody holds any more; nothing where locks cannot tell."""
        name = re.compile(rf"{re.escape(self._ledger.name)}\.([0-9a-f]{{{_HASH_DIGITS}}})\.(pending|privet)")
        found = []
        with suppress(OSError):
            for own in sorted(os.listdir(self._ledger.parent)):  # noqa: PTH208 - quick in large folders
                match, path = name.fullmatch(own), self._ledger.with_name(own)
                if match and is_abandoned(path):
                    found.append(LeftBehind(path, match[1]))
        return found


def handed_out(path: Path) -> Path:
    """Give a file on a shelf the ending of a model, and return where it is."""
    with suppress(OSError):
        return path.rename(path.with_suffix(_READY))
    return path


def _locked_new(path: Path) -> int:
    """Make a file and lock it; anew where somebody took it for abandoned before it was locked."""
    for _ in range(_TRIES):
        descriptor = os.open(path, _NEW, _OWNER_ONLY)
        has_locks = takes_locks(descriptor)
        if has_locks and lock_within(descriptor, _PATIENCE_SECONDS) and os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)
        path.unlink(missing_ok=True)
        if not has_locks:
            break
    raise BlockingIOError
