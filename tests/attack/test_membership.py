"""Membership inference: on a model that remembers, on one that does not, and by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from privet import PrivateRDTClassifier
from privet.attack import membership_inference
from privet.datasets import agrawal
from privet.errors import DataError


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
    assert "anything is allowed" in found.sentence


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
    assert found.advantage < found.most + 4 * found.advantage_sd
    assert f"at most {math.tanh(0.25):.3f} is allowed" in found.sentence


def test_too_few_rows_and_labels_of_another_kind_are_refused():
    with pytest.raises(DataError, match="takes at least four members and four other rows"):
        membership_inference(Remembers(), rows(0, 2), rows(500))
    with pytest.raises(DataError, match="some labels are none of the model's classes"):
        membership_inference(Remembers(), rows(0), (rows(500)[0], np.full(100, "perhaps")))
