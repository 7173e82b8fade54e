"""Files that are written whole or not at all."""

import gzip
import io
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from privet.errors import ParameterError

# Measured on a model of 8 million counts: level 9 saves 7 % of the bytes and takes 24 s longer.
_GZIP_LEVEL = 4


@contextmanager
def whole_file(path: str | Path, *, private: bool = False) -> Iterator[TextIO]:
    """Yield a text file that takes the name ``path`` when all is written, and else leaves nothing behind.

    It is gzipped where the name ends in ``.gz``. A link is followed, and a file that is replaced keeps its permissions.
    A ``private`` file can be read by its owner alone, at any moment.
    """
    with whole_bytes(path, private=private) as binary, io.TextIOWrapper(binary, encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def whole_bytes(path: str | Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Yield a binary file, written whole or not at all as `whole_file` does it."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        # Renaming over a device or a pipe would do away with it.
        raise ParameterError(f"cannot write to {str(path)!r}: it is no regular file; choose another path")
    # A name that nobody can foresee, created anew: no other writer and no planted link shares it.
    unfinished = target.with_name(f".{secrets.token_hex(8)}.unfinished")
    try:
        with _created(unfinished, private=private) as raw, _packed(raw, zipped=target.suffix == ".gz") as packed:
            yield packed
        if target.exists() and not private:
            shutil.copymode(target, unfinished)
        unfinished.replace(target)
    except OSError as error:
        raise ParameterError(f"cannot write to {str(path)!r}: {error.strerror}; choose another path") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _created(path: Path, *, private: bool) -> BinaryIO:
    mode = 0o600 if private else 0o666  # less what the process's mask forbids
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb")


def _packed(raw: BinaryIO, *, zipped: bool) -> Any:
    # Without a name and a time in it, so that the same content gives the same bytes.
    return gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) if zipped else nullcontext(raw)
