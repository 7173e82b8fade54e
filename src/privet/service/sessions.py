"""One password and the sessions that it opens: cookies that no script reads and no other site sends along."""

import hashlib
import hmac
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from privet.entropy import secure_bytes, secure_text
from privet.service.requests import RateLimit, Refusal, address_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_COST, _BLOCK, _PARALLEL, _MEMORY = 2**14, 8, 1, 2**26
_COOKIE = "session"
_SECONDS = 8 * 3600
_LOGINS_PER_MINUTE = 10


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


class Sessions:
    """The sessions of one page, in memory: a new start ends them.

    Parameters
    ----------
    path
        The page; its cookie goes there and below.
    """

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._clock = path, clock
        self._tries = RateLimit(_LOGINS_PER_MINUTE, _LOGINS_PER_MINUTE)
        self._ends: dict[str, float] = {}
        self._lock = threading.Lock()

    def open(self, request: "Request", password: object, kept: str, answer: "Response") -> None:
        """Give the answer a session's cookie if ``kept`` is the password's hash; it takes a while by purpose."""
        self._tries.take(address_of(request))
        if not isinstance(password, str) or not is_password(password, kept):
            raise Refusal(403, "password", "this is not the password; it was printed when the folder was made")
        session = secure_text(32)
        with self._lock:
            now = self._clock()
            self._ends = {own: end for own, end in self._ends.items() if end > now}
            self._ends[session] = now + _SECONDS
        secure = request.url.scheme == "https"
        answer.set_cookie(_COOKIE, session, httponly=True, samesite="strict", secure=secure, path=self._path)

    def has(self, request: "Request") -> bool:
        """Return whether a request comes with a session."""
        given = request.cookies.get(_COOKIE, "").encode()
        with self._lock:
            known = [own for own, end in self._ends.items() if end > self._clock()]
        return any(hmac.compare_digest(given, own.encode()) for own in known)

    def close(self, request: "Request") -> None:
        """End a request's session."""
        with self._lock:
            self._ends.pop(request.cookies.get(_COOKIE, ""), None)


def check_same_site(request: "Request") -> None:
    """Refuse what another site's page sends."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Refusal(403, "origin", "this request came from another site; use the page itself")
