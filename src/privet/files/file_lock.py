"""Locks on files and folders, which the system releases when their holder ends, however it ends.

`filelock.lock_descriptor` locks what is open: on POSIX the file or folder itself that is meant. Windows opens no
folders, and lets nobody else read a file that is locked, so there a small file stands for it: beside a file, or in the
folder. Such files stay, since whoever removed one could let two others in.
"""

import errno
import math
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ON_POSIX = os.name == "posix"
_PAUSE_SECONDS = 0.02
# The one file in a folder that `whole_file.write_new` works in.
CONTENT = "content"
# On Windows an unfinished file is closed for a moment before it gets its name.
_ABANDONED_SECONDS = 3600


@contextmanager
def file_lock(path: str | Path, *, seconds: float = math.inf) -> Iterator[bool]:
    """Hold the lock of a file or folder, after waiting ``seconds`` for it at most, and yield whether it was free.

    It keeps out only those who ask for it too. What cannot be opened, or is on a disk without locks, keeps nobody out.
    """
    descriptor = None
    with suppress(OSError):
        descriptor = _opened(Path(path))
    if descriptor is None:
        yield True
        return
    try:
        yield _lock_within(descriptor, seconds)
    finally:
        from filelock import unlock_descriptor

        with suppress(OSError):  # a disk that has no locks
            # At once: a forked process may have a copy of the descriptor, which closing leaves locked.
            unlock_descriptor(descriptor)
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Lock an open file or folder until all copies of it are closed; return False where others have the lock."""
    from filelock import lock_descriptor  # some 30 ms, which a command that locks nothing need not wait for

    try:
        return lock_descriptor(descriptor, blocking=False)
    except OSError:  # a disk that has no locks
        return True


def remove_abandoned(path: Path) -> None:
    """Remove an unfinished file or folder, or raise OSError if it has a writer; without locks nobody can tell."""
    if not ON_POSIX:
        # What is open cannot be removed there.
        if time.time() - path.lstat().st_mtime > _ABANDONED_SECONDS:
            path.unlink()
        return
    if path.is_file() and path.lstat().st_nlink > 1:
        # Whole under another name, perhaps the ledger's: closing it would release SQLite's locks in this process.
        path.unlink()
        return
    from filelock import lock_descriptor

    # Anybody may have put anything under such a name: a link is not followed, and a pipe not waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        kind = os.fstat(descriptor).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            return
        if not lock_descriptor(descriptor, blocking=False):
            raise BlockingIOError(errno.EAGAIN, "it is being written")
        # Under the lock: a writer that has just made it checks that it still exists once it has the lock.
        if stat.S_ISREG(kind):
            path.unlink()
        else:
            # Its content may have its name by now, and is not opened either.
            (path / CONTENT).unlink(missing_ok=True)
            path.rmdir()
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """Open what is locked for a file or folder."""
    if ON_POSIX:
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    path.stat()  # nothing stands for what is not there
    own = path / ".privet.lock" if path.is_dir() else path.with_name(f".{path.name}.lock")
    return os.open(own, os.O_RDWR | os.O_CREAT, 0o600)


def _lock_within(descriptor: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not try_lock(descriptor):
        if time.monotonic() >= until:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True
