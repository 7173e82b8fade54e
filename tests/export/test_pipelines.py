"""Pipelines that end in a model of privet's, converted by skl2onnx and run by onnxruntime."""

import sys

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from skl2onnx import to_onnx
from skl2onnx.common.data_types import DoubleTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OrdinalEncoder

from privet import Categorical, DPRFClassifier, Numeric, PrivateForestClassifier, PrivateRDTClassifier, Schema
from privet.errors import ParameterError
from privet.export import register_converters

PLAIN = {"zipmap": False}
RNG = np.random.default_rng(5)
X = RNG.uniform(-50, 50, (600, 3))
Y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
SCHEMA = Schema([Numeric(name, 0, 1) for name in "abc"], classes=["no", "yes"], target="t", rows=600)
MODELS = [PrivateForestClassifier(SCHEMA, epsilon=20.0), PrivateRDTClassifier(SCHEMA, epsilon=20.0, n_trees=3)]


@pytest.fixture(autouse=True)
def registered():
    register_converters()


def run(proto, feeds):
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_pipeline_answers_as_in_python(model):
    pipeline = make_pipeline(MinMaxScaler(), model).fit(X, Y)
    proto = to_onnx(pipeline, X[:1], options=PLAIN)
    onnx.checker.check_model(proto, full_check=True)
    labels, chances = run(proto, {"X": X})
    assert_array_equal(labels, pipeline.predict(X))
    assert_allclose(chances, pipeline.predict_proba(X), rtol=1e-14)
    assert len(np.unique(chances)) > 10


def test_in_single_precision_chances_are_too_and_may_be_dictionaries():
    pipeline = make_pipeline(MinMaxScaler(), MODELS[0]).fit(X, Y)
    # Off by a millionth, a value lies elsewhere in a cell, seldom in another.
    single = X.astype(np.float32)
    labels, chances = run(to_onnx(pipeline, single[:1], options=PLAIN), {"X": single})
    assert chances.dtype == np.float32
    assert np.mean(labels == pipeline.predict(X)) > 0.99
    assert_allclose(chances, pipeline.predict_proba(X), atol=0.02)
    _, dictionaries = run(to_onnx(pipeline, single[:1]), {"X": single})
    assert [[each["no"], each["yes"]] for each in dictionaries] == chances.tolist()


def test_columns_with_the_names_of_attributes_may_come_in_any_order():
    schema = Schema(
        [Numeric("age", 0, 100), Categorical("job", ["cook", "nurse"]), Categorical("rooms", [1, 2, 0.5])],
        classes=[5, 9], target="t", rows=600,
    )  # fmt: skip
    table = pd.DataFrame({
        "age": RNG.uniform(0, 100, 600), "job": RNG.choice(["cook", "nurse", "clerk"], 600),
        "rooms": RNG.choice([1, 2, 0.5, 0.25], 600),
    })  # fmt: skip
    model = PrivateRDTClassifier(schema, epsilon=20.0).fit(table.replace({"clerk": "cook", 0.25: 0.5}), [5, 9] * 300)
    kinds = [("rooms", DoubleTensorType), ("job", StringTensorType), ("age", DoubleTensorType)]
    proto = to_onnx(model, initial_types=[(name, kind([None, 1])) for name, kind in kinds], options=PLAIN)
    labels, chances = run(proto, {name: table[[name]].to_numpy() for name in table})
    known = table.assign(job=table.job.replace("clerk", np.nan), rooms=table.rooms.replace(0.25, np.nan))
    expected = model.predict_proba(known)
    assert_array_equal(labels, model.classes_[expected.argmax(axis=1)])
    assert_array_equal(chances, expected)


def test_categories_that_a_step_has_numbered_are_found():
    schema = Schema([Numeric("age", 0, 1), Categorical("job", range(3))], classes=["no", "yes"], target="t", rows=600)
    table = pd.DataFrame({"age": RNG.uniform(0, 80, 600), "job": RNG.choice(["clerk", "cook", "nurse"], 600)})
    labels = np.where(table.job == "cook", "yes", "no")
    steps = ColumnTransformer([("age", MinMaxScaler(), ["age"]), ("job", OrdinalEncoder(), ["job"])])
    pipeline = make_pipeline(steps, PrivateRDTClassifier(schema, epsilon=20.0)).fit(table, labels)
    kinds = [("age", DoubleTensorType([None, 1])), ("job", StringTensorType([None, 1]))]
    said, chances = run(
        to_onnx(pipeline, initial_types=kinds, options=PLAIN), {n: table[[n]].to_numpy() for n in table}
    )
    assert_array_equal(said, pipeline.predict(table))
    assert_allclose(chances, pipeline.predict_proba(table), rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"options": None}, r"no dictionaries of doubles; pass options=\{'zipmap': False\}"),
        (
            {"target_opset": 15},
            r"later operators; pass target_opset=\{'': 17, 'ai.onnx.ml': 3\}, or leave it out",
        ),
        ({"initial_types": [("X", DoubleTensorType([None, 2]))]}, "passes 2 columns .* whose schema has 3 attributes"),
        ({"initial_types": [("X", StringTensorType([None, 3]))]}, "'a' has numbers, and the pipeline passes on text"),
    ],
)
def test_what_cannot_be_converted_is_refused_with_the_way_out(settings, said):
    model = PrivateRDTClassifier(SCHEMA, epsilon=1.0).fit(MinMaxScaler().fit_transform(X), Y)
    with pytest.raises(ParameterError, match=said):
        to_onnx(model, None if "initial_types" in settings else X[:1], **{"options": PLAIN, **settings})


def test_a_model_whose_vote_is_no_sum_is_refused_in_a_pipeline_as_elsewhere():
    pipeline = make_pipeline(MinMaxScaler(), DPRFClassifier(SCHEMA, epsilon=20.0)).fit(X, Y)
    with pytest.raises(ParameterError, match="DPRFClassifier cannot be exported"):
        to_onnx(pipeline, X[:1], options=PLAIN)


def test_more_leaves_than_single_precision_counts_are_refused(monkeypatch):
    monkeypatch.setattr("privet.export.onnx_older._MOST_LEAVES", 2)
    pipeline = make_pipeline(MinMaxScaler(), MODELS[1]).fit(X, Y)
    with pytest.raises(ParameterError, match="more leaves than a pipeline may; export it alone, with export_model"):
        to_onnx(pipeline, X[:1], options=PLAIN)


def test_without_skl2onnx_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ParameterError, match=r"needs the package skl2onnx, .* `pip install 'privet\[onnx\]'`"):
        register_converters()
