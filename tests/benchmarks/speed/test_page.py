import csv
from dataclasses import replace

import pytest

from benchmarks.speed import machine, page
from benchmarks.speed.curve import Curve
from benchmarks.speed.harness import Bar, not_run
from benchmarks.speed.results import Group, Results

POINTS = ((1e3, 0.001), (2e3, 0.002), (4e3, 0.004))
RESULTS = Results(
    {"processor": "a slow one", "cores": "2", "Python": "3.11"},
    "python -m benchmarks.speed.run --full",
    (
        Group(
            "Fitting",
            "Both fit ``float32``.",
            (
                Bar("fit 1,000,000 rows, RandomForest", 400.0, 120.0, ours="0.4 s", theirs="160 s"),
                Bar("fit | slowly", 3.0, 5.0, ours="1 s", theirs="3 s"),
                Bar("fit, no bar", 2.0, None),
            ),
        ),
        Group("Memory", "A file.", (not_run("peak", 400.0, "not run: add --full", unit="MB", at_least=False),)),
    ),
    (
        Curve("fit", "rows", "10 trees", POINTS, 1.0),
        Curve("fit", "classes", "10 trees", POINTS, 2.0, note="every two classes"),
        Curve("peak", "rows", "10 trees", tuple((n, 300.0) for n, _ in POINTS), 0.0, unit="MB", allowance=0.05),
    ),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    RESULTS.save(folder)
    page.render(RESULTS, folder, folder / "images" / "speed.png")
    return folder


def test_results_read_back_as_they_were(folder):
    assert Results.load(folder) == RESULTS


def test_the_page_says_what_holds_what_does_not_and_what_was_not_run():
    text = page.text_of(RESULTS)
    assert "**1 of 2 bars hold.** 3 of 3 growth exponents hold. What does not: fit | slowly: 3 x" in text
    assert "3 x, target >= 5 x. Not run: 1." in text
    assert "| fit 1,000,000 rows, RandomForest | 0.4 s | 160 s | 400 x | >= 120 x | holds |" in text
    assert "| fit, no bar |  |  | 2 x |  | no bar |" in text
    assert "| peak |  |  |  | <= 400 MB | not run: add --full |" in text


def test_a_bar_in_a_name_does_not_end_a_cell():
    assert "| fit \\| slowly | 1 s | 3 s | 3 x | >= 5 x | DOES NOT HOLD |" in page.text_of(RESULTS)


def test_the_page_says_how_it_was_measured():
    text = page.text_of(RESULTS)
    assert "`python -m benchmarks.speed.run --full` on: processor a slow one, cores 2, Python 3.11." in text
    assert "Both fit `float32`." in text


def test_growth_stands_with_its_exponents_and_reasons():
    text = page.text_of(RESULTS)
    assert "| fit | rows (10 trees) | 1,000: 1 ms | 4,000: 4 ms | 1.00 ± 0.00 | <= 1.15 | holds |" in text
    assert "- fit over classes: every two classes" in text
    assert "## Growth" not in page.text_of(replace(RESULTS, curves=()))


def test_pictures_and_tables_are_written_beside_the_page(folder):
    for name in ("bars.png", "growth.png", "images/speed.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    with (folder / "bars.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["holds"] for line in lines] == ["holds", "DOES NOT HOLD", "no bar", "not run: add --full"]
    with (folder / "growth.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 9


def test_links_of_the_page_lead_to_files(folder):
    text = (folder / "README.md").read_text(encoding="utf-8")
    for name in ("bars.png", "growth.png", "bars.csv", "growth.csv", "speed.json"):
        assert f"({name})" in text
        assert (folder / name).exists()


def test_the_readme_keeps_its_picture_where_a_run_has_no_ratio_to_show(tmp_path):
    page.render(replace(RESULTS, groups=RESULTS.groups[1:]), tmp_path, tmp_path / "speed.png")
    assert not (tmp_path / "speed.png").exists()


def test_the_machine_is_described_without_its_name_or_a_path():
    import platform

    facts = machine.described()
    assert {"processor", "cores", "memory", "Python", "numpy", "privet", "peers"} <= set(facts)
    assert not any("/" in value or value == platform.node() for value in facts.values())
