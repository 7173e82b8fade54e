"""Locks on files and folders, of which the system lets go when their holder ends, however it ends."""

import importlib
import math
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

# On a system without such locks, whoever writes is taken to be alone.
fcntl: Any = importlib.import_module("fcntl") if os.name == "posix" else None
_PAUSE_SECONDS = 0.02
# The one file in a folder that `whole_file.write_new` works in.
CONTENT = "content"


@contextmanager
def file_lock(path: str | Path, *, seconds: float = math.inf) -> Iterator[bool]:
    """Hold the lock of a file or folder, waiting so long for it, and yield whether nobody else has it.

    It keeps out those alone who ask for it too. What cannot be opened, or is on a disk without locks, keeps nobody out.
    """
    descriptor = _opened(path)
    if descriptor is None:
        yield True
        return
    try:
        yield lock_within(descriptor, seconds)
    finally:
        unlock(descriptor)
        os.close(descriptor)


def takes_locks(descriptor: int) -> bool:
    """Return whether an open file is on a system and a disk that have such locks; it may be locked then."""
    return _locked(descriptor) is not None


def try_lock(descriptor: int) -> bool:
    """Lock an open file or folder until it is unlocked or all copies are closed; return False where others have it."""
    return _locked(descriptor) is not False


def unlock(descriptor: int) -> None:
    """Let go of a lock at once: a forked process may have a copy of the descriptor, which closing leaves locked."""
    if fcntl is not None:
        with suppress(OSError):  # of a disk that has no locks
            fcntl.flock(descriptor, fcntl.LOCK_UN)


def is_abandoned(path: Path) -> bool:
    """Return whether this is a plain file, under one name, that nobody holds; False where nobody can tell."""
    if fcntl is None:
        return False
    try:
        if path.lstat().st_nlink > 1:  # perhaps the ledger's second name, as below
            return False
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        # Shared: two who look at the same moment must not take each other for its holder.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        return False
    finally:
        os.close(descriptor)


def remove_abandoned(path: Path) -> None:
    """Remove an unfinished file or folder that has no writer any more; where there are no locks, nobody can tell."""
    if fcntl is None:
        return
    if path.is_file() and path.lstat().st_nlink > 1:
        # Whole under another name, perhaps the ledger's: closing it would let go of SQLite's locks in this process.
        path.unlink()
        return
    # Anybody may have put anything under such a name: a link is not followed, and a pipe not waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        kind = os.fstat(descriptor).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Under the lock: a writer that has just made it looks whether it is there still when it has the lock.
        if stat.S_ISREG(kind):
            path.unlink()
        else:
            # Its content may have its name by now, and is not opened either.
            (path / CONTENT).unlink(missing_ok=True)
            path.rmdir()
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool | None:
    """Lock and return True, or False where others have it, or None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _opened(path: str | Path) -> int | None:
    if fcntl is None:
        return None
    try:
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None


def lock_within(descriptor: int, seconds: float) -> bool:
    """Lock as `try_lock` does, waiting so long for it."""
    until = time.monotonic() + seconds
    while not try_lock(descriptor):
        if time.monotonic() >= until:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True
