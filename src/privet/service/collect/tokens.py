"""One-time tokens: given out in links, kept as hashes. collect.md says what they do and do not tell."""

import hashlib
import hmac
import re

from privet.entropy import secure_text

_TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")
_REPORT_ID = re.compile(r"[0-9a-f]{32}")


def new_token() -> str:
    """Return a token of 128 random bits."""
    return secure_text(16)


def is_token(text: object) -> bool:
    """Return whether a text has a token's form."""
    return isinstance(text, str) and _TOKEN.fullmatch(text) is not None


def is_report_id(text: object) -> bool:
    """Return whether a text has the form of a report's number."""
    return isinstance(text, str) and _REPORT_ID.fullmatch(text) is not None


def token_hash(token: str) -> bytes:
    """Return what is kept of a token; its 128 random bits need no salt."""
    return hashlib.sha256(b"privet token\0" + token.encode()).digest()


def use_mark(token: str, report_id: str) -> bytes:
    """Return what is kept of a used token: it tells a repeated report from another, and nothing of its answers."""
    return hashlib.sha256(b"privet report\0" + token.encode() + b"\0" + report_id.encode()).digest()


def receipt(key: bytes, hashed: bytes) -> str:
    """Return the receipt of a token's report: the same for every answer."""
    return hmac.new(key, b"privet receipt\0" + hashed, hashlib.sha256).hexdigest()
