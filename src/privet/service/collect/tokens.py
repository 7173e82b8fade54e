"""One-time tokens: given out in links or on a sheet of QR codes, kept as hashes.

collect.md says what they do and do not tell.
"""

import csv
import hashlib
import hmac
import html
import io
import re
from collections.abc import Sequence
from pathlib import Path

from privet.entropy import secure_text
from privet.errors import ParameterError
from privet.files.whole_file import whole_file

_TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")
_REPORT_ID = re.compile(r"[0-9a-f]{32}")
_SHEET = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 11pt system-ui, sans-serif; margin: 1cm; }}
ul {{ display: grid; grid-template-columns: repeat(3, 1fr); gap: .6cm; list-style: none; margin: 0; padding: 0; }}
li {{ border: 1px dashed #999; padding: .4cm; text-align: center; break-inside: avoid; overflow-wrap: anywhere; }}
svg {{ width: 4.2cm; height: 4.2cm; }} small {{ font-size: 6.5pt; color: #555; display: block; }}
</style></head><body><h1>{title}</h1><p>Each code is for one person and one report.
Channel {channel}. Scripts {scripts}.</p>
<ul>
{codes}
</ul></body></html>
"""


def new_token() -> str:
    """Return a token of 128 random bits."""
    return secure_text(16)


def is_token(text: object) -> bool:
    """Return whether a text has a token's form."""
    return isinstance(text, str) and _TOKEN.fullmatch(text) is not None


def is_report_id(text: object) -> bool:
    """Return whether a text has the form of a report's number."""
    return isinstance(text, str) and _REPORT_ID.fullmatch(text) is not None


def token_hash(token: str) -> bytes:
    """Return what is kept of a token; its 128 random bits need no salt."""
    return hashlib.sha256(b"privet token\0" + token.encode()).digest()


def use_mark(token: str, report_id: str) -> bytes:
    """Return what is kept of a used token: it tells a repeated report from another, and nothing of its answers."""
    return hashlib.sha256(b"privet report\0" + token.encode() + b"\0" + report_id.encode()).digest()


def receipt(key: bytes, hashed: bytes) -> str:
    """Return the receipt of a token's report: the same for every answer."""
    return hmac.new(key, b"privet receipt\0" + hashed, hashlib.sha256).hexdigest()


def link_of(base_url: str, token: str) -> str:
    """Return a one-time link; what follows # is sent to no server."""
    return f"{base_url.rstrip('/')}/#{token}"


def check_base_url(base_url: str) -> None:
    """Refuse an address that a phone could not open safely."""
    if not base_url.startswith(("https://", "http://localhost", "http://127.0.0.1")) or "#" in base_url:
        raise ParameterError("--base-url is where phones find the page, https://... ; a browser lends its cryptography "
                             "to secure pages only")  # fmt: skip


def write_links(path: Path, links: Sequence[str]) -> None:
    """Write the links to a file that its owner alone can read."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([["link"], *([link] for link in links)])
    with whole_file(path, private=True) as file:
        file.write(lines.getvalue())


def write_sheet(path: Path, links: Sequence[str], *, title: str, channel: str, scripts: str) -> None:
    """Write a page of QR codes to print."""
    import segno

    codes = [
        f"<li>{segno.make(link, error='m').svg_inline(scale=4)}<small>{html.escape(link)}</small></li>"
        for link in links
    ]
    page = _SHEET.format(title=html.escape(title), channel=channel, scripts=scripts, codes="\n".join(codes))
    with whole_file(path, private=True) as file:
        file.write(page)
