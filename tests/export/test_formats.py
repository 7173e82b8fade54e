"""export_model: one file a format, whole or not at all."""

import ast
import gzip
import json
import re
import sys

import pytest

from privet import Categorical, Numeric
from privet.errors import ParameterError
from privet.export import FORMATS, export_model, portable_document
from privet.export.formats import javascript_source, python_source
from tests.export.models import HOSTILE, HOSTILE_ATTRIBUTES, fitted, schema_of


@pytest.fixture(scope="module")
def model():
    return fitted(schema_of([Numeric("age", 0, 100), Categorical("sex", ["f", "m"])], ["no", "yes"]))


@pytest.fixture(scope="module")
def hostile():
    document = portable_document(fitted(schema_of(HOSTILE_ATTRIBUTES, [HOSTILE, "</script>", "no"])))
    # A sentence names what was read from the rows, and so may hold such a name.
    return {**document, "guarantee": HOSTILE, "target": HOSTILE}


def test_json_is_the_portable_document(model, tmp_path):
    export_model(model, tmp_path / "model.json", format="json")
    assert json.loads((tmp_path / "model.json").read_text()) == portable_document(model)


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_model_gives_the_same_bytes(model, tmp_path, name):
    for file in ("a", "b"):
        export_model(model, tmp_path / file, format=name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_name_in_gz_is_gzipped(model, tmp_path):
    export_model(model, tmp_path / "model.json.gz", format="json")
    assert json.loads(gzip.decompress((tmp_path / "model.json.gz").read_bytes())) == portable_document(model)


def test_an_unknown_format_is_refused_with_those_that_exist(model, tmp_path):
    with pytest.raises(ParameterError, match="format 'rust' is not known; choose from json, js, python, onnx"):
        export_model(model, tmp_path / "model.rs", format="rust")
    assert not list(tmp_path.iterdir())


def test_a_model_that_cannot_be_exported_leaves_the_old_file(model, tmp_path, monkeypatch):
    (tmp_path / "model.js").write_text("mine")
    monkeypatch.setattr("privet.export.leaf_sums.MAX_VOTES", 0)
    with pytest.raises(ParameterError, match="cannot be exported"):
        export_model(model, tmp_path / "model.js", format="js")
    assert (tmp_path / "model.js").read_text() == "mine"


def test_hostile_text_cannot_end_a_script_element_or_a_comment(hostile):
    source = javascript_source(hostile)
    assert source.isascii()
    assert not re.search(r"</|<!--|<script|-->|\r|\x00", source, re.IGNORECASE)
    comment, _, code = source.partition("\n\n(function")
    assert code
    assert all(line.startswith("//") for line in comment.splitlines())


def test_hostile_text_stays_inside_pythons_strings_and_comments(hostile):
    source = python_source(hostile)
    assert source.isascii()
    comment, _, _ = source.partition('\n\n"""')
    assert all(line.startswith("#") for line in comment.splitlines())
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    embedded = [call for call in calls if ast.unparse(call.func) == "Predictor.from_json"]
    assert [json.loads(call.args[0].value) for call in embedded] == [hostile]


def test_both_headers_say_how_to_use_the_file_and_what_it_promises(model):
    document = portable_document(model)
    for source, mark in ((javascript_source(document), "//"), (python_source(document), "#")):
        comment = " ".join(line.removeprefix(mark).strip() for line in source.splitlines() if line.startswith(mark))
        assert "predict(row)" in comment
        assert f"Guarantee: {document['guarantee']}" in comment


def test_the_python_file_needs_python_3_9_and_the_standard_library(model):
    tree = ast.parse(python_source(portable_document(model)), feature_version=(3, 9))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    modules = {name for node in imports for name in _modules(node)}
    assert {name.partition(".")[0] for name in modules} <= sys.stdlib_module_names


def _modules(node):
    return [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
