"""Documents attached to a report: whose they are, what is shown of them, and what is refused."""

import hashlib
import json
import math

import pytest

from privet.errors import ParameterError
from privet.report.evidence import AUDIT, MEMBERSHIP, MOST_BYTES, OTHER, SCORES, Attachment

OWN = "a1" * 32


def attached(tmp_path, document, name="document.json"):
    path = tmp_path / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return Attachment.load(path, OWN)


def test_the_hash_is_that_of_the_file(tmp_path):
    found = attached(tmp_path, {"model": OWN, "accuracy": 0.9})
    assert found.sha256 == hashlib.sha256((tmp_path / "document.json").read_bytes()).hexdigest()
    assert (found.name, found.figures) == ("document.json", (("accuracy", 0.9),))


@pytest.mark.parametrize(
    ("document", "kind", "is_exact"),
    [
        ({"claimed": {"epsilon": 1.0}, "epsilon_shown": 0.4, "sentence": "s", "contradicts": False}, AUDIT, False),
        ({"claimed": {"epsilon": 1.0}, "epsilon_shown": 0.4, "accuracy": 0.9}, SCORES, True),
        ({"advantage": 0.1, "auc": 0.5, "more": 1}, MEMBERSHIP, True),
        ({"scores": [{"epsilon": 1, "accuracy": 0.9}], "unheard_of": 5}, SCORES, True),
        ({"balanced_accuracy": 0.9}, SCORES, True),
        ({"anything": "else"}, OTHER, True),
        ({}, OTHER, True),
    ],
    ids=str,
)
def test_only_what_an_audit_writes_is_taken_not_to_be_computed_from_rows(tmp_path, document, kind, is_exact):
    found = attached(tmp_path, {"model": OWN, **document})
    assert (found.kind, found.is_exact) == (kind, is_exact)


def test_figures_are_named_by_the_way_to_them(tmp_path):
    document = {
        "model": OWN,
        "sentence": "What it found.",
        "by_group": {"sex": {"female": {"accuracy": 0.5, "rows": 7}}},
        "cases": [{"name": "an empty table", "releases": 40}, {"releases": 50}],
        "missing": None,
        "flag": True,
    }
    found = attached(tmp_path, document)
    assert found.sentence == "What it found."
    assert found.figures == (
        ("by_group, sex, female, accuracy", 0.5),
        ("by_group, sex, female, rows", 7),
        ("cases, an empty table, name", "an empty table"),
        ("cases, an empty table, releases", 40),
        ("cases, 2, releases", 50),
        ("flag", "yes"),
    )


def test_a_long_document_is_cut_and_says_so(tmp_path):
    found = attached(tmp_path, {"model": OWN, "values": list(range(1000))})
    assert (len(found.figures), found.n_more) == (60, 940)


def test_what_no_table_can_hold_is_told_as_text(tmp_path):
    found = attached(tmp_path, f'{{"model": "{OWN}", "a": NaN, "b": 1e999, "c": {10**30}, "d": "{"x" * 300}"}}')
    assert dict(found.figures) == {"a": "nan", "b": "inf", "c": "more than 9,007,199,254,740,991", "d": "x" * 200}
    json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ({"model": "b2" * 32}, "is about another model than this one; attach what was run on this file"),
        ({"accuracy": 0.9}, "does not say which model it is about; make it with `privet audit --model` or"),
        ({"model": 5}, "does not say which model it is about"),
        ({"model": {"checksum": OWN}}, "does not say which model it is about"),
        ("not JSON", "is not JSON; attach what a command printed with --json"),
        ("", "is not JSON"),
        (f'{{"model": "{OWN}", "model": "{OWN}"}}', "is not JSON"),
        ("[" * 5000, "is not JSON"),
        (f'{{"model": "{OWN}", "n": {"9" * 5000}}}', "is not JSON"),
        ("[]", "is not one JSON object"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_not_about_this_model_is_refused(tmp_path, document, sentence):
    with pytest.raises(ParameterError, match=sentence):
        attached(tmp_path, document)


def test_a_huge_document_is_not_parsed(tmp_path):
    (tmp_path / "huge.json").write_bytes(b"[" + b" " * MOST_BYTES)
    with pytest.raises(ParameterError, match="is larger than any document that a report shows"):
        Attachment.load(tmp_path / "huge.json", OWN)


def test_a_document_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ParameterError, match="cannot read '.*none.json': No such file or directory; check the path"):
        Attachment.load(tmp_path / "none.json", OWN)


def test_an_audit_that_found_too_much_contradicts(tmp_path):
    assert attached(tmp_path, {"model": OWN, "epsilon_shown": math.pi, "contradicts": True}).contradicts
    assert not attached(tmp_path, {"model": OWN, "epsilon_shown": math.pi, "contradicts": "true"}).contradicts
