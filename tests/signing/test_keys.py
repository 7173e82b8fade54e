import json
import os
import stat
import subprocess
import sys

import pytest

from privet.errors import ParameterError, PartyError
from privet.partitioned import PrivateKey, PublicKey, Roster

# RFC 8032, section 7.1, test 1: the secret key and its public key.
SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"


@pytest.fixture
def key():
    return PrivateKey("bank", bytes.fromhex(SEED))


def test_the_public_key_is_that_of_the_standards_example(key):
    assert key.public == PublicKey("bank", PUBLIC)


def test_a_signature_is_good_for_its_document_and_key_alone(key):
    signature = key.sign({"b": 1, "a": 2})
    assert key.public.verifies({"a": 2, "b": 1}, signature)
    assert not key.public.verifies({"a": 2, "b": 2}, signature)
    assert not PrivateKey.generate("bank").public.verifies({"a": 2, "b": 1}, signature)


@pytest.mark.parametrize("signature", [None, "", "00" * 64, "zz" * 64, 5, "0" * 127])
def test_what_is_no_signature_is_not_good(key, signature):
    assert not key.public.verifies({"a": 1}, signature)


def test_a_private_key_is_its_owners_alone_and_never_replaced(key, tmp_path):
    path = tmp_path / "bank.key"
    old = os.umask(0)
    try:
        key.save(path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["bank.key"]
    with pytest.raises(PartyError, match="exists and is not replaced; choose another name"):
        PrivateKey.generate("other").save(path)
    assert PrivateKey.load(path) == key


def test_a_private_key_that_others_can_read_is_refused(key, tmp_path):
    key.save(tmp_path / "bank.key")
    (tmp_path / "bank.key").chmod(0o640)
    with pytest.raises(PartyError, match="can be read by others on this machine; run `chmod 600` on it"):
        PrivateKey.load(tmp_path / "bank.key")


def test_keys_do_not_show_in_their_text(key):
    assert SEED not in repr(key)
    assert str(bytes.fromhex(SEED)) not in repr(key)


def test_a_public_key_reads_back_and_is_not_taken_for_a_private_one(key, tmp_path):
    key.public.save(tmp_path / "bank.pub")
    assert PublicKey.load(tmp_path / "bank.pub") == key.public
    with pytest.raises(PartyError, match="it should be a document of format 'privet-private-key'"):
        PrivateKey.load(tmp_path / "bank.pub")


@pytest.mark.parametrize("hex_", ["", "00", "zz" * 32, PUBLIC.upper(), 5])
def test_a_damaged_public_key_is_refused(hex_):
    with pytest.raises(PartyError, match="the public key of 'bank' is damaged; fetch it again"):
        PublicKey("bank", hex_)


@pytest.mark.parametrize("name", ["", "../bank", "a b", ".hidden", "a" * 65, None, "-x", "a\x1b", "\U00020000" * 60])
def test_a_name_that_could_not_stand_in_a_files_name_is_refused(name):
    with pytest.raises(ParameterError, match="a party's name has at most 64 letters, digits, - and _"):
        PrivateKey.generate(name)


def test_spellings_that_look_alike_are_one_name():
    assert PrivateKey.generate("Zu\u0308rich").name == "Z\u00fcrich"


def test_a_roster_is_in_order_and_reads_back(tmp_path):
    roster = Roster([PublicKey("clinic", "b2" * 32), PublicKey("bank", "a1" * 32)])
    roster.save(tmp_path / "roster.json")
    assert Roster.load(tmp_path / "roster.json", pin=roster.hash) == roster
    assert roster.names == ("bank", "clinic")
    with pytest.raises(PartyError, match="does not have the hash that was agreed on"):
        Roster.load(tmp_path / "roster.json", pin="0" * 64)


def test_a_roster_has_each_name_and_each_key_once():
    bank = PublicKey("bank", "a1" * 32)
    with pytest.raises(PartyError, match="'bank' and 'twin' have the same key, so they are one party under two names"):
        Roster([bank, PublicKey("twin", "a1" * 32)])
    with pytest.raises(
        PartyError, match="'bank' is in the roster twice, perhaps in another case, width or script; rename one"
    ):
        Roster([PublicKey("Bank", "b2" * 32), bank])
    with pytest.raises(
        PartyError, match="is in the roster twice, perhaps in another case, width or script; rename one"
    ):
        Roster([PublicKey("\uff22ank", "b2" * 32), bank])  # a wide B
    with pytest.raises(PartyError, match="a roster has from 1 to 10,000 parties"):
        Roster([])


def test_who_is_not_in_the_roster_is_named():
    with pytest.raises(PartyError, match="the party 'spy' is not in the roster"):
        Roster([PublicKey("bank", "a1" * 32)]).key_of("spy")


def test_keys_and_rosters_load_no_heavy_library():
    code = (
        "import sys; from privet.partitioned import PrivateKey, Roster; PrivateKey.generate('bank').public; "
        "print([m for m in ('numba', 'sklearn', 'pandas', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


PASSPHRASE = "correct horse battery"  # noqa: S105


def test_a_locked_key_opens_with_its_passphrase_alone(key, tmp_path):
    key.save(tmp_path / "bank.key", passphrase=PASSPHRASE)
    assert SEED not in (tmp_path / "bank.key").read_text()
    assert stat.S_IMODE((tmp_path / "bank.key").stat().st_mode) == 0o600
    assert PrivateKey.load(tmp_path / "bank.key", passphrase=PASSPHRASE) == key
    with pytest.raises(PartyError, match="this is not the passphrase of the private key .*, or the file was changed"):
        PrivateKey.load(tmp_path / "bank.key", passphrase=f"{PASSPHRASE}!")


def test_a_lock_is_what_the_standards_say(key, tmp_path):
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    key.save(tmp_path / "bank.key", passphrase=PASSPHRASE)
    kept = json.loads((tmp_path / "bank.key").read_text())
    salt, nonce, locked = (bytes.fromhex(kept[part]) for part in ("salt", "nonce", "locked"))
    made = Scrypt(salt=salt, length=32, n=2**15, r=8, p=1).derive(PASSPHRASE.encode())
    assert ChaCha20Poly1305(made).decrypt(nonce, locked, b"bank").hex() == SEED


def test_two_locks_of_one_key_differ_and_a_name_is_bound_to_its_lock(key, tmp_path):
    for name in ("one.key", "two.key"):
        key.save(tmp_path / name, passphrase=PASSPHRASE)
    one, two = (json.loads((tmp_path / name).read_text()) for name in ("one.key", "two.key"))
    assert all(one[part] != two[part] for part in ("salt", "nonce", "locked"))
    (tmp_path / "one.key").write_text(json.dumps({**one, "name": "clinic"}))
    with pytest.raises(PartyError, match="or the file was changed"):
        PrivateKey.load(tmp_path / "one.key", passphrase=PASSPHRASE)


def test_a_passphrase_that_is_soon_guessed_is_refused(key, tmp_path):
    with pytest.raises(ParameterError, match="fewer than 12 characters is soon guessed"):
        key.save(tmp_path / "bank.key", passphrase=PASSPHRASE[:11])
    assert not (tmp_path / "bank.key").exists()


def test_a_passphrase_can_come_from_a_file_that_is_its_owners_alone(key, tmp_path, monkeypatch):
    key.save(tmp_path / "bank.key", passphrase=PASSPHRASE)
    with pytest.raises(PartyError, match="is locked by a passphrase; name a file that holds it in the variable"):
        PrivateKey.load(tmp_path / "bank.key")
    monkeypatch.setenv("PRIVET_PASSPHRASE_FILE", str(tmp_path / "passphrase"))
    with pytest.raises(PartyError, match="cannot read the passphrase file .*: No such file or directory"):
        PrivateKey.load(tmp_path / "bank.key")
    (tmp_path / "passphrase").write_text(f"{PASSPHRASE}\nmore\n")
    (tmp_path / "passphrase").chmod(0o644)
    with pytest.raises(PartyError, match="the passphrase file .* can be read by others on this machine"):
        PrivateKey.load(tmp_path / "bank.key")
    (tmp_path / "passphrase").chmod(0o600)
    assert PrivateKey.load(tmp_path / "bank.key") == key


@pytest.mark.parametrize("change", [{"salt": ""}, {"nonce": 5}, {"locked": "00"}, {"private": SEED}, {"version": 3}])
def test_a_damaged_locked_key_is_refused(key, tmp_path, change):
    key.save(tmp_path / "bank.key", passphrase=PASSPHRASE)
    kept = json.loads((tmp_path / "bank.key").read_text())
    (tmp_path / "bank.key").write_text(json.dumps({**kept, **change}))
    with pytest.raises(PartyError, match="is damaged|lacks a part|format version"):
        PrivateKey.load(tmp_path / "bank.key", passphrase=PASSPHRASE)
