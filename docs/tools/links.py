"""Links between files of the repository, turned into links between pages of the site.

A file here links to others by where they are in the repository, so that it reads well there. On the site the same links
lead to pages; what is no page of the site, such as code or a table of measurements, stands as code.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PICTURES = (".png", ".svg")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_TOKEN = re.compile(
    r"(?P<link>(?P<bang>!?)\[(?P<text>(?:`[^`]*`|!\[[^\]]*\]\([^()\s]+\)|[^\[\]`])*)\]\((?P<target>[^()\s]+)\))"
    r"|(?P<source><img[^>]*?\bsrc=\"(?P<picture>[^\"]+)\")"
    r"|`(?P<code>[^`\n]+)`"
    r"|(?<![\w/.-])(?P<bare>[\w/]+\.md)\b"
    r"|(?P<angle><(?!/?(?:a|b|br|div|figure|figcaption|img|p|picture|source|sub|sup)\b[^<>,]*>|https?:|!--)(?=[A-Za-z/!]))"
)
_STARTS_A_BLOCK = re.compile(r"([-*+] |\d+\. |\|)")


class BrokenLink(Exception):
    """A file links to what is not there."""

    def __init__(self, source: str, target: str) -> None:
        super().__init__(f"{source} links to {target!r}, which is not there; mend the link, or make the file")


@dataclass(frozen=True)
class Links:
    """Where files of the repository are on the site.

    Parameters
    ----------
    root
        The repository.
    pages
        The site's page of each file that is one, both as paths with slashes.
    """

    root: Path
    pages: Mapping[str, str]

    def rewritten(self, text: str, source: str) -> str:
        """Return the text of the file ``source`` with links that hold on its page of the site."""
        parts, at = [], 0
        for fence in _FENCE.finditer(text):
            parts += [self._outside_fences(text[at : fence.start()], source), fence[0]]
            at = fence.end()
        return "".join([*parts, self._outside_fences(text[at:], source)])

    def pictures(self, text: str, source: str) -> Iterator[str]:
        """Yield the pictures of the repository that a file shows."""
        for token in _TOKEN.finditer(_FENCE.sub("", text)):
            target = token["picture"] or (token["target"] if token["bang"] else None)
            if target and not _leads_away(target):
                yield self._resolved(target, source)
            elif token["text"] and token["text"].startswith("!["):
                yield from self.pictures(token["text"], source)

    def place_of(self, path: str) -> str | None:
        """Return where a file of the repository stands on the site, if it does."""
        if path in self.pages:
            return self.pages[path]
        for index in ("README.md", "index.md"):
            if f"{path}/{index}" in self.pages:
                return self.pages[f"{path}/{index}"]
        if path.startswith("docs/"):
            return path.removeprefix("docs/")
        return f"pictures/{path}" if path.endswith(PICTURES) else None

    def _outside_fences(self, text: str, source: str) -> str:
        return _TOKEN.sub(lambda token: self._token(token, source), _with_blank_lines(text))

    def _token(self, token: re.Match[str], source: str) -> str:
        if _in_indented_code(token):
            return token[0]
        if token["angle"]:  # a "smaller than" in front of a letter, and no tag
            return "&lt;"
        if token["link"]:
            return self._link(token, source)
        if token["source"]:
            return token[0].replace(token["picture"], self._target(token["picture"], source) or token["picture"])
        named = token["code"] or token["bare"]
        place = self._named(named, source)
        if place is None:
            return token[0]
        return f"[{token[0]}]({_relative(place, self.pages[source])})"

    def _link(self, token: re.Match[str], source: str) -> str:
        target = self._target(token["target"], source)
        text = token["text"]
        if text.startswith("!["):  # a picture that is a link
            text = _TOKEN.sub(lambda picture: self._token(picture, source), text)
        if target is not None:
            return f"{token['bang']}[{text}]({target})"
        return text if "`" in text or text.startswith("![") else f"`{text}`"

    def _target(self, target: str, source: str) -> str | None:
        """Return what a link on the page is to lead to, or None where the site has no such page."""
        if _leads_away(target):
            return target
        path, hash_, anchor = target.partition("#")
        if not path:
            return target
        place = self.place_of(self._resolved(path, source))
        return None if place is None else f"{_relative(place, self.pages[source])}{hash_}{anchor}"

    def _resolved(self, target: str, source: str) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target.partition("#")[0]))
        if path.startswith("..") or not (self.root / path).exists():
            raise BrokenLink(source, target)
        return path

    def _named(self, name: str, source: str) -> str | None:
        """Return the page of a file that the text merely names: by its path, or an argument by its file's name."""
        if not name.endswith(".md"):
            return None
        beside = posixpath.join(posixpath.dirname(source), name)
        found = {path for path in self.pages if path in (name, beside)}
        if not found and "/" not in name:
            found = {path for path in self.pages if path.startswith("src/") and posixpath.basename(path) == name}
        found.discard(source)
        return self.pages[found.pop()] if len(found) == 1 else None


def _relative(place: str, page: str) -> str:
    return posixpath.relpath(place, posixpath.dirname(page) or ".")


def _leads_away(target: str) -> bool:
    return re.match(r"[a-z]+:", target) is not None


def _in_indented_code(token: re.Match[str]) -> bool:
    return token.string.startswith("    ", token.string.rfind("\n", 0, token.start()) + 1)


def _with_blank_lines(text: str) -> str:
    """Part lists and tables from the paragraph before them, which Python-Markdown asks for and other readers do not."""
    lines: list[str] = []
    for line in text.split("\n"):
        before = lines[-1] if lines else ""
        goes_on = not before.strip() or before[0] in " #|" or _STARTS_A_BLOCK.match(before)
        if _STARTS_A_BLOCK.match(line) and not goes_on and not _in_list(lines):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def _in_list(lines: list[str]) -> bool:
    """Return whether the last lines, back to a blank one, begin as a list."""
    start = len(lines)
    while start and lines[start - 1].strip():
        start -= 1
    return any(_STARTS_A_BLOCK.match(line) for line in lines[start:])
