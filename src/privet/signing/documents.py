"""Files of parties: documents in canonical form with their hashes, and secret files.

A document is plain JSON. Its canonical form has sorted keys and no blanks, so everyone with the same document signs and
hashes the same bytes, whatever the layout of the file. A secret file can be read by its owner alone, is safely on the
disk, and is never written over.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from privet.checks import is_hex
from privet.entropy import unforeseeable_name
from privet.errors import ParameterError, PartyError
from privet.files.documents import TooLarge, open_for_reading, parse_json, read_bounded
from privet.files.whole_file import whole_bytes, write_new

DIGEST_CHARACTERS = 64


def canonical(document: Mapping[str, Any]) -> bytes:
    """Return ``document`` in canonical form."""
    try:
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8")
    except (ValueError, TypeError, RecursionError):  # half a surrogate pair, an infinite number
        raise PartyError("the document has no canonical form in JSON; fetch it again") from None


def digest(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical form, in hexadecimal digits.

    Examples
    --------
    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    True
    """
    return hashlib.sha256(canonical(document)).hexdigest()


def write_canonical(path: str | Path, document: Mapping[str, Any]) -> None:
    """Write the canonical form and a line end. The file is complete or absent."""
    with whole_bytes(path) as file:
        file.write(canonical(document) + b"\n")


def read_canonical(path: str | Path, what: str) -> dict[str, Any]:
    """Read a document, which errors call ``what``. No key may occur twice."""
    try:
        with open_for_reading(path) as file:
            data = read_bounded(file)
    except TooLarge:
        raise _too_large(f"the {what} {str(path)!r}") from None
    except OSError as error:
        raise PartyError(f"cannot read the {what} {str(path)!r}: {error.strerror}; check the path") from error
    return parse(data, f"the {what} {str(path)!r}")


def parse(data: bytes, what: str) -> dict[str, Any]:
    """Return the document in ``data``, in any layout. Errors call it ``what``."""
    try:
        document = parse_json(data)
    except TooLarge:
        raise _too_large(what) from None
    except ValueError:  # its message may quote the file
        raise PartyError(f"{what} is not a JSON document, or it is damaged; fetch it again") from None
    if not isinstance(document, dict):
        raise PartyError(f"{what} is not one that privet wrote; check which file it is")
    return document


def check_document(document: Mapping[str, Any], what: str, *, format_: str, version: int, keys: set[str]) -> None:
    """Refuse a document of another format or version, or with other keys."""
    if document.get("format") != format_:
        raise PartyError(f"{what} is not what its name says; it should be a document of format {format_!r}")
    if document.get("version") != version or type(document["version"]) is not int:
        raise PartyError(f"{what} has a format version that this privet does not know; update privet")
    if set(document) != {"format", "version", *keys}:
        raise PartyError(f"{what} lacks a part or has one too many; fetch it again")


def check_pin(document_digest: str, pin: str | None, what: str) -> None:
    """Refuse a document that does not have the agreed hash ``pin``; None accepts every document."""
    if pin is None:
        return
    if not is_hex(pin.lower(), DIGEST_CHARACTERS // 2):
        raise PartyError(f"the hash to expect of {what} must have {DIGEST_CHARACTERS} hexadecimal digits; copy all")
    if document_digest != pin.lower():
        raise PartyError(f"{what} does not have the hash that was agreed on; ask its sender for the agreed file")


def _too_large(what: str) -> PartyError:
    return PartyError(f"{what} is larger than any that privet writes; it is not opened")


def write_secret(path: str | Path, data: bytes, *, what: str) -> None:
    """Write a new file as `write_new` does. Errors call it ``what``."""
    try:
        write_new(Path(path), data)
    except FileExistsError:
        raise PartyError(f"the {what} {str(path)!r} exists and is not replaced; choose another name") from None
    except OSError as error:
        raise PartyError(f"cannot write the {what} {str(path)!r}: {error.strerror}; choose another path") from error


def make_store(folder: Path, *, what: str) -> None:
    """Make a folder for ``what`` if there is none, and try to write to it, before any epsilon is spent."""
    # A file of this name is removed by the next writer if this one cannot.
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
