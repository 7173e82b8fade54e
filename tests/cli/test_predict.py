"""privet predict."""

import csv
import gzip
import io
import json
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from privet import load
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE
from privet.cli.support.progress import Progress
from privet.cli.verbs.predict import predict

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


@pytest.mark.parametrize("name", ["out.txt", "out", "out.parquet.gz", "out.xlsx"])
def test_an_output_of_another_kind_is_refused(refused, model_file, name):
    said = refused(f"{PREDICT} -o {name}", EXIT_USAGE)
    expected = "predictions are written as CSV or Parquet; name the output .csv, .csv.gz or .parquet, not"
    assert said == f"{expected} {name!r}"


@pytest.mark.parametrize("source", ["rows.csv", "rows.parquet"])
def test_parquet_holds_typed_columns_to_the_last_bit(privet, expected, source):
    pd.read_csv("rows.csv").to_parquet("rows.parquet")
    result = privet(f"predict model.privet {source} --proba -o out.parquet")
    assert (result.exit_code, result.stdout) == (0, "")
    table = pq.read_table("out.parquet")
    assert [str(kind) for kind in table.schema.types] == ["string", "double", "double"]
    assert_array_equal(table.select(["P(no)", "P(yes)"]).to_pandas(), expected)
    assert table.column("prediction").to_pylist() == [("no", "yes")[j] for j in expected.argmax(axis=1)]


def test_parquet_keeps_the_type_of_classes_that_are_no_text(privet):
    schema = json.loads(Path("schema.json").read_text())
    Path("numbers.json").write_text(json.dumps({**schema, "classes": [5, 9]}))
    table = pd.read_csv("rows.csv")
    table["class"] = np.where(table["class"] == "yes", 9, 5)
    table.to_csv("numbers.csv", index=False)
    assert privet("fit numbers.csv --schema numbers.json --epsilon inf --random-state 3").exit_code == 0
    assert privet("predict model.privet numbers.csv -o out.parquet").exit_code == 0
    assert pq.read_table("out.parquet").column("prediction").type == "int64"
    assert set(parsed(privet("predict model.privet numbers.csv").stdout)[1]) == {"5", "9"}


def test_rows_without_any_make_a_parquet_file_without_any(privet, model_file):
    Path("empty.csv").write_text("id,age,sex,children\n")
    assert privet("predict model.privet empty.csv --proba --keep id -o out.parquet").exit_code == 0
    table = pq.read_table("out.parquet")
    assert (table.column_names, table.num_rows) == (["id", "prediction", "P(no)", "P(yes)"], 0)


def test_a_dash_is_stdout(privet, model_file):
    assert privet(f"{PREDICT} -o -").stdout == privet(PREDICT).stdout
    assert not Path("-").exists()


def test_kept_columns_come_first_and_as_they_are(privet, expected):
    table = pd.read_csv("rows.csv")
    ids = [f"00{i}" for i in range(len(table) - 3)] + ['a "b", c', "", "x\ny"]
    table.insert(0, "id", ids)
    table.to_csv("ids.csv", index=False)
    header, *lines = csv.reader(io.StringIO(privet("predict model.privet ids.csv --keep id --keep sex").stdout))
    assert header == ["id", "sex", "prediction"]
    assert [line[0] for line in lines] == ids
    assert [line[1] for line in lines] == list(table.sex)
    assert [line[2] for line in lines] == parsed(privet(PREDICT).stdout)[1]


def test_kept_columns_of_parquet_keep_their_types(privet, expected):
    table = pa.Table.from_pandas(pd.read_csv("rows.csv"))
    days = pa.array([date(2024, 1, 1)] * len(expected))
    ids = pa.array(range(2**60, 2**60 + len(expected)))
    pq.write_table(table.append_column("id", ids).append_column("day", days), "ids.parquet")
    line = "predict model.privet ids.parquet --keep id --keep day"
    assert privet(f"{line} -o out.parquet").exit_code == 0
    written = pq.read_table("out.parquet")
    assert [str(kind) for kind in written.schema.types] == ["int64", "date32[day]", "string"]
    assert written.column("id").to_pylist() == ids.to_pylist()
    assert privet(line).stdout.splitlines()[1].startswith(f"{2**60},2024-01-01,")
    kept = json.loads(privet(f"{line} --json").stdout)["kept"]
    assert (kept["id"][0], kept["day"][0]) == (2**60, "2024-01-01")


def test_values_that_a_csv_cannot_hold_are_refused(refused, expected):
    lists = pa.array([["xyzzy"]] * len(expected))
    pq.write_table(pa.Table.from_pandas(pd.read_csv("rows.csv")).append_column("tags", lists), "tags.parquet")
    said = refused("predict model.privet tags.parquet --keep tags -o out.csv", EXIT_DATA)
    assert said == "column 'tags' holds values that a CSV cannot hold; write a .parquet file instead"
    assert not Path("out.csv").exists()


def test_a_kept_column_that_is_not_there_or_has_a_taken_name_is_refused(refused, model_file):
    assert "the table lacks the column 'id'" in refused(f"{PREDICT} --keep id", EXIT_DATA)
    assert "--keep 'prediction' has the name of a column" in refused(f"{PREDICT} --keep prediction", EXIT_USAGE)
    assert "--keep 'P(no)' has the name" in refused(f"{PREDICT} --proba --keep P(no)", EXIT_USAGE)


def test_a_failure_leaves_no_parquet_file_behind(refused, model_file, monkeypatch):
    monkeypatch.setattr("privet.counting.files._BLOCK_BYTES", 64)
    good = "50,male,1\n" * 50
    Path("bad.csv").write_text(f"age,sex,children\n{good}xyzzy,male,1\n")
    before = sorted(Path().iterdir())
    assert "column 'age' holds values that" in refused("predict model.privet bad.csv -o out.parquet", EXIT_DATA)
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.parquet"])
def test_progress_is_lines_on_stderr_where_asked_for(privet, expected, monkeypatch, name):
    monkeypatch.setattr("privet.cli.support.progress._BETWEEN_LINES", 0.0)
    table = pd.read_csv("rows.csv")
    _ = table.to_parquet(name) if name.endswith("parquet") else table.to_csv(name, index=False)
    result = privet(f"predict model.privet {name} --progress -o out.csv")
    assert result.stderr.splitlines() == [
        "privet: predicted 300 rows, 100% of the file",
        "privet: predicted 300 rows",
        "privet: predictions written to 'out.csv'",
    ]
    assert privet(PREDICT).stderr == ""


def test_a_terminal_shows_a_bar(privet, expected, monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress("predicted", lines=True) as progress:
        progress.read(0.5)
        assert len(list(progress.over([pa.RecordBatch.from_pylist([{"x": 1}])]))) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "predicted" in shown.err
    assert "50%" in shown.err


def test_a_terminal_is_not_driven_by_what_is_kept(privet, model_file, monkeypatch, capsys):
    Path("hostile.csv").write_text("id,age,sex,children\na\x1b[2Jb,50,male,1\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    predict(model_file, Path("hostile.csv"), keep=["id"])
    assert capsys.readouterr().out.splitlines()[1].startswith("a\\x1b[2Jb,")


def test_a_file_that_is_no_model_exits_with_3(refused):
    assert "is not a model file" in refused("predict rows.csv rows.csv", EXIT_DATA)


def test_a_lacking_column_exits_with_3(refused, model_file):
    Path("new.csv").write_text("age,sex\n50,male\n")
    assert "the table lacks the column 'children'" in refused("predict model.privet new.csv", EXIT_DATA)
