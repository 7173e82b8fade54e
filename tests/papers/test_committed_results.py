"""What is committed of every paper: all of the full scale, and the claims that follow from it."""

from pathlib import Path

import pandas as pd
import pytest

from papers import catalogue

ROOT = Path(catalogue.__file__).parent


def results_of(name):
    return ROOT / catalogue.folder(name) / "results"


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_the_committed_results_are_those_of_the_full_scale(name):
    for experiment in catalogue.paper(name).experiments:
        assert experiment.missing(results_of(name), "full") == [], experiment.name
        assert len(experiment.read(results_of(name), "full")), experiment.name


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_the_committed_claims_follow_from_the_committed_lines(name):
    paper, folder = catalogue.paper(name), results_of(name)
    results = {experiment.name: experiment.read(folder, "full") for experiment in paper.experiments}
    told = pd.read_csv(folder / "claims.csv", dtype=str, keep_default_na=False).to_numpy().tolist()
    assert [list(claim.cells()) for claim in paper.claims(results)] == told
    assert "not measured" not in {line[3] for line in told}


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_a_claim_that_does_not_hold_says_what_is_at_fault_and_how_we_know(name):
    told = pd.read_csv(results_of(name) / "claims.csv", dtype=str, keep_default_na=False)
    failing = told[told["holds?"] == "no"]
    assert len(failing)
    assert set(failing["reason"]) <= {"paper", "protocol", "data set"}
    assert failing["why"].str.len().min() > 20
    assert set(told[told["holds?"] == "yes"]["reason"]) == {""}


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_a_claim_of_ours_is_marked_in_one_way(name):
    folder = results_of(name)
    paper = catalogue.paper(name)
    claims = paper.claims({experiment.name: experiment.read(folder, "full") for experiment in paper.experiments})
    assert any(claim.ours for claim in claims)
    for claim in claims:
        assert claim.ours == (claim.source == "ours")
        assert "ours" not in claim.text.lower().split()
