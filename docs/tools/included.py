"""Which files of the repository are pages of the site, beside those in docs/. Nothing is copied by hand."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "privet"
BENCHMARKS = {
    "Utility": "benchmarks/utility/results/README.md",
    "Regression": "benchmarks/regression/README.md",
    "Advice": "benchmarks/advice/results/README.md",
    "Speed": "benchmarks/speed/results/README.md",
    "Local": "benchmarks/local/README.md",
    "Local frequency oracles": "benchmarks/local/oracles.md",
    "Load": "benchmarks/load/results/README.md",
    "What was tried": "benchmarks/forest_tuning.md",
}
# Where arguments are, in the order in which a reader meets them.
ARGUMENT_FOLDERS = {
    "central": "Estimators of a trusted curator",
    "central/updates": "New rows, batch by batch",
    "local/channels": "Records that are disturbed before they leave",
    "local/channels/sampling": "One question of many",
    "local/sampled_forest": "A forest from answers to one question of many",
    "local/planning": "What answers would tell, before anybody is asked",
    "local/reconstruction": "Trees from reconstructed distributions",
    "local/response_forest": "Forests from random responses",
    "partitioned": "Several parties",
    "partitioned/secure_sum": "A sum that opens as a whole",
    "partitioned/tables": "Class tables and a Newton step, summed by parties",
    "signing": "Signatures of models",
    "privacy/mechanisms": "Mechanisms",
    "privacy/ledger": "The ledger",
    "service/collect": "A server that collects answers",
    "service/gateway": "A gateway for analysts",
    "attack": "Attacks",
    "counting/engines": "Counting",
    "export": "Exports",
}


class MissingPages(Exception):
    """Files that the site is to show are not in the repository."""

    def __init__(self, missing: Sequence[str]) -> None:
        super().__init__(f"the site is to show what is not there: {', '.join(missing)}; make it, or take it off")


@dataclass(frozen=True)
class Included:
    """A file of the repository that is a page of the site.

    Parameters
    ----------
    source
        Where it is in the repository.
    page
        Where it stands among the site's pages.
    title
        What the navigation calls it.
    """

    source: str
    page: str
    title: str

    @property
    def text(self) -> str:
        """What the file says."""
        return (ROOT / self.source).read_text(encoding="utf-8")


SINGLE = (
    Included("CHANGELOG.md", "changelog.md", "Changelog"),
    Included("CONTRIBUTING.md", "contributing.md", "Contributing"),
    Included("SECURITY.md", "security.md", "Security"),
)


def included_pages() -> list[Included]:
    """Return every page, or name the files that are missing."""
    pages = [*SINGLE, *arguments(), *papers(), *benchmarks()]
    missing = [page.source for page in pages if not (ROOT / page.source).is_file()]
    if missing:
        raise MissingPages(missing)
    return pages


def arguments() -> Iterator[Included]:
    """Yield the argument beside every piece of code that has one, folder by folder."""
    for folder in argument_folders():
        for path in sorted((SOURCE / folder).glob("*.md")):
            name = path.parent.name if path.stem == "README" else path.stem
            yield Included(str(path.relative_to(ROOT)), f"arguments/{name}.md", name)


def argument_folders() -> dict[str, str]:
    """Return the headings of all folders with arguments; one that is not known yet comes last, by its own name."""
    found = {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.md")}
    return {**ARGUMENT_FOLDERS, **{folder: folder.capitalize() for folder in sorted(found - set(ARGUMENT_FOLDERS))}}


def papers() -> Iterator[Included]:
    """Yield, for each paper in the catalogue, its own page, its claims and what other pages its results have."""
    for name in paper_names():
        folder = f"papers/{name.replace('-', '_')}"
        yield Included(f"{folder}/README.md", f"papers/{name}/index.md", name)
        found = {path.stem for path in (ROOT / folder / "results").glob("*.md")}
        for stem in ["claims", *sorted(found - {"claims"})]:
            yield Included(f"{folder}/results/{stem}.md", f"papers/{name}/{stem}.md", f"{name}: {stem}")


def paper_names() -> list[str]:
    """Return the catalogue's names. It is read, not imported: pandas is not needed to write a page."""
    for node in ast.parse((ROOT / "papers" / "catalogue.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "NAMES":
            return list(ast.literal_eval(node.value))
    raise MissingPages(["NAMES in papers/catalogue.py"])


def benchmarks() -> Iterator[Included]:
    """Yield the pages of measurements."""
    for title, source in BENCHMARKS.items():
        yield Included(source, f"benchmarks/{title.lower().replace(' ', '_')}.md", title)


def heading_of(text: str) -> str | None:
    """Return the heading that a text begins with, if it does."""
    found = re.match(r"\s*# (.+)", text)
    return found[1] if found else None
