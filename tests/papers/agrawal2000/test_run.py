from pathlib import Path

from tests.papers.agrawal2000.tables_of_accuracy import lines_of

from papers.agrawal2000 import run
from papers.agrawal2000.means import Means
from papers.agrawal2000.run import PAPER
from papers.agrawal2000.tables import write_tables

RESULTS = Path(run.__file__).with_name("results")


def test_pictures_and_tables_are_drawn_from_lines(tmp_path):
    shapes = run.RECONSTRUCTION.read(RESULTS, "quick")
    files = PAPER.draw({"reconstruction": shapes, "accuracy": lines_of(privacies=(0.25, 1.0))}, tmp_path)
    assert [file.name for file in files] == ["figure2.png", "figure5.png", "figure6.png", "tables.md"]
    assert all(file.stat().st_size for file in files)


def test_tables_give_one_line_for_each_function_and_privacy(tmp_path):
    text = write_tables(Means(lines_of(privacies=(0.25, 1.0))), tmp_path).read_text(encoding="utf-8")
    assert text.startswith("# Accuracy in per cent by function, noise and privacy: one run")
    assert text.count("\n| F") == 2 * 5 * 2
    assert "| F3 | 25% | 95.0 | 80.0 | 94.0 | 94.0 | 94.0 |" in text
