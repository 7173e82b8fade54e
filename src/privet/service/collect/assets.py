"""The files of the pages, each with its type. A page loads one script and one style, and names the hash of each.

Browsers hold the script that a page loads to its hash, but not, all of them, the modules that it imports. So all of a
page's modules are served as one script, each in a scope of its own.

The offline page is the respondent's page as one file that works without a network: nobody can alter it after it was
checked. It has `offline.js` in the place of `served.js`. Its policy allows one script and one style sheet, by their
hashes, and no connection at all.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.files.whole_file import whole_bytes
from privet.service.collect.texts import page_texts

if TYPE_CHECKING:
    from privet.service.collect.folder import CollectFolder

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "json": "application/json",
}
_LOADED = re.compile(r'<(?:script|link)\b[^>]*\b(?:src|href)="([^":]+)"')
_IMPORT = re.compile(
    r'^import (?:\* as (?P<whole>\w+)|(?P<names>\{[^}]*\})) from "\./(?P<module>\w+)\.js";$', re.MULTILINE
)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|const) (\w+))", re.MULTILINE)
# The part of an exported script that does not know its model.
_PREDICTOR = re.compile(r'"use strict";\n(.*)\n  const model =', re.DOTALL)
RESPONDENT_PAGE, COLLECTOR_PAGE = "respond.html", "collector.html"
_HEAD = re.compile(r'<link rel="icon".*?</script>\n', re.DOTALL)


@dataclass(frozen=True)
class Asset:
    """A file of the pages."""

    media_type: str
    body: bytes


@cache
def assets() -> dict[str, Asset]:
    """Return every file that is served, by its path below the page."""
    found = {"page.css": page_file("page.css").encode()}
    texts = files("privet.service.collect").joinpath("pages", "texts")
    found |= {f"texts/{entry.name}": entry.read_bytes() for entry in texts.iterdir()}
    for page in (RESPONDENT_PAGE, COLLECTOR_PAGE):
        name = page.removesuffix(".html")
        found[f"{name}.js"] = script_of(name).encode()
        found[page] = _with_integrity(page_file(page), found)
    return {name: Asset(_TYPES[name.rpartition(".")[2]], body) for name, body in found.items()}


def page_file(name: str) -> str:
    """Return a file of the pages as it was written."""
    return files("privet.service.collect").joinpath("pages", name).read_text(encoding="utf-8")


def script_fingerprint() -> str:
    """Return the SHA-256 of the respondent's script, as ``sha256sum`` prints it."""
    return hashlib.sha256(assets()["respond.js"].body).hexdigest()


def integrity_of(body: bytes) -> str:
    """Return the hash of a script or style as browsers read it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(body).digest()).decode()}"


def script_of(name: str, stand_ins: Mapping[str, str] | None = None) -> str:
    """Return a module and all that it imports as one script; ``stand_ins`` puts modules in the place of others."""
    parts: dict[str, str] = {}
    _add_module(name, dict(stand_ins or {}), parts)
    return "\n".join(parts.values())


def _add_module(name: str, stand_ins: Mapping[str, str], parts: dict[str, str]) -> None:
    def taken(found: re.Match[str]) -> str:
        module = stand_ins.get(found["module"], found["module"])
        return f"const {found['whole'] or found['names']} = {module}_js;"

    text = _module_text(name)
    for found in _IMPORT.finditer(text):
        needed = stand_ins.get(found["module"], found["module"])
        if needed not in parts:
            _add_module(needed, stand_ins, parts)
    body = _IMPORT.sub(taken, text)
    exported = ", ".join(found[2] for found in _EXPORT.finditer(body))
    plain = _EXPORT.sub(r"\1", body)
    parts[name] = f"const {name}_js = (() => {{\n{plain}\nreturn {{ {exported} }};\n}})();"


def _module_text(name: str) -> str:
    if name == "respondent":
        return files("privet.local.channels").joinpath("respondent.js").read_text(encoding="utf-8")
    if name == "predictor":
        code = _PREDICTOR.search(files("privet.export").joinpath("predictor.js").read_text(encoding="utf-8"))
        assert code is not None  # noqa: S101 - the exports rely on the same lines
        return code[1].replace("  function makePredictor", "export function makePredictor", 1)
    return page_file(f"{name}.js")


def _with_integrity(page: str, found: Mapping[str, bytes]) -> bytes:
    return _LOADED.sub(lambda tag: f'{tag[0]} integrity="{integrity_of(found[tag[1]])}"', page).encode()


def write_offline_page(folder: "CollectFolder", path: Path) -> str:
    """Write the page of a collection, and return the file's SHA-256 fingerprint."""
    own = folder.settings
    page = offline_page(folder.channel_bytes, title=own.title, by=own.by, purpose=own.purpose, texts=own.texts).encode()
    with whole_bytes(path) as file:
        file.write(page)
    return hashlib.sha256(page).hexdigest()


def offline_page(
    channel: bytes, *, title: str = "", by: str = "", purpose: str = "", texts: Mapping[str, Any] | None = None
) -> str:
    """Return the page for a channel file.

    Parameters
    ----------
    channel : bytes
        The channel file, byte for byte: the page shows its SHA-256 fingerprint.
    title, by, purpose : str
        What is asked, by whom and what for.
    texts : mapping, optional
        The collector's own texts by language, as `read_texts` returns them.
    """
    study = {"title": title, "by": by, "purpose": purpose, "texts": dict(texts or {}), "open": True, "model": False}
    data = json.dumps({"study": study, "channel": channel.decode(), "texts": page_texts()}, ensure_ascii=False)
    script, style = offline_script(), page_file("page.css")
    policy = (
        f"default-src 'none'; script-src '{integrity_of(script.encode())}'; "
        f"style-src '{integrity_of(style.encode())}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<link rel="icon" href="data:,">\n'
        f"<style>{style}</style>\n"
    )
    # A text in the data must not end the element that holds it.
    held = f'<script type="application/json" id="offline-data">{data.replace("<", chr(92) + "u003c")}</script>\n'
    run = f'<script type="module" id="offline-script">{script}</script>\n'
    page = _HEAD.sub(lambda _: head, page_file(RESPONDENT_PAGE), count=1)
    return page.replace("</body>", f"{held}{run}</body>")


def offline_script() -> str:
    """Return all modules of the page as one script."""
    return script_of("respond", {"served": "offline"})
