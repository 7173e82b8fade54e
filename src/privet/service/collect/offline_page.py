"""The respondent's page as one file that works without a network: nobody can alter it after it was checked.

It is the page that the server serves, with `offline.js` in the place of `served.js`. Its policy allows one script and
one style sheet, by their hashes, and no connection at all.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.files.whole_file import whole_bytes
from privet.service.collect.texts import page_texts

if TYPE_CHECKING:
    from privet.service.collect.folder import CollectFolder

_IMPORT = re.compile(
    r'^import (?:\* as (?P<whole>\w+)|(?P<names>\{[^}]*\})) from "\./(?P<module>\w+)\.js";$', re.MULTILINE
)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|const) (\w+))", re.MULTILINE)
_HEAD = re.compile(r'<link rel="icon".*?</script>\n', re.DOTALL)
_STAND_INS = {"served": "offline"}


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
        The collector's own texts by language: ``{"en": {"title": ..., "fields": {...}, "values": {...}}}``.
    """
    study = {"title": title, "by": by, "purpose": purpose, "texts": dict(texts or {}), "open": True, "model": False}
    data = json.dumps({"study": study, "channel": channel.decode(), "texts": page_texts()}, ensure_ascii=False)
    script, style = offline_script(), _page_file("page.css")
    policy = (
        f"default-src 'none'; script-src '{_source(script)}'; style-src '{_source(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<link rel="icon" href="data:,">\n'
        f"<style>{style}</style>\n"
    )
    # A text in the data must not end the element that holds it.
    held = f'<script type="application/json" id="offline-data">{data.replace("<", chr(92) + "u003c")}</script>\n'
    run = f'<script type="module" id="offline-script">{script}</script>\n'
    page = _HEAD.sub(lambda _: head, _page_file("respond.html"), count=1)
    return page.replace("</body>", f"{held}{run}</body>")


def write_offline_page(folder: "CollectFolder", path: Path) -> str:
    """Write the page of a collection, and return the file's SHA-256 fingerprint."""
    own = folder.settings
    page = offline_page(folder.channel_bytes, title=own.title, by=own.by, purpose=own.purpose, texts=own.texts).encode()
    with whole_bytes(path) as file:
        file.write(page)
    return hashlib.sha256(page).hexdigest()


def offline_script() -> str:
    """Return all modules of the page as one script, each in a scope of its own."""
    parts: dict[str, str] = {}
    _add_module("respond", parts)
    return "\n".join(parts.values())


def offline_fingerprint() -> str:
    """Return the SHA-256 fingerprint of the script, as the page shows it."""
    return hashlib.sha256(offline_script().encode()).hexdigest()


def _add_module(name: str, parts: dict[str, str]) -> None:
    text = _module_text(name)
    for found in _IMPORT.finditer(text):
        needed = _STAND_INS.get(found["module"], found["module"])
        if needed not in parts:
            _add_module(needed, parts)
    body = _IMPORT.sub(_taken, text)
    exported = ", ".join(found[2] for found in _EXPORT.finditer(body))
    plain = _EXPORT.sub(r"\1", body)
    parts[name] = f"const {name}_js = (() => {{\n{plain}\nreturn {{ {exported} }};\n}})();"


def _taken(found: re.Match[str]) -> str:
    module = _STAND_INS.get(found["module"], found["module"])
    return f"const {found['whole'] or found['names']} = {module}_js;"


def _module_text(name: str) -> str:
    if name == "respondent":
        return files("privet.local.channels").joinpath("respondent.js").read_text(encoding="utf-8")
    return _page_file(f"{name}.js")


def _page_file(name: str) -> str:
    return files("privet.service.collect").joinpath("pages", *name.split("/")).read_text(encoding="utf-8")


def _source(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
