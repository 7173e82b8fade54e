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
    assert sentence.startswith(
        "a report is written as HTML; name the output .html instead of 'report.pdf', take --format"
    )
    assert sentence.endswith("or take --json")


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


ABOUT = 'owner = "City Hospital"\npurpose = "To find smokers."\nperiod = "2023"\ncontact = "a@hospital.example"\n'
FOR_THE_REGISTRY = (
    'name = "Smokers"\ndescription = "A forest."\nowner_kind = "Government"\nregion = "Bern"\npublished = 2026-11-19\n'
)
SMALL = "fit rows.csv --schema schema.json --method private-rdt --trees 2 --height 2 --epsilon 1 --force"


def test_the_template_of_what_the_owner_states_is_printed_without_a_model(privet):
    result = privet("report --about-template")
    assert result.exit_code == 0
    assert 'owner = ""' in result.stdout
    assert result.stderr == ""


def test_what_the_owner_states_needs_no_file(privet, refused, model_file):
    stated = (
        "--state 'owner=City Hospital' --state purpose=recall --state period=2025 --state contact=a@hospital.example"
    )
    assert privet(f"report model.privet {stated}").exit_code == 0
    assert "City Hospital" in Path("model.html").read_text()
    Path("about.toml").write_text(ABOUT)
    sentence = refused(f"report model.privet --force --about about.toml {stated}", EXIT_USAGE)
    assert sentence.startswith("--state is for what no file says; write it into the file of --about")


def test_everything_can_be_given_at_once(privet):
    Path("about.toml").write_text(ABOUT)
    assert privet("ledger init ledger.db --dataset patients --epsilon 3").exit_code == 0
    for line in (
        f"{SMALL} --ledger ledger.db",
        "party keygen clinic",
        "sign model.privet --key clinic.key",
    ):
        assert privet(line).exit_code == 0, line
    Path("audit.json").write_text(privet("audit --model model.privet --one-run 200 --json").stdout)
    Path("scores.json").write_text(privet("score model.privet rows.csv --by sex --json").stdout)
    line = "report model.privet --about about.toml --attach audit.json --attach scores.json --keys clinic.pub"
    result = privet(f"{line} --ledger ledger.db")
    assert result.exit_code == 0, result.output
    page = Path("model.html").read_text()
    for words in (
        "City Hospital",
        "<strong><bdi>clinic</bdi></strong> signed it",
        "audit.json",
        "by_group, sex, female",
    ):
        assert words in page
    facts = json.loads(privet(f"{line} --json").stdout)
    assert [each["kind"] for each in facts["attachments"]] == ["audit", "test scores"]
    assert facts["signer"]["name"] == "clinic"
    assert facts["sacro_ml"]["researcher"] == "a@hospital.example"


def test_a_document_about_another_model_is_refused_and_nothing_written(privet, refused):
    privet(SMALL)
    Path("scores.json").write_text(privet("score model.privet rows.csv --json").stdout)
    privet(SMALL)
    sentence = refused("report model.privet --attach scores.json", EXIT_USAGE)
    assert sentence == "'scores.json' is about another model than this one; attach what was run on this file"
    assert not Path("model.html").exists()


def test_a_forged_model_has_no_report_in_the_signers_name(privet, refused):
    for line in (SMALL, "party keygen clinic", "sign model.privet --key clinic.key", SMALL):
        assert privet(line).exit_code == 0, line
    assert "is for another model" in refused("report model.privet --keys clinic.pub", EXIT_DATA)
    assert "pass --keys too" in refused("report model.privet --signature model.privet.sig", EXIT_USAGE)
    assert not Path("model.html").exists()


def test_a_record_for_the_registry_says_what_it_leaves_open(privet, refused):
    privet(SMALL)
    assert "the registry asks for what no model file knows" in refused(
        "report model.privet --format registry -o r.yaml", 2
    )
    Path("about.toml").write_text(ABOUT)
    line = "report model.privet --format registry --about about.toml"
    assert "the registry also asks for name, description" in refused(f"{line} -o record.yaml", EXIT_USAGE)
    Path("about.toml").write_text(ABOUT + FOR_THE_REGISTRY)
    result = privet(line)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-2].startswith("not answered: basic.data_product_sector, ")
    assert result.stdout.splitlines()[-1] == "report: model.yaml"
    assert 'variant_name: "Pure DP"' in Path("model.yaml").read_text()
    said = json.loads(privet(f"{line} --json -o other.yaml").stdout)
    assert "deployment.basic.data_product_sector" in said["open_fields"]


def test_a_card_is_markdown(privet, refused, model_file):
    assert privet("report model.privet --format card").exit_code == 0
    assert Path("model.md").read_text().startswith("---\nlibrary_name: privet\n")
    sentence = refused("report model.privet --format card -o card.html", EXIT_USAGE)
    assert sentence.startswith("a card is written as Markdown; name the output .md instead of 'card.html'")


def test_what_is_read_is_never_written_over(refused, model_file):
    Path("about.html").write_text(ABOUT)
    sentence = refused("report model.privet --about about.html -o about.html --force", EXIT_USAGE)
    assert "is read by this command" in sentence
