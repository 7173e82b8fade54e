from tests.papers.accuracy_lines import lines_of

from papers.fletcher2015_dpdf.accuracy import BUDGETS, FOREST, PRIVATE, TABLES
from papers.fletcher2015_dpdf.run import PAPER


def test_both_figures_are_drawn_from_lines_of_one_run(tmp_path):
    lines = lines_of(TABLES, BUDGETS, dict.fromkeys(PRIVATE, 70.0), {FOREST: 90.0})
    files = PAPER.draw({"accuracy": lines}, tmp_path)
    assert [file.name for file in files] == ["figures2_7.png", "sound_forms.png"]
    assert all(10_000 < file.stat().st_size < 150_000 for file in files)
