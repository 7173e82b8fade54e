"""The files of the pages, each with its type; markup names the hash of every script and style that it loads."""

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
}
_LOADED = re.compile(r'<(?:script|link)\b[^>]*\b(?:src|href)="([^":]+)"')
_RESPONDENT = "respondent.js"
RESPONDENT_PAGE, COLLECTOR_PAGE = "respond.html", "collector.html"


@dataclass(frozen=True)
class Asset:
    """A file of the pages."""

    media_type: str
    body: bytes


@cache
def assets() -> dict[str, Asset]:
    """Return every file by its path below the page."""
    found = dict(_below(files("privet.service.collect").joinpath("pages"), ""))
    found[_RESPONDENT] = files("privet.local.channels").joinpath(_RESPONDENT).read_bytes()
    whole = {name: _with_integrity(body, found) if name.endswith(".html") else body for name, body in found.items()}
    return {name: Asset(_TYPES[name.rpartition(".")[2]], body) for name, body in whole.items()}


def script_fingerprint() -> str:
    """Return one SHA-256 of all scripts and styles of the respondent's page: of what ``sha256sum`` prints of them."""
    own = assets()
    loaded = [name for name in _LOADED.findall(own[RESPONDENT_PAGE].body.decode()) if name.endswith(".js")]
    listed = "".join(f"{hashlib.sha256(own[name].body).hexdigest()}  {name}\n" for name in sorted(loaded))
    return hashlib.sha256(listed.encode()).hexdigest()


def _below(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            found += _below(entry, f"{name}/")
        elif entry.name.rpartition(".")[2] in _TYPES:
            found.append((name, entry.read_bytes()))
    return found


def _with_integrity(page: bytes, found: dict[str, bytes]) -> bytes:
    def marked(tag: re.Match[str]) -> str:
        body = found.get(tag[1])
        if body is None:
            return tag[0]
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        return f'{tag[0]} integrity="sha256-{digest}"'

    return _LOADED.sub(marked, page.decode()).encode()
