"""Files that are written whole or not at all.

A file is written under a name that nobody knows, put on the disk, and takes its own name at once. A process that is
killed in between leaves the unknown name behind; the next one that writes to the folder removes it. It can tell, since
a writer holds a lock on what it writes, and the system lets go of the lock when the writer ends.
"""

import gzip
import io
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from privet.entropy import unforeseeable_name
from privet.errors import ParameterError
from privet.file_lock import locked, remove_abandoned

# Measured on a model of 8 million counts: level 9 saves 7 % of the bytes and takes 24 s longer.
_GZIP_LEVEL = 4
_UNFINISHED = re.compile(r"\.[0-9a-f]{16}\.unfinished")
_OWNER_ONLY, _AS_THE_MASK_SAYS = 0o600, 0o666


@contextmanager
def whole_file(path: str | Path, *, private: bool = False) -> Iterator[TextIO]:
    """Yield a text file that takes the name ``path`` when all is written, and else leaves nothing behind.

    It is gzipped where the name ends in ``.gz``. A link is followed, and a file that is replaced keeps its permissions.
    A ``private`` file can be read by its owner alone, at any moment.
    """
    with whole_bytes(path, private=private) as binary, io.TextIOWrapper(binary, encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def whole_bytes(path: str | Path, *, private: bool = False, follow: bool = True) -> Iterator[BinaryIO]:
    """Yield a binary file, written whole or not at all as `whole_file` does it.

    Without ``follow`` a link at ``path`` is replaced by the file.
    """
    target = Path(path).resolve() if follow else Path(path)
    if target.exists() and not target.is_file():
        # Renaming over a device or a pipe would do away with it.
        raise ParameterError(f"cannot write to {str(path)!r}: it is no regular file; choose another path")
    try:
        with _unfinished(target.parent, _OWNER_ONLY if private else _AS_THE_MASK_SAYS) as (unfinished, descriptor):
            with (
                os.fdopen(os.dup(descriptor), "wb") as raw,
                _packed(raw, zipped=target.suffix == ".gz") as packed,
            ):
                yield packed
            if follow and target.exists() and not private:
                shutil.copymode(target, unfinished)
            os.fsync(descriptor)
            unfinished.replace(target)
            # It has its name by now; that this outlasts a power cut as well is more than all systems offer.
            with suppress(OSError):
                keep_name(target.parent)
    except OSError as error:
        raise ParameterError(f"cannot write to {str(path)!r}: {error.strerror}; choose another path") from error


def write_new(path: Path, data: bytes, *, private: bool = True) -> None:
    """Write a new file, which its owner alone can read if it is private; raise FileExistsError if the name is taken."""
    with _unfinished(path.parent, _OWNER_ONLY if private else _AS_THE_MASK_SAYS) as (unfinished, descriptor):
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(data)
        os.fsync(descriptor)
        # Unlike renaming, linking fails where the name is taken, by another process at this moment too.
        os.link(unfinished, path)
        keep_name(path.parent)


def keep_name(folder: Path) -> None:
    """Put a folder's new name on the disk, where a system lets one ask for it."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _unfinished(folder: Path, mode: int) -> Iterator[tuple[Path, int]]:
    """Yield a new locked file under a name that nobody can foresee; what is still called so in the end is removed."""
    remove_unfinished(folder)
    path, descriptor = _created(folder, mode)
    try:
        yield path, descriptor
    finally:
        # A disk that refuses has been told of, or is not worth an error: the next writer tries again.
        with suppress(OSError):
            path.unlink()
        os.close(descriptor)


def _created(folder: Path, mode: int) -> tuple[Path, int]:
    while True:
        # Created anew: no other writer and no planted link shares it. With the permissions it is to have, less what
        # the process's mask forbids: at no moment can others read what is private.
        path = folder / f".{unforeseeable_name()}.unfinished"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        locked(descriptor, wait=True)
        if os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)  # somebody took it for abandoned before it was locked


def remove_unfinished(folder: Path) -> None:
    """Remove what killed writers have left in ``folder``; it may hold rows, and is of no use to anyone."""
    names: list[str] = []
    with suppress(OSError):  # the folder's trouble shows when a file is made in it
        names = [name for name in os.listdir(folder) if _UNFINISHED.fullmatch(name)]  # noqa: PTH208 - quick in large ones
    for name in names:
        with suppress(OSError):  # it is somebody else's, or written at this moment
            remove_abandoned(folder / name)


def _packed(raw: BinaryIO, *, zipped: bool) -> Any:
    # Without a name and a time in it, so that the same content gives the same bytes.
    return gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) if zipped else nullcontext(raw)
