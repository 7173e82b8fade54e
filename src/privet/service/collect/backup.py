"""A collection in one file, and back again."""

import tarfile
import tempfile
from contextlib import closing
from pathlib import Path
from shutil import rmtree

from privet.errors import DataError, ParameterError, PrivetError
from privet.files.whole_file import whole_bytes
from privet.service.collect.folder import CHANNEL, KEY, MODEL, SETTINGS, STORE, TRAINED, CollectFolder
from privet.service.collect.postgres_store import PostgresStore, check_store_url, url_to_use

_NEEDED = {SETTINGS, CHANNEL, KEY, STORE}
_FILES = _NEEDED | {MODEL, TRAINED, "published.js", "published.json"}


def back_up(folder: CollectFolder, destination: Path) -> None:
    """Write everything to one archive that its owner alone can read; the server may go on meanwhile."""
    with tempfile.TemporaryDirectory() as scratch, whole_bytes(destination, private=True) as file:
        copied = Path(scratch) / STORE
        with closing(folder.open_store()) as store:
            store.copy_to(copied)
        with tarfile.open(fileobj=file, mode="w") as archive:
            archive.add(copied, STORE)
            for name in sorted(_FILES - {STORE}):
                if (folder.path / name).exists():
                    archive.add(folder.path / name, name)


def restore(archive: Path, path: Path, store: str = "") -> CollectFolder:
    """Make a folder from an archive; its answers lie there, or in the PostgreSQL database whose URL ``store`` is."""
    if store:
        check_store_url(store)
    if path.exists():
        raise ParameterError(f"{str(path)!r} exists; choose another folder")
    try:
        with tarfile.open(archive) as opened:
            members = opened.getmembers()
            names = {member.name for member in members}
            if not _NEEDED <= names <= _FILES or not all(member.isfile() for member in members):
                raise DataError(f"{str(archive)!r} is no backup of a collection; pass the file that was written")
            path.mkdir(mode=0o700)
            opened.extractall(path, members, filter="data")
    except (OSError, tarfile.TarError):
        raise DataError(f"{str(archive)!r} cannot be read, or its folder not made; check both paths") from None
    for name in (KEY, SETTINGS, STORE):
        (path / name).chmod(0o600)
    try:
        return _opened(path, store)
    except PrivetError:
        rmtree(path)  # a damaged backup leaves nothing behind
        raise


def _opened(path: Path, store: str) -> CollectFolder:
    folder = CollectFolder(path)
    if store:
        with closing(PostgresStore(url_to_use(store), folder.key, new=True)) as made:
            made.fill_from(path / STORE)
        (path / STORE).unlink()
    folder.change(store=store)
    folder.open_store().close()
    return folder
