"""What mkdocs calls while it builds the site: pages of the repository join those in docs/, and links hold."""

import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# A hook is loaded by its path, and the tools beside it by their names.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from docs.tools import api, argument_index, gallery
from docs.tools.included import ROOT, Included, MissingPages, heading_of, included_pages
from docs.tools.links import BrokenLink, Links

# What `make docs` makes beforehand, with privet at hand.
MADE = ROOT / "build" / "docs"
# Places of the repository that a generated page stands for.
_FOLDERS = {"examples": "gallery/index.md", "src/privet": "arguments/index.md", "papers": "papers.md"}


class Site:
    """The pages that are not in docs/: what is included from the repository, and what is generated."""

    def __init__(self, files: Files) -> None:
        self.included = {page.page: page for page in included_pages()}
        self.generated = {
            **argument_index.pages(), **gallery.pages(MADE), **api.pages(),
            "commands.md": (MADE / "commands.md").read_text(encoding="utf-8"),
        }  # fmt: skip
        self.own = {f"docs/{file.src_uri}": file.src_uri for file in files.documentation_pages()}
        scripts = {f"examples/plot_{name}.py": f"gallery/{name}.md" for name in gallery.example_names()}
        sources = {page.source: page.page for page in self.included.values()}
        self.links = Links(ROOT, {**self.own, **scripts, **sources, **_FOLDERS, "README.md": "index.md"})

    def pictures(self) -> dict[str, Path]:
        """Return the pictures that pages show and docs/ does not have, by their places."""
        found = {f"gallery/{path.name}": path for path in (MADE / "gallery").glob("*.png")}
        sources = [page.source for page in self.included.values()]
        for source in [*self.own, *sources]:
            for picture in self.links.pictures((ROOT / source).read_text(encoding="utf-8"), source):
                place = self.links.place_of(picture)
                if place is not None and not picture.startswith("docs/"):
                    found[place] = ROOT / picture
        return found

    def rewritten(self, text: str, file: File) -> str:
        """Return a page's text with links that hold, and with a heading."""
        own = self.included.get(file.src_uri)
        if file.src_uri in self.generated:
            return text
        text = self.links.rewritten(text, own.source if own else f"docs/{file.src_uri}")
        return f"# {own.title}\n\n{text}" if own and heading_of(text) is None else text


_sites: list[Site] = []


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add pages and pictures, and put them into the navigation."""
    try:
        site = Site(files)
        pictures = site.pictures()
    except (MissingPages, BrokenLink, FileNotFoundError) as error:
        raise PluginError(str(error)) from None
    _sites[:] = [site]
    for place, text in site.generated.items():
        files.append(File.generated(config, place, content=text))
    for page in site.included.values():
        files.append(File.generated(config, page.page, abs_src_path=str(ROOT / page.source)))
    for place, path in pictures.items():
        files.append(File.generated(config, place, abs_src_path=str(path)))
    config.nav = _expanded(config.nav, list(site.generated), list(site.included.values()))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Return a page's text as the site shows it."""
    try:
        return _sites[0].rewritten(markdown, page.file)
    except BrokenLink as error:
        raise PluginError(str(error)) from None


def _expanded(nav: Any, generated: list[str], included: list[Included]) -> Any:
    """Put pages where the navigation names their folder."""
    if isinstance(nav, list):
        return [_expanded(entry, generated, included) for entry in nav]
    if isinstance(nav, dict):
        return {title: _expanded(entry, generated, included) for title, entry in nav.items()}
    if not nav.endswith("/"):
        return nav
    titled = [{page.title: page.page} for page in included if page.page.startswith(nav)]
    return [*(page for page in generated if page.startswith(nav)), *titled]
