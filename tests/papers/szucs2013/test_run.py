from pathlib import Path

from papers.szucs2013 import run
from papers.szucs2013.run import PAPER

RESULTS = Path(run.__file__).with_name("results")


def test_a_picture_is_drawn_for_every_table_that_was_measured(tmp_path):
    results = {experiment.name: experiment.read(RESULTS, "full") for experiment in PAPER.experiments}
    forest = results["forest"]
    files = PAPER.draw({**results, "forest": forest[forest["table"] == "adult"]}, tmp_path)
    assert [file.name for file in files] == ["figure1.png", "figure2_adult.png"]
    assert all(file.stat().st_size for file in files)
