"""A number at the command line: from a draft of the schema to predictions and scores."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from privet.cli.app import app

METHOD = "--method private-forest-regressor"


@pytest.fixture
def said(tmp_path, monkeypatch):
    """Return a function that runs a command beside a table of 600 flats."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"area": rng.uniform(20, 200, 600), "kind": rng.choice(["flat", "house"], 600)})
    X.assign(price=1000 * X["area"] + rng.normal(0, 9000, 600)).to_csv("rows.csv", index=False)
    attributes = [
        {"name": "area", "type": "continuous", "bounds": [0, 250]},
        {"name": "kind", "type": "categorical", "categories": ["flat", "house"]},
    ]
    schema = {"target": {"name": "price", "bounds": [0, 250_000]}, "rows": 600, "attributes": attributes}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    return lambda line: CliRunner().invoke(app, line)


def test_a_draft_has_bounds_that_are_marked(said, tmp_path):
    assert said("schema init rows.csv --target price --number -o draft.json").exit_code == 0
    target = json.loads((tmp_path / "draft.json").read_text())["target"]
    assert (target["name"], target["inferred"], len(target["bounds"])) == ("price", True, 2)


def test_a_number_is_fitted_predicted_explained_and_reported(said, tmp_path):
    assert said(f"fit rows.csv --schema schema.json {METHOD} --epsilon 8 -o m.privet --jobs 1").exit_code == 0
    assert said("predict m.privet rows.csv --keep price -o predictions.csv").exit_code == 0
    found = pd.read_csv("predictions.csv")
    assert found["prediction"].between(0, 250_000).all()
    assert np.corrcoef(found["price"], found["prediction"])[0, 1] > 0.8
    explained = json.loads(said("explain m.privet rows.csv --json").stdout)
    assert set(explained) == {"predictions", "columns", "contributions"}
    assert said("report m.privet -o m.html").exit_code == 0
    page = (tmp_path / "m.html").read_text()
    assert "Mean of the target, as released" in page
    assert "Class balance, as released" not in page


def test_scores_of_a_number_are_r2_and_errors(said):
    line = f"evaluate rows.csv --schema schema.json {METHOD} --epsilon 8 --folds 3 --random-state 1 --jobs 1 --json"
    data = json.loads(said(line).stdout)
    assert data["scores"][0]["r2"] > 0.5 > data["mean"]["r2"]
    assert data["scores"][0]["root_mean_squared_error"] < data["mean"]["root_mean_squared_error"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("fit rows.csv --schema schema.json -o m.privet", "the schema's target is a number, and this needs classes"),
        (f"fit rows.csv --schema schema.json {METHOD} --class-weight balanced -o m.privet", "--class-weight is for"),
        (f"evaluate rows.csv --schema schema.json {METHOD} --confusion", "--confusion is about classes"),
        (f"plan --schema schema.json {METHOD} --loss 0.02", "--loss and --reliability are about classes"),
    ],
)
def test_what_is_about_classes_is_refused_in_a_sentence(said, line, why):
    result = said(line)
    assert result.exit_code != 0
    assert why in " ".join(result.stderr.split())
