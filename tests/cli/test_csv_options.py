"""--sep, --decimal and --encoding at every verb that reads rows."""

import json
from pathlib import Path

import pandas as pd
import pytest
import typer

from privet.cli.app import app
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE

READS_ROWS = [
    "schema init", "schema check", "schema review", "perturb", "reconstruct", "fit", "update", "evaluate",
    "party check", "party release", "party sum", "predict", "explain", "rehearse", "score", "audit",
]  # fmt: skip
FORM = ["--sep", ";", "--decimal", ",", "--encoding", "latin-1"]


@pytest.fixture
def german(privet):
    """Write rows.csv in another way, with a category that is not ASCII, and a schema that has it."""
    rows = pd.read_csv("rows.csv").replace({"male": "männlich"}).astype({"age": float})
    rows.to_csv("german.csv", sep=";", decimal=",", encoding="latin-1", index=False)
    rows.to_csv("plain.csv", index=False)
    document = Path("schema.json").read_text(encoding="utf-8").replace('"male"', '"m\\u00e4nnlich"')
    Path("german.json").write_text(document, encoding="utf-8")
    return privet


@pytest.mark.parametrize("verb", READS_ROWS)
def test_every_verb_that_reads_rows_has_the_options(privet, verb):
    said = privet(f"{verb} --help")
    assert all(option in said.stdout for option in ("--sep", "--decimal", "--encoding"))


def test_no_other_verb_has_them():
    group = typer.main.get_command(app)
    with_options = set()
    for name, command in group.commands.items():
        for inner, verb in getattr(command, "commands", {"": command}).items():
            if any("--sep" in parameter.opts for parameter in verb.params):
                with_options.add(f"{name} {inner}".strip())
    assert with_options == set(READS_ROWS)


def test_a_fit_and_its_predictions_are_those_of_a_plain_file(german):
    for rows, model, options in (("german.csv", "g.privet", FORM), ("plain.csv", "p.privet", [])):
        line = f"fit {rows} --schema german.json --method private-rdt --epsilon inf --random-state 3 -o {model}"
        assert german([*line.split(), *options]).exit_code == 0
        assert german([*f"predict {model} {rows} -o {model}.csv".split(), *options]).exit_code == 0
    assert Path("g.privet.csv").read_text() == Path("p.privet.csv").read_text()


def test_a_wrong_separator_is_an_error_that_names_the_option(german, refused):
    said = refused("fit german.csv --schema german.json --encoding latin-1", EXIT_DATA)
    assert "seems to separate its fields by ';' and not by ','; pass --sep ';' at the command line" in said


def test_a_review_names_the_separator_too(german, refused):
    # Its lines have different numbers of decimal commas.
    Path("fractions.csv").write_text("x;label\n1,5;no\n2;yes\n" * 9)
    german(["schema", "init", "fractions.csv", "--target", "label", "-o", "draft.json", *FORM])
    said = refused("schema review draft.json fractions.csv --by Ann", EXIT_DATA)
    assert "seems to separate its fields by ';' and not by ','; pass --sep ';' at the command line" in said


def test_an_option_that_makes_no_sense_is_a_wrong_use(german, refused):
    assert "--decimal ';' must be '.' or ','" in refused("fit german.csv --schema german.json --decimal ;", EXIT_USAGE)


def test_a_draft_of_such_a_file_has_its_words(german):
    assert german(["schema", "init", "german.csv", "-o", "draft.json", *FORM]).exit_code == 0
    sex = json.loads(Path("draft.json").read_text(encoding="utf-8"))["attributes"][1]
    assert sex["categories"] == ["female", "männlich"]
