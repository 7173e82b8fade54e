"""What stands on the page beside the model's numbers: plain words, statements, documents, a signature."""

import json

import pytest

from privet.errors import ParameterError, SignatureError
from privet.model_file import read_document
from privet.report import write_report
from privet.report.model_card import model_card
from privet.report.page.facts import PROCEED, STOP
from privet.report.page.page import Report, page
from privet.signing import PrivateKey, Roster, sign_model
from tests.report.pages import Elements
from tests.report.people import HOSTILE, exact, fitted, hostile, leaking, of_visits, paper
from tests.report.test_local import flipped_forest, sound_tree

KEY = PrivateKey("clinic", bytes(range(32)))
EXACT = "This page has figures that no promise covers."


@pytest.fixture
def stated(tmp_path):
    """A model file, and an about.toml."""
    fitted().save(tmp_path / "people.privet")
    (tmp_path / "about.toml").write_text(
        'owner = "City <b>Hospital"\npurpose = "To find smokers."\nperiod = "2023"\ncontact = "a@hospital.example"\n'
        'access = "Two people, for a year."\nfairness = "Looked after by a board."\n'
    )
    return tmp_path / "people.privet"


def document(model, name, **figures):
    path = model.parent / name
    path.write_text(json.dumps({"model": read_document(model)["checksum"], **figures}))
    return path


def read(report):
    return " ".join(" ".join(Elements(page(report.model, report.facts)).words).split())


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (fitted, "At most 74 right guesses in 100: so often is somebody right who has this model"),
        (lambda: fitted(epsilon=50.0), "At most 100 right guesses in 100"),
        (of_visits, "guesses whether the rows of one 'visit_id' were in the table"),
        (exact, "Nothing is promised: assume that whoever has this model can tell whose rows it was made of."),
        (paper, "Nothing is promised"),
        (leaking, "No bound holds for this model as a whole"),
        (sound_tree, "right guesses in 100: so often is somebody right who sees all answers of a person"),
        (flipped_forest, "Nothing is promised: assume that whoever sees an answer can tell what was true."),
    ],
)
def test_the_first_sentence_is_in_plain_words(model, words):
    report = Report.of(model())
    assert report.facts["in_plain_words"] == report.facts["in_plain_words"].strip()
    promise = next(tag for tag in Elements(page(report.model, report.facts)).tags if "promise" in str(tag[1]))
    assert promise[0] == "p"
    assert words in report.facts["in_plain_words"]
    assert report.facts["in_plain_words"] in read(report)


def test_next_to_no_promise_is_called_so():
    assert Report.of(fitted(epsilon=50.0)).facts["in_plain_words"].endswith("That is next to no promise at all.")
    assert "next to no promise" not in Report.of(fitted()).facts["in_plain_words"]


def test_what_the_owner_states_is_on_the_page_as_text(stated):
    report = Report.of(stated, about=stated.parent / "about.toml")
    source, text = page(report.model, report.facts), read(report)
    assert "Data owner City <b>Hospital Purpose To find smokers." in text
    assert "<b>Hospital" not in source
    assert "Two people, for a year. the data owner" in text
    assert "The data owner says: Looked after by a board." in text
    assert report.facts["about"]["owner"] == "City <b>Hospital"
    by = {each["question"]: each["answered_by"] for each in report.facts["nist_sp_800_226"]}
    assert (by["Data security and access control"], by["Data collection exposure"]) == ("the data owner", "you")


def test_without_it_the_page_says_what_was_not_stated():
    text = read(Report.of(fitted()))
    assert "Data owner, purpose, period, contact not stated" in text
    assert "Whose model not verified: no signature was checked" in text


