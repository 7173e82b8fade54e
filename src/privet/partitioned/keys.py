"""Ed25519 keys: a party signs with the private one, and everybody checks with the public one.

The private key is a file that its owner alone can read. It is never written over.
"""

import os
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from privet.errors import PartyError, PrivetError
from privet.partitioned.canonical import canonical, check_document, is_hex, read_canonical, write_canonical
from privet.partitioned.names import checked_name

PRIVATE_FORMAT, PUBLIC_FORMAT, VERSION = "privet-private-key", "privet-public-key", 1
KEY_BYTES, SIGNATURE_BYTES = 32, 64
_OWNER_ONLY = 0o600


@dataclass(frozen=True)
class PublicKey:
    """A party's name and the key by which its signatures are known; ``hex`` spells the 32 bytes of Ed25519."""

    name: str
    hex: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", checked_name(self.name))
        if not is_hex(self.hex, KEY_BYTES):
            raise PartyError(f"the public key of {self.name!r} is damaged; fetch it again")

    def verifies(self, document: Mapping[str, Any], signature: object) -> bool:
        """Return whether this party signed ``document``."""
        if not is_hex(signature, SIGNATURE_BYTES):
            return False
        key = _ed25519().Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.hex))
        try:
            key.verify(bytes.fromhex(str(signature)), canonical(document))
        except _exceptions().InvalidSignature:
            return False
        return True

    def save(self, path: str | Path) -> None:
        """Write the key to a file that may be handed out."""
        write_canonical(path, {"format": PUBLIC_FORMAT, "version": VERSION, "name": self.name, "public": self.hex})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a public key."""
        what = f"the public key {str(path)!r}"
        document = read_canonical(path, "public key")
        check_document(document, what, format_=PUBLIC_FORMAT, version=VERSION, keys={"name", "public"})
        return cls(document["name"], document["public"])


@dataclass(frozen=True)
class PrivateKey:
    """A party's name and what it signs with."""

    name: str
    secret: bytes = field(repr=False)

    @classmethod
    def generate(cls, name: str) -> Self:
        """Return a new key, drawn from the system's secure generator."""
        return cls(checked_name(name), _ed25519().Ed25519PrivateKey.generate().private_bytes_raw())

    @property
    def public(self) -> PublicKey:
        """The key to hand out."""
        return PublicKey(self.name, self._key.public_key().public_bytes_raw().hex())

    def sign(self, document: Mapping[str, Any]) -> str:
        """Return the signature of the document's one spelling, in hexadecimal digits.

        Its ``format`` says what kind of message it is, so no signature of one kind passes for another.
        """
        signature: bytes = self._key.sign(canonical(document))
        return signature.hex()

    def save(self, path: str | Path) -> None:
        """Write the key to a new file that its owner alone can read."""
        document = {"format": PRIVATE_FORMAT, "version": VERSION, "name": self.name, "private": self.secret.hex()}
        write_secret(path, canonical(document) + b"\n", what="private key")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a private key; a file that others can read is refused."""
        what = f"the private key {str(path)!r}"
        document = read_canonical(path, "private key")
        check_document(document, what, format_=PRIVATE_FORMAT, version=VERSION, keys={"name", "private"})
        check_owner_only(path, what)
        if not is_hex(document["private"], KEY_BYTES):
            raise PartyError(f"{what} is damaged; restore it from a copy, or make a new one with `privet party keygen`")
        return cls(checked_name(document["name"]), bytes.fromhex(document["private"]))

    @property
    def _key(self) -> Any:
        return _ed25519().Ed25519PrivateKey.from_private_bytes(self.secret)


def write_secret(path: str | Path, data: bytes, *, what: str) -> None:
    """Write a new file that its owner alone can read, safely on the disk; one that is there is never replaced."""
    path = Path(path)
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
    except FileExistsError:
        raise PartyError(f"the {what} {str(path)!r} exists and is not replaced; choose another name") from None
    except OSError as error:
        raise PartyError(f"cannot write the {what} {str(path)!r}: {error.strerror}; choose another path") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _keep_name(folder: Path) -> None:
    """Put a folder's new name on the disk, where a system lets one ask for it."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_owner_only(path: str | Path, what: str) -> None:
    """Refuse a secret file that others on this machine can read."""
    if os.name == "posix" and Path(path).stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise PartyError(f"{what} can be read by others on this machine; run `chmod 600` on it, or make a new one")


def _ed25519() -> ModuleType:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as missing:
        raise PrivetError(
            "parties sign with the package cryptography, which is not installed; pip install 'privet[parties]'"
        ) from missing
    module: ModuleType = ed25519
    return module


def _exceptions() -> ModuleType:
    from cryptography import exceptions

    module: ModuleType = exceptions
    return module
