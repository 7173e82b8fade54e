"""Every export answers as the model does: the same classes, and probabilities equal to the last bit."""

import importlib.util
import json

import numpy as np
import onnxruntime
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical
from privet.export import export_model
from tests.export.models import cases
from tests.export.node import run_node

NAMES = [
    "numbers, bool classes", "categories, classes 5 and 9", "mixed, three classes", "hostile text", "float classes",
    "lone leaves", "one tree, one leaf", "little left", "nothing left in leaves", "nothing left at all",
    "votes of 2^53", "cells by hand", "cells and cuts",
]  # fmt: skip


@pytest.fixture(scope="module")
def all_cases():
    return cases()


@pytest.fixture(params=NAMES)
def case(request, all_cases):
    return all_cases[request.param]


def test_the_cases_are_all_there(all_cases):
    assert list(all_cases) == NAMES


def test_python_answers_as_the_model_does(case, tmp_path):
    predictor = imported(case.model, tmp_path / "model.py")
    rows = [dict(zip(case.table, row, strict=True)) for row in case.rows]
    assert_same([predictor.predict(r) for r in rows[:500]], [predictor.predict_proba(r) for r in rows], case)


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
    assert_same(answer["labels"], answer["probabilities"], case)


def test_onnx_answers_as_the_model_does(case, tmp_path):
    export_model(case.model, tmp_path / "model.onnx", format="onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    labels, probabilities = session.run(None, feeds(case))
    assert labels.tolist() == case.model.predict(case.table).tolist()
    assert_array_equal(probabilities, case.model.predict_proba(case.table))


def test_the_rows_reach_many_leaves_and_answers_differ(all_cases):
    shares = all_cases["mixed, three classes"].model.predict_proba(all_cases["mixed, three classes"].table)
    assert len(np.unique(shares, axis=0)) > 1_000


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


def assert_same(labels, probabilities, case):
    expected = case.model.predict_proba(case.table)
    assert_array_equal(np.array(probabilities), expected)
    assert labels == case.model.classes_[expected.argmax(axis=1)].tolist()[: len(labels)]
