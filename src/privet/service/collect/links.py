"""One-time links, and a sheet of their QR codes to print and cut."""

import csv
import html
import io
from collections.abc import Sequence
from pathlib import Path

from privet.errors import ParameterError
from privet.files.whole_file import whole_file

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
