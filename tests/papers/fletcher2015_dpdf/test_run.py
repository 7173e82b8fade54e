from pathlib import Path

import pandas as pd
import pytest
from tests.papers.accuracy_lines import lines_of

from papers.fletcher2015_dpdf import run
from papers.fletcher2015_dpdf.accuracy import BUDGETS, FOREST, PRIVATE, TABLES
from papers.fletcher2015_dpdf.run import PAPER

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


def test_both_figures_are_drawn_from_lines_of_one_run(tmp_path):
    lines = lines_of(TABLES, BUDGETS, dict.fromkeys(PRIVATE, 70.0), {FOREST: 90.0})
    files = PAPER.draw({"accuracy": lines}, tmp_path)
    assert [file.name for file in files] == ["figures2_7.png", "sound_forms.png"]
    assert all(10_000 < file.stat().st_size < 150_000 for file in files)
