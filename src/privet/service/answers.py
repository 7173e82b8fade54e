"""What every answer shares: errors as one sentence of JSON, careful headers, bodies within bounds."""

from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from privet.files.documents import parse_json

_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_UNEXPECTED = "the server could not answer; its owner can see why"


class Refusal(Exception):
    """A request that is refused, with a status and one sentence that holds nothing of a row."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


def refused(_: Request, error: Exception) -> Response:
    """Return a refusal as JSON; any other error has no text of its own, since that may quote a row."""
    if isinstance(error, Refusal):
        return JSONResponse({"error": error.sentence}, error.status)
    return JSONResponse({"error": _UNEXPECTED}, 500)


def not_found(_: Request, error: Exception) -> Response:
    """Return the answer to a path or a verb that is not there."""
    return JSONResponse({"error": "there is nothing here"}, getattr(error, "status_code", 404))


async def read_body(request: Request, most: int) -> bytes:
    """Return the body, unless it is longer than ``most`` bytes; more is never held."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise Refusal(413, f"the request is too long; send at most {most:,} bytes")
    return bytes(body)


async def read_object(request: Request, most: int) -> dict[str, Any]:
    """Return the JSON object that the body holds."""
    body = await read_body(request, most)
    try:
        document = parse_json(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Refusal(400, "the request must be one JSON object")
    return document


class CarefulHeaders:
    """Adds the headers to every answer of an application, and takes out what tells about the server."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, with_headers)
