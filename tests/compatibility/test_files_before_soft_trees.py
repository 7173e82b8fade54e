"""Files of the recommended forest from before its numbers were soft: versions 2, 3 and 4 open and say the same."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privet import load
from privet.export import portable_document
from privet.export.predictor import Predictor
from privet.model_file import read_document

FILES = Path(__file__).with_name("before_soft_trees")
EXPECTED = json.loads((FILES / "expected.json").read_text())


@pytest.fixture(scope="module")
def rows():
    """Return rows of which some lack values, also one that is never missing."""
    return pd.read_csv(FILES / "rows.csv")


def test_every_earlier_version_is_there():
    assert {name: said["version"] for name, said in EXPECTED.items()} == {
        "counts-of-three": 2, "counts-of-two": 3, "cells": 4, "chosen": 4, "normal-noise": 3
    }  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_a_model_opens_and_predicts_the_same(name, rows):
    model, said = load(FILES / f"{name}.privet"), EXPECTED[name]
    np.testing.assert_array_equal(model.predict_proba(rows[list(model.schema_.names)]), said["probabilities"])
    assert (model.guarantee_.epsilon, model.guarantee_.delta) == (said["epsilon"], said["delta"])


@pytest.mark.parametrize("name", EXPECTED)
def test_a_model_is_written_as_it_was(name, tmp_path):
    path = FILES / f"{name}.privet"
    load(path).save(tmp_path / "again.privet")
    assert read_document(tmp_path / "again.privet") == read_document(path)


@pytest.mark.parametrize("name", EXPECTED)
def test_its_predictor_has_the_version_that_it_had_and_the_same_answers(name, rows):
    model = load(FILES / f"{name}.privet")
    document = portable_document(model)
    assert document["version"] == 3
    predictor, values = Predictor(document), rows[list(model.schema_.names)].astype(object)
    answers = [predictor.predict_proba(row) for row in values.itertuples(index=False)]
    np.testing.assert_allclose(answers, EXPECTED[name]["probabilities"], rtol=1e-14)
