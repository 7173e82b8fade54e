"""The Python predictor: what it takes for missing, what it refuses, and its command line."""

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from privet import Categorical, Numeric
from privet.cli.app import app
from privet.export import export_model, portable, portable_document
from privet.export.predictor import FORMAT, VERSIONS, Predictor, main, read_csv
from tests.export.models import fitted, schema_of

SCHEMA = schema_of(
    [
        Numeric("age", 0, 100, bins=4),
        Categorical("colour", ["red", "blue"]),
        Categorical("floor", [1, 2.5]),
        Categorical("owner", [False, True]),
    ],
    ["no", "yes"],
)
KNOWN = {"age": 50, "colour": "red", "floor": 1, "owner": True}


@pytest.fixture(scope="module")
def model():
    return fitted(SCHEMA, n_trees=20, height=3)


@pytest.fixture(scope="module")
def predictor(model):
    return Predictor(portable_document(model))


@pytest.fixture
def codes(predictor):
    return lambda **changed: predictor._codes({**KNOWN, **changed})


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("age", 25, 1), ("age", np.nextafter(25, 0), 0), ("age", -1e9, 0), ("age", np.inf, 3), ("age", True, 0),
        ("age", Decimal("75.0"), 3), ("age", np.float32(50), 2), ("age", np.int64(50), 2),
        ("age", None, 4), ("age", float("nan"), 4), ("age", np.float32("nan"), 4), ("age", Decimal("NaN"), 4),
        ("age", "", 4), ("age", pd.NA, 4), ("age", pd.NaT, 4), ("colour", pd.NA, 2),
        ("colour", "blue", 1), ("colour", "Blue", 2), ("colour", "", 2), ("colour", None, 2), ("colour", np.nan, 2),
        ("floor", 2.5, 1), ("floor", 1.0, 0), ("floor", 3, 2), ("floor", None, 2), ("floor", "", 2),
        ("owner", False, 0), ("owner", np.True_, 1), ("owner", None, 2), ("owner", "", 2),
    ],
)  # fmt: skip
def test_codes_by_hand(model, codes, name, value, code):
    cuts = portable_document(model)["attributes"][0]["cuts"]
    assert cuts == [25.0, 50.0, 75.0]  # all are used, so that codes are those of the schema
    assert codes(**{name: value})[list(KNOWN).index(name)] == code


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("age", "50", "a number"), ("age", b"50", "a number"), ("age", [50], "a number"), ("age", 10**400, "a number"),
        ("colour", 1, "text"), ("colour", True, "text"), ("floor", "1", "a number"), ("floor", True, "a number"),
        ("owner", 1, "a bool"), ("owner", "true", "a bool"),
    ],
)  # fmt: skip
def test_a_value_of_another_kind_is_refused_and_not_quoted(codes, name, value, needed):
    with pytest.raises(ValueError, match=f"'{name}' needs {needed}.*; convert it first") as refused:
        codes(**{name: value})
    assert str(value) not in str(refused.value)


def test_a_row_that_lacks_a_column_is_refused(predictor):
    with pytest.raises(ValueError, match="the row lacks 'age'; pass None where it is missing"):
        predictor.predict({"colour": "red", "floor": 1, "owner": True})


def test_columns_that_no_attribute_has_are_ignored(predictor):
    assert predictor.predict_proba({**KNOWN, "name": "Ann"}) == predictor.predict_proba(KNOWN)


@pytest.mark.parametrize("row", [[], [50, "red", 1], [50, "red", 1, True, 0]])
def test_a_row_of_another_length_is_refused(predictor, row):
    with pytest.raises(ValueError, match="a row needs one value per attribute, 4 in all"):
        predictor.predict_proba(row)


@pytest.mark.parametrize(
    "document", ['{"format": "privet-model", "version": 1}', '{"format": "privet-predictor", "version": 7}']
)
def test_a_document_of_another_format_or_version_is_refused(document):
    with pytest.raises(ValueError, match="this is not a predictor document of a known version; export the model again"):
        Predictor.from_json(document)


def test_the_predictor_knows_the_version_that_is_written_and_all_before():
    assert portable.FORMAT == FORMAT
    assert tuple(range(1, portable.VERSION_OF_CLASS_WEIGHTS + 1)) == VERSIONS


@pytest.mark.parametrize("version", [1, 2])
def test_an_older_document_still_predicts(model, predictor, version):
    # One of version 2 says no kind, and in one of version 1 no continuous node branches on cells either.
    document = portable_document(model)
    assert min(document["trees"]["cut"]) >= 0
    assert document.pop("kind") == "counts"
    old = Predictor.from_json(json.dumps({**document, "version": version}))
    assert old.predict_proba(KNOWN) == predictor.predict_proba(KNOWN)