def test_a_hostile_statement_and_a_hostile_document_stay_text(stated):
    (stated.parent / "about.toml").write_text(
        "".join(f"{name} = {json.dumps(HOSTILE)}\n" for name in ("owner", "purpose", "period", "contact"))
    )
    own = document(stated, "x.json", **{HOSTILE: HOSTILE, "sentence": HOSTILE, "accuracy": 0.5})
    own = own.rename(own.with_name('"><img src=x onerror=alert(1)>.json'))
    report = Report.of(stated, about=stated.parent / "about.toml", attach=[own])
    found = Elements(page(report.model, report.facts))
    assert [tag for tag, _ in found.tags if tag in {"img", "iframe"}] == []
    assert len([tag for tag, _ in found.tags if tag == "script"]) == 2
    assert found.text.count("<img src=x onerror") >= 7
    assert "<img" not in model_card(report.model, report.facts)


def test_a_document_is_named_with_its_hash_and_its_figures(stated):
    scores = document(stated, "scores.json", accuracy=0.98765, by_group={"sex": {"female": {"rows": 1234567}}})
    report = Report.of(stated, attach=[scores])
    text = read(report)
    assert f"SHA-256 of the file: {report.facts['attachments'][0]['sha256']}" in text
    assert "accuracy 0.9877" in text
    assert "by_group, sex, female, rows 1,234,567" in text
    assert "Measured: see scores.json." in text
    assert "Measured by group: see scores.json." in text


def test_scores_of_all_rows_alone_answer_nothing_about_groups(stated):
    assert "Measured by group" not in read(Report.of(stated, attach=[document(stated, "s.json", accuracy=0.5)]))


def test_an_audit_stands_where_it_is_asked_for(stated):
    audit = document(stated, "audit.json", epsilon_shown=0.5, guesses=200, right=120)
    answers = {each["question"]: each for each in Report.of(stated, attach=[audit]).facts["nist_sp_800_226"]}
    assert answers["Algorithms and correctness"]["answer"].endswith("were attacked: see audit.json.")
    assert answers["Algorithms and correctness"]["answered_by"] == "attached documents, in part"
    assert "answers for the model" not in answers["Trust model"]["answer"]


def test_exact_figures_take_back_that_the_page_may_be_passed_on(stated):
    audit = document(stated, "audit.json", claimed={"epsilon": 1.0}, epsilon_shown=0.5, sentence="Found little.")
    scores = document(stated, "scores.json", accuracy=0.9)
    harmless, telling = Report.of(stated, attach=[audit]), Report.of(stated, attach=[audit, scores])
    assert EXACT not in read(harmless)
    assert "Reading it, printing it or passing it on costs no further privacy." in read(harmless)
    assert "Found little." in read(harmless)
    assert EXACT in read(telling)
    assert "Computed from rows, and taken as exact: scores.json" in read(telling)
    assert "passing it on costs no further privacy" not in read(telling)


def test_an_attack_that_beat_the_promise_is_the_first_thing_to_read(stated):
    audit = document(stated, "audit.json", epsilon_shown=9.0, contradicts=True)
    report = Report.of(stated, attach=[audit])
    assert "What was run on this model contradicts its promise." in read(report)
    assert report.facts["sacro_ml"]["recommendation"] == STOP
    assert report.facts["sacro_ml"]["reason"] == "more was shown than is promised: audit.json"


def test_a_document_about_another_model_is_refused(stated):
    other = document(stated, "scores.json", accuracy=0.9)
    fitted(epsilon=2.0).save(stated)
    with pytest.raises(ParameterError, match="is about another model than this one"):
        Report.of(stated, attach=[other])


def test_the_page_says_whose_model_it_is_where_the_key_is_known(stated):
    signature = sign_model(stated, KEY)
    report = Report.of(stated, signature=signature, keys=Roster([KEY.public]))
    assert f"clinic signed it on {signature.signed}, and it is unchanged." in read(report)
    assert f"The key has the fingerprint {KEY.public.hex}" in read(report)
    assert report.facts["signer"]["name"] == "clinic"
    (trust,) = [each for each in report.facts["nist_sp_800_226"] if each["question"] == "Trust model"]
    assert trust["answer"].endswith("clinic answers for the model by a signature.")
    assert trust["answered_by"] == "the model file and its signature"
    with pytest.raises(SignatureError, match="you gave no key of that name"):
        Report.of(stated, signature=signature, keys=Roster([PrivateKey("bank", bytes(range(1, 33))).public]))


