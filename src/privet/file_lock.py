"""Locks on files and folders, of which the system lets go when their holder ends, however it ends."""

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# On a system without such locks, whoever writes is taken to be alone.
fcntl: Any = importlib.import_module("fcntl") if os.name == "posix" else None


@contextmanager
def held(path: str | Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a file or folder that is there, and yield whether it is held.

    It keeps out those alone who ask for it too. Where the disk knows no locks, nobody is kept out.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield locked(descriptor, wait=wait)
    finally:
        os.close(descriptor)


def locked(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file until it is closed, by the last who has it open; return whether that was possible."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def remove_abandoned(path: Path) -> None:
    """Remove a file that its writer locks if it has no writer any more; where there are no locks, nobody can tell."""
    if fcntl is None:
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Under the lock: a writer that has just made the file looks whether it is there still when it has the lock.
        path.unlink()
    finally:
        os.close(descriptor)
