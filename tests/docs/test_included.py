"""What the site shows of the repository: all of it, or an error with the name of what is missing."""

import csv
from pathlib import Path

import pytest

import privet
from docs.tools import api, argument_index, commands, gallery, included
from papers.catalogue import NAMES

SOURCE = Path(privet.__file__).parent


def test_every_argument_has_a_page_of_its_own_and_a_line_in_the_index():
    pages = [page.page for page in included.arguments()]
    assert len(set(pages)) == len(pages) == len(list(SOURCE.rglob("*.md")))
    (index,) = argument_index.pages().values()
    assert all(f"({page.removeprefix('arguments/')})" in index for page in pages)


def test_an_argument_in_a_new_folder_is_shown_under_its_name(tmp_path, monkeypatch):
    (tmp_path / "news").mkdir()
    (tmp_path / "news" / "why.md").write_text("# Why\n\nBecause.\n")
    monkeypatch.setattr(included, "SOURCE", tmp_path)
    monkeypatch.setattr(included, "ROOT", tmp_path)
    assert included.argument_folders()["news"] == "News"
    assert included.Included("news/why.md", "arguments/why.md", "why") in list(included.arguments())


def test_the_papers_are_those_of_the_catalogue():
    assert included.paper_names() == list(NAMES)


def test_the_page_of_papers_counts_their_claims_right():
    page = (included.ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    for name in NAMES:
        folder = included.ROOT / "papers" / name.replace("-", "_")
        with (folder / "results" / "claims.csv").open(encoding="utf-8", newline="") as file:
            claims = list(csv.DictReader(file))
        ours = [claim for claim in claims if claim["paper"] == "ours"]
        held = [f"{sum(claim['holds?'] == 'yes' for claim in part)} of {len(part)}" for part in (claims, ours)]
        line = next(line for line in page.splitlines() if line.startswith(f"| [{name}]"))
        assert line.split(" | ")[1:3] == held


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(included.BENCHMARKS, "Taste", "benchmarks/taste/results/README.md")
    with pytest.raises(included.MissingPages, match=r"what is not there: .*benchmarks/taste/results/README\.md"):
        included.included_pages()


def test_every_public_name_is_on_one_page():
    names = [name for group in api.GROUPS for name in group.names]
    assert set(privet.__all__) - {"__version__"} <= set(names)
    assert len(names) == len(set(names))


def test_names_are_grouped_by_whom_they_ask_to_trust():
    names = {group.page: group.names for group in api.GROUPS}
    assert "PrivateForestClassifier" in names["curator"]
    assert "RandomizedResponse" in names["nobody"]
    assert "Party" in names["parties"]
    assert {"Schema", "Ledger", "load"} <= set(names["common"])
    assert "BudgetExceeded" in names["errors"]


def test_every_verb_has_its_section_with_an_example():
    page = commands.page()
    for verb in ("fit", "ledger init", "party release", "combine"):
        section = page.split(f" privet {verb}\n")[1].split("\n## ")[0].split("\n### ")[0]
        assert f"```sh\nprivet {verb}" in section
        assert "| `--" in section


def test_every_example_that_draws_is_in_the_gallery(tmp_path):
    (tmp_path / "gallery").mkdir()
    for name in gallery.example_names():
        (tmp_path / "gallery" / f"{name}.png").write_text("x")
    pages = gallery.pages(tmp_path)
    assert len(pages) == 1 + len(gallery.ORDER)
    assert "import PrivateForestClassifier" in pages["gallery/first_forest.md"]


def test_a_picture_that_was_not_drawn_is_named(tmp_path):
    with pytest.raises(included.MissingPages, match=r"build/docs/gallery/first_forest\.png"):
        gallery.pages(tmp_path)
