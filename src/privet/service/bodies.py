"""Bodies of requests, read within bounds: refused as soon as they are too long, before they cost memory."""

from typing import TYPE_CHECKING, Any

from privet.files.documents import parse_json
from privet.service.refusals import Refusal

if TYPE_CHECKING:
    from starlette.requests import Request

MAX_BODY = 2**16


async def read_object(request: "Request", most: int = MAX_BODY) -> dict[str, Any]:
    """Return the JSON object that a request carries, or raise a Refusal."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise Refusal(415, "malformed", "send the report as application/json")
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise Refusal(413, "too_large", f"send at most {most} bytes")
    try:
        document = parse_json(bytes(data))
    except (ValueError, RecursionError):
        raise Refusal(400, "malformed", "the body is no JSON document; send it again") from None
    if not isinstance(document, dict):
        raise Refusal(400, "malformed", "the body is no JSON object; send the one that the interface describes")
    return document
