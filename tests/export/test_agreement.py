"""Every export answers as the model does: the same classes, and probabilities equal to the last bit.

Of released weights to what libraries that round the exponential in their own ways leave open.
"""

import importlib.util
import json
from types import SimpleNamespace

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical
from privet.central.receipts import in_sequence, unwrapped
from privet.export import export_model, portable_document
from privet.export.onnx_graph import OPSET, onnx_model
from privet.export.onnx_older import OLDER_ML_OPSET, use_older_operators
from privet.export.predictor import Predictor
from tests.export import weight_models
from tests.export.models import cases
from tests.export.node import run_node
from tests.export.weight_models import weight_cases

NAMES_OF_COUNTS = [
    "numbers, bool classes", "categories, classes 5 and 9", "mixed, three classes", "hostile text", "float classes",
    "lone leaves", "one tree, one leaf", "little left", "nothing left in leaves", "nothing left at all",
    "votes of 2^53", "cells by hand", "cells and cuts", "never missing",
    "bits of coded values", "bits, hostile text", "bits of flipped records", "weighted classes",
]  # fmt: skip
NAMES = [*NAMES_OF_COUNTS, *weight_models.NAMES]


@pytest.fixture(scope="module")
def all_cases():
    return {**cases(), **weight_cases()}


@pytest.fixture(params=NAMES)
def case(request, all_cases):
    return all_cases[request.param]


def test_the_cases_are_all_there(all_cases):
    assert list(all_cases) == NAMES


def test_python_answers_as_the_model_does(case, tmp_path):
    predictor = imported(case.model, tmp_path / "model.py")
    rows = [dict(zip(case.table, row, strict=True)) for row in case.rows]
    answers = [predictor.predict_proba(r) for r in rows]
    assert_same([predictor.predict(r) for r in rows[:500]], answers, case, relative=1e-15)


# NumPy adds up eight numbers and more in another order.
@pytest.mark.parametrize("name", [name for name in weight_models.NAMES if name != "nine classes"])
def test_python_with_numpys_exponential_has_the_same_bits(name, all_cases, monkeypatch):
    case = all_cases[name]
    monkeypatch.setattr("privet.export.predictor.math", SimpleNamespace(exp=lambda x: float(np.exp(x))))
    predictor = Predictor(portable_document(case.model))
    expected = case.model.predict_proba(case.table[:500])
    assert_array_equal([predictor.predict_proba(row) for row in case.rows[:500]], expected)


def test_python_takes_rows_by_position(all_cases, tmp_path):
    case = all_cases["mixed, three classes"]
    predictor = imported(case.model, tmp_path / "model.py")
    expected = case.model.predict_proba(case.table[:500])
    assert_array_equal([predictor.predict_proba(row) for row in case.rows[:500]], expected)


def test_javascript_answers_as_the_model_does(case, tmp_path):
    export_model(case.model, tmp_path / "model.js", format="js")
    # What Python writes for an infinite number, JavaScript reads as one.
    (tmp_path / "rows.js").write_text(f"module.exports = {json.dumps(case.rows)};")
    (tmp_path / "names.json").write_text(json.dumps(list(case.table)))
    answer = run_node(
        """
        const { predict, predictProba } = require("./model.js");
        const rows = require("./rows.js");
        const names = require("./names.json");
        const named = rows.map((row) => Object.fromEntries(row.map((value, j) => [names[j], value])));
        const probabilities = named.map(predictProba);
        const same = rows.every((row, i) => predictProba(row).every((share, c) => share === probabilities[i][c]));
        console.log(JSON.stringify({ labels: named.map(predict), probabilities, same }));
        """,
        tmp_path,
    )
    assert answer["same"]
    assert_same(answer["labels"], answer["probabilities"], case, relative=1e-12)


