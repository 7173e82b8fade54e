"""Names and Ed25519 keys of parties: a party signs with its private key, and everyone checks with the public one.

The private key is a file that its owner alone can read, and that a passphrase may lock. It is never written over.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from privet.checks import is_hex
from privet.entropy import secure_bytes
from privet.errors import ParameterError, PartyError
from privet.lazy import of_extra
from privet.signing.documents import (
    canonical,
    check_document,
    check_owner_only,
    read_canonical,
    write_canonical,
    write_secret,
)
from privet.signing.passphrases import ask, lock, unlock

PRIVATE_FORMAT, PUBLIC_FORMAT, VERSION = "privet-private-key", "privet-public-key", 1
# Of private keys that a passphrase locks.
_LOCKED_VERSION = 2
KEY_BYTES, SIGNATURE_BYTES = 32, 64
MAX_NAME = 64
# File systems allow names of 255 bytes with the suffix; a letter may take four.
_MAX_BYTES = 200


@dataclass(frozen=True)
class PublicKey:
    """A party's name and the public key of its signatures; ``hex`` is the 32 bytes in hexadecimal digits."""

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
        """Write the key to a file that may be given to others."""
        write_canonical(path, {"format": PUBLIC_FORMAT, "version": VERSION, "name": self.name, "public": self.hex})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a public key."""
        return cls.from_json(read_canonical(path, "public key"), f"the public key {str(path)!r}")

    @classmethod
    def from_json(cls, document: Mapping[str, Any], what: str = "the public key") -> Self:
        """Read a public key from its document."""
        check_document(document, what, format_=PUBLIC_FORMAT, version=VERSION, keys={"name", "public"})
        return cls(document["name"], document["public"])


@dataclass(frozen=True)
class PrivateKey:
    """A party's name and the key that it signs with."""

    name: str
    secret: bytes = field(repr=False)

    @classmethod
    def generate(cls, name: str) -> Self:
        """Return a new key, drawn from the system's secure generator."""
        _ed25519()  # fails where signing is not possible
        return cls(checked_name(name), secure_bytes(KEY_BYTES))

    @property
    def public(self) -> PublicKey:
        """The public key, to give to others."""
        return PublicKey(self.name, self._key.public_key().public_bytes_raw().hex())

    def sign(self, document: Mapping[str, Any]) -> str:
        """Return the signature of the document's canonical form, in hexadecimal digits.

        The document's ``format`` names the kind of message, so a signature of one kind is not valid for another.
        """
        signature: bytes = self._key.sign(canonical(document))
        return signature.hex()

    def save(self, path: str | Path, *, passphrase: str | None = None) -> None:
        """Write the key to a new file that its owner alone can read; locked, if there is a passphrase."""
        kept = {"private": self.secret.hex()} if passphrase is None else lock(self.secret, passphrase, self.name)
        version = VERSION if passphrase is None else _LOCKED_VERSION
        document = {"format": PRIVATE_FORMAT, "version": version, "name": self.name, **kept}
        write_secret(path, canonical(document) + b"\n", what="private key")

    @classmethod
    def load(cls, path: str | Path, *, passphrase: str | None = None) -> Self:
        """Read a private key. A file that others can read is refused; one that is locked asks for its passphrase."""
        what = f"the private key {str(path)!r}"
        document = read_canonical(path, "private key")
        if document.get("version") == _LOCKED_VERSION:
            keys = {"name", "salt", "nonce", "locked"}
            check_document(document, what, format_=PRIVATE_FORMAT, version=_LOCKED_VERSION, keys=keys)
            check_owner_only(path, what)
            name = checked_name(document["name"])
            given = ask(what) if passphrase is None else passphrase
            return cls(name, unlock(document, given, name, what, n_bytes=KEY_BYTES))
        check_document(document, what, format_=PRIVATE_FORMAT, version=VERSION, keys={"name", "private"})
        check_owner_only(path, what)
        if not is_hex(document["private"], KEY_BYTES):
            raise PartyError(f"{what} is damaged; restore it from a copy, or make a new one with `privet party keygen`")
        return cls(checked_name(document["name"]), bytes.fromhex(document["private"]))

    @property
    def _key(self) -> Any:
        return _ed25519().Ed25519PrivateKey.from_private_bytes(self.secret)


def _ed25519() -> Any:
    return of_extra("cryptography.hazmat.primitives.asymmetric.ed25519", "parties", "a signature")


def _exceptions() -> ModuleType:
    from cryptography import exceptions

    module: ModuleType = exceptions
    return module


def checked_name(name: object) -> str:
    """Return ``name`` in Unicode normal form, if it can be part of a file's name on any system."""
    if isinstance(name, str):
        # Different encodings of the same letters are one name.
        name = unicodedata.normalize("NFC", name)
        plain = 0 < len(name) <= MAX_NAME and name[0].isalnum() and all(c.isalnum() or c in "-_" for c in name)
        if plain and len(name.encode()) <= _MAX_BYTES:
            return name
    raise ParameterError(
        f"a party's name has at most {MAX_NAME} letters, digits, - and _ ({_MAX_BYTES} bytes), beginning with a letter "
        "or digit; choose another"
    )
