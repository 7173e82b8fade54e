"""The respondent's page as one file that works without a network: nobody can alter it after it was checked.

It is the page that the server serves, with `offline.js` in the place of `served.js`. Its policy allows one script and
one style sheet, by their hashes, and no connection at all.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.files.whole_file import whole_bytes
from privet.service.collect.assets import RESPONDENT_PAGE, integrity_of, page_file, script_of
from privet.service.collect.texts import page_texts

if TYPE_CHECKING:
    from privet.service.collect.folder import CollectFolder

_HEAD = re.compile(r'<link rel="icon".*?</script>\n', re.DOTALL)


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