def test_onnx_answers_as_the_model_does(case, tmp_path):
    export_model(case.model, tmp_path / "model.onnx", format="onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    labels, probabilities = session.run(None, feeds(case))
    assert_same(labels.tolist(), probabilities, case, relative=1e-12, adds_in_order=False)


def test_onnx_of_older_operators_answers_as_the_model_does(case):
    proto = onnx_model(case.model)
    use_older_operators(proto)
    onnx.checker.check_model(proto, full_check=True)
    assert {each.domain: each.version for each in proto.opset_import} == {"": OPSET, "ai.onnx.ml": OLDER_ML_OPSET}
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    labels, probabilities = session.run(None, feeds(case))
    assert_same(labels.tolist(), probabilities, case, relative=1e-12, adds_in_order=False)


@pytest.mark.parametrize(
    "name", ["mixed, three classes", weight_models.FIVE, "cells that neighbours share", "two stages"]
)
def test_the_rows_reach_many_leaves_and_answers_differ(all_cases, name):
    shares = all_cases[name].model.predict_proba(all_cases[name].table)
    assert len(np.unique(shares, axis=0)) > 1_000


def test_weights_stand_in_groups_of_two_and_three_in_one_tree_or_none(all_cases):
    sizes = {name: {len(own) for own in all_cases[name].model.trees_.first.attributes} for name in weight_models.NAMES}
    assert sizes["two classes, groups of two"] == {1, 2}
    assert sizes[weight_models.FIVE] == {1, 3}
    assert sizes["ties"] == {1}
    assert sizes["class balance alone"] == sizes["class balance of five alone"] == set()


def test_numbers_are_soft_and_asked_for_again_in_a_second_stage(all_cases):
    for name in ("two stages", "two stages of five classes", "two stages, never missing"):
        case = all_cases[name]
        later = [own for t, own in enumerate(case.model.trees_.axes) if case.model.trees_.is_later(t)]
        assert {len(own) for own in later} == {2, 3, 4}
        assert {(axis.missing, axis.grid > 1) for own in later for axis in own} >= {("middle", True)}
        assert max(axis.n_values for own in later for axis in own) == 1_000
        assert portable_document(case.model)["version"] == 5
        # A missing number is in the middle of the second stage, and somewhere else in the first.
        assert case.table["plain"].isna().any()
    assert portable_document(all_cases["a second stage of categories"].model)["version"] == 3


@pytest.mark.parametrize("name", ["weighted classes", "weights, weighted classes"])
def test_class_weights_decide_for_some_rows_and_have_a_version_of_their_own(all_cases, name):
    model, table = all_cases[name].model, all_cases[name].table
    plain = model.with_class_weight(None)
    assert (model.predict(table) != plain.predict(table)).any()
    assert portable_document(model)["version"] == 6
    assert portable_document(plain)["version"] in (3, 5)
    assert "class_weights" not in portable_document(plain)


def test_single_trees_have_counts_and_no_fit(all_cases):
    for name in weight_models.NAMES[-3:]:
        model = all_cases[name].model
        receipts = [unwrapped(each).what for each in in_sequence(model.guarantee_.event)]
        assert receipts == ["attributes worth a tree", "class counts of the leaves of one tree"]
        assert (model.trees_.n_trees, len(model.trees_.kept)) == (1, 1)
        assert len(np.unique(model.predict_proba(all_cases[name].table), axis=0)) > 1


def test_some_scores_saturate_and_some_tie(all_cases):
    saturated, tied = (all_cases[name] for name in ("scores that saturate", "ties"))
    shares = saturated.model.predict_proba(saturated.table)
    assert (shares == 0).any()
    assert ((shares > 0) & (shares < 1e-100)).any()
    halves = np.abs(tied.model.predict_proba(tied.table)[:, 0] - 0.5) < 1e-15
    assert 0 < halves.sum() < len(halves)


@pytest.mark.parametrize("name", ["nothing left in leaves", "nothing left at all"])
def test_some_rows_fall_back_on_the_class_totals(all_cases, name):
    case = all_cases[name]
    falls_back = (case.model.predict_proba(case.table) == case.model._vote.otherwise).all(axis=1)
    assert falls_back.any()
    assert bool(falls_back.all()) == (name == "nothing left at all")


def imported(model, path):
    export_model(model, path, format="python")
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def feeds(case):
    return {attribute.name: column(case, attribute)[:, None] for attribute in case.model.schema_.attributes}


def column(case, attribute):
    values = case.table[attribute.name]
    if isinstance(attribute, Categorical) and isinstance(attribute.categories[0], str):
        # ONNX has no missing text; any that is no category will do.
        return values.fillna("missing").to_numpy(dtype=object)
    return values.astype(np.float64).to_numpy()


def assert_same(labels, probabilities, case, *, relative, adds_in_order=True):
    expected = case.model.predict_proba(case.table)
    # Weighted chances are no whole numbers, so their sum depends on the order; ONNX runtimes have one of their own.
    is_weighted = getattr(case.model, "class_weight_", None) is not None
    is_exact = hasattr(case.model, "_vote") and (adds_in_order or not is_weighted)
    # Numbers that small have few digits left, and some libraries take them for 0.
    tolerance = {"rtol": 0, "atol": 0} if is_exact else {"rtol": relative, "atol": 1e-290}
    assert_allclose(np.array(probabilities), expected, **tolerance)
    assert labels == case.model.classes_[expected.argmax(axis=1)].tolist()[: len(labels)]
