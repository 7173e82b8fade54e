"""What every request meets: bounds on its body, limits on how often it comes, and the headers of its response.

A refusal is one sentence of JSON. In a page nothing runs that did not come from this server.
"""

import asyncio
import hashlib
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from privet.entropy import secure_bytes
from privet.files.documents import parse_json

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 2**16
BODY_SECONDS = 20.0
_IPV6_NETWORK = 64
_JSON = "application/json"
SCRIPTS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class Refusal(Exception):
    """What a server answers instead of doing what was asked.

    Parameters
    ----------
    status
        The status of HTTP.
    code
        A word that a program can tell apart and a page can translate.
    message
        One sentence for people, which holds nothing of a row.
    retry_after
        After how many seconds another try may succeed.
    """

    def __init__(self, status: int, code: str, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.retry_after = status, code, message, retry_after

    def answer(self) -> "Response":
        """Return it as JSON."""
        from starlette.responses import JSONResponse

        headers = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return JSONResponse({"error": self.code, "message": self.message}, self.status, headers)


async def read_body(request: "Request", most: int = MAX_BODY, seconds: float = BODY_SECONDS) -> bytes:
    """Return the body, or raise a Refusal as soon as it is too long or too slow; no more of it is ever held."""
    data = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                data += chunk
                if len(data) > most:
                    raise Refusal(413, "too_large", f"the request is too long; send at most {most:,} bytes")
    except TimeoutError:
        raise Refusal(408, "too_slow", "the request did not come in time; send it again") from None
    return bytes(data)


async def read_object(request: "Request", most: int = MAX_BODY) -> dict[str, Any]:
    """Return the JSON object that a request carries, or raise a Refusal."""
    if not has_type(request, _JSON):
        raise Refusal(415, "malformed", f"send the request as {_JSON}")
    data = await read_body(request, most)
    try:
        document = parse_json(data)
    except (ValueError, RecursionError):
        raise Refusal(400, "malformed", "the body is no JSON document; send it again") from None
    if not isinstance(document, dict):
        raise Refusal(400, "malformed", "the body is no JSON object; send the one that the interface describes")
    return document


def has_type(request: "Request", media_type: str) -> bool:
    """Return whether a request says that its body is of a type; another site's form cannot say JSON."""
    return request.headers.get("content-type", "").split(";")[0].strip().lower() == media_type


def address_of(request: "Request") -> str:
    """Return where a request comes from, as limits count it: of IPv6 the network that one household or firm has."""
    host = request.client.host if request.client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    return str(ipaddress.ip_network((address.packed, _IPV6_NETWORK), strict=False))


def error_answers() -> dict[Any, Callable[["Request", Exception], "Response"]]:
    """Return the handlers of refusals, of missing paths and of faults, whose text is not told as it may quote a row."""
    from starlette.exceptions import HTTPException

    return {Refusal: _refused, HTTPException: _not_there, Exception: _failed}


def _refused(_: "Request", error: Exception) -> "Response":
    assert isinstance(error, Refusal)  # noqa: S101 - registered for it
    return error.answer()


def _not_there(_: "Request", error: Exception) -> "Response":
    status = getattr(error, "status_code", 404)
    return Refusal(status, "not_found", "there is nothing here; check the address").answer()


def _failed(_: "Request", __: Exception) -> "Response":
    return Refusal(500, "failed", "the server could not answer; its owner can see why").answer()


class RateLimit:
    """At most ``burst`` tries at once and ``per_minute`` in the long run, for each key: a token bucket in memory.

    Keys are kept as hashes that differ at every start, at most ``most`` of them, and forgotten oldest first.
    """

    def __init__(
        self, per_minute: float, burst: int, *, most: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._most, self._clock = per_minute / 60, burst, most, clock
        self._salt = secure_bytes(32)
        self._left: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def take(self, key: str = "") -> None:
        """Count one try, or raise a Refusal where there were too many."""
        name = hashlib.blake2b(key.encode(), key=self._salt, digest_size=16).digest()
        now = self._clock()
        left, since = self._left.pop(name, (float(self._burst), now))
        left = min(float(self._burst), left + (now - since) * self._rate)
        self._left[name] = (max(left - 1, 0.0) if left >= 1 else left, now)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        if left < 1:
            wait = int((1 - left) / self._rate) + 1
            raise Refusal(429, "rate_limited", f"too many tries; wait {wait} seconds", wait)


class SecurityHeaders:
    """Adds the headers to every response of an application, errors too.

    Parameters
    ----------
    app
        The application.
    policy
        What its pages may load and where their forms may go, as ``Content-Security-Policy`` says it.
    """

    def __init__(self, app: "ASGIApp", policy: str = SCRIPTS_POLICY) -> None:
        self._app = app
        told = {**_HEADERS, "Content-Security-Policy": policy}
        self._headers = [(name.lower().encode(), value.encode()) for name, value in told.items()]

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass a request on."""

        async def with_headers(message: "Message") -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self._headers]
            await send(message)

        await self._app(scope, receive, with_headers)
