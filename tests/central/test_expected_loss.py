"""What a plan of the recommended forest expects noise to cost."""

import csv
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.advice.fit_loss import CONSTANTS, fitted
from benchmarks.advice.measure_loss import read
from privet import Categorical, Numeric, PrivateForestClassifier, Schema
from privet.central.forest_plan import CURVE, ExpectedLoss, expected_loss
from privet.errors import ParameterError

SCHEMA = Schema([Numeric("age", 0, 100), Categorical("job", ["nurse", "cook"])], classes=["no", "yes"])


def test_the_loss_by_hand():
    # 7,000 rows at epsilon 1, 14 attributes, 2 classes: x = 500, (500 / 0.191)^0.434 = 30.44, 0.757 / 2 / 31.44.
    loss = expected_loss(7_000, 1.0, 14, 2)
    assert loss.mean == pytest.approx(0.01204, abs=1e-5)
    assert (loss.low, loss.high) == pytest.approx((0.102 * loss.mean, 2.63 * loss.mean))
    assert str(loss) == "about 1.2 points of accuracy (0.12 to 3.2 on 8 of 10 tables)"
    assert str(ExpectedLoss(0.01, 0.001, 0.026)) == "about 1 point of accuracy (0.1 to 2.6 on 8 of 10 tables)"
    # Four classes: x = 7000 / (14 * 3^2.1) = 49.78, (49.78 / 0.191)^0.434 = 11.18, 0.757 * 0.75 / 12.18.
    assert expected_loss(7_000, 1.0, 14, 4).mean == pytest.approx(0.0466, abs=1e-4)


def test_the_constants_are_those_of_the_results_and_these_of_the_measurements():
    with CONSTANTS.open(encoding="utf-8", newline="") as file:
        names, values = csv.reader(file)
    assert dict(zip(names, map(float, values), strict=True)) == CURVE._asdict()
    assert_allclose(fitted(read()), CURVE[:4], rtol=0.01)


def test_more_epsilon_more_rows_or_fewer_rows_a_person_never_expect_more_loss():
    worths = np.geomspace(1e-3, 1e9, 200)
    for n_classes in (2, 3, 26):
        for losses in (
            [expected_loss(1_000, worth / 1_000, 7, n_classes) for worth in worths],
            [expected_loss(worth, 1.0, 7, n_classes) for worth in worths],
        ):
            assert (np.diff(losses, axis=0) <= 0).all()
            assert all(0 <= low <= mean <= high <= 1 - 1 / n_classes for mean, low, high in losses)
    # Of the plan too, across all that the policy changes with epsilon.
    plans = [PrivateForestClassifier(SCHEMA, epsilon=epsilon).plan(2_000) for epsilon in np.geomspace(1e-5, 1e3, 25)]
    assert (np.diff([plan.expected_loss.mean for plan in plans]) < 0).all()
    persons = PrivateForestClassifier(SCHEMA, unit="person", max_rows=4, epsilon=4.0).plan(2_000)
    assert persons.expected_loss == PrivateForestClassifier(SCHEMA, epsilon=1.0).plan(2_000).expected_loss


def test_without_noise_nothing_is_lost():
    plan = PrivateForestClassifier(SCHEMA, epsilon=math.inf).plan(500)
    assert plan.expected_loss == (0, 0, 0)
    assert plan.facts()["expected loss against no noise"] == "none"


@pytest.mark.parametrize("loss", [0.001, 0.02, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("max_rows", [1, 3])
def test_the_epsilon_that_is_needed_is_the_least(loss, max_rows):
    model = PrivateForestClassifier(SCHEMA, unit="person" if max_rows > 1 else "row", max_rows=max_rows)
    needed = model.epsilon_needed(7_000, loss=loss)
    assert model.set_params(epsilon=needed).plan(7_000).expected_loss.mean <= loss
    if needed > 1e-6:
        assert model.set_params(epsilon=0.98 * needed).plan(7_000).expected_loss.mean > loss


def test_what_was_called_reliable_is_not_called_enough():
    schema = Schema([Numeric(f"x{i}", 0, 1) for i in range(14)], classes=["no", "yes"])
    assert PrivateForestClassifier(schema).epsilon_needed(n_rows=7_000) > 0.1


def test_what_cannot_be_asked_is_refused():
    model = PrivateForestClassifier(SCHEMA)
    with pytest.raises(ParameterError, match="reliability=0.95 says nothing of how good this forest is; pass loss="):
        model.epsilon_needed(7_000, 0.95)
    for loss in (0, 1, -0.1, math.nan, True, "much"):
        with pytest.raises(ParameterError, match="must be a share between 0 and 1; 0.02 is two points"):
            model.epsilon_needed(7_000, loss=loss)
    assert model.epsilon_needed(1, loss=1e-9) == math.inf
