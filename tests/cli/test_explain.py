"""privet explain."""

import io
import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from privet import load
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE

EXPLAIN = "explain weights.privet rows.csv"


@pytest.fixture
def expected(privet):
    assert privet("fit rows.csv --schema schema.json --epsilon inf --random-state 3 -o weights.privet").exit_code == 0
    told = load("weights.privet").explain(pd.read_csv("rows.csv").drop(columns="class"))
    return told.rename(columns=lambda name: f"effect({name.strip('()')})")


def header_of(expected):
    return ",".join(["explained", *expected.columns, "score"]) + "\n"


def read(text):
    return pd.read_csv(io.StringIO(text))


def test_every_row_has_what_attributes_add_and_the_sum(privet, expected):
    table = read(privet(EXPLAIN).stdout)
    assert list(table) == ["explained", *expected.columns, "score"]
    assert set(table["explained"]) == {"yes"}
    assert_allclose(table[list(expected.columns)], expected, rtol=1e-15)
    assert_allclose(table["score"], expected.sum(axis=1))


def test_many_batches_are_joined_in_order(privet, expected, monkeypatch):
    monkeypatch.setattr("privet.counting.files._BLOCK_BYTES", 512)
    assert_allclose(read(privet(EXPLAIN).stdout)["effect(age)"], expected["effect(age)"], rtol=1e-15)


def test_another_class_can_be_asked_for(privet, expected):
    table = read(privet(f"{EXPLAIN} --class no").stdout)
    assert set(table["explained"]) == {"no"}
    assert_allclose(table["effect(age)"], -expected["effect(age)"])


def test_of_more_classes_the_predicted_one_is_explained(privet):
    rows = pd.read_csv("rows.csv").assign(**{"class": lambda t: (t["age"] // 34).astype(int)})
    rows.to_csv("many.csv", index=False)
    schema = json.loads(Path("schema.json").read_text()) | {"classes": [0, 1, 2]}
    Path("many.json").write_text(json.dumps(schema))
    assert privet("fit many.csv --schema many.json --epsilon inf -o many.privet").exit_code == 0
    table = read(privet("explain many.privet many.csv").stdout)
    assert table["explained"].tolist() == read(privet("predict many.privet many.csv").stdout)["prediction"].tolist()
    assert set(read(privet("explain many.privet many.csv --class 2").stdout)["explained"]) == {2}


def test_files_hold_what_stdout_shows(privet, expected):
    shown = privet(f"{EXPLAIN} --keep class").stdout
    for name in ("out.csv", "out.parquet"):
        result = privet(f"{EXPLAIN} --keep class -o {name}")
        assert result.stderr == f"privet: explanations written to '{name}'\n"
        assert result.stdout == ""
    assert Path("out.csv").read_text() == shown
    assert pq.read_table("out.parquet").to_pandas().equals(read(shown))


def test_json_holds_the_same(privet, expected):
    data = json.loads(privet(f"{EXPLAIN} --keep sex --json").stdout)
    assert data["columns"] == [*expected.columns, "score"]
    assert data["explained"] == ["yes"] * len(expected)
    assert_allclose([line[:-1] for line in data["contributions"]], expected)
    assert len(data["kept"]["sex"]) == len(expected)
    assert json.loads(privet(f"{EXPLAIN} -o out.csv --json").stdout) == {
        "model": "weights.privet", "output": "out.csv",
    }  # fmt: skip


def test_no_rows_have_a_header(privet, expected):
    Path("empty.csv").write_text("age,sex,children\n")
    assert privet("explain weights.privet empty.csv").stdout == header_of(expected)
    assert json.loads(privet("explain weights.privet empty.csv --json").stdout)["contributions"] == []


def test_progress_is_lines_where_asked_for(privet, expected):
    assert privet(f"{EXPLAIN} --progress").stderr == f"privet: explained {len(expected):,} rows\n"


def test_a_forest_of_counts_is_refused_with_the_way_out(model_file, refused):
    said = refused("explain model.privet rows.csv", EXIT_USAGE)
    assert "is a private-rdt, whose trees vote and do not add up; see `privet rules`, or fit with --method" in said


def test_mistakes_are_told_in_one_line(expected, refused):
    assert refused(f"{EXPLAIN} --class maybe", EXIT_USAGE) == (
        "--class 'maybe' is none of the classes; choose from no, yes"
    )
    assert "explanations are written as CSV or Parquet" in refused(f"{EXPLAIN} -o out.txt", EXIT_USAGE)
    assert "'rows.csv' is read by this command" in refused(f"{EXPLAIN} -o rows.csv --force", EXIT_USAGE)
    Path("clash.csv").write_text("age,sex,children,score\n")
    said = refused("explain weights.privet clash.csv --keep score", EXIT_USAGE)
    assert said == "--keep 'score' has the name of a column of the explanations; rename it in the table"
    assert "cannot read 'none.csv'" in refused("explain weights.privet none.csv", EXIT_DATA)
