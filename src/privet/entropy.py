"""Bytes of the operating system's secure generator, or an error: there is no second source.

Noise, keys, a respondent's secret, tokens, passwords and random file names all come from here. Nothing is kept between
two calls, so there is nothing that a forked process or another thread could share.
"""

import base64
import os

from privet.errors import EntropyError

_NAME_BYTES = 8


def secure_bytes(n: int) -> bytes:
    """Return ``n`` bytes, or raise EntropyError where the system has none to give or gives fewer."""
    try:
        drawn = os.urandom(n)
    except (OSError, NotImplementedError) as error:
        raise EntropyError from error
    # Fewer bytes than asked for would be noise that is fixed in part.
    if len(drawn) != n:
        raise EntropyError
    return drawn


def secure_text(n: int) -> str:
    """Return ``n`` bytes as text that a link, a cookie or a header can hold."""
    return base64.urlsafe_b64encode(secure_bytes(n)).decode().rstrip("=")


def unforeseeable_name() -> str:
    """Return a random name, which no other process uses or could plant a link under."""
    return secure_bytes(_NAME_BYTES).hex()
