"""Signatures of models: who signed, what was signed, and what is refused."""

import gzip
import hashlib
import json
import math
import shutil
from dataclasses import replace
from datetime import date

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from privet import PrivateRDTClassifier, load
from privet.errors import ParameterError, PartyError, SignatureError
from privet.model_file import read_document, write_document
from privet.signing import ModelSignature, PrivateKey, PublicKey, Roster, sign_model, verify_model
from tests.report.people import SCHEMA, people

TODAY = date(2026, 11, 19)
# A key that a test may know: RFC 8032, section 7.1, test 1.
KEY = PrivateKey("clinic", bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
KEYS = Roster([KEY.public])


@pytest.fixture
def signed(tmp_path):
    """A model and its signature beside it."""
    path = tmp_path / "model.privet"
    forest(epsilon=5.0).save(path)
    sign_model(path, KEY, until=date(2027, 11, 19), today=TODAY)
    return path


def forest(epsilon):
    return PrivateRDTClassifier(SCHEMA, epsilon=epsilon, n_trees=2, height=2, random_state=1).fit(*people())


def beside(path):
    return path.parent / f"{path.name}.sig"


def test_what_a_key_signed_is_told_apart_from_all_else(signed):
    found = verify_model(signed, KEYS, today=TODAY)
    assert (found.signer, found.signed, found.until) == ("clinic", "2026-11-19", "2027-11-19")
    assert found.model == read_document(signed)["checksum"]


def test_the_signature_is_what_a_plain_reader_of_the_standard_would_check(signed):
    document = json.loads(beside(signed).read_text())
    claimed = bytes.fromhex(document.pop("signature"))
    # The checksum is the SHA-256 of the model without it; the signature is Ed25519 over sorted JSON without blanks.
    model = json.loads(signed.read_text())
    checksum = model.pop("checksum")
    text = json.dumps(model, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert hashlib.sha256(text.encode()).hexdigest() == checksum == document["model"]
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(KEY.public.hex))
    public.verify(claimed, json.dumps(document, sort_keys=True, separators=(",", ":")).encode())


def test_packing_the_model_changes_nothing_that_is_signed(signed, tmp_path):
    packed = tmp_path / "packed.privet.gz"
    packed.write_bytes(gzip.compress(signed.read_bytes()))
    assert verify_model(packed, KEYS, signature=beside(signed), today=TODAY).signer == "clinic"


def test_a_signature_leaves_the_model_file_as_it_is(tmp_path):
    path = tmp_path / "model.privet"
    forest(epsilon=math.inf).save(path)
    before = path.read_bytes()
    sign_model(path, KEY, today=TODAY)
    assert path.read_bytes() == before


def test_a_consistent_forgery_opens_and_is_not_taken_for_the_signers(signed):
    genuine = beside(signed).read_bytes()
    # Everything in it fits: its guarantee follows from its receipts, its checksum from its contents.
    forest(epsilon=0.01).save(signed)
    beside(signed).write_bytes(genuine)
    assert load(signed).guarantee_.epsilon == 0.01
    with pytest.raises(SignatureError, match="is for another model: this one was changed or exchanged"):
        verify_model(signed, KEYS, today=TODAY)


def test_another_key_in_the_same_name_is_not_the_signers(signed):
    sign_model(signed, PrivateKey.generate("clinic"), today=TODAY)
    with pytest.raises(SignatureError, match="not made by the key that you have of 'clinic'"):
        verify_model(signed, KEYS, today=TODAY)


def test_a_key_of_a_name_that_was_not_given_is_refused(signed):
    sign_model(signed, PrivateKey.generate("spy"), today=TODAY)
    with pytest.raises(SignatureError, match="in the name of 'spy', and you gave no key of that name"):
        verify_model(signed, KEYS, today=TODAY)


def test_a_model_without_a_signature_is_refused(signed):
    beside(signed).unlink()
    with pytest.raises(SignatureError, match="there is no signature .*model.privet.sig', so nobody knows whose"):
        verify_model(signed, KEYS, today=TODAY)


def test_one_digit_of_the_model_changed_is_seen_even_with_a_new_checksum(signed):
    document = {name: value for name, value in read_document(signed).items() if name != "checksum"}
    document["released"]["counts"][0] += 1
    write_document(signed, document)
    assert load(signed) is not None
    with pytest.raises(SignatureError, match="is for another model"):
        verify_model(signed, KEYS, today=TODAY)


@pytest.mark.parametrize(
    "change",
    [{"until": "2099-01-01"}, {"until": None}, {"signed": "2025-01-01"}, {"model": "0" * 64}, {"signature": "0" * 128}],
)
def test_no_part_of_a_signature_can_be_changed(signed, change):
    replace(ModelSignature.load(beside(signed)), **change).save(beside(signed))
    with pytest.raises(SignatureError, match="not made by the key that you have of 'clinic'"):
        verify_model(signed, KEYS, today=TODAY)


def test_a_signature_of_another_kind_of_message_is_none_of_a_model(signed):
    body = ModelSignature.load(beside(signed)).body
    other = KEY.sign({**body, "format": "privet-release"})
    replace(ModelSignature.load(beside(signed)), signature=other).save(beside(signed))
    with pytest.raises(SignatureError, match="not made by the key"):
        verify_model(signed, KEYS, today=TODAY)


def test_a_signature_holds_on_its_last_day_and_not_on_the_next(signed):
    assert verify_model(signed, KEYS, today=date(2027, 11, 19))
    with pytest.raises(SignatureError, match="was to be trusted until 2027-11-19; ask them for a new one"):
        verify_model(signed, KEYS, today=date(2027, 11, 20))


def test_a_signature_that_would_have_ended_is_not_made(signed):
    with pytest.raises(ParameterError, match="a signature until 2026-11-18 would have ended already"):
        sign_model(signed, KEY, until=date(2026, 11, 18), today=TODAY)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model": 5}, "its checksum or a day is none"),
        ({"model": "AB" * 32}, "its checksum or a day is none"),
        ({"signed": "20261119"}, "its checksum or a day is none"),
        ({"until": "2027-02-30"}, "its checksum or a day is none"),
        ({"until": ""}, "its checksum or a day is none"),
        ({"signer": "../clinic"}, "its signer has no name"),
        ({"signer": None}, "its signer has no name"),
    ],
)
def test_a_damaged_signature_is_refused(change, sentence):
    document = ModelSignature.make("0" * 64, KEY, today=TODAY).document
    with pytest.raises(SignatureError, match=sentence):
        ModelSignature.from_json({**document, **change})


