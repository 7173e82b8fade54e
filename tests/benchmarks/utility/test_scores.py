import numpy as np
import pytest

from benchmarks.utility.scores import Predictions, area_under_curve, balanced_accuracy, by_schema, log_loss, scores_of

TRUTH = np.array([0, 0, 0, 1])


def test_scores_by_hand():
    chances = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.5, 0.5]])
    scores = scores_of(TRUTH, Predictions(np.array([0, 0, 1, 1]), chances, 1.5))
    assert scores.accuracy == 0.75
    assert scores.balanced_accuracy == pytest.approx((2 / 3 + 1) / 2)
    assert scores.auc == pytest.approx(2 / 3)  # the one row of class 1 is above two of three
    assert scores.log_loss == pytest.approx(-np.log([0.9, 0.6, 0.2, 0.5]).mean())
    assert scores.fit_seconds == 1.5


def test_the_area_of_several_classes_is_the_mean_over_those_that_occur():
    truth = np.array([0, 0, 2, 2])
    chances = np.array([[0.5, 0.3, 0.2], [0.1, 0.5, 0.4], [0.3, 0.4, 0.3], [0.2, 0.5, 0.3]])
    # Class 0 has .5 and .1 against .3 and .2, class 2 has .3 and .3 against .2 and .4; class 1 does not occur.
    assert area_under_curve(truth, chances) == pytest.approx((2 / 4 + 2 / 4) / 2)


def test_a_class_that_is_never_right_counts_as_much_as_any_other():
    assert balanced_accuracy(TRUTH, np.zeros(4, dtype=int)) == 0.5


def test_a_chance_of_nothing_costs_much_and_not_infinity():
    assert log_loss(np.array([1]), np.array([[1.0, 0.0]])) == pytest.approx(-np.log(1e-15))


def test_chances_stand_in_the_order_of_the_schema_and_an_unknown_class_has_none():
    arranged = by_schema(np.array([[0.7, 0.3]]), ["yes", "no"], ("no", "maybe", "yes"))
    assert arranged.tolist() == [[0.3, 0.0, 0.7]]
