"""The recommended forest for a number: shares of two classes by hand, beside the classifier, and as a user has it."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Ledger, Numeric, PrivateForestClassifier, PrivateForestRegressor, Schema, load
from privet.central.weights.certificate import bounded_gradient
from privet.central.weights.interactions import FirstStage
from privet.central.weights.link import chances_of
from privet.counting.tables import in_whole_rows
from privet.errors import DataError, ModelFileError, ParameterError, PrivacyLeakWarning, SchemaError
from privet.methods import methods_of
from privet.model_file import write_document
from privet.registry import METHODS
from privet.schema.encoding import TARGET_STEPS, TargetEncoder
from tests.central.weights.problems import problem, random_weights

ATTRIBUTES = [Numeric("age", 0, 100), Categorical("job", ["nurse", "clerk", "cook"])]
SCHEMA = Schema(ATTRIBUTES, target=Numeric("pay", 1000, 5000), rows=3000)
INF = float("inf")


def rows(n=3000, seed=1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.uniform(0, 100, n), "job": rng.choice(["nurse", "clerk", "cook"], n)})
    return X, 1500 + 20 * X["age"] + 500 * (X["job"] == "cook") + rng.normal(0, 100, n)


@pytest.fixture(scope="module")
def model():
    return PrivateForestRegressor(SCHEMA, epsilon=2.0, random_state=1).fit(*rows())


def test_targets_are_clipped_and_rounded_by_hand():
    steps = TargetEncoder(SCHEMA).encode_labels([1000, 5000, 3000, -7, 1e9, 1000 + 4000 / TARGET_STEPS * 0.6])
    assert steps.tolist() == [0, TARGET_STEPS, TARGET_STEPS // 2, 0, TARGET_STEPS, 1]


def test_the_widest_range_does_not_overflow():
    wide = Schema(ATTRIBUTES, target=Numeric("x", -(2.0**1022), 2.0**1022))
    assert TargetEncoder(wide).encode_labels([-(2.0**1022), 0.0, 2.0**1023]).tolist() == [0, TARGET_STEPS // 2, 4096]


def test_shares_become_whole_rows_by_hand():
    # Three rows of 0.5, 0.5 and 0.75: 1.75 of the second class, rounded to 2, and one row is left.
    assert in_whole_rows(np.array([3, 2048 + 2048 + 3072]), 4096).tolist() == [1, 2]
    assert in_whole_rows(np.array([1, 2047]), 4096).tolist() == [1, 0]


def test_a_row_more_raises_exactly_one_count_by_one_whatever_its_share():
    rng = np.random.default_rng(3)
    for _ in range(500):
        n, share = rng.integers(0, 50), rng.integers(0, TARGET_STEPS + 1)
        before = np.array([n, rng.integers(0, n * TARGET_STEPS + 1)])
        moved = in_whole_rows(before + np.array([1, share]), TARGET_STEPS) - in_whole_rows(before, TARGET_STEPS)
        assert sorted(moved.tolist()) == [0, 1]


@pytest.mark.parametrize("kind", ["hard", "soft", "later"])
def test_rows_at_the_bounds_have_the_loss_of_their_class(kind):
    of_classes = problem(2, kind=kind, weighted=True)
    labels = of_classes.rows.labels.astype(np.uint16) * TARGET_STEPS
    of_shares = replace(of_classes, rows=replace(of_classes.rows, labels=labels), steps=TARGET_STEPS)
    weights = random_weights(of_classes)
    rest = np.zeros_like(weights)
    assert_allclose(of_shares.gradient(weights), of_classes.gradient(weights), rtol=0, atol=1e-9)
    assert_array_equal(
        bounded_gradient(of_shares, weights, rest).values, bounded_gradient(of_classes, weights, rest).values
    )


def test_the_gradient_of_a_share_is_the_mean_of_those_of_both_classes():
    def at(labels, steps):
        own = problem(4, labels=labels)
        own = replace(own, rows=replace(own.rows, labels=own.rows.labels.astype(np.uint16)), steps=steps)
        return bounded_gradient(own, weights, np.zeros_like(weights)).values

    weights = random_weights(problem(4))
    wanted = 0.25 * at(1, 1) + 0.75 * at(0, 1)
    assert_allclose(at(1, 4), wanted, rtol=1e-14)
    assert abs(at(1, 4) - at(1, 1)).max() > 0.1


def test_residuals_of_shares_add_up_to_zero_and_are_no_larger_than_a_row():
    first = FirstStage(np.array([0]), np.array([-1.0, 1.0]), np.array([[0.3, -0.3], [-2.0, 2.0]]), 1.0, 4)
    own = problem(1, n_rows=5).rows
    block = replace(
        own, cells=np.array([[0], [0], [1], [1], [1]], np.uint8), labels=np.array([0, 4, 2, 1, 4], np.uint16)
    )
    residuals = first.residuals(next(block.blocks()))
    assert_array_equal(residuals.sum(axis=1), 0)
    assert abs(residuals).max() <= 2**20
    of_one = replace(first, steps=1).residuals(
        next(replace(block, labels=np.array([0, 1, 0, 1, 1], np.uint8)).blocks())
    )
    assert_array_equal(residuals[[0, 1, 4]], of_one[[0, 1, 4]])


def test_means_are_found_and_lie_within_the_bounds(model):
    X, y = rows(seed=2)
    assert model.score(X, y) > 0.8
    assert model.target_mean_ == pytest.approx(y.mean(), abs=60)
    strange = pd.DataFrame({"age": [1e9, -1e9, np.nan], "job": ["cook", None, "pilot"]})
    assert ((model.predict(strange) >= 1000) & (model.predict(strange) <= 5000)).all()


def test_without_noise_the_mean_of_each_group_is_predicted():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"job": rng.choice(["nurse", "cook"], 20_000)})
    y = np.where(X["job"] == "cook", rng.exponential(300, 20_000), 900.0)
    schema = Schema([Categorical("job", ["nurse", "cook"])], target=Numeric("pay", 0, 1000), rows=20_000)
    found = PrivateForestRegressor(schema, epsilon=INF).fit(X, y).predict(pd.DataFrame({"job": ["nurse", "cook"]}))
    # Not the median nor the middle: clipped at 1000, the mean of what is left.
    assert_allclose(found, [900, np.minimum(y[X["job"] == "cook"], 1000).mean()], atol=12)


def test_what_is_explained_adds_up_to_the_score_of_the_prediction(model):
    X, _ = rows(20)
    scores = model.explain(X).sum(axis=1).to_numpy()
    shares = chances_of(np.column_stack([-scores, scores]) / 2, model.leaf_weights_.margin)[:, 1]
    assert_allclose(1000 + 4000 * shares, model.predict(X))


def test_a_file_gives_the_model_of_the_table_and_a_saved_one_its_answers(model, tmp_path):
    X, y = rows()
    seeded = {"epsilon": 2.0, "random_state": 3, "unsafe_seeded_noise": True}
    X.assign(pay=y).to_csv(tmp_path / "rows.csv", index=False)
    memory, file = (PrivateForestRegressor(SCHEMA, **seeded) for _ in range(2))
    assert_array_equal(file.fit(tmp_path / "rows.csv").predict(X), memory.fit(X, y).predict(X))
    model.save(tmp_path / "m.privet")
    again = load(tmp_path / "m.privet")
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.guarantee_ == model.guarantee_
    assert "the bounds of the target" in again.guarantee_.public


def test_people_parts_batches_and_delta_go_on_as_with_classes(tmp_path):
    X, y = rows()
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1.0)
    PrivateForestRegressor(SCHEMA, epsilon=1.0, ledger=ledger).fit(X, y)
    assert ledger.left == 0
    of_people = PrivateForestRegressor(SCHEMA, epsilon=2.0, unit="person", max_rows=2)
    of_people.fit(X.assign(person=np.arange(len(X)) // 3), y)
    assert of_people.guarantee_.max_rows == 2
    batches = PrivateForestRegressor(SCHEMA, epsilon=2.0).fit(X[:1500], y[:1500]).partial_fit(X[1500:], y[1500:])
    assert batches.guarantee_.epsilon <= 2.0
    assert len(batches.releases_) == 2
    assert PrivateForestRegressor(SCHEMA, epsilon=1.0, delta=1e-6).fit(X, y).guarantee_.delta <= 1e-6


def test_a_direction_is_kept(model):
    X, y = rows()
    falling = PrivateForestRegressor(SCHEMA, epsilon=2.0, monotonic_cst={"age": -1}).fit(X, y)
    grid = pd.DataFrame({"age": np.linspace(0, 100, 50), "job": "cook"})
    assert (np.diff(falling.predict(grid)) <= 0).all()
    assert (np.diff(model.predict(grid)) > 0).any()


OF_CLASSES = Schema(ATTRIBUTES, classes=["no", "yes"], rows=100)


@pytest.mark.parametrize("name", [method.name for method in methods_of("central", "classes")])
def test_classifiers_refuse_a_number_before_rows_are_read(name):
    with pytest.raises(SchemaError, match="target is a number, and this needs classes; use PrivateForestRegressor"):
        METHODS[name](SCHEMA, epsilon=1.0).fit("there is no such file.csv")


def test_a_regressor_refuses_classes_and_targets_that_are_no_numbers():
    X, y = rows(30)
    with pytest.raises(SchemaError, match=r'declare its bounds, for example target=Numeric\("price", 0, 500_000\)'):
        PrivateForestRegressor(OF_CLASSES).fit(X, y)
    with pytest.raises(DataError, match="column 'pay' holds text, but the schema's target is a number"):
        PrivateForestRegressor(SCHEMA).fit(X, ["much"] * 30)
    for missing in (np.nan, np.inf):
        with pytest.raises(DataError, match="column 'pay' has missing or infinite numbers"):
            PrivateForestRegressor(SCHEMA).fit(X, y.where(y.index > 3, missing))
    with pytest.raises(ParameterError, match="sample_weight may leave rows out"):
        PrivateForestRegressor(SCHEMA).fit(X, y, sample_weight=np.full(30, 0.5))


def test_bounds_that_are_read_from_the_rows_are_a_leak():
    with pytest.warns(PrivacyLeakWarning, match="reads domains and the target's bounds from the rows"):
        inferred = PrivateForestRegressor("infer", epsilon=1.0).fit(*rows(200))
    assert "bounds of 'target'" in inferred.guarantee_.leaks


def test_a_file_whose_schema_and_method_do_not_go_together_is_refused(model, tmp_path):
    document = json.loads(json.dumps(model.to_document()))
    classifier = PrivateForestClassifier(OF_CLASSES, epsilon=1.0).fit(rows(50)[0], ["no", "yes"] * 25).to_document()
    for forged in ({**document, "method": "private-forest"}, {**classifier, "method": "private-forest-regressor"}):
        write_document(tmp_path / "m.privet", forged)
        with pytest.raises(ModelFileError):
            load(tmp_path / "m.privet")


def test_a_file_that_weighs_the_classes_of_a_number_is_refused(model, tmp_path):
    document = json.loads(json.dumps(model.to_document()))
    document["parameters"]["class_weight"] = "balanced"
    write_document(tmp_path / "m.privet", document)
    with pytest.raises(ModelFileError, match="the model's parameters are not those of its method"):
        load(tmp_path / "m.privet")
