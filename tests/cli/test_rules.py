"""privet rules."""

import gzip
import io
import json
from pathlib import Path

import pandas as pd
import pytest

from privet import load
from privet.checks import pluralize
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE

RULES = "rules model.privet"
OF_COUNTS = "--method private-rdt --epsilon inf --random-state 3"


@pytest.fixture
def expected(model_file):
    return load(model_file).rules()


def test_a_table_shows_the_rules_with_the_most_support(privet, expected):
    result = privet(RULES)
    header, *lines = result.stdout.splitlines()
    assert header.split() == ["support", "confidence", "95", "%", "tree", "rule"]
    assert len(lines) == 20
    assert all(line.endswith(rule) for line, rule in zip(lines, expected.rule, strict=False))
    left = pluralize(len(expected) - 20, "more rule")
    assert f"{left} of less support; --top shows more" in result.stderr


def test_top_shows_as_many_as_asked_for(privet, expected):
    result = privet(f"{RULES} --top 3")
    assert len(result.stdout.splitlines()) == 4
    assert "raise --top" in result.stderr
    everything = privet(f"{RULES} --top 100000")
    assert len(everything.stdout.splitlines()) == 1 + len(expected)
    assert everything.stderr == ""


def test_csv_holds_what_the_library_returns(privet, expected):
    read = pd.read_csv(io.StringIO(privet(f"{RULES} --format csv").stdout))
    pd.testing.assert_frame_equal(read, expected, check_exact=True, check_dtype=False)


def test_json_holds_every_rule_with_its_conditions(privet, expected):
    data = json.loads(privet(f"{RULES} --json").stdout)
    assert data["classes"] == ["no", "yes"]
    assert data["noise_std"] == 0
    assert [rule["text"] for rule in data["rules"]] == list(expected.rule)
    assert set(data["rules"][0]["conditions"][0]) == {"attribute", "text"}
    assert privet(f"{RULES} --format json").stdout == privet(f"{RULES} --json").stdout


def test_the_options_choose_as_the_library_does(privet, expected, model_file):
    line = f"{RULES} --json --min-support 20 --min-confidence 0.7 --class yes --leaves --merge"
    chosen = load(model_file).rules(min_support=20, min_confidence=0.7, class_="yes", leaves_only=True, merge=True)
    rules = json.loads(privet(line).stdout)["rules"]
    assert 0 < len(rules) < len(expected)
    assert [rule["text"] for rule in rules] == list(chosen.rule)


@pytest.mark.parametrize(("classes", "words"), [([5, 9], ["5", "9"]), ([False, True], ["true", "False"])])
def test_classes_that_are_no_text_are_named_by_their_text(privet, classes, words):
    schema = json.loads(Path("schema.json").read_text())
    Path("other.json").write_text(json.dumps({**schema, "classes": classes}))
    table = pd.read_csv("rows.csv")
    table["class"] = [classes[label == "yes"] for label in table["class"]]
    table.to_csv("other.csv", index=False)
    assert privet(f"fit other.csv --schema other.json {OF_COUNTS}").exit_code == 0
    for word in words:
        rules = json.loads(privet(f"{RULES} --json --class {word}").stdout)["rules"]
        assert {str(rule["prediction"]).lower() for rule in rules} == {word.lower()}


def test_a_file_gets_what_stdout_would_get(privet, model_file):
    result = privet(f"{RULES} -o rules.csv")
    assert result.stdout == ""
    assert result.stderr.endswith("rules written to 'rules.csv'\n")
    assert Path("rules.csv").read_text() == privet(f"{RULES} --format csv").stdout
    said = json.loads(privet(f"{RULES} -o rules.json.gz --json --top 5").stdout)
    assert said == {"model": "model.privet", "output": "rules.json.gz", "rules": 5}
    assert gzip.decompress(Path("rules.json.gz").read_bytes()).decode() == privet(f"{RULES} --json --top 5").stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("-o rules.txt", "rules are written as CSV or JSON; name the output .csv or .json, not 'rules.txt'"),
        ("-o rules.csv --format json", "--format json does not fit the name 'rules.csv'; leave it out"),
        ("-o model.privet.csv/x.csv", "there is no such folder"),
        ("--class maybe", "class 'maybe' is not known to the model; choose from 'no', 'yes'"),
        ("--min-confidence 80", "invalid value for '--min-confidence'"),
        ("--format xml", "invalid value for '--format'"),
    ],
)
def test_what_makes_no_sense_is_refused(refused, model_file, options, sentence):
    assert sentence in refused(f"{RULES} {options}", EXIT_USAGE)


def test_json_and_another_format_contradict_each_other(privet, model_file):
    result = privet(f"{RULES} --json --format csv")
    assert result.exit_code == EXIT_USAGE
    assert "--json and --format csv contradict each other" in json.loads(result.stdout)["error"]


def test_a_file_that_exists_is_not_replaced_without_force(refused, privet, model_file):
    Path("rules.csv").write_text("mine")
    assert "'rules.csv' exists" in refused(f"{RULES} -o rules.csv", EXIT_USAGE)
    assert privet(f"{RULES} -o rules.csv --force").exit_code == 0


def test_a_file_that_is_no_model_exits_with_3(refused):
    assert "is not a model file" in refused("rules rows.csv", EXIT_DATA)


def test_names_cannot_drive_the_terminal(privet):
    schema = json.loads(Path("schema.json").read_text())
    schema["attributes"][0]["name"] = "age\x1b[2J"
    Path("hostile.json").write_text(json.dumps(schema))
    table = pd.read_csv("rows.csv").rename(columns={"age": "age\x1b[2J"})
    table.to_csv("hostile.csv", index=False)
    assert privet(f"fit hostile.csv --schema hostile.json {OF_COUNTS}").exit_code == 0
    shown = privet(RULES).stdout
    assert "\x1b" not in shown
    assert "age\\x1b[2J" in shown