@pytest.mark.parametrize(
    "change", [{"format": "privet-release"}, {"version": 2}, {"version": True}, {"more": 1}], ids=str
)
def test_another_document_is_refused(change):
    document = ModelSignature.make("0" * 64, KEY, today=TODAY).document
    with pytest.raises(PartyError, match="format|lacks a part"):
        ModelSignature.from_json({**document, **change})


def test_keys_come_from_files_of_one_or_of_many(tmp_path):
    bank, clinic = PublicKey("bank", "a1" * 32), KEY.public
    bank.save(tmp_path / "bank.pub")
    Roster([bank, clinic]).save(tmp_path / "roster.json")
    assert Roster.gather([tmp_path / "bank.pub"]).names == ("bank",)
    assert Roster.gather([tmp_path / "roster.json", tmp_path / "bank.pub"]) == Roster([bank, clinic])
    PublicKey("bank", "b2" * 32).save(tmp_path / "bank.pub")
    with pytest.raises(PartyError, match="two keys of 'bank'; leave out the one that is not in use"):
        Roster.gather([tmp_path / "roster.json", tmp_path / "bank.pub"])
    KEY.save(tmp_path / "clinic.key")
    with pytest.raises(PartyError, match="it should be a document of format 'privet-public-key'"):
        Roster.gather([tmp_path / "clinic.key"])


def test_a_copied_model_keeps_its_signature_wherever_it_lies(signed, tmp_path):
    (tmp_path / "far").mkdir()
    moved = shutil.copy(signed, tmp_path / "far" / "renamed.privet")
    shutil.copy(beside(signed), tmp_path / "far" / "renamed.privet.sig")
    assert verify_model(moved, KEYS, today=TODAY).signer == "clinic"
