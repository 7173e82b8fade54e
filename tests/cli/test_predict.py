"""privet predict."""

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from privet import load
from privet.cli.output import EXIT_DATA, EXIT_USAGE

PREDICT = "predict model.privet rows.csv"


@pytest.fixture
def expected(model_file):
    return load(model_file).predict_proba(pd.read_csv("rows.csv").drop(columns="class"))


def parsed(text):
    header, *lines = csv.reader(io.StringIO(text))
    return (
        header,
        [line[0] for line in lines],
        np.array([[float(cell) for cell in line[1:]] for line in lines]),
    )


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.parquet"])
def test_probabilities_are_those_in_memory_to_the_last_bit(privet, expected, name):
    table = pd.read_csv("rows.csv")
    _ = table.to_parquet(name) if name.endswith("parquet") else table.to_csv(name, index=False)
    result = privet(f"predict model.privet {name} --proba")
    header, labels, probabilities = parsed(result.stdout)
    assert header == ["prediction", "P(no)", "P(yes)"]
    assert_array_equal(probabilities, expected)
    assert labels == [("no", "yes")[j] for j in expected.argmax(axis=1)]


def test_many_batches_are_joined_in_order(privet, expected, monkeypatch):
    monkeypatch.setattr("privet.counting.files._BLOCK_BYTES", 512)
    assert_array_equal(parsed(privet(f"{PREDICT} --proba").stdout)[2], expected)


def test_predictions_alone_are_one_column(privet, expected):
    header, labels, _ = parsed(privet(PREDICT).stdout)
    assert header == ["prediction"]
    assert len(labels) == len(expected)


def test_the_label_column_is_not_needed(privet, expected):
    pd.read_csv("rows.csv").drop(columns="class").to_csv("new.csv", index=False)
    assert privet("predict model.privet new.csv").stdout == privet(PREDICT).stdout


def test_json_holds_classes_predictions_and_probabilities(privet, expected):
    data = json.loads(privet(f"{PREDICT} --proba --json").stdout)
    assert data["classes"] == ["no", "yes"]
    assert_array_equal(np.array(data["probabilities"]), expected)
    assert len(data["predictions"]) == len(expected)
    assert set(json.loads(privet(f"{PREDICT} --json").stdout)) == {"classes", "predictions"}


def test_a_file_gets_what_stdout_would_get(privet, model_file):
    result = privet(f"{PREDICT} --proba -o out.csv")
    assert (result.stdout, result.stderr) == ("", "privet: predictions written to 'out.csv'\n")
    assert Path("out.csv").read_text() == privet(f"{PREDICT} --proba").stdout
    zipped = privet(f"{PREDICT} --proba -o out.csv.gz --json")
    assert json.loads(zipped.stdout) == {"model": "model.privet", "output": "out.csv.gz"}
    assert gzip.decompress(Path("out.csv.gz").read_bytes()) == Path("out.csv").read_bytes()


def test_a_header_alone_predicts_a_header(privet, model_file):
    Path("empty.csv").write_text("age,sex,children\n")
    assert privet("predict model.privet empty.csv").stdout == "prediction\n"


def test_labels_with_commas_are_quoted(privet):
    schema = json.loads(Path("schema.json").read_text())
    Path("comma.json").write_text(json.dumps({**schema, "classes": ["no, never", "yes"]}))
    rows = Path("rows.csv").read_text().replace(",no\n", ',"no, never"\n')
    Path("comma.csv").write_text(rows)
    assert privet("fit comma.csv --schema comma.json").exit_code == 0
    header, labels, _ = parsed(privet("predict model.privet comma.csv --proba").stdout)
    assert header[1] == "P(no, never)"
    assert set(labels) <= {"no, never", "yes"}


def test_a_failure_leaves_no_file_behind(refused, model_file):
    Path("bad.csv").write_text("age,sex,children\n50,male,1\nxyzzy,male,1\n")
    before = sorted(Path().iterdir())
    said = refused("predict model.privet bad.csv -o out.csv", EXIT_DATA)
    assert "column 'age' holds values that" in said
    assert "xyzzy" not in said
    assert sorted(Path().iterdir()) == before


def test_a_file_that_exists_is_not_replaced_without_force(refused, privet, model_file):
    Path("out.csv").write_text("mine")
    assert "'out.csv' exists" in refused(f"{PREDICT} -o out.csv", EXIT_USAGE)
    assert Path("out.csv").read_text() == "mine"
    assert privet(f"{PREDICT} -o out.csv --force").exit_code == 0
    assert Path("out.csv").read_text().startswith("prediction\n")


def test_the_rows_are_never_replaced_by_their_predictions(refused, model_file):
    assert "is read by this command" in refused(f"{PREDICT} -o rows.csv --force", EXIT_USAGE)


def test_an_output_that_is_no_csv_is_refused(refused, model_file):
    said = refused(f"{PREDICT} -o out.parquet", EXIT_USAGE)
    assert said == "predictions are written as CSV; name the output .csv or .csv.gz instead of 'out.parquet'"


def test_a_file_that_is_no_model_exits_with_3(refused):
    assert "is not a model file" in refused("predict rows.csv rows.csv", EXIT_DATA)


def test_a_lacking_column_exits_with_3(refused, model_file):
    Path("new.csv").write_text("age,sex\n50,male\n")
    assert "the table lacks the column 'children'" in refused("predict model.privet new.csv", EXIT_DATA)
