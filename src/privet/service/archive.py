"""Backups of both servers: one file that its owner alone can read, and a new folder from it."""

import tarfile
from collections.abc import Collection, Mapping
from pathlib import Path
from re import Pattern
from shutil import rmtree

from privet.errors import DataError, ParameterError
from privet.files.whole_file import whole_bytes

_OWNER_ONLY = 0o600


def pack(destination: Path, parts: Mapping[str, Path]) -> None:
    """Write the files that exist to one archive, each under its name."""
    with whole_bytes(destination, private=True) as file, tarfile.open(fileobj=file, mode="w") as archive:
        for name, path in parts.items():
            if path.exists():
                archive.add(path, name)


def unpack(archive: Path, folder: Path, *, of: str, needed: Collection[str], known: Pattern[str]) -> None:
    """Make a new folder from an archive that has all the files that are needed and none that is unknown."""
    if folder.exists():
        raise ParameterError(f"{str(folder)!r} exists; choose another folder")
    is_made = False
    try:
        with tarfile.open(archive) as opened:
            members = opened.getmembers()
            names = [member.name for member in members]
            are_known = all(member.isfile() and known.fullmatch(member.name) for member in members)
            if not (set(needed) <= set(names) and are_known and len(set(names)) == len(names)):
                raise DataError(f"{str(archive)!r} is no backup of {of}; pass the file that was written")
            folder.mkdir(mode=0o700)
            is_made = True
            opened.extractall(folder, members, filter="data")
        for name in names:
            (folder / name).chmod(_OWNER_ONLY)
    except (OSError, tarfile.TarError):
        if is_made:
            rmtree(folder, ignore_errors=True)
        raise DataError(f"{str(archive)!r} cannot be read, or its folder not made; check both paths") from None
