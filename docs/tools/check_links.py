"""Whether every link, anchor and picture of the built site is there: ``python -m docs.tools.check_links build/site``.

Nothing is asked of the network, and nothing may be fetched from it: pages have to work where there is none.
"""

import posixpath
import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a page loads by itself, and by which attribute.
_LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
# Tables and lists that were not understood as such.
_NOT_RENDERED = re.compile(r"^\s*(\||- |\* |```)", re.MULTILINE)


@dataclass
class Contents(HTMLParser):
    """What a page links to, what it loads, and which anchors it has."""

    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    raw: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag is or leads to."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if given.get(_LOADED.get(tag, "")) and given.get("rel") not in {"canonical", "prev", "next"}:
            self.loaded.append(given[_LOADED[tag]])
        if tag == "img" and not given.get("alt"):
            self.raw.append(f"a picture without words: {given.get('src')}")
        self._open = [*self._open, tag] if tag == "p" else self._open

    def handle_endtag(self, tag: str) -> None:
        """Leave a paragraph."""
        if tag == "p":
            self._open = []

    def handle_data(self, data: str) -> None:
        """Note a paragraph that was meant to be something else."""
        if self._open and _NOT_RENDERED.search(data):
            self.raw.append(f"not rendered: {data.strip()[:60]!r}")


def faults(site: Path) -> list[str]:
    """Return what is wrong with the site, a line each."""
    # The page for what is not found has absolute links: it may stand in for any address.
    pages = [path for path in sorted(site.rglob("*.html")) if path.name != "404.html"]
    contents = {path.relative_to(site).as_posix(): _read(path) for path in pages}
    found = []
    for page, own in contents.items():
        found += [f"{page}: {fault}" for fault in own.raw]
        found += [f"{page}: fetches {url}" for url in own.loaded if _is_away(url)]
        for url in {*own.links, *own.loaded}:
            if not _is_away(url):
                found += [f"{page}: {fault}" for fault in _broken(url, page, contents, site)]
    return found


def _broken(url: str, page: str, contents: dict[str, Contents], site: Path) -> list[str]:
    parts = urlsplit(url)
    if parts.path.startswith("/"):
        return [f"{url} holds on one server only"]
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path))) if parts.path else page
    if not (site / target).is_file():
        return [f"{url} leads nowhere"]
    anchor = unquote(parts.fragment)
    if anchor and target in contents and anchor not in contents[target].anchors:
        return [f"{url} names an anchor that is not there"]
    return []


def _is_away(url: str) -> bool:
    return bool(urlsplit(url).scheme or urlsplit(url).netloc)


def _read(path: Path) -> Contents:
    contents = Contents()
    contents.feed(path.read_text(encoding="utf-8"))
    return contents


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]))
    print("\n".join(wrong) or "every link, anchor and picture is there")
    sys.exit(bool(wrong))
