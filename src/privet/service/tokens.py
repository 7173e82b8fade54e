"""Tokens that are shown once: what is kept is their hash, and a comparison takes the same time whatever is wrong."""

import hashlib
import hmac

from privet.entropy import secure_bytes

_TOKEN_BYTES = 32


def new_token() -> str:
    """Return a new token of 256 random bits."""
    return secure_bytes(_TOKEN_BYTES).hex()


def digest(token: str) -> str:
    """Return what may be kept of a token. A token has 256 random bits, so a plain hash cannot be searched."""
    return hashlib.sha256(token.encode()).hexdigest()


def matches(token: str, kept: str) -> bool:
    """Return whether ``token`` is the one whose digest is ``kept``."""
    return hmac.compare_digest(digest(token), kept)
