"""privet fit."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from privet import PrivateRDTClassifier, load
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE

FIT = "fit rows.csv --schema schema.json"
OF_COUNTS = "--method private-rdt"


def test_it_prints_the_promise_and_where_the_model_is(privet):
    result = privet(f"{FIT} --epsilon 2")
    assert result.exit_code == 0
    assert "epsilon = 2" in result.stdout.splitlines()[0]
    assert result.stdout.splitlines()[-1] == "model: model.privet"
    assert load("model.privet").guarantee_.epsilon == 2.0


def test_it_prints_importances_or_says_that_noise_hides_them(privet, monkeypatch):
    assert "attribute  importance" in privet(f"{FIT} {OF_COUNTS} --epsilon 1000").stdout
    monkeypatch.setattr("privet.tree.intervals.RELIABLE", 1e12)  # no node stands out, whatever noise is drawn
    assert "stands out from the noise" in privet(f"{FIT} {OF_COUNTS} --epsilon 0.000001 --force").stdout


def test_json_is_all_there_is_on_stdout(privet):
    result = privet(f"{FIT} {OF_COUNTS} --json --trees 7 --height 2 -o other.privet")
    summary = json.loads(result.stdout)
    assert set(summary) == {"model", "method", "trees", "height", "guarantee", "importances"}
    assert (summary["model"], summary["trees"], summary["height"]) == ("other.privet", 7, 2)
    assert summary["guarantee"]["epsilon"] == 1.0


def test_infinite_epsilon_is_told_as_not_private(privet):
    result = privet(f"{FIT} --epsilon inf --json")
    assert json.loads(result.stdout)["guarantee"]["epsilon"] == "inf"
    assert privet(f"{FIT} --epsilon inf --force").stdout.startswith("This model is not private")


def test_it_fits_what_the_estimator_fits(model_file):
    model = load(model_file)
    again = PrivateRDTClassifier("schema.json", epsilon=float("inf"), random_state=3).fit("rows.csv")
    assert_array_equal(model.noisy_counts_, again.noisy_counts_)


@pytest.mark.parametrize("name", ["rows.csv.gz", "rows.parquet"])
def test_other_formats_fit_the_same(privet, model_file, name):
    table = pd.read_csv("rows.csv")
    _ = table.to_parquet(name) if name.endswith("parquet") else table.to_csv(name, index=False)
    result = privet(f"fit {name} --schema schema.json {OF_COUNTS} --epsilon inf --random-state 3 -o other.privet")
    assert result.exit_code == 0
    assert_array_equal(load("other.privet").noisy_counts_, load(model_file).noisy_counts_)


def test_a_csv_with_a_header_only_fits(privet):
    Path("empty.csv").write_text("age,sex,children,class\n")
    result = privet("fit empty.csv --schema schema.json")
    assert result.exit_code == 0
    assert result.stdout.endswith("model: model.privet\n")


def test_without_a_schema_it_says_how_to_draft_one(refused):
    sentence = refused("fit rows.csv", EXIT_USAGE)
    assert "draft one with `privet schema init ROWS --target COLUMN`" in sentence


def test_a_file_that_exists_is_not_replaced_and_nothing_is_read(refused, privet):
    Path("model.privet").write_text("mine")
    sentence = refused("fit missing.csv --schema missing.json", EXIT_USAGE)
    assert sentence == "'model.privet' exists; choose another output with -o, or replace it with --force"
    assert Path("model.privet").read_text() == "mine"
    assert privet(f"{FIT} --force").exit_code == 0
    assert Path("model.privet").read_text() != "mine"


@pytest.mark.parametrize("name", ["rows.csv", "schema.json"])
def test_an_input_is_never_replaced_even_with_force(refused, name):
    before = Path(name).read_text()
    assert refused(f"{FIT} -o {name} --force", EXIT_USAGE).startswith(f"'{name}' is read by this command")
    assert Path(name).read_text() == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("-o nowhere/model.privet", "there is no such folder; make it"),
        ("-o .", "it is a folder; name a file with -o"),
        ("--epsilon 0", "epsilon=0.0 is out of range"),
        ("--epsilon nan", "epsilon=nan is out of range"),
        (
            "--method c45",
            "--method 'c45' is not known; choose from diffpid3, dp-rf, dpdf, private-forest, private-forest-regressor",
        ),
        ("--jobs 0", "n_jobs=0 must be a whole number other than 0"),
    ],
)
def test_parameters_out_of_range_exit_with_2(refused, options, sentence):
    assert sentence in refused(f"{FIT} {options}", EXIT_USAGE)
    assert not Path("model.privet").exists()


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("missing.csv", "cannot read 'missing.csv': "),
        ("rows.txt", "cannot tell the format of 'rows.txt' from its name"),
        (
            "wrong_column.csv",
            "the table lacks the column 'children'; did you mean 'childrens'?",
        ),
        ("text.csv", "column 'age' holds values that"),
        ("labels.csv", "column 'class' has labels that are not in the schema's classes"),
        ("ragged.csv", "'ragged.csv' cannot be read to its end"),
        ("nothing.csv", "'nothing.csv' is empty; its first line must name the columns"),
    ],
)
def test_bad_rows_exit_with_3_and_are_not_quoted(refused, rows, sentence):
    header = "age,sex,children,class\n"
    Path("rows.txt").write_text(header)
    Path("wrong_column.csv").write_text(header.replace("children", "childrens"))
    Path("text.csv").write_text(f"{header}xyzzy,male,1,no\n")
    Path("labels.csv").write_text(f"{header}50,male,1,xyzzy\n")
    Path("ragged.csv").write_text(f"{header}50,male,1\n50,male,1,no,xyzzy\n")
    Path("nothing.csv").write_text("")
    said = refused(f"fit {rows} --schema schema.json", EXIT_DATA)
    assert sentence in said
    assert "xyzzy" not in said
    assert not Path("model.privet").exists()


def test_a_bad_schema_exits_with_3(refused):
    Path("bad.json").write_text('{"classes": ["no", "yes"]}')
    assert refused("fit rows.csv --schema bad.json", EXIT_DATA) == "the schema lacks 'attributes'; add it"
    assert "cannot read the schema 'none.json'" in refused("fit rows.csv --schema none.json", EXIT_DATA)


def test_where_noise_would_decide_it_says_so_before_anything_is_spent(privet):
    assert "noise decides many votes" in privet(f"{FIT} {OF_COUNTS} --epsilon 0.001").stderr
    assert "only the class balance would be released" in privet(f"{FIT} --epsilon 0.001 --force").stderr
    assert privet(f"{FIT} --epsilon 100 --force").stderr == ""


def test_a_schema_marked_as_inferred_shows_in_the_promise(privet):
    schema = json.loads(Path("schema.json").read_text())
    schema["attributes"][0]["inferred"] = True
    Path("schema.json").write_text(json.dumps(schema))
    result = privet(f"{FIT} --epsilon 100")
    assert result.stdout.startswith("Apart from bounds of 'age', read from the rows without noise")
    assert "the schema is marked as inferred in places" in result.stderr


def test_class_weights_are_in_the_model_and_its_predictions(privet):
    assert privet(f"{FIT} --epsilon 5 --class-weight balanced").exit_code == 0
    assert load("model.privet").class_weight == "balanced"
    assert privet(f"{FIT} --epsilon 5 --class-weight yes=5 --class-weight no=0.5 -o other.privet").exit_code == 0
    other = load("other.privet")
    assert other.class_weight == {"yes": 5.0, "no": 0.5}
    rows = pd.read_csv("rows.csv").drop(columns="class")
    printed = pd.read_csv(io.StringIO(privet("predict other.privet rows.csv --proba").stdout))
    assert_array_equal(printed[["P(no)", "P(yes)"]], other.predict_proba(rows))
    again = pd.read_csv(io.StringIO(privet("predict other.privet rows.csv --proba --class-weight balanced").stdout))
    assert_array_equal(again[["P(no)", "P(yes)"]], other.with_class_weight("balanced").predict_proba(rows))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("even", "--class-weight 'even' is neither balanced nor LABEL=NUMBER; write --class-weight balanced, or"),
        ("yes=much", "--class-weight 'yes=much' is neither balanced nor LABEL=NUMBER"),
        ("maybe=2", "class_weight names 'maybe', which is none of the schema's classes; choose from ['no', 'yes']"),
        ("yes=-2", "must be 'balanced', None, or a dict of classes with numbers from"),
    ],
)
def test_other_class_weights_are_refused(privet, given, sentence):
    result = privet(f"{FIT} --class-weight {given}")
    assert result.exit_code == EXIT_USAGE
    assert sentence in result.stderr
    assert not Path("model.privet").exists()
