"""Files of the recommended forest from before its trees shared noise: they open, say the same and take new rows."""

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

FILES = Path(__file__).with_name("before_shared_noise")
EXPECTED = json.loads((FILES / "expected.json").read_text())


@pytest.fixture(scope="module")
def rows():
    """Return rows of which some lack values."""
    return pd.read_csv(FILES / "rows.csv")


def fits_of(model):
    """Return the receipts of a model's fits."""
    return [event for event in releases(model.guarantee_.event) if isinstance(event, ObjectivePerturbation)]


def test_every_kind_of_fit_is_there():
    assert {name: said["version"] for name, said in EXPECTED.items()} == {
        "two-stages": 5, "three-classes": 5, "of-people": 5, "updated": 6, "planned-normal": 5
    }  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_a_model_opens_and_predicts_the_same(name, rows):
    model, said = load(FILES / f"{name}.privet"), EXPECTED[name]
    np.testing.assert_array_equal(model.predict_proba(rows[list(model.schema_.names)]), said["probabilities"])
    assert (model.guarantee_.epsilon, model.guarantee_.delta) == (said["epsilon"], said["delta"])
    assert model.noise_std_ == said["noise_std"]
    assert {type(event) for event in fits_of(model)} == {ObjectivePerturbation}
    assert len(fits_of(model)) >= 2


@pytest.mark.parametrize("name", EXPECTED)
def test_a_model_is_written_as_it_was(name, tmp_path):
    path = FILES / f"{name}.privet"
    load(path).save(tmp_path / "again.privet")
    assert read_document(tmp_path / "again.privet") == read_document(path)


@pytest.mark.parametrize("name", EXPECTED)
def test_its_predictor_has_the_same_answers(name, rows):
    model = load(FILES / f"{name}.privet")
    predictor, values = Predictor(portable_document(model)), rows[list(model.schema_.names)].astype(object)
    answers = [predictor.predict_proba(row) for row in values.itertuples(index=False)]
    np.testing.assert_allclose(answers, EXPECTED[name]["probabilities"], rtol=1e-14)


def test_a_model_takes_a_batch_whose_trees_share_noise(rows, tmp_path):
    model, many = load(FILES / "updated.privet"), pd.concat([rows] * 50, ignore_index=True)
    before = fits_of(model)
    model.partial_fit(many[list(model.schema_.names)], np.where(many["age"] > 50, "yes", "no"))
    # Receipts tell which fit had which noise.
    assert fits_of(model)[: len(before)] == before
    assert {type(event) for event in before} == {ObjectivePerturbation}
    assert {type(event) for event in fits_of(model)[len(before) :]} == {KNormObjective}
    model.save(tmp_path / "later.privet")
    again = load(tmp_path / "later.privet")
    assert again.guarantee_ == model.guarantee_
    assert again.guarantee_.epsilon == EXPECTED["updated"]["epsilon"]
    values = rows[list(model.schema_.names)]
    np.testing.assert_array_equal(again.predict_proba(values), model.predict_proba(values))


@pytest.mark.parametrize("name", EXPECTED)
def test_noise_of_their_own_is_not_stated_for_trees_that_share_it(name, tmp_path):
    text = json.dumps(load(FILES / f"{name}.privet").to_document())
    assert '"ObjectivePerturbation"' in text
    renamed = json.loads(text.replace('"ObjectivePerturbation"', '"KNormObjective"'))
    write_document(tmp_path / "m.privet", renamed)
    with pytest.raises(ModelFileError, match="the guarantee is not that of this schema and these trees"):
        load(tmp_path / "m.privet")
