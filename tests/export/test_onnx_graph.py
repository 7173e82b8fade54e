"""The ONNX graph: well formed, typed as it says, and refused where ONNX cannot hold it."""

import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Numeric
from privet.errors import ParameterError
from privet.export import export_model
from privet.export.onnx_graph import onnx_bytes, onnx_model
from tests.export.models import cases, fitted, schema_of, with_forest
from tests.export.weight_models import weight_cases


@pytest.fixture(scope="module")
def model():
    return fitted(schema_of([Numeric("age", 0, 100), Categorical("colour", ["red", "blue"])], ["no", "yes"]))


def test_every_graph_passes_the_checker_with_shapes_inferred():
    for case in [*cases().values(), *weight_cases().values()]:
        onnx.checker.check_model(onnx_model(case.model), full_check=True)


def test_inputs_and_outputs_are_typed_as_documented():
    attributes = [
        Numeric("age", 0, 1),
        Categorical("colour", ["red"]),
        Categorical("floor", [1]),
        Categorical("own", [True]),
    ]
    for classes, kind in ((["no", "yes"], "string"), ([5, 9], "int64"), ([0.5, 2], "double"), ([False, True], "bool")):
        session = opened(fitted(schema_of(attributes, classes)))
        assert [(i.name, i.type, i.shape) for i in session.get_inputs()] == [
            ("age", "tensor(double)", ["rows", 1]),
            ("colour", "tensor(string)", ["rows", 1]),
            ("floor", "tensor(double)", ["rows", 1]),
            ("own", "tensor(double)", ["rows", 1]),
        ]
        assert [(o.name, o.type, o.shape) for o in session.get_outputs()] == [
            ("label", f"tensor({kind})", ["rows"]),
            ("probabilities", "tensor(double)", ["rows", 2]),
        ]


def test_outputs_step_aside_for_attributes_of_their_name():
    session = opened(fitted(schema_of([Numeric("label", 0, 1), Numeric("label_", 0, 1)], ["no", "yes"])))
    assert [output.name for output in session.get_outputs()] == ["label__", "probabilities"]


def test_no_rows_give_no_answers(model):
    labels, shares = opened(model).run(None, {"age": np.empty((0, 1)), "colour": np.empty((0, 1), dtype=object)})
    assert (labels.shape, shares.shape) == ((0,), (0, 2))


def test_a_category_among_65534_is_found():
    schema = schema_of([Categorical("place", [f"p{i}" for i in range(65_534)])], ["no", "yes"])
    few = fitted(schema_of([Categorical("place", ["p0"])], ["no", "yes"]), n_trees=1, height=1)
    few._encoder.schema = few.schema_ = schema
    counts = np.arange(2 * 65_535).reshape(-1, 2)
    wide = with_forest(few, [0, *[-1] * 65_535], [-1] * 65_536, 1, counts)
    places = np.array([["p0"], ["p1"], ["p40000"], ["p65533"], ["nowhere"]], dtype=object)
    codes = [0, 1, 40_000, 65_533, 65_534]
    _, shares = opened(wide).run(None, {"place": places})
    assert_array_equal(shares, counts[codes] / counts[codes].sum(axis=1, keepdims=True))


def test_the_guarantee_travels_in_the_file(model):
    proto = onnx.load_from_string(onnx_bytes(model))
    assert proto.doc_string == model.guarantee_.sentence
    assert {p.key: p.value for p in proto.metadata_props} == {"guarantee": model.guarantee_.sentence}
    assert proto.producer_name == "privet"


def test_without_onnx_the_error_says_how_to_install_it(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ParameterError, match=r"install it with `pip install 'privet\[onnx\]'`"):
        export_model(model, tmp_path / "model.onnx", format="onnx")
    export_model(model, tmp_path / "model.js", format="js")
    assert [path.name for path in tmp_path.iterdir()] == ["model.js"]


def test_a_model_that_no_onnx_file_can_hold_is_refused(model, monkeypatch):
    monkeypatch.setattr("privet.export.onnx_graph._MAX_NODES", 3)
    with pytest.raises(ParameterError, match="larger than an ONNX file may be .*; export it as json instead"):
        onnx_bytes(model)


def opened(model):
    return onnxruntime.InferenceSession(onnx_bytes(model), providers=["CPUExecutionProvider"])
