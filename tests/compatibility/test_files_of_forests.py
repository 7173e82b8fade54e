"""Files of the recommended forest of every kind so far: they open, say the same and are written again as they were.

Before its numbers were soft (versions 2, 3 and 4), before its trees shared noise, and with noise that they share.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privet import load
from privet.errors import ModelFileError
from privet.export import portable_document
from privet.export.predictor import Predictor
from privet.model_file import read_document, write_document
from privet.privacy.events import KNormObjective, ObjectivePerturbation, releases

HERE = Path(__file__).parent
FOLDERS = ("before_soft_trees", "before_shared_noise", "shared_noise")
EXPECTED = {folder: json.loads((HERE / folder / "expected.json").read_text()) for folder in FOLDERS}
FILES = [(folder, name) for folder, said in EXPECTED.items() for name in said]


def opened(folder, name):
    """Return a model, what it said when it was written, and rows of which some lack values."""
    model, rows = load(HERE / folder / f"{name}.privet"), pd.read_csv(HERE / folder / "rows.csv")
    return model, EXPECTED[folder][name], rows[list(model.schema_.names)]


def fits_of(model):
    """Return the receipts of a model's fits."""
    return [event for event in releases(model.guarantee_.event) if isinstance(event, ObjectivePerturbation)]


def test_every_kind_of_file_is_there():
    assert {folder: {name: own["version"] for name, own in said.items()} for folder, said in EXPECTED.items()} == {
        "before_soft_trees": {
            "counts-of-three": 2, "counts-of-two": 3, "cells": 4, "chosen": 4, "normal-noise": 3
        },
        "before_shared_noise": {
            "two-stages": 5, "three-classes": 5, "of-people": 5, "updated": 6, "planned-normal": 5
        },
        "shared_noise": {"two-classes": 5, "three-classes": 5},
    }  # fmt: skip


@pytest.mark.parametrize(("folder", "name"), FILES)
def test_a_model_opens_and_predicts_the_same(folder, name):
    model, said, rows = opened(folder, name)
    np.testing.assert_array_equal(model.predict_proba(rows), said["probabilities"])
    assert (model.guarantee_.epsilon, model.guarantee_.delta) == (said["epsilon"], said["delta"])
    kind = KNormObjective if folder == "shared_noise" else ObjectivePerturbation
    assert {type(event) for event in fits_of(model)} <= {kind}
    if folder != "before_soft_trees":
        assert len(fits_of(model)) >= 2
    if "noise_std" in said:
        assert model.noise_std_ == said["noise_std"]


@pytest.mark.parametrize(("folder", "name"), FILES)
def test_a_model_is_written_as_it_was(folder, name, tmp_path):
    path = HERE / folder / f"{name}.privet"
    load(path).save(tmp_path / "again.privet")
    assert read_document(tmp_path / "again.privet") == read_document(path)


@pytest.mark.parametrize(("folder", "name"), FILES)
def test_its_predictor_has_the_same_answers(folder, name):
    model, said, rows = opened(folder, name)
    document = portable_document(model)
    if folder == "before_soft_trees":
        assert document["version"] == 3
    answers = [Predictor(document).predict_proba(row) for row in rows.astype(object).itertuples(index=False)]
    np.testing.assert_allclose(answers, said["probabilities"], rtol=1e-14)


def test_an_earlier_model_takes_a_batch_whose_trees_share_noise(tmp_path):
    model, said, rows = opened("before_shared_noise", "updated")
    many, before = pd.concat([rows] * 50, ignore_index=True), fits_of(model)
    model.partial_fit(many, np.where(many["age"] > 50, "yes", "no"))
    # Receipts tell which fit had which noise.
    assert fits_of(model)[: len(before)] == before
    assert {type(event) for event in before} == {ObjectivePerturbation}
    assert {type(event) for event in fits_of(model)[len(before) :]} == {KNormObjective}
    model.save(tmp_path / "later.privet")
    again = load(tmp_path / "later.privet")
    assert again.guarantee_ == model.guarantee_
    assert again.guarantee_.epsilon == said["epsilon"]
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))


@pytest.mark.parametrize("name", EXPECTED["before_shared_noise"])
def test_noise_of_their_own_is_not_stated_for_trees_that_share_it(name, tmp_path):
    text = json.dumps(opened("before_shared_noise", name)[0].to_document())
    assert '"ObjectivePerturbation"' in text
    renamed = json.loads(text.replace('"ObjectivePerturbation"', '"KNormObjective"'))
    write_document(tmp_path / "m.privet", renamed)
    with pytest.raises(ModelFileError, match="the guarantee is not that of this schema and these trees"):
        load(tmp_path / "m.privet")