def test_a_report_of_a_forged_model_is_not_written(stated, tmp_path):
    signature = sign_model(stated, KEY)
    fitted(epsilon=0.01).save(stated)
    with pytest.raises(SignatureError, match="is for another model"):
        write_report(stated, tmp_path / "page.html", signature=signature, keys=Roster([KEY.public]))
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("model", "recommendation", "reason"),
    [
        (fitted, PROCEED, None),
        (exact, STOP, "the promise is not sound"),
        (paper, STOP, "the promise is not sound"),
        (leaking, STOP, "read from the rows without noise"),
        (sound_tree, PROCEED, None),
    ],
)
def test_output_checkers_get_the_summary_that_they_know(model, recommendation, reason):
    told = Report.of(model()).facts["sacro_ml"]
    assert told["recommendation"] == recommendation
    assert told["details"] == model().guarantee_.sentence
    assert ("reason" in told) == (reason is not None)
    assert reason is None or told["reason"].startswith(reason)


def test_tables_of_noise_and_receipts_come_after_the_signature():
    text = read(Report.of(fitted()))
    places = [text.index(words) for words in ("Sign-off", "Appendix A:", "Appendix B: Receipts", "Appendix C: Noise")]
    assert places == sorted(places)
    assert text.index("What an attacker can gain") < text.index("Class balance, as released") < places[0]


@pytest.mark.parametrize("model", [fitted, exact, leaking, sound_tree], ids=["sound", "exact", "leaking", "local"])
def test_a_card_has_its_sections_and_the_promise(model):
    report = Report.of(model())
    card = model_card(report.model, report.facts)
    assert card.startswith("---\nlibrary_name: privet\npipeline_tag: tabular-classification\n")
    headings = [line for line in card.splitlines() if line.startswith("## ")]
    assert [heading.removeprefix("## ") for heading in headings] == [
        "Model details", "Uses", "Training data", "Privacy", "Bias, risks and limitations", "Evaluation",
        "How to use it",
    ]  # fmt: skip
    assert report.facts["checksum"] in card
    assert card == model_card(report.model, report.facts)


def test_a_card_leaves_out_exact_figures(stated):
    scores = document(stated, "scores.json", accuracy=0.98765)
    report = Report.of(stated, attach=[scores])
    card = model_card(report.model, report.facts)
    assert "98765" not in card
    assert "may be computed from rows without noise: scores.json." in card


def test_no_name_in_a_card_is_markup():
    report = Report.of(hostile())
    card = model_card(report.model, report.facts)
    assert "<img" not in card
    assert "&lt;img" in card
    assert "\u202e" not in card
    tables = [line for line in card.splitlines() if line.startswith("| ")]
    assert {line.replace("\\|", "").count("|") for line in tables} == {3, 4}


def test_keys_without_a_signature_are_never_taken_for_a_check(stated, tmp_path):
    keys = Roster([KEY.public])
    with pytest.raises(SignatureError, match="there is no signature"):
        write_report(stated, tmp_path / "page.html", keys=keys)
    signature = sign_model(stated, KEY)
    assert Report.of(stated, keys=keys).facts["signer"]["name"] == "clinic"
    with pytest.raises(ParameterError, match="a signature says nothing without the keys to check it"):
        write_report(stated, tmp_path / "page.html", signature=signature)
    with pytest.raises(ParameterError, match="pass both, or neither"):
        write_report(fitted(), tmp_path / "page.html", keys=keys)
    assert not (tmp_path / "page.html").exists()
