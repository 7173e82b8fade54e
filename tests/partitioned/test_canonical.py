import json

import pytest

from privet.errors import PartyError
from privet.partitioned.canonical import (
    canonical,
    check_document,
    check_pin,
    digest,
    parse,
    read_canonical,
    write_canonical,
)


def test_the_one_spelling_has_sorted_keys_no_blanks_and_letters_as_they_are():
    assert canonical({"b": [1, "ü"], "a": {"d": None, "c": True}}) == '{"a":{"c":true,"d":null},"b":[1,"ü"]}'.encode()


def test_the_hash_is_sha256_of_that_spelling():
    # printf '{"a":1}' | sha256sum
    assert digest({"a": 1}) == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"


def test_a_document_reads_back_from_any_layout(tmp_path):
    document = {"b": 1, "a": "é"}
    write_canonical(tmp_path / "d.json", document)
    assert (tmp_path / "d.json").read_bytes() == canonical(document) + b"\n"
    (tmp_path / "d.json").write_text(json.dumps(document, indent=4))
    assert read_canonical(tmp_path / "d.json", "paper") == document


@pytest.mark.parametrize("document", [{"a": "\ud800"}, {"a": float("inf")}, {"a": float("nan")}])
def test_what_has_no_one_spelling_is_refused(document):
    with pytest.raises(PartyError, match="cannot spell in one way"):
        canonical(document)


@pytest.mark.parametrize("data", [b'{"a":1,"a":2}', b"{", b"\xff", b'{"a":{"b":1,"b":1}}', b"[" * 100_000])
def test_damage_and_keys_that_stand_twice_are_refused(data):
    with pytest.raises(PartyError, match="the paper is no JSON document, or it is damaged; fetch it again"):
        parse(data, "the paper")


def test_what_is_no_object_is_refused():
    with pytest.raises(PartyError, match="the paper is not one that privet wrote"):
        parse(b"[]", "the paper")


@pytest.mark.parametrize("data", [b"[" * (10**6 + 1), b"[1" + b",1" * (2**26 + 1) + b"]"], ids=["nested", "long"])
def test_what_would_fill_the_memory_is_refused_before_it_is_parsed(data, monkeypatch):
    monkeypatch.setattr("json.loads", lambda *_, **__: pytest.fail("it was parsed"))
    with pytest.raises(PartyError, match="the paper is larger than any that privet writes; it is not opened"):
        parse(data, "the paper")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PartyError, match=r"cannot read the paper '.*none': No such file or directory; check the path"):
        read_canonical(tmp_path / "none", "paper")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "f2"}, "it should be a document of format 'f'"),
        ({"version": 2}, "a format version that this privet does not know"),
        ({"version": True}, "a format version that this privet does not know"),
        ({"more": 1}, "lacks a part or has one too many"),
    ],
)
def test_a_document_of_another_kind_is_refused(changes, words):
    document = {"format": "f", "version": 1, "a": 1}
    check_document(document, "it", format_="f", version=1, keys={"a"})
    with pytest.raises(PartyError, match=words):
        check_document({**document, **changes}, "it", format_="f", version=1, keys={"a"})


def test_only_the_agreed_hash_passes():
    own = digest({"a": 1})
    check_pin(own, None, "it")
    check_pin(own, own.upper(), "it")
    with pytest.raises(PartyError, match="it does not have the hash that was agreed on"):
        check_pin(own, digest({"a": 2}), "it")
    with pytest.raises(PartyError, match="must have 64 hexadecimal digits"):
        check_pin(own, own[:10], "it")
