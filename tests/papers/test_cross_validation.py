import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

from papers.cross_validation import FOLDS, accuracy, codes, never_missing
from privet import Categorical, Numeric, Schema

X = pd.DataFrame({"colour": pd.Categorical(["red", "blue"] * 50), "age": np.arange(100.0)})
y = np.array(["no"] * 70 + ["yes"] * 30)


class Witness(ClassifierMixin, BaseEstimator):
    """Says no, and writes down the rows that it was fitted on."""

    seen: list[list[int]] = []  # noqa: RUF012 - clones share it

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen.append(X.index.tolist())
        return self

    def predict(self, X):
        return np.full(len(X), "no")


def folds_of(run, **options):
    Witness.seen.clear()
    accuracy(Witness(), X, y, run=run, **options)
    return [list(rows) for rows in Witness.seen]


def test_the_most_frequent_class_is_right_as_often_as_it_occurs_since_folds_are_stratified():
    assert accuracy(DummyClassifier(strategy="most_frequent"), X, y, run=3) == 70.0


def test_a_run_has_the_same_folds_for_every_model_and_another_run_has_others():
    first = folds_of(0)
    assert len(first) == FOLDS
    assert folds_of(0) == first
    assert folds_of(1) != first


def test_folds_in_order_hold_out_neighbours_and_are_the_same_in_every_run():
    first = folds_of(0, in_order=True)
    # A tenth of each class: the first 7 of 70 rows and the first 3 of 30.
    assert sorted(set(range(100)) - set(first[0])) == [*range(7), *range(70, 73)]
    assert folds_of(1, in_order=True) == first


def test_what_no_row_lacks_is_declared_never_missing_and_nothing_else():
    schema = Schema([Categorical("colour", ["red", "blue"]), Numeric("age", 0, 100)], classes=["no", "yes"])
    gaps = X.assign(age=X["age"].where(X["age"] != 5))
    assert [a.never_missing for a in never_missing(schema, X).attributes] == [True, True]
    assert [a.never_missing for a in never_missing(schema, gaps).attributes] == [True, False]


def test_a_class_with_fewer_rows_than_folds_is_no_reason_to_stop():
    assert accuracy(DummyClassifier(strategy="most_frequent"), X, np.array(["no"] * 98 + ["yes"] * 2), run=0) == 98.0


def test_categories_become_whole_numbers_and_numbers_stay():
    coded = codes(X)
    assert_array_equal(coded["colour"], [1, 0] * 50)
    assert_array_equal(coded["age"], X["age"])
