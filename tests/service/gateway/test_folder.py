"""Making a gateway: what its owner is refused, so that analysts need not be."""

import base64
import json

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from privet import Categorical, Ledger, Numeric, Schema
from privet.errors import DataError, LedgerError, ParameterError, SchemaError
from privet.service.gateway.analyst_requests import FitRequest
from privet.service.gateway.analysts import Analyst, Analysts, digest, new_token
from privet.service.gateway.fits import pay
from privet.service.gateway.folder import GatewayFolder
from privet.service.gateway.workers import FAILED, WAITING, Workers
from tests.service.gateway.conftest import people, schema


@pytest.fixture
def make(tmp_path):
    def make(*, table=None, told=None, strict=True, unit="row", max_rows=1):
        (people() if table is None else table).to_csv(tmp_path / "rows.csv", index=False)
        (told or schema()).save(tmp_path / "schema.json")
        ledger = Ledger(tmp_path / "ledger.db", dataset="patients", epsilon=1.0, strict=strict, unit=unit)
        return GatewayFolder.make(
            tmp_path / "gate", rows=tmp_path / "rows.csv", schema=tmp_path / "schema.json", ledger=ledger,
            max_rows=max_rows, password="",
        )  # fmt: skip

    return make


def test_an_account_that_is_not_strict_is_refused(make):
    with pytest.raises(LedgerError, match="is not strict"):
        make(strict=False)


def test_a_schema_that_was_read_from_the_rows_is_refused(make):
    told = Schema([Numeric("age", 16, 100), Categorical("sex", ["female", "male"], inferred=True)],
                  classes=["no", "yes"], target="smoker")  # fmt: skip
    with pytest.raises(SchemaError, match="marked as inferred"):
        make(told=told)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (people().assign(smoker="maybe"), "has labels that are not in the schema's classes"),
        (people().assign(smoker=np.nan), "missing labels"),
        (people().drop(columns="age"), "age"),
    ],
)
def test_rows_that_would_make_fits_fail_are_refused_before_anybody_asks(make, tmp_path, table, says):
    with pytest.raises(DataError, match=says):
        make(table=table)
    assert not (tmp_path / "gate").exists()


def test_people_without_a_name_are_refused(make):
    with pytest.raises(DataError, match="person"):
        make(table=people().assign(person=np.nan), unit="person", max_rows=2)


def test_a_fit_is_made_by_the_gateway_that_it_was_paid_to_and_by_no_other_of_the_account(make, tmp_path):
    folder = make()
    ledger = folder.open_ledger()
    other = GatewayFolder.make(
        tmp_path / "other", rows=tmp_path / "rows.csv", schema=tmp_path / "schema.json", ledger=ledger, max_rows=1,
        password="",
    )  # fmt: skip
    fit = pay(ledger, folder, Analyst("ana", 1.0), FitRequest("private-rdt", 0.5), "key")
    idle, ready = Workers(other, other.open_ledger(), 0), Workers(folder, ledger, 0)
    for workers in (idle, ready):
        workers.start()
    assert (idle.state(fit), ready.state(fit)) == (FAILED, WAITING)


def test_a_subject_of_one_provider_names_nobody_at_another(make, tmp_path):
    folder, keys = make(), tmp_path / "jwks.json"
    numbers = ec.generate_private_key(ec.SECP256R1()).public_key().public_numbers()
    keys.write_text(json.dumps({"keys": [{"kty": "EC", "crv": "P-256", "x": b64(numbers.x), "y": b64(numbers.y)}]}))
    folder.set_issuer("https://one.example", "privet", keys)
    folder.analysts.put(Analyst("ana", 1.0, subject="sub-1"))
    with pytest.raises(ParameterError, match="known by a subject of https://one.example, which may be somebody else's"):
        folder.set_issuer("https://two.example", "privet", keys)
    folder.set_issuer("https://one.example", "other", keys)  # new keys or another audience, of the same provider
    assert folder.issuer().audience == "other"
    folder.analysts.revoke("ana")
    folder.set_issuer("https://two.example", "privet", keys)
    assert folder.issuer().url == "https://two.example"


def b64(number):
    return base64.urlsafe_b64encode(number.to_bytes(32)).rstrip(b"=").decode()


def test_only_the_owner_can_enter(make):
    folder = make()
    assert folder.path.stat().st_mode & 0o077 == 0


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(DataError, match="is no folder of a gateway"):
        GatewayFolder(tmp_path)


@pytest.fixture
def analysts(make):
    return make().analysts


@pytest.mark.parametrize("name", ["", "a b", "ana\n", "../x", "<b>", "a" * 65, "\u0430na"])
def test_a_name_that_could_be_taken_for_something_else_is_refused(name):
    with pytest.raises(ParameterError, match="is no name of an analyst"):
        Analyst(name, 1.0)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), True])
def test_a_budget_that_is_none_is_refused(epsilon):
    with pytest.raises(ParameterError, match="is no budget"):
        Analyst("ana", epsilon)


def test_names_that_look_alike_are_refused(analysts):
    analysts.put(Analyst("ana", 1.0))
    with pytest.raises(ParameterError, match="which looks like 'Ana'"):
        analysts.put(Analyst("Ana", 1.0))


def test_a_subject_is_one_analysts(analysts):
    analysts.put(Analyst("ana", 1.0, subject="s"))
    with pytest.raises(ParameterError, match="is another analyst's"):
        analysts.put(Analyst("ben", 1.0, subject="s"))


def test_a_token_is_kept_as_a_digest_and_nobody_has_a_revoked_one(analysts):
    token = new_token()
    analysts.put(Analyst("ana", 1.0, digest=digest(token)))
    assert analysts.of_token(token, lambda: None).name == "ana"
    assert analysts.of_token(new_token(), lambda: None) is None
    assert analysts.of_token(digest(token), lambda: None) is None
    analysts.revoke("ana")
    assert analysts.of_token(token, lambda: None) is None
    with pytest.raises(ParameterError, match="there is no analyst 'eve'"):
        analysts.revoke("eve")


def test_a_file_that_cannot_be_read_opens_to_nobody(tmp_path):
    (tmp_path / "analysts.json").write_text("[{")
    with pytest.raises(DataError, match="take it from a backup"):
        Analysts(tmp_path / "analysts.json").of_token("t", lambda: None)