FIELDS = {
    "age": ["", "50", " 50 ", "\t50", "+50", "5e1", "5E+1", "50.", ".5", "-.5", "nan", "NaN", "-nan", "inf",
            "-Infinity", "1e400", "007", '"50"', '""'],
    "colour": ["red", " red", "Red", "", '""', '"red"', '"re""d"', 're"d', "blue"],
    "floor": ["1", "1.0", "2.5", "2", "", "1e0"],
    "owner": ["true", "True", "TRUE", "1", "false", "False", "FALSE", "0", "", '"true"'],
}  # fmt: skip


def test_a_csv_is_read_as_privet_reads_it(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    longest = max(map(len, FIELDS.values()))
    lines = [",".join(["x", *(fields[i % len(fields)] for fields in FIELDS.values())]) for i in range(2 * longest)]
    # A byte order mark, a column that is not asked for, an empty line.
    Path("rows.csv").write_text("\ufeffid," + ",".join(FIELDS) + "\n\n" + "\n".join(lines))
    model.save("model.privet")
    expected = CliRunner().invoke(app, "predict model.privet rows.csv --proba")
    assert expected.exit_code == 0, expected.output
    assert main(Predictor(portable_document(model)), ["rows.csv", "--proba"]) == 0
    assert capsys.readouterr().out == expected.stdout
    assert len(expected.stdout.splitlines()) == 2 * longest + 1


@pytest.mark.parametrize(
    ("name", "field"),
    [
        *(
            ("age", field)
            for field in ["x", "1_0", "1e", ".", "0x10", "'1'", "1 2", "\u0661", "50\u00a0", "--1", " ", "5f"]
        ),
        *(("floor", field) for field in ["one", "true"]),
        *(("owner", field) for field in ["yes", " true", "1.0", "tRue"]),
    ],
)
def test_a_field_that_privet_refuses_is_refused_and_not_quoted(model, tmp_path, monkeypatch, capsys, name, field):
    monkeypatch.chdir(tmp_path)
    row = {"age": "50", "colour": "red", "floor": "1", "owner": "true", name: field}
    Path("rows.csv").write_text(",".join(row) + "\n" + ",".join(row.values()) + "\n")
    model.save("model.privet")
    assert CliRunner().invoke(app, "predict model.privet rows.csv").exit_code == 3
    assert main(Predictor(portable_document(model)), ["rows.csv"]) == 3
    out, said = capsys.readouterr()
    assert out == ""
    assert f"column {name!r} holds values that are not" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the first line must name the column 'age', once; correct it"),
        (b"age,age,colour,floor,owner\n", "the first line must name the column 'age', once"),
        (b"age,colour,floor\n", "the first line must name the column 'owner', once"),
        (b"age,colour,floor,owner\n1,red,1\n", "the lines differ in their number of fields"),
        (b"age,colour,floor,owner\n1,\xff,1,true\n", "the rows are not UTF-8 text; save them as UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_exits_with_3_and_a_sentence(predictor, tmp_path, capsys, content, sentence):
    (tmp_path / "rows.csv").write_bytes(content)
    assert main(predictor, [str(tmp_path / "rows.csv")]) == 3
    assert sentence in capsys.readouterr().err


def test_gzipped_rows_are_read_and_damaged_ones_refused(predictor, tmp_path, capsys):
    path = tmp_path / "rows.csv.gz"
    pd.DataFrame([KNOWN] * 50).to_csv(path, index=False)
    assert len(list(read_csv(str(path), predictor.attributes))) == 50
    path.write_bytes(path.read_bytes()[:-20])
    assert main(predictor, [str(path)]) == 3
    assert "the rows cannot be read to their end; write the file again" in capsys.readouterr().err


def test_the_file_runs_as_a_program(model, tmp_path):
    export_model(model, tmp_path / "model.py", format="python")
    pd.DataFrame([KNOWN] * 3).to_csv(tmp_path / "rows.csv", index=False)
    done = run("model.py", "rows.csv", folder=tmp_path)
    expected = model.predict(pd.DataFrame([KNOWN]))[0]
    assert (done.returncode, done.stdout, done.stderr) == (0, f"prediction\n{expected}\n{expected}\n{expected}\n", "")
    lacking = run("model.py", "none.csv", folder=tmp_path)
    assert (lacking.returncode, lacking.stdout) == (3, "")
    assert lacking.stderr == "model.py: cannot read the rows: No such file or directory; check the path\n"
    assert "not private" in run("model.py", "--help", folder=tmp_path).stdout


def test_a_reader_that_has_seen_enough_ends_it_quietly(model, tmp_path):
    export_model(model, tmp_path / "model.py", format="python")
    pd.DataFrame([KNOWN] * 20_000).to_csv(tmp_path / "rows.csv", index=False)
    with subprocess.Popen(
        [sys.executable, "-S", "model.py", "rows.csv"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline().split() == [b"prediction"]
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def run(*arguments, folder):
    # Without site packages: nothing but the standard library is there.
    return subprocess.run(
        [sys.executable, "-S", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )  # fmt: skip
