"""privet schema check."""

import json
from pathlib import Path

import pytest

from privet.cli.support.output import EXIT_DATA

HEADER = "age,sex,children,class\n"


def test_the_table_says_in_words_what_is_public(privet):
    result = privet("schema check schema.json")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "column    type         domain                        mark",
        "age       continuous   16 to 100 in 255 equal cells",
        "sex       categorical  2 categories: female, male",
        "children  continuous   0 to 10 in 10 equal cells",
        "class     label        2 classes: no, yes",
        "",
        "rows: about 300",
        "The schema is in order, and nothing in it is marked as read from the rows.",
    ]


def test_marks_edges_and_long_lists_are_shown(privet):
    attributes = [
        {"name": "[bold]", "type": "continuous", "bounds": [0, 9], "edges": [1, 5], "inferred": True},
        {"name": "many", "type": "categorical", "categories": list("abcdef")},
    ]
    Path("other.json").write_text(json.dumps({"classes": [5, 9], "attributes": attributes}))
    lines = privet("schema check other.json").stdout.splitlines()
    assert lines[1].split("  ") == ["[bold]", "continuous", " 0 to 9 in 3 cells of its own edges", "inferred"]
    assert lines[2].endswith("6 categories: a, b, c, d, ...")
    assert lines[5].startswith("rows: not declared")
    assert lines[6].startswith("The schema is in order, but 1 of its entries are marked as read from the rows")


def test_json_holds_the_schema_and_the_verdict(privet):
    data = json.loads(privet("schema check schema.json --json").stdout)
    assert [attribute["name"] for attribute in data["schema"]["attributes"]] == ["age", "sex", "children"]
    assert data["inferred"] == []
    assert data["verdict"].startswith("The schema is in order")


def test_a_table_that_fits_is_told_to_its_owner_on_stderr(privet):
    result = privet("schema check schema.json rows.csv")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "privet: all columns of the schema are there and hold values of its types",
        "privet: columns with missing values, which get a code of their own: none",
        "privet: columns with values that are not in their categories, which are read as missing: none",
        "privet: columns with values beyond their bounds, which are clipped: none",
        "privet: what is said about the rows speaks to their owner; it is exact, and no part of a release",
    ]


def test_missing_unknown_and_clipped_values_are_told_by_column(privet):
    Path("odd.csv").write_text(f"{HEADER}117,other,,no\n50,,3,yes\n")
    result = privet("schema check schema.json odd.csv")
    said = result.stderr.splitlines()
    assert said[1].endswith(": 'sex', 'children'")
    assert said[2].endswith(": 'sex'")
    assert said[3].endswith(": 'age'")
    assert "117" not in result.output
    assert "other" not in result.output
    data = json.loads(privet("schema check schema.json odd.csv --json").stdout)
    assert data["table"]["columns"] == {
        "missing": ["children", "sex"],
        "unknown": ["sex"],
        "clipped": ["age"],
    }
    assert "owner" in data["table"]["notice"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("age,sex,class\n50,male,no\n", "the table lacks the column 'children'"),
        (f"{HEADER}xyzzy,male,1,no\n", "column 'age' holds values that"),
        (f"{HEADER}50,male,1,xyzzy\n", "column 'class' has labels that are not in the schema's classes"),
        (f"{HEADER}50,male,1,\n", "column 'class' has missing labels"),
    ],
)
def test_a_table_that_does_not_fit_exits_with_3(refused, text, sentence):
    Path("odd.csv").write_text(text)
    said = refused("schema check schema.json odd.csv", EXIT_DATA)
    assert sentence in said
    assert "xyzzy" not in said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "the schema 'bad.json' is not valid JSON, or nested too deep; check its commas and brackets"),
        ("[]", "a schema is a JSON object with the keys target, classes and attributes"),
        ('{"classes": ["no", "yes"], "attributes": []}', "a schema needs attributes"),
        ('{"classes": ["no", "yes"], "atributes": []}', "the schema lacks 'attributes'; add it"),
    ],
)
def test_a_schema_that_is_wrong_exits_with_3(refused, text, sentence):
    Path("bad.json").write_text(text)
    assert sentence in refused("schema check bad.json", EXIT_DATA)
