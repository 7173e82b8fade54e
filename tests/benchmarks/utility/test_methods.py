import numpy as np
import pytest
from tests.contracts.tasks import OF_NUMBERS

from benchmarks.utility.methods import BOOSTING, FOREST, METHODS, NAIVE_BAYES, forest_with
from benchmarks.utility.splits import Split
from privet import registry


@pytest.mark.parametrize("known", [registry.METHODS, registry.LOCAL_METHODS])
def test_every_method_of_privet_is_measured(known):
    settings = [method.setting for method in METHODS.values()]
    for name in set(known) - OF_NUMBERS:  # benchmarks.regression has those
        estimator = known[name]
        assert any(setting.startswith(estimator.__name__) for setting in settings), estimator


@pytest.mark.parametrize("name", [FOREST, NAIVE_BAYES, BOOSTING, "reconstruction tree", "random response forest"])
def test_each_kind_of_method_predicts_every_test_row(toy, name):
    said = METHODS[name].fit(Split("toy", 0), METHODS[name].epsilons[-1])
    assert said.classes.shape == (10,)
    assert set(said.classes) <= {0, 1}
    assert said.chances.sum(axis=1) == pytest.approx(np.ones(10))
    assert said.fit_seconds > 0


def test_a_forest_with_other_parameters_goes_by_a_name_that_says_so(monkeypatch):
    monkeypatch.setattr("benchmarks.utility.methods.METHODS", dict(METHODS))
    assert forest_with({"n_bins": 8, "group_size": 1}) == "private forest, group_size=1, n_bins=8"


def test_a_forest_with_other_constants_is_named_after_them(monkeypatch):
    monkeypatch.setattr("benchmarks.utility.methods.METHODS", dict(METHODS))
    assert forest_with({"n_bins": 8}, {"_ROWS": 180}) == "private forest, _ROWS=180, n_bins=8"
