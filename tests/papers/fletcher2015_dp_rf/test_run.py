from tests.papers.accuracy_lines import lines_of

from papers.fletcher2015_dp_rf.accuracy import BUDGETS, MOST_FREQUENT, PRIVATE, TABLES
from papers.fletcher2015_dp_rf.run import PAPER


def test_the_figure_is_drawn_from_lines_of_one_run(tmp_path):
    lines = lines_of(TABLES, BUDGETS, dict.fromkeys(PRIVATE, 70.0), {MOST_FREQUENT: 60.0})
    (file,) = PAPER.draw({"accuracy": lines}, tmp_path)
    assert file.name == "figure1.png"
    assert 10_000 < file.stat().st_size < 150_000
