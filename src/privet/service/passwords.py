"""Passwords, kept as scrypt hashes only."""

import hashlib
import hmac

from privet.entropy import secure_bytes, secure_text

_COST, _BLOCK, _PARALLEL, _MEMORY = 2**14, 8, 1, 2**26


def new_password() -> str:
    """Return a password of 120 random bits."""
    return secure_text(15)


def hash_password(password: str) -> str:
    """Return a salted hash to keep."""
    salt = secure_bytes(16)
    return f"{salt.hex()}:{_scrypt(password, salt).hex()}"


def is_password(password: str, kept: str) -> bool:
    """Return whether the hash is this password's, in the same time for every other one."""
    salt, digest = (bytes.fromhex(part) for part in kept.split(":"))
    return hmac.compare_digest(_scrypt(password, salt), digest)


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=_COST, r=_BLOCK, p=_PARALLEL, maxmem=_MEMORY)
