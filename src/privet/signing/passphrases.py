"""Passphrases of private keys: where they come from, and how they lock a secret.

A secret is locked by ChaCha20-Poly1305 under a key that scrypt makes of the passphrase, with a salt and a nonce of its
own each time. scrypt takes 32 MB and about a tenth of a second for each guess.
"""

import getpass
import hashlib
import os
import sys
from pathlib import Path
from typing import Any

from privet.checks import is_hex
from privet.entropy import secure_bytes
from privet.errors import ParameterError, PartyError
from privet.lazy import of_extra
from privet.signing.documents import check_owner_only

FILE = "PRIVET_PASSPHRASE_FILE"
LEAST = 12
_SALT, _NONCE, _TAG = 16, 12, 16
_COST, _BLOCK, _MEMORY = 2**15, 8, 2**26


def ask(what: str) -> str:
    """Return the passphrase of ``what``: from the file that the environment names, else from the terminal."""
    named = os.environ.get(FILE)
    if named:
        return _from_file(Path(named))
    if not sys.stdin.isatty():
        raise PartyError(f"{what} is locked by a passphrase; name a file that holds it in the variable {FILE}")
    return getpass.getpass(f"passphrase of {what}: ")


def ask_for_new(what: str) -> str:
    """Return a passphrase to lock ``what`` with; at the terminal it is asked for twice."""
    given = ask(what)
    if not os.environ.get(FILE) and getpass.getpass("the same again: ") != given:
        raise ParameterError("the two passphrases differ; type the same one twice")
    return given


def lock(secret: bytes, passphrase: str, name: str) -> dict[str, str]:
    """Return ``secret`` so that it takes the passphrase to read it; ``name`` is bound to it."""
    if len(passphrase) < LEAST:
        raise ParameterError(f"a passphrase of fewer than {LEAST} characters is soon guessed; take a longer one")
    salt, nonce = secure_bytes(_SALT), secure_bytes(_NONCE)
    locked = _cipher(passphrase, salt).encrypt(nonce, secret, name.encode())
    return {"salt": salt.hex(), "nonce": nonce.hex(), "locked": locked.hex()}


def unlock(parts: dict[str, Any], passphrase: str, name: str, what: str, *, n_bytes: int) -> bytes:
    """Return the secret that `lock` made ``parts`` of."""
    sizes = {"salt": _SALT, "nonce": _NONCE, "locked": n_bytes + _TAG}
    if not all(is_hex(parts[part], size) for part, size in sizes.items()):
        raise PartyError(f"{what} is damaged; restore it from a copy")
    from cryptography.exceptions import InvalidTag

    salt, nonce, locked = (bytes.fromhex(parts[part]) for part in sizes)
    try:
        secret: bytes = _cipher(passphrase, salt).decrypt(nonce, locked, name.encode())
    except InvalidTag:
        raise PartyError(f"this is not the passphrase of {what}, or the file was changed; try again") from None
    return secret


def _cipher(passphrase: str, salt: bytes) -> Any:
    aead = of_extra("cryptography.hazmat.primitives.ciphers.aead", "parties", "a locked key")
    key = hashlib.scrypt(passphrase.encode(), salt=salt, n=_COST, r=_BLOCK, p=1, maxmem=_MEMORY, dklen=32)
    return aead.ChaCha20Poly1305(key)


def _from_file(path: Path) -> str:
    what = f"the passphrase file {str(path)!r}"
    try:
        check_owner_only(path, what)
        with path.open(encoding="utf-8") as file:
            return file.readline(4096).rstrip("\r\n")
    except UnicodeDecodeError:
        raise PartyError(f"{what} is not text in UTF-8; write the passphrase into its first line") from None
    except OSError as error:
        raise PartyError(f"cannot read {what}: {error.strerror}; check {FILE}") from error
