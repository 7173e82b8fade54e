"""A collection in one file, and back again."""

import tarfile
import tempfile
from pathlib import Path

from privet.errors import DataError, ParameterError
from privet.files.whole_file import whole_bytes
from privet.service.collect.folder import CHANNEL, KEY, SETTINGS, STORE, CollectFolder

_FILES = {SETTINGS, CHANNEL, KEY, STORE, "model.privet", "published.js", "published.json"}


def back_up(folder: CollectFolder, destination: Path) -> None:
    """Write everything to one archive that its owner alone can read; the server may go on meanwhile."""
    store = folder.open_store()
    with tempfile.TemporaryDirectory() as scratch, whole_bytes(destination, private=True) as file:
        copied = Path(scratch) / STORE
        store.copy_to(copied)
        store.close()
        with tarfile.open(fileobj=file, mode="w") as archive:
            archive.add(copied, STORE)
            for name in sorted(_FILES - {STORE}):
                if (folder.path / name).exists():
                    archive.add(folder.path / name, name)


def restore(archive: Path, path: Path) -> CollectFolder:
    """Make a folder from an archive."""
    if path.exists():
        raise ParameterError(f"{str(path)!r} exists; choose another folder")
    try:
        with tarfile.open(archive) as opened:
            members = opened.getmembers()
            if any(member.name not in _FILES or not member.isfile() for member in members):
                raise DataError(f"{str(archive)!r} is no backup of a collection; pass the file that was written")
            path.mkdir(mode=0o700)
            opened.extractall(path, members, filter="data")
    except (OSError, tarfile.TarError):
        raise DataError(f"{str(archive)!r} cannot be read, or its folder not made; check both paths") from None
    for name in (KEY, SETTINGS, STORE):
        (path / name).chmod(0o600)
    return CollectFolder(path)
