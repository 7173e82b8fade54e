"""Secret files: read by their owner alone, safely on the disk, never written over; and the folders that keep them."""

import os
import secrets
import stat
from pathlib import Path

from privet.errors import ParameterError, PartyError

_OWNER_ONLY = 0o600


def write_new(path: Path, data: bytes) -> None:
    """Write a new file that its owner alone can read; raise FileExistsError where the name is taken."""
    unfinished = path.with_name(f".{secrets.token_hex(8)}.unfinished")
    try:
        # Made with these permissions: at no moment can others read it.
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # Unlike renaming, linking fails where the name is taken, by another process at this moment too.
        os.link(unfinished, path)
        _keep_name(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def write_secret(path: str | Path, data: bytes, *, what: str) -> None:
    """Write a new file as `write_new` does; ``what`` names it in errors."""
    try:
        write_new(Path(path), data)
    except FileExistsError:
        raise PartyError(f"the {what} {str(path)!r} exists and is not replaced; choose another name") from None
    except OSError as error:
        raise PartyError(f"cannot write the {what} {str(path)!r}: {error.strerror}; choose another path") from error


def make_store(folder: Path, *, what: str) -> None:
    """Make a folder for ``what`` where there is none, and try it: noise that cannot be kept is spent for nothing."""
    trial = folder / f".{secrets.token_hex(8)}.trial"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            write_new(trial, b"")
        finally:
            trial.unlink(missing_ok=True)
    except OSError as error:
        raise ParameterError(
            f"cannot keep {what} in {str(folder)!r}: {error.strerror}; choose another store"
        ) from error


def check_owner_only(path: str | Path, what: str) -> None:
    """Refuse a secret file that others on this machine can read."""
    if os.name == "posix" and Path(path).stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise PartyError(f"{what} can be read by others on this machine; run `chmod 600` on it, or make a new one")


def _keep_name(folder: Path) -> None:
    """Put a folder's new name on the disk, where a system lets one ask for it."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
