"""What every request meets: a body read within bounds, and a refusal as one sentence of JSON."""

import asyncio
import ipaddress
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from privet.files.documents import parse_json

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MAX_BODY = 2**16
BODY_SECONDS = 20.0
_IPV6_NETWORK = 64
_JSON = "application/json"


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
