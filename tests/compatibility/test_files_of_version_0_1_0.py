"""Files that version 0.1.0 wrote open as they did then, and say the same."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privet import (
    Channel,
    HorizontalForest,
    Ledger,
    PrivateRDTClassifier,
    Schema,
    Secret,
    VerticalForest,
    load,
    perturb,
)
from privet.partitioned import Release, Roster, SplitStructure, Structure

FILES = Path(__file__).with_name("version_0_1_0")
EXPECTED = json.loads((FILES / "expected.json").read_text())
MODELS = sorted(path.stem for path in (FILES / "models").iterdir())
CHANNELS = sorted(path.name.removesuffix(".channel.json") for path in (FILES / "channels").glob("*.channel.json"))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_opens_and_predicts_the_same(name):
    model = load(FILES / "models" / f"{name}.privet")
    assert model.method == EXPECTED[name]["method"]
    np.testing.assert_array_equal(model.predict_proba(pd.read_csv(FILES / "rows.csv")), EXPECTED[name]["probabilities"])


@pytest.mark.parametrize("name", MODELS)
def test_a_model_states_the_same_epsilon(name):
    then = EXPECTED[name]["guarantee"]
    guarantee = load(FILES / "models" / f"{name}.privet").guarantee_
    if "epsilon = " in then:
        assert f"epsilon = {then.split('epsilon = ')[1].split()[0].rstrip('.,;:')}" in str(guarantee)
    else:
        assert "epsilon = " not in str(guarantee)


@pytest.mark.parametrize("name", CHANNELS)
def test_a_channel_and_a_secret_give_the_answers_that_they_gave(name, tmp_path):
    secret = shutil.copy(FILES / "channels" / f"{name}.secret", tmp_path)
    people = pd.read_csv(FILES / "labelled.csv").assign(id=range(60))
    channel = Channel.load(FILES / "channels" / f"{name}.channel.json")
    answers = perturb(people, channel, Secret(secret), person="id")
    pd.testing.assert_frame_equal(
        pd.read_csv(FILES / "channels" / f"{name}.answers.csv"),
        pd.DataFrame(answers).infer_objects(),
        check_dtype=False,
        check_exact=True,
    )


def test_releases_of_parties_combine_to_the_model_that_they_made():
    folder = FILES / "parties"
    roster = Roster.load(folder / "roster.json")
    releases = [Release.load(folder / f"{name}.release.json") for name in ("bank", "clinic", "mill")]
    halves = [Release.load(folder / f"{name}.half.json") for name in ("bank", "clinic")]
    rows = pd.read_csv(FILES / "rows.csv")
    for name, model in {
        "horizontal": HorizontalForest.combine(Structure.load(folder / "structure.json"), roster, releases),
        "vertical": VerticalForest.combine(
            SplitStructure.from_json(json.loads((folder / "split.json").read_text())), roster, halves
        ),
    }.items():
        np.testing.assert_array_equal(model.predict_proba(rows), EXPECTED[name]["probabilities"])


def test_a_ledger_remembers_what_was_spent_and_takes_new_fits(tmp_path):
    path = shutil.copy(FILES / "ledger.db", tmp_path)
    ledger = Ledger(path, dataset="survey")
    assert ledger.left == EXPECTED["ledger"]["left"]
    rows = pd.read_csv(FILES / "labelled.csv")
    schema = Schema.load(FILES / "schema.json")
    PrivateRDTClassifier(schema, epsilon=0.25, n_trees=2, height=1, ledger=ledger).fit(
        rows[list(schema.names)], rows["smoker"]
    )
    assert ledger.left == EXPECTED["ledger"]["left"] - 0.25
