"""privet export."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from privet import load
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE
from privet.cli.verbs.export import _SUFFIXES
from privet.export import FORMATS, portable_document

EXPORT = "export model.privet"


@pytest.fixture
def expected(model_file):
    return load(model_file).predict(pd.read_csv("rows.csv").drop(columns="class")).tolist()


def test_the_command_lists_the_formats_that_exist():
    assert list(_SUFFIXES) == list(FORMATS)


def test_help_has_an_example_and_takes_json(privet):
    text = privet("export --help").stdout
    assert "Example:  privet export" in text
    assert "--json" in text


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_under_the_models_name(privet, model_file, name):
    result = privet(f"{EXPORT} --format {name}")
    written = f"model{_SUFFIXES[name]}"
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"privet: predictor written to '{written}'\n"
    assert Path(written).stat().st_size > 500


def test_it_is_written_beside_the_model_wherever_that_is(privet, model_file):
    Path("models").mkdir()
    model_file.rename("models/smokers.v2.privet")
    assert privet("export models/smokers.v2.privet --format js").exit_code == 0
    assert Path("models/smokers.v2.js").exists()


def test_a_gzipped_models_name_loses_both_endings(privet, model_file):
    load(model_file).save("smokers.privet.gz")
    assert privet("export smokers.privet.gz --format json").exit_code == 0
    assert json.loads(Path("smokers.json").read_text()) == portable_document(load(model_file))


def test_json_names_the_file(privet, model_file):
    data = json.loads(privet(f"{EXPORT} --format js -o here.js --json").stdout)
    assert data == {"model": "model.privet", "format": "js", "output": "here.js"}
    assert Path("here.js").read_text().startswith("// A classifier in one file")


def test_the_python_file_prints_what_privet_prints(privet, model_file):
    assert privet(f"{EXPORT} --format python").exit_code == 0
    done = subprocess.run(
        [sys.executable, "model.py", "rows.csv", "--proba"], capture_output=True, text=True, check=True
    )
    assert done.stdout == privet("predict model.privet rows.csv --proba").stdout


def test_the_onnx_file_predicts(privet, expected):
    assert privet(f"{EXPORT} --format onnx").exit_code == 0
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    rows = pd.read_csv("rows.csv")
    feeds = {name: rows[[name]].to_numpy(dtype=np.float64) for name in ("age", "children")}
    labels, _ = session.run(None, {**feeds, "sex": rows[["sex"]].to_numpy(dtype=object)})
    assert labels.tolist() == expected


def test_a_file_that_exists_is_not_replaced_without_force(refused, privet, model_file):
    Path("model.js").write_text("mine")
    assert "'model.js' exists" in refused(f"{EXPORT} --format js", EXIT_USAGE)
    assert Path("model.js").read_text() == "mine"
    assert privet(f"{EXPORT} --format js --force").exit_code == 0
    assert Path("model.js").read_text() != "mine"


def test_the_model_is_never_replaced_by_its_export(refused, model_file):
    assert "is read by this command" in refused(f"{EXPORT} --format json -o model.privet --force", EXIT_USAGE)


def test_an_unknown_format_is_refused_with_those_that_exist(refused, model_file):
    said = refused(f"{EXPORT} --format rust", EXIT_USAGE)
    assert "'rust' is not one of 'json', 'js', 'python', 'onnx'" in said
    assert "missing option '--format'" in refused(EXPORT, EXIT_USAGE)


def test_without_onnx_the_way_out_is_named(refused, model_file, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    before = sorted(Path().iterdir())
    said = refused(f"{EXPORT} --format onnx", EXIT_USAGE)
    assert said == (
        "the ONNX format needs the package onnx, which is not installed; install it with `pip install 'privet[onnx]'`"
    )
    assert sorted(Path().iterdir()) == before


def test_a_file_that_is_no_model_exits_with_3(refused):
    assert "is not a model file" in refused("export rows.csv --format js", EXIT_DATA)
