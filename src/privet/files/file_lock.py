"""Locks on files and folders, which the system releases when their holder ends, however it ends.

The `filelock` package is not used: it locks a file of its own beside the one that is meant, so it cannot tell an
unfinished file that a dead process left from one that is being written. Off POSIX there are no locks here.
"""

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
    """Hold the lock of a file or folder, after waiting ``seconds`` for it at most, and yield whether it was free.

    It keeps out only those who ask for it too. What cannot be opened, or is on a disk without locks, keeps nobody out.
    """
    descriptor = None
    if fcntl is not None:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if descriptor is None:
        yield True
        return
    try:
        yield _lock_within(descriptor, seconds)
    finally:
        with suppress(OSError):  # a disk that has no locks
            # At once: a forked process may have a copy of the descriptor, which closing leaves locked.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Lock an open file or folder until all copies of it are closed; return False where others have the lock."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk that has no locks
        return True
    return True


def remove_abandoned(path: Path) -> None:
    """Remove an unfinished file or folder that has no writer any more; without locks nobody can tell."""
    if fcntl is None:
        return
    if path.is_file() and path.lstat().st_nlink > 1:
        # Whole under another name, perhaps the ledger's: closing it would release SQLite's locks in this process.
        path.unlink()
        return
    # Anybody may have put anything under such a name: a link is not followed, and a pipe not waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        kind = os.fstat(descriptor).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Under the lock: a writer that has just made it checks that it still exists once it has the lock.
        if stat.S_ISREG(kind):
            path.unlink()
        else:
            # Its content may have its name by now, and is not opened either.
            (path / CONTENT).unlink(missing_ok=True)
            path.rmdir()
    finally:
        os.close(descriptor)


def _lock_within(descriptor: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not try_lock(descriptor):
        if time.monotonic() >= until:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True
