"""Class weights: post-processing of what was released, for every method of a curator and of parties."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

from privet import Ledger, Numeric, PrivateForestClassifier, PrivateRDTClassifier, Schema, load
from privet.central.class_weight import weighted, weights_of
from privet.errors import ModelFileError, ParameterError
from privet.model_file import write_document
from privet.registry import METHODS
from privet.tree.counted import CountedForest, balance_of
from privet.tree.forest import LEAF, Forest
from tests.contracts.tasks import OF_CLASSES

N_ROWS = 2_000
ATTRIBUTES = [Numeric("age", 0, 100, bins=5), Numeric("pay", 0, 10, bins=5)]


def people(n_rows=N_ROWS, rare=0.1):
    """One of ten is a 9, and is older."""
    rng = np.random.default_rng(3)
    y = np.where(rng.uniform(size=n_rows) < rare, 9, 5)
    age = np.clip(rng.normal(40, 18, n_rows) + 22 * (y == 9), 0, 100)
    return pd.DataFrame({"age": age, "pay": rng.uniform(0, 10, n_rows)}), y


def schema(classes=(5, 9)):
    return Schema(ATTRIBUTES, classes=list(classes), rows=N_ROWS)


def fitted(method=PrivateForestClassifier, **options):
    options = {"epsilon": 5.0, "unsafe_seeded_noise": True, "random_state": 1, **options}
    return method(schema(), **options).fit(*people())


@pytest.fixture(params=sorted(OF_CLASSES))
def method(request):
    return METHODS[request.param]


def test_weighted_chances_by_hand():
    chances = np.array([[0.9, 0.1], [0.5, 0.5], [1.0, 0.0]])
    assert_allclose(weighted(chances, np.array([1.0, 9.0])), [[0.5, 0.5], [0.1, 0.9], [1, 0]], rtol=1e-15)


def test_weights_by_hand():
    shares = np.array([0.8, 0.15, 0.05])
    assert_allclose(weights_of("balanced", "abc", shares), [1 / 2.4, 1 / 0.45, 1 / 0.15])
    assert_allclose(weights_of({"c": 4}, "abc", shares), [1, 1, 4])


def test_weighted_chances_are_those_of_a_population_with_other_shares():
    rng = np.random.default_rng(5)
    joint = rng.uniform(size=(6, 3))  # cells x classes
    joint /= joint.sum()
    weights = np.array([0.2, 1.0, 7.0])
    other = joint * weights / (joint * weights).sum()
    expected = other / other.sum(axis=1, keepdims=True)
    assert_allclose(weighted(joint / joint.sum(axis=1, keepdims=True), weights), expected)


def test_the_balance_of_counts_is_the_mean_over_trees_and_never_below_its_noise():
    roots = Forest.from_nodes(np.array([LEAF, LEAF]), np.array([-1, -1]), 2, ATTRIBUTES)
    counted = CountedForest.of_leaves(roots, np.array([[70, -3], [90, 1]]), draw_variance=0.0)
    assert_allclose(balance_of(counted), [80 / 81, 1 / 81])
    noisy = CountedForest.of_leaves(roots, np.array([[70, -3], [90, 1]]), draw_variance=200.0)
    assert_allclose(balance_of(noisy), [80 / 90, 10 / 90])  # the root of 200 + 200, over two trees


def test_a_fit_releases_the_same_with_class_weights_and_charges_the_same(method, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=100.0)
    X, y = people()
    plain, balanced = (
        method(schema(), epsilon=2.0, class_weight=weight, ledger=ledger, random_state=1).fit(X, y)
        for weight in (None, "balanced")
    )
    assert plain.guarantee_.epsilon == balanced.guarantee_.epsilon
    assert ledger.spent == pytest.approx(4.0)
    seeded, weighed = (fitted(method, class_weight=weight) for weight in (None, "balanced"))
    assert seeded.to_document()["released"] == weighed.to_document()["released"]
    assert seeded.guarantee_ == weighed.guarantee_


def test_changing_them_later_is_as_fitting_with_them_and_costs_nothing(method, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=100.0)
    X, _ = people()
    model = fitted(method)
    later, before = model.with_class_weight("balanced"), model.predict_proba(X)
    assert_array_equal(later.predict_proba(X), fitted(method, class_weight="balanced").predict_proba(X))
    assert_array_equal(later.with_class_weight(None).predict_proba(X), before)
    assert_array_equal(model.predict_proba(X), before)
    paid = method(schema(), epsilon=1.0, ledger=ledger).fit(*people())
    paid.with_class_weight({9: 4}).predict(X)
    assert ledger.spent == pytest.approx(1.0)


def test_predictions_follow_weighted_chances_and_ranks_stay(method):
    X, _ = people()
    plain = fitted(method)
    balanced = plain.with_class_weight("balanced")
    weights, chances = list(balanced.class_weight_.values()), balanced.predict_proba(X)
    assert_allclose(chances, weighted(plain.predict_proba(X), np.array(weights)))
    assert_array_equal(balanced.predict(X), balanced.classes_[chances.argmax(axis=1)])
    assert (np.diff(chances[np.argsort(plain.predict_proba(X)[:, 1]), 1]) >= -1e-12).all()
    assert plain.class_weight_ is None
    assert_allclose(1 / np.array(weights) / 2, [0.9, 0.1], atol=0.03)


@pytest.mark.parametrize("name", ["private-forest", "private-rdt"])
def test_balanced_classes_are_predicted_more_evenly(name):
    X, y = people()
    plain = fitted(METHODS[name])
    gain = balanced_accuracy_score(y, plain.with_class_weight("balanced").predict(X)) - balanced_accuracy_score(
        y, plain.predict(X)
    )
    assert gain > 0.1


@pytest.mark.real_data
@pytest.mark.parametrize(("table", "least"), [("adult", 0.81), ("bank-marketing", 0.79)])
def test_balanced_accuracy_on_real_tables_at_epsilon_1(table, least):
    from privet.datasets import uci

    data = uci(table)
    train = np.random.default_rng(1).uniform(size=len(data.y)) < 0.7
    X, y = data.X.reset_index(drop=True), np.asarray(data.y)
    model = PrivateForestClassifier(data.schema, epsilon=1.0, unsafe_seeded_noise=True, random_state=1)
    model.fit(X[train], y[train])
    plain = balanced_accuracy_score(y[~train], model.predict(X[~train]))
    balanced = balanced_accuracy_score(y[~train], model.with_class_weight("balanced").predict(X[~train]))
    assert plain + 0.03 < least < balanced


@pytest.mark.parametrize("class_weight", ["balanced", {9: 4}, {5: 0.5, 9: np.int64(3)}])
def test_a_file_keeps_them(method, class_weight, tmp_path):
    X, _ = people()
    model = fitted(method, class_weight=class_weight)
    model.save(tmp_path / "m.privet")
    again = load(tmp_path / "m.privet")
    assert again.class_weight == class_weight
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.class_weight_ == model.class_weight_
    assert pickle.loads(pickle.dumps(model)).class_weight_ == model.class_weight_


def test_files_without_them_are_as_before(method):
    model = fitted(method)
    assert "class_weight" not in model.to_document()["parameters"]
    weighed = model.with_class_weight("balanced").to_document()
    assert weighed.pop("parameters") == {**model.to_document()["parameters"], "class_weight": "balanced"}
    assert weighed.items() <= model.to_document().items()


@pytest.mark.parametrize(
    "in_file",
    [None, "even", {}, [[9]], [[9, "4"]], [[9, -1.0]], [[9, True]], [[9, 1.0], [9, 2.0]], [[7, 1.0]], [[[9], 1.0]]],
)
def test_a_file_with_other_class_weights_is_refused(in_file, tmp_path):
    document = fitted(PrivateRDTClassifier).to_document()
    document["parameters"]["class_weight"] = in_file
    write_document(tmp_path / "m.privet", document)
    with pytest.raises(ModelFileError, match=r"class weights are not classes|a parameter of the model is out of its"):
        load(tmp_path / "m.privet")


@pytest.mark.parametrize(
    ("class_weight", "sentence"),
    [
        ("even", "must be 'balanced', None, or a dict"),
        ([1, 4], "must be 'balanced', None, or a dict"),
        ({9: 0}, "must be 'balanced', None, or a dict of classes with numbers from"),
        ({9: np.nan}, "must be 'balanced', None, or a dict of classes with numbers from"),
        ({9: "4"}, "must be 'balanced', None, or a dict of classes with numbers from"),
        ({"9": 4}, r"class_weight names '9', which is none of the schema's classes; choose from \[5, 9\]"),
    ],
)
def test_other_class_weights_are_refused_before_a_row_is_read(method, class_weight, sentence, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=100.0, strict=True)
    with pytest.raises(ParameterError, match=sentence):
        method(schema(), epsilon=1.0, class_weight=class_weight, ledger=ledger).fit(*people())
    assert ledger.spent == 0
    with pytest.raises(ParameterError, match=sentence):
        fitted(method).with_class_weight(class_weight)


def test_batches_are_added_whatever_the_class_weights():
    X, y = people()
    for name in ("private-forest", "private-rdt"):
        model = fitted(METHODS[name], class_weight="balanced").partial_fit(X, y)
        assert model.class_weight_ is not None
        assert model.set_params(class_weight={9: 2}).partial_fit(X, y).class_weight_ == {5: 1.0, 9: 2.0}
        with pytest.raises(ParameterError, match="class_weight names 7"):
            model.set_params(class_weight={7: 2}).partial_fit(X, y)


def test_parameters_count_at_the_fit_as_in_scikit_learn():
    X, _ = people()
    model = fitted()
    before = model.predict_proba(X)
    assert_array_equal(model.set_params(class_weight="balanced").predict_proba(X), before)
    assert clone(model).class_weight == "balanced"


def test_log_odds_are_finite_and_agree_with_predictions(method):
    X, _ = people()
    for model in (fitted(method), fitted(method, class_weight="balanced"), fitted(method, epsilon=float("inf"))):
        log_odds, chances = model.decision_function(X), model.predict_proba(X)
        assert log_odds.shape == (N_ROWS,)
        assert np.isfinite(log_odds).all()
        assert_array_equal(model.predict(X), model.classes_[(log_odds > 0).astype(int)])
        inner = (chances > 0).all(axis=1)
        assert_allclose(1 / (1 + np.exp(-log_odds[inner])), chances[inner, 1], rtol=1e-9)


def test_log_odds_of_several_classes_have_a_column_each(method):
    X, y = people()
    y = np.where(X["pay"] > 8, 7, y)
    options = {"epsilon": 5.0, "unsafe_seeded_noise": True, "random_state": 1, "class_weight": "balanced"}
    model = method(schema((5, 7, 9)), **options).fit(X, y)
    log_odds, chances = model.decision_function(X), model.predict_proba(X)
    assert log_odds.shape == chances.shape == (N_ROWS, 3)
    assert np.isfinite(log_odds).all()
    assert_array_equal(log_odds.argmax(axis=1), chances.argmax(axis=1))
    inner = ((chances > 1e-6) & (chances < 1 - 1e-6)).all(axis=1)
    assert_allclose(log_odds[inner], np.log(chances[inner] / (1 - chances[inner])), rtol=1e-9)
