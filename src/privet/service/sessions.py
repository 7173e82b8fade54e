"""One password and the sessions that it opens: cookies that no script reads and no other site sends along."""

import hmac
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from privet.entropy import secure_text
from privet.service.limits import RateLimit
from privet.service.passwords import is_password
from privet.service.requests import Refusal, address_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_COOKIE = "session"
_SECONDS = 8 * 3600
_LOGINS_PER_MINUTE = 10


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
