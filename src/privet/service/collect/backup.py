"""A collection in one file, and back again."""

import re
import tempfile
from contextlib import closing
from pathlib import Path
from shutil import rmtree

from privet.errors import PrivetError
from privet.service.archive import pack, unpack
from privet.service.collect.folder import CHANNEL, KEY, MODEL, SETTINGS, STORE, TRAINED, CollectFolder
from privet.service.collect.postgres_store import PostgresStore, check_store_url, url_to_use

_NEEDED = {SETTINGS, CHANNEL, KEY, STORE}
_FILES = sorted(_NEEDED | {MODEL, TRAINED, "published.js", "published.json"})
_KNOWN = re.compile("|".join(map(re.escape, _FILES)))


def back_up(folder: CollectFolder, destination: Path) -> None:
    """Write everything to one archive that its owner alone can read; the server may go on meanwhile."""
    with tempfile.TemporaryDirectory() as scratch:
        copied = Path(scratch) / STORE
        with closing(folder.open_store()) as store:
            store.copy_to(copied)
        pack(destination, {name: folder.path / name for name in _FILES} | {STORE: copied})


def restore(archive: Path, path: Path, store: str = "") -> CollectFolder:
    """Make a folder from an archive; its answers lie there, or in the PostgreSQL database whose URL ``store`` is."""
    if store:
        check_store_url(store)
    unpack(archive, path, of="a collection", needed=_NEEDED, known=_KNOWN)
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
