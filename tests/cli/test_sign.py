"""privet sign and privet verify."""

import json
import sys
from pathlib import Path

import pytest

from privet import load
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE
from privet.model_file import read_document
from privet.signing import PrivateKey, PublicKey


@pytest.fixture
def signed(privet, model_file):
    assert privet("party keygen clinic").exit_code == 0
    assert privet("sign model.privet --key clinic.key --until 2099-12-31").exit_code == 0
    return model_file


def test_the_signer_sees_what_is_signed(privet, model_file):
    privet("party keygen clinic")
    result = privet("sign model.privet --key clinic.key")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"signed by clinic: {load(model_file).guarantee_.sentence}",
        "",
        "signature: model.privet.sig",
        f"fingerprint of the key: {PublicKey.load('clinic.pub').hex}",
    ]


def test_whoever_has_the_public_key_can_tell_whose_model_it_is(privet, signed):
    result = privet("verify model.privet --keys clinic.pub")
    assert result.exit_code == 0
    first, second, *_ = result.stdout.splitlines()
    assert first.startswith("model.privet is a model of clinic, signed on ")
    assert first.endswith(", to be trusted until 2099-12-31, and unchanged")
    assert second == f"fingerprint of the key: {PublicKey.load('clinic.pub').hex}"


def test_a_roster_will_do_and_its_hash_can_be_pinned(privet, refused, signed):
    privet("party keygen bank")
    pin = json.loads(privet("party roster bank.pub clinic.pub --json").stdout)["hash"]
    said = json.loads(privet(f"verify model.privet --keys roster.json --keys-hash {pin} --json").stdout)
    assert said["signer"] == "clinic"
    assert said["checksum"] == read_document(signed)["checksum"]
    line = f"verify model.privet --keys roster.json --keys-hash {'0' * 64}"
    assert "does not have the hash that was agreed on" in refused(line, EXIT_DATA)


def test_a_consistent_forgery_is_refused(privet, refused, signed):
    line = "fit rows.csv --schema schema.json --method private-rdt --epsilon 0.5 -o model.privet --force"
    assert privet(line).exit_code == 0
    assert privet("report model.privet").exit_code == 0  # nothing in it contradicts itself
    assert "is for another model: this one was changed or exchanged" in refused(
        "verify model.privet --keys clinic.pub", EXIT_DATA
    )


def test_a_forgers_own_key_in_the_same_name_is_refused(privet, refused, signed):
    PrivateKey.generate("clinic").save("forged.key")
    assert privet("sign model.privet --key forged.key --force").exit_code == 0
    assert "not made by the key that you have of 'clinic'" in refused(
        "verify model.privet --keys clinic.pub", EXIT_DATA
    )


def test_a_signature_can_lie_elsewhere(privet, refused, signed):
    Path("model.privet.sig").rename("sent.sig")
    assert privet("verify model.privet --keys clinic.pub --signature sent.sig").exit_code == 0
    assert "there is no signature 'model.privet.sig'" in refused("verify model.privet --keys clinic.pub", EXIT_DATA)


def test_verifying_without_a_key_is_refused(refused, signed):
    assert "no key to check against" in refused("verify model.privet", EXIT_USAGE)


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("sign model.privet --key clinic.key", EXIT_USAGE, "'model.privet.sig' exists"),
        ("sign model.privet --key clinic.key -o clinic.key --force", EXIT_USAGE, "is read by this command"),
        ("sign model.privet --key clinic.key -o new.sig --until tomorrow", EXIT_USAGE, "'tomorrow' is no day"),
        ("sign model.privet --key clinic.key -o new.sig --until 2020-01-01", EXIT_USAGE, "would have ended already"),
        ("sign model.privet --key clinic.pub -o new.sig", EXIT_DATA, "format 'privet-private-key'"),
        ("sign rows.csv --key clinic.key", EXIT_DATA, "not a model file"),
    ],
)
def test_what_cannot_be_signed_is_refused(refused, signed, line, code, sentence):
    assert sentence in refused(line, code)
    assert not Path("new.sig").exists()


def test_a_key_that_others_can_read_signs_nothing(refused, signed):
    Path("clinic.key").chmod(0o644)
    assert "can be read by others on this machine" in refused("sign model.privet --key clinic.key --force", EXIT_DATA)


def test_without_the_package_a_sentence_says_how_to_get_it(refused, signed, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    assert refused("verify model.privet --keys clinic.pub", EXIT_USAGE) == (
        "a signature needs the package cryptography, which is not installed; install it with "
        "`pip install 'privet[parties]'`"
    )


def test_a_key_can_be_locked_and_signs_with_the_passphrase_in_a_file(privet, refused, model_file, monkeypatch):
    Path("passphrase").write_text("correct horse battery\n")
    Path("passphrase").chmod(0o600)
    monkeypatch.setenv("PRIVET_PASSPHRASE_FILE", "passphrase")
    assert privet("party keygen clinic --passphrase").exit_code == 0
    assert privet("sign model.privet --key clinic.key").exit_code == 0
    assert privet("verify model.privet --keys clinic.pub").exit_code == 0
    monkeypatch.delenv("PRIVET_PASSPHRASE_FILE")
    assert "is locked by a passphrase" in refused("sign model.privet --key clinic.key --force", EXIT_DATA)
