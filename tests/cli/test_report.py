"""privet report."""

import json
from pathlib import Path

import pytest

from privet import load
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE
from privet.model_file import read_document


def test_it_writes_a_page_named_like_the_model_and_prints_the_promise(privet, model_file):
    result = privet("report model.privet")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == load(model_file).guarantee_.sentence
    assert result.stdout.splitlines()[-1] == "report: model.html"
    assert Path("model.html").read_text().startswith("<!doctype html>")


def test_a_zipped_model_has_a_page_without_its_ending(privet, model_file):
    load(model_file).save("zipped.privet.gz")
    assert privet("report zipped.privet.gz").exit_code == 0
    assert Path("zipped.html").exists()


def test_the_page_is_written_beside_the_model_wherever_that_is(privet, model_file):
    Path("models").mkdir()
    model_file.rename("models/smokers.v2.privet")
    assert privet("report models/smokers.v2.privet").exit_code == 0
    assert Path("models/smokers.v2.html").exists()


def test_the_page_can_be_named(privet, model_file):
    assert privet("report model.privet -o page.htm").exit_code == 0
    assert read_document(model_file)["checksum"] in Path("page.htm").read_text()


def test_json_is_printed_and_no_page_written(privet, model_file):
    result = privet("report model.privet --json")
    said = json.loads(result.stdout)
    assert result.exit_code == 0
    assert not Path("model.html").exists()
    assert said["checksum"] == read_document(model_file)["checksum"]
    assert said["guarantee"] == load(model_file).guarantee_.to_json()
    assert said["odds"]["factor"] == "inf"
    assert said["report"] is None
    assert {
        "model", "guarantee", "odds", "noise", "released_values", "smallest_noise_standard_deviation", "releases",
        "composition", "nist_sp_800_226", "leaks", "public",
    } <= set(said)  # fmt: skip


def test_json_and_a_page_where_both_are_asked_for(privet, model_file):
    result = privet("report model.privet --json -o page.html")
    assert json.loads(result.stdout)["report"] == "page.html"
    assert Path("page.html").exists()


def test_a_page_that_exists_is_replaced_with_force_only(privet, refused, model_file):
    Path("model.html").write_text("signed")
    assert "exists; choose another output with -o" in privet("report model.privet").stderr
    assert Path("model.html").read_text() == "signed"
    assert privet("report model.privet --force").exit_code == 0
    assert Path("model.html").read_text() != "signed"
    assert "exists" in refused("report model.privet -o model.html", EXIT_USAGE)


def test_another_ending_than_html_is_refused(refused, model_file):
    sentence = refused("report model.privet -o report.pdf", EXIT_USAGE)
    assert sentence == "a report is written as HTML; name the output .html instead of 'report.pdf', or take --json"


def test_the_model_is_never_written_over(privet, model_file):
    model_file.rename("model.html")
    result = privet("report model.html --force")
    assert result.exit_code == EXIT_USAGE
    assert "is read by this command" in result.stderr
    assert load("model.html").guarantee_


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("report rows.csv", "not a model file"),
        ("report nothing.privet", "cannot read the model 'nothing.privet'"),
        ("report .", "cannot read the model '.': Is a directory"),
    ],
)
def test_what_is_no_model_is_refused(refused, line, sentence):
    assert sentence in refused(line, EXIT_DATA)
    assert not list(Path().glob("*.html"))


def test_a_ledger_puts_the_budget_on_the_page(privet, refused):
    privet("ledger init ledger.db --dataset 'the <b>patients</b>' --epsilon 3")
    assert privet("fit rows.csv --schema schema.json --epsilon 1 --ledger ledger.db").exit_code == 0
    assert privet("report model.privet --ledger ledger.db").exit_code == 0
    page = Path("model.html").read_text()
    assert "the &lt;b&gt;patients&lt;/b&gt;" in page
    assert "epsilon 1 in 1 release<" in page
    assert "epsilon 2<" in page
    # The pyramid of NIST does not say that nobody knows what the section above it tells.
    assert "The ledger counts 1 release from" in page
    assert "epsilon = 1 of 3 is spent for each row" in page
    assert "Not in the file: it knows of itself alone" not in page
    budget = json.loads(privet("report model.privet --ledger ledger.db --json").stdout)["budget"]
    assert (budget["spent"], budget["left"], budget["entry"]["epsilon"]) == (1.0, 2.0, 1.0)
    privet("fit rows.csv --schema schema.json --epsilon 1 -o other.privet")
    assert "no entry of the ledger names this model" in refused("report other.privet --ledger ledger.db", EXIT_DATA)


def test_the_public_domains_are_listed_for_whoever_vouches_for_them(privet, model_file):
    privet("report model.privet")
    page = Path("model.html").read_text()
    assert "What was taken as public" in page
    assert "16 to 100, in 255 cells" in page
    assert "female, male" in page
