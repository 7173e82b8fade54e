from pathlib import Path

import pandas as pd
import pytest

from papers.szucs2013 import run
from papers.szucs2013.run import PAPER

RESULTS = Path(run.__file__).with_name("results")


@pytest.mark.parametrize("experiment", PAPER.experiments, ids=lambda experiment: experiment.name)
def test_the_committed_results_are_those_of_the_full_scale(experiment):
    assert experiment.missing(RESULTS, "full") == []
    assert len(experiment.read(RESULTS, "full"))


def test_the_committed_claims_follow_from_the_committed_lines():
    results = {experiment.name: experiment.read(RESULTS, "full") for experiment in PAPER.experiments}
    told = pd.read_csv(RESULTS / "claims.csv", dtype=str, keep_default_na=False).to_numpy().tolist()
    assert [list(claim.cells()) for claim in PAPER.claims(results)] == told
    assert "not measured" not in {line[3] for line in told}


def test_a_picture_is_drawn_for_every_table_that_was_measured(tmp_path):
    results = {experiment.name: experiment.read(RESULTS, "full") for experiment in PAPER.experiments}
    forest = results["forest"]
    files = PAPER.draw({**results, "forest": forest[forest["table"] == "adult"]}, tmp_path)
    assert [file.name for file in files] == ["figure1.png", "figure2_adult.png"]
    assert all(file.stat().st_size for file in files)
