"""A file holds the parameters that a model was fitted with, as plain values, and a loaded model keeps to them."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet import DPDFClassifier, DPRFClassifier, Ledger, load
from privet.datasets import agrawal
from privet.errors import NoGuaranteeWarning
from privet.registry import METHODS
from tests.contracts.tasks import answers, data_for

DATA = agrawal(300, random_state=5)
GIVEN = {"n_trees": 2, "height": 2, "min_support": 5}


@pytest.fixture(params=sorted(METHODS))
def method(request):
    return METHODS[request.param]


def given(method, kind):
    return {name: kind(value) for name, value in GIVEN.items() if name in method().get_params()}


def test_numpys_integers_can_be_saved_and_settled(method, tmp_path):
    ledger, data = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1), data_for(method.method, DATA)
    model = method(data.schema, epsilon=1, ledger=ledger, **given(method, np.int64)).fit(data.X, data.y)
    model.save(tmp_path / "model.privet")
    assert ledger.spent == 1.0
    assert_array_equal(answers(load(tmp_path / "model.privet"), DATA.X), answers(model, DATA.X))


def test_parameters_set_after_the_fit_do_not_change_the_file(method, tmp_path):
    data = data_for(method.method, DATA)
    model = method(data.schema, epsilon=1, **given(method, int)).fit(data.X, data.y)
    model.set_params(**dict.fromkeys(given(method, int), 3))
    model.save(tmp_path / "model.privet")
    assert_array_equal(answers(load(tmp_path / "model.privet"), DATA.X), answers(model, DATA.X))


def test_another_vote_set_after_the_fit_does_not_change_the_file(tmp_path):
    model = DPRFClassifier(DATA.schema, epsilon=1).fit(DATA.X, DATA.y).set_params(vote="sum")
    model.save(tmp_path / "model.privet")
    assert_array_equal(answers(load(tmp_path / "model.privet"), DATA.X), answers(model, DATA.X))


def test_a_loaded_model_that_promised_nothing_does_not_drop_its_noise(method, tmp_path):
    data = data_for(method.method, DATA)
    seeded = method(data.schema, epsilon=1, unsafe_seeded_noise=True, random_state=3).fit(data.X, data.y)
    seeded.save(tmp_path / "model.privet")
    again = load(tmp_path / "model.privet")
    assert again.epsilon == pytest.approx(1.0)
    assert again.unsafe_seeded_noise
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoGuaranteeWarning)
        DPDFClassifier(DATA.schema, epsilon=1, variant="paper").fit(DATA.X, DATA.y).save(tmp_path / "paper.privet")
    assert load(tmp_path / "paper.privet").epsilon == pytest.approx(1.0)
