"""Scores of held-out rows, by hand."""

import math

import numpy as np
import pytest

from privet.cli.support.scores import Answered, HeldOutClasses

NO, YES = [0.9, 0.1], [0.2, 0.8]


def fold(labels, chances, first=0):
    labels = np.array(labels)
    return Answered(np.arange(first, first + len(labels)), labels, np.array(chances))


def test_scores_by_hand():
    # Of three no, two are taken for no; of one yes, one.
    found = HeldOutClasses((fold([0, 0, 0, 1], [NO, NO, YES, YES]),))
    means = {name: mean for name, (mean, _) in found.means().items()}
    assert means["accuracy"] == 0.75
    assert means["balanced accuracy"] == pytest.approx((2 / 3 + 1) / 2)
    # Yes beats two of the no outright and ties with the third.
    assert means["AUC"] == pytest.approx(2.5 / 3)
    assert means["log loss"] == pytest.approx(-(2 * math.log(0.9) + math.log(0.2) + math.log(0.8)) / 4)
    assert found.confusion().tolist() == [[pytest.approx(2 / 3), pytest.approx(1 / 3)], [0.0, 1.0]]


def test_means_and_deviations_are_over_folds_and_confusion_over_all_rows():
    found = HeldOutClasses((fold([0, 1], [NO, NO]), fold([0, 1], [NO, YES], first=2)))
    assert found.means()["accuracy"] == (0.75, pytest.approx(math.sqrt(0.125)))
    assert found.confusion().tolist() == [[1.0, 0.0], [0.5, 0.5]]


def test_a_class_that_no_row_has_is_left_out_and_a_fold_of_one_class_has_no_auc():
    found = HeldOutClasses((fold([0, 0], [[0.5, 0.2, 0.3], [0.1, 0.8, 0.1]]),))
    plain = found.to_json(["low", 5, True])
    assert plain["balanced_accuracy"] == 0.5
    assert plain["auc"] is None
    assert plain["standard_deviation"] is None
    assert plain["recall"] == {"low": 0.5, "5": None, "True": None}


def test_a_group_has_its_own_rows_of_each_fold_and_folds_without_it_do_not_count():
    found = HeldOutClasses((fold([0, 1], [NO, NO]), fold([0, 1], [NO, YES], first=2)))
    alone = found.within(np.array([False, True, False, False])).means()["accuracy"]
    assert alone[0] == 0.0
    assert math.isnan(alone[1])
    assert found.within(np.array([True, False, False, True])).means()["accuracy"] == (1.0, 0.0)
    assert found.within(np.zeros(4, dtype=bool)) is None


def test_auc_of_three_classes_is_the_mean_of_each_against_the_rest():
    chances = [[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    found = HeldOutClasses((fold([0, 1, 2, 1], chances),))
    # Class 0 is ahead of all others; class 2 too; of class 1, ranks .4 and .3 against .3 and .2: three wins and a tie.
    assert found.means()["AUC"][0] == pytest.approx((1 + 1 + 3.5 / 4) / 3)
