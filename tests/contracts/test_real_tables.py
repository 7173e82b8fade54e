"""Private-RDT on the UCI tables, as a user would run it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold, cross_val_score

import privet
from privet import PrivateRDTClassifier
from privet.datasets import UCI_NAMES


@pytest.mark.parametrize("name", sorted(UCI_NAMES))
def test_every_table_is_fitted_saved_and_questioned(name, uci_table, tmp_path):
    data = uci_table(name)
    model = PrivateRDTClassifier(data.schema, epsilon=1.0, random_state=0).fit(data.X, data.y)
    assert model.guarantee_.epsilon == 1.0
    assert model.guarantee_.leaks == ()
    model.save(tmp_path / "m.privet.gz")
    some = data.X[:500]
    probabilities = privet.load(tmp_path / "m.privet.gz").predict_proba(some)
    assert_array_equal(probabilities, model.predict_proba(some))
    assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.isfinite(model.feature_importances_).all()


@pytest.mark.parametrize(("name", "least"), [("nursery", 0.80), ("mushroom", 0.87)])
def test_accuracy_at_epsilon_1_is_far_above_guessing_and_at_a_hundredth_it_is_not(name, least, uci_table):
    data = uci_table(name)

    def accuracy(epsilon):
        folds = KFold(5, shuffle=True, random_state=0)
        return cross_val_score(PrivateRDTClassifier(data.schema, epsilon=epsilon), data.X, data.y, cv=folds).mean()

    assert accuracy(1.0) > least
    assert accuracy(0.01) < accuracy(1.0) - 0.05
