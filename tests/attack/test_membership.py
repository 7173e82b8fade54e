"""Membership inference: on a model that remembers, on one that does not, and by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binomtest

from privet import PrivateRDTClassifier
from privet.attack import membership_inference
from privet.datasets import agrawal
from privet.errors import DataError, ParameterError


class Remembers:
    """Is sure of the labels of its own rows, which are below 100."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X):
        sure = np.where(np.asarray(X)[:, 0] < 100, 0.9, 0.6)
        return np.column_stack([1 - sure, sure])


def rows(start, n=100):
    return np.arange(start, start + n)[:, None], np.full(n, "yes")


def test_a_model_that_remembers_its_rows_gives_them_all_away():
    found = membership_inference(Remembers(), rows(0), rows(500))
    assert (found.advantage, found.auc, found.most) == (1.0, 1.0, 1.0)
    assert "the model made no promise" in found.sentence
    assert not found.promises


def test_rows_that_look_alike_are_not_told_apart():
    found = membership_inference(Remembers(), rows(500), rows(900))
    assert (found.advantage, found.auc) == (0.0, 0.5)


def test_the_promise_bounds_every_advantage():
    model = Remembers()
    model.guarantee_ = SimpleNamespace(epsilon=1.0, delta=0.0)
    assert membership_inference(model, rows(0), rows(500)).most == pytest.approx((math.e - 1) / (math.e + 1))


def test_a_private_forest_is_attacked_within_its_bound():
    data = agrawal(2_000, function=1, random_state=7)
    model = PrivateRDTClassifier(data.schema, epsilon=0.5).fit(data.X[:1000], data.y[:1000])
    found = membership_inference(model, (data.X[:1000], data.y[:1000]), (data.X[1000:], data.y[1000:]))
    assert found.interval[0] <= found.most
    assert f"its promise allows at most {math.tanh(0.25):.3f}." in found.sentence


def test_too_few_rows_and_labels_of_another_kind_are_refused():
    with pytest.raises(DataError, match="takes at least four members and four other rows"):
        membership_inference(Remembers(), rows(0, 2), rows(500))
    with pytest.raises(DataError, match="some labels are not among the model's classes"):
        membership_inference(Remembers(), rows(0), (rows(500)[0], np.full(100, "perhaps")))


def test_the_interval_is_that_of_clopper_and_pearson_on_both_rates():
    found = membership_inference(Remembers(), rows(0, 40), rows(500, 20))
    # Half of each serves to choose the border: 20 of 20 against 0 of 10, a doubt of 1/80 on each side of each.
    inside, outside = (binomtest(*hits).proportion_ci(0.975, "exact") for hits in ((20, 20), (0, 10)))
    assert found.interval == pytest.approx((inside.low - outside.high, inside.high - outside.low))
    assert f"(95% confidence: {found.interval[0]:.3f} to 1.000)" in found.sentence


def test_few_rows_without_a_hit_still_leave_room_for_doubt():
    low, high = membership_inference(Remembers(), rows(500, 20), rows(900, 20)).interval
    assert low < -0.3
    assert high > 0.3


@pytest.mark.parametrize("given", [rows(0)[0], rows(0) * 2, None])
def test_what_is_no_pair_of_rows_and_labels_is_refused(given):
    with pytest.raises(ParameterError, match=r"rows and their labels; pass each as \(X, y\)"):
        membership_inference(Remembers(), given, rows(500))


def test_labels_of_another_length_and_empty_tables_are_refused_without_a_number():
    X, y = rows(0)
    with pytest.raises(DataError, match="^rows and their labels have different lengths; pass one label per row$"):
        membership_inference(Remembers(), (X, y[:5]), rows(500))
    with pytest.raises(DataError, match="takes at least four members and four other rows"):
        membership_inference(Remembers(), (X[:0], y[:0]), rows(500))


def test_what_tells_no_chances_is_refused():
    with pytest.raises(
        ParameterError, match="needs the probabilities of a fitted model; fit it, or use one with predict_proba"
    ):
        membership_inference(SimpleNamespace(classes_=[5, 9]), rows(0), rows(500))
