"""A gateway with its ledger in one file, and back again. gateway.md argues why that gives nothing to spend twice."""

import re
import tempfile
from pathlib import Path
from shutil import rmtree

from privet.errors import LedgerError, PrivetError
from privet.files.whole_file import write_new
from privet.privacy.ledger.heads import HeadFolder
from privet.privacy.ledger.ledger_file import LedgerFile
from privet.service.archive import pack, unpack
from privet.service.gateway.fits import fits_of
from privet.service.gateway.folder import (
    ANALYSTS,
    AUDIT,
    BEGUN,
    ISSUER,
    KEYS,
    MODELS,
    SCHEMA,
    SETTINGS,
    GatewayFolder,
    check_rows,
)

_LEDGER, _HEAD = "ledger.db", "head"
_NEEDED = (SETTINGS, SCHEMA, ANALYSTS, _LEDGER, _HEAD)
_KNOWN = re.compile(
    "|".join(map(re.escape, (*_NEEDED, AUDIT, ISSUER, KEYS))) + rf"|{MODELS}/[0-9a-f]{{32}}\.privet", re.ASCII
)
_SPENT_SINCE = (
    "the backup's ledger does not know what was spent after it, and that could be spent again; pass the ledger itself "
    "as --ledger, or say --nothing-spent-since"
)


def back_up(folder: GatewayFolder, destination: Path, heads: HeadFolder | None = None) -> None:
    """Write everything but the rows to one archive that its owner alone can read; the server may go on meanwhile."""
    ledger = folder.open_ledger(heads)
    with tempfile.TemporaryDirectory() as scratch:
        copied, head = Path(scratch) / _LEDGER, Path(scratch) / _HEAD
        # Fits that are paid for from now on stay out.
        fits = fits_of(ledger.account())
        head.write_text(ledger.file.copy_to(copied), encoding="ascii")
        own = {name: folder.path / name for name in (SETTINGS, SCHEMA, ANALYSTS, ISSUER, KEYS, AUDIT)}
        models = {f"{MODELS}/{fit.id}.privet": folder.model_file(fit.id) for fit in fits}
        pack(destination, {**own, _LEDGER: copied, _HEAD: head, **models})


def restore(
    archive: Path, path: Path, *, rows: Path, ledger: Path, nothing_spent_since: bool = False,
    heads: HeadFolder | None = None,
) -> GatewayFolder:  # fmt: skip
    """Make a folder from an archive.

    A ledger that is there is used as it is, if it goes on from the backup's. Where there is none, the backup's is put
    there; that takes the word that nothing was spent since.
    """
    is_new = not ledger.exists()
    if is_new and not nothing_spent_since:
        raise LedgerError(_SPENT_SINCE)
    unpack(archive, path, of="a gateway", needed=_NEEDED, known=_KNOWN)
    try:
        if is_new:
            write_new(ledger.resolve(), (path / _LEDGER).read_bytes(), anywhere=True)
        LedgerFile(ledger.resolve(), heads).check_has((path / _HEAD).read_text(encoding="ascii"))
        return _opened(path, rows, ledger, heads)
    except (PrivetError, OSError):
        rmtree(path)  # what cannot be used leaves nothing behind
        if is_new:
            ledger.unlink(missing_ok=True)
        raise


def _opened(path: Path, rows: Path, ledger: Path, heads: HeadFolder | None) -> GatewayFolder:
    for name in (_LEDGER, _HEAD):
        (path / name).unlink()
    for name in (MODELS, BEGUN):
        (path / name).mkdir(mode=0o700, exist_ok=True)
    folder = GatewayFolder(path)
    check_rows(rows, folder.schema, folder.unit)
    # Under a new name: what the gateway that was backed up was paid for, it may have made, or still make.
    folder.move_to(rows, ledger)
    folder.open_ledger(heads)  # refuses one that does not go with the settings
    return folder
