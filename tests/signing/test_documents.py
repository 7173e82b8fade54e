import json
import stat

import pytest

from privet.errors import ParameterError, PartyError
from privet.files.whole_file import write_new
from privet.signing.documents import (
    canonical,
    check_document,
    check_owner_only,
    check_pin,
    digest,
    make_store,
    parse,
    read_canonical,
    write_canonical,
    write_secret,
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
    with pytest.raises(PartyError, match="has no canonical form in JSON"):
        canonical(document)


@pytest.mark.parametrize("data", [b'{"a":1,"a":2}', b"{", b"\xff", b'{"a":{"b":1,"b":1}}', b"[" * 100_000])
def test_damage_and_keys_that_stand_twice_are_refused(data):
    with pytest.raises(PartyError, match="the paper is not a JSON document, or it is damaged; fetch it again"):
        parse(data, "the paper")


def test_what_is_no_object_is_refused():
    with pytest.raises(PartyError, match="the paper is not one that privet wrote"):
        parse(b"[]", "the paper")


@pytest.mark.parametrize(
    "make", [lambda: b"[" * (10**6 + 1), lambda: b"[1" + b",1" * (2**26 + 1) + b"]"], ids=["nested", "long"]
)
def test_what_would_fill_the_memory_is_refused_before_it_is_parsed(make, monkeypatch):
    monkeypatch.setattr("json.loads", lambda *_, **__: pytest.fail("it was parsed"))
    data = make()
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


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_secret_is_whole_and_for_its_owner_alone(tmp_path):
    write_new(tmp_path / "secret", b"five nine")
    assert (tmp_path / "secret").read_bytes() == b"five nine"
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
    check_owner_only(tmp_path / "secret", "it")
    assert names_in(tmp_path) == ["secret"]


def test_a_name_that_is_taken_keeps_what_it_has(tmp_path):
    write_new(tmp_path / "secret", b"five")
    with pytest.raises(PartyError, match="the release '.*secret' exists and is not replaced; choose another name"):
        write_secret(tmp_path / "secret", b"nine", what="release")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "link", b"nine")
    assert (tmp_path / "secret").read_bytes() == b"five"
    assert names_in(tmp_path) == ["link", "secret"]


def test_a_store_is_made_for_its_owner_and_tried_without_a_trace(tmp_path):
    for _ in range(2):
        make_store(tmp_path / "store", what="releases")
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700
    assert names_in(tmp_path / "store") == []


def test_a_folder_without_links_is_no_store(tmp_path, monkeypatch):
    def without_links(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", without_links)
    with pytest.raises(ParameterError, match="cannot keep releases in '.*store': Operation not permitted; choose"):
        make_store(tmp_path / "store", what="releases")
    assert names_in(tmp_path / "store") == []
