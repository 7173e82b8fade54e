"""Secret files: read by their owner alone, safely on the disk, never written over; and the folders that keep them."""

import os
import stat
from pathlib import Path

from privet.entropy import unforeseeable_name
from privet.errors import ParameterError, PartyError
from privet.files.whole_file import write_new


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
    # By its name, the next writer removes it where this one could not.
    trial = folder / f".{unforeseeable_name()}.unfinished"
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
