"""privet schema init and privet schema check."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privet import Schema
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE

INIT = "schema init rows.csv -o draft.json"
HEADER = "age,sex,children,class\n"


def drafted():
    return {attribute["name"]: attribute for attribute in json.loads(Path("draft.json").read_text())["attributes"]}


def write(**columns):
    pd.DataFrame(columns).to_csv("table.csv", index=False)


def test_numbers_become_bounds_and_text_becomes_categories(privet):
    result = privet(INIT)
    assert (result.exit_code, result.stdout) == (0, "schema: draft.json\n")
    assert drafted() == {
        "age": {"name": "age", "type": "continuous", "bounds": [16.0, 99.0], "inferred": True, "whole": True},
        "sex": {"name": "sex", "type": "categorical", "categories": ["female", "male"], "inferred": True},
        "children": {"name": "children", "type": "categorical", "categories": [0, 1, 2, 3, 4], "inferred": True},
    }


def test_everything_is_marked_and_the_number_of_rows_is_not_written(privet):
    privet(INIT)
    schema = Schema.load("draft.json")
    assert schema.leaks == (
        "bounds of 'age'", "categories of 'sex'", "categories of 'children'", "classes of 'class'"
    )  # fmt: skip
    assert schema.rows is None


def test_it_says_in_plain_words_what_is_left_to_do(privet):
    said = privet(INIT).stderr
    assert "`privet schema review` asks for each entry what is publicly known, and takes its" in said
    assert "until then a model's guarantee records a leak" in said
    assert "if the size of the table is public, pass --rows: about how many" in said


def test_a_declared_number_of_rows_is_written_as_it_was_declared(privet):
    result = privet(f"{INIT} --rows 50000")
    assert Schema.load("draft.json").rows == 50_000
    assert "size of the table" not in result.stderr


def test_json_names_what_was_drafted(privet):
    summary = json.loads(privet(f"{INIT} --json").stdout)
    assert (summary["schema"], summary["target"], summary["left_out"]) == ("draft.json", "class", {})
    assert summary["attributes"] == ["age", "sex", "children"]
    assert "leak" in summary["notice"]


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        ([18, 95], [18, 95]),
        ([-8019, 102127], [-10_000, 110_000]),
        ([0.1234, 0.1299], [0.1234, 0.1299]),
        ([1.01, 2.99], [1.0, 3.0]),
        ([7, 7], [0, 14]),
    ],
)
def test_bounds_are_rounded_outward_to_two_digits_of_the_range(privet, values, bounds):
    write(x=values, label=["a", "b"])
    assert privet("schema init table.csv --target label -o draft.json").exit_code == 0
    assert drafted()["x"]["bounds"] == bounds


def test_columns_that_no_public_domain_fits_are_left_out_by_name(privet):
    n = 60
    names = [f"person {i}" for i in range(n)]
    days = pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d")
    write(
        **{
            "name": names,
            "day": days,
            "gap": [None] * n,
            "": range(n),
            "x": range(n),
            "class": ["a", "b"] * (n // 2),
        }
    )
    result = privet("schema init table.csv -o draft.json")
    assert result.exit_code == 0
    assert list(drafted()) == ["day", "x"]
    assert drafted()["day"]["type"] == "date"
    assert "column 'name' is left out: it has very many different texts" in result.stderr
    assert "column 'gap' is left out: it is empty" in result.stderr
    assert "column '' is left out: it has no name" in result.stderr
    assert "person" not in result.output


def test_more_than_a_thousand_texts_are_too_many_in_any_table(privet):
    texts = [f"t{i % 1_001}" for i in range(4_004)]
    write(texts=texts, x=range(4_004), label=["a", "b"] * 2_002)
    assert "column 'texts' is left out" in privet("schema init table.csv --target label -o draft.json").stderr


def test_true_and_false_become_categories(privet):
    write(x=[True, False, True], label=["a", "b", "a"])
    privet("schema init table.csv --target label -o draft.json")
    assert drafted()["x"]["categories"] == [False, True]


def test_a_draft_fits_the_table_it_was_read_from(privet):
    assert privet(INIT).exit_code == 0
    assert privet("schema check draft.json rows.csv").exit_code == 0
    assert privet("fit rows.csv --schema draft.json").exit_code == 0


def test_parquet_is_read_as_well(privet):
    pd.read_csv("rows.csv").to_parquet("rows.parquet")
    assert privet("schema init rows.parquet -o draft.json").exit_code == 0
    assert list(drafted()) == ["age", "sex", "children"]


def test_a_missing_target_is_refused_without_showing_a_first_line_that_may_hold_values(refused):
    said = refused(f"{INIT} --target label", EXIT_USAGE)
    assert said == (
        "'rows.csv' has no column 'label'; pass the label's name with --target, and check that its first line names "
        "the columns"
    )


def test_a_target_with_a_value_for_every_row_is_refused(refused):
    write(x=np.arange(1_001), y=np.arange(1_001) / 7)
    said = refused("schema init table.csv --target y -o draft.json", EXIT_DATA)
    assert said == (
        "column 'y' has too many different values for classes; choose another with --target, or pass --number where it "
        "is a number to be predicted"
    )


def test_a_target_with_one_class_is_refused(refused):
    write(x=[1, 2], label=["a", "a"])
    assert "has one class" in refused("schema init table.csv --target label -o draft.json", EXIT_DATA)


def test_a_table_of_nothing_but_its_target_is_refused(refused):
    write(label=["a", "b"])
    assert "a schema needs attributes" in refused("schema init table.csv --target label -o draft.json", EXIT_DATA)


def test_a_column_that_is_there_twice_is_refused(refused):
    Path("table.csv").write_text("x,x,class\n1,2,a\n1,2,b\n")
    assert "has the column 'x' twice" in refused("schema init table.csv -o draft.json", EXIT_DATA)


def test_lines_of_different_lengths_are_refused_without_being_quoted(refused):
    Path("table.csv").write_text("x,class\n1,a\nxyzzy,b,3\n")
    said = refused("schema init table.csv -o draft.json", EXIT_DATA)
    assert said == (
        "'table.csv' cannot be read to its end: it is cut short or damaged, or its lines differ in their number of "
        "fields; write it again"
    )


def test_a_file_that_is_not_there_exits_with_3(refused):
    assert "cannot read 'missing.csv'" in refused("schema init missing.csv -o draft.json", EXIT_DATA)


def test_a_schema_that_exists_is_not_replaced_without_force(refused, privet):
    before = Path("schema.json").read_text()
    assert "'schema.json' exists" in refused("schema init rows.csv", EXIT_USAGE)
    assert Path("schema.json").read_text() == before
    assert privet("schema init rows.csv --force").exit_code == 0
    assert Path("schema.json").read_text() != before


@pytest.mark.parametrize("kind", ["category", "string[pyarrow]"])
def test_text_of_any_storage_is_drafted_from_parquet(privet, kind):
    frame = pd.DataFrame({"sex": ["m", "f", "m"], "class": ["no", "yes", "no"]}).astype(kind)
    frame.to_parquet("table.parquet")
    assert privet("schema init table.parquet -o draft.json").exit_code == 0
    assert drafted()["sex"]["categories"] == ["f", "m"]


def test_a_table_without_rows_has_no_classes_to_draft(refused):
    Path("table.csv").write_text("sex,class\n")
    assert "classes is empty" in refused("schema init table.csv -o draft.json", EXIT_DATA)


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
        "privet: these findings are exact: they are for the owner of the rows, and not part of a release",
    ]


def test_missing_unknown_and_clipped_values_are_told_by_column(privet):
    Path("odd.csv").write_text(f"{HEADER}117,other,,no\n50,,3,yes\n")
    result = privet("schema check schema.json odd.csv")
    said = result.stderr.splitlines()
    assert said[1].endswith(": 'sex', 'children'")
    assert said[2].endswith(": 'sex' (10 % of the rows or more)")
    assert said[3].endswith(": 'age'")
    assert "117" not in result.output
    assert "other" not in result.output
    data = json.loads(privet("schema check schema.json odd.csv --json").stdout)
    assert data["table"]["columns"] == {
        "missing": ["children", "sex"],
        "unknown": ["sex"],
        "clipped": ["age"],
        "cut_off": [],
        "refused": [],
        "unknown_share": {"sex": "10 % of the rows or more"},
    }
    assert "owner" in data["table"]["notice"]


@pytest.mark.parametrize(("n_other", "words"), [(1, "under 1 %"), (2, "1 to 10 %"), (19, "1 to 10 %"), (20, "10 %")])
def test_how_many_values_are_in_no_category_is_told_roughly(privet, n_other, words):
    rows = ["50,other,3,yes\n"] * n_other + ["50,male,3,no\n"] * (200 - n_other)
    Path("odd.csv").write_text(HEADER + "".join(rows))
    said = privet("schema check schema.json odd.csv").stderr.splitlines()
    assert f"'sex' ({words} of the rows" in said[2]


def test_a_column_that_lacks_values_although_it_is_never_missing_is_named(privet):
    document = json.loads(Path("schema.json").read_text())
    for attribute in document["attributes"][:2]:
        attribute["never_missing"] = True
    Path("complete.json").write_text(json.dumps(document))
    Path("odd.csv").write_text(f"{HEADER}50,other,,no\n50,male,3,yes\n")
    result = privet("schema check complete.json odd.csv")
    assert result.exit_code == EXIT_DATA
    assert [line.split()[-2:] for line in result.stdout.splitlines()[1:3]] == [["never", "missing"]] * 2
    said = result.stderr.splitlines()
    assert said[1] == "privet: columns with missing values, which get a code of their own: 'children'"
    assert said[2].endswith("which are read as missing: none")
    assert said[4] == (
        "privet: columns with missing or unknown values although declared never_missing, so that a fit refuses the "
        "table: 'sex'"
    )


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


def test_fractions_of_whole_numbers_are_told_by_column(privet):
    document = json.loads(Path("schema.json").read_text())
    for attribute in (document["attributes"][0], document["attributes"][2]):
        attribute["whole"] = True
    Path("whole.json").write_text(json.dumps(document))
    Path("odd.csv").write_text(f"{HEADER}50.5,male,1,no\n51,male,2,yes\n")
    result = privet("schema check whole.json odd.csv")
    assert result.exit_code == 0
    assert "whole numbers from 16 to 100 in 85 cells" in result.stdout
    assert result.stderr.splitlines()[4] == (
        "privet: columns with fractions although declared whole, which are cut off: 'age'"
    )
