"""privet serve."""

import json
import stat
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from privet.cli.support.output import EXIT_DATA, EXIT_USAGE
from privet.service.gateway.app import make_app
from privet.service.gateway.folder import GatewayFolder

LEDGER = "ledger init ledger.db --dataset patients --epsilon 3 --strict"
INIT = "serve init gate --rows rows.csv --schema schema.json --ledger ledger.db --dataset patients"


@pytest.fixture
def gate(privet):
    assert privet(LEDGER).exit_code == 0
    told = privet(INIT)
    assert told.exit_code == 0, told.output
    return told


def served():
    folder = GatewayFolder(Path("gate"))
    return TestClient(make_app(folder, folder.open_ledger()))


def asked(token):
    with served() as client:
        return client.get("/v1/budget", headers={"Authorization": f"Bearer {token}"})


def test_a_gateway_is_made_with_one_command_and_its_password_is_shown_once(gate):
    password = gate.stdout.split()[-1]
    assert password not in Path("gate/settings.json").read_text()
    assert stat.S_IMODE(Path("gate").stat().st_mode) == 0o700


def test_an_analyst_gets_a_token_once_and_is_let_in_with_it(privet, gate):
    told = privet("serve analyst gate ana --epsilon 2")
    assert told.exit_code == 0, told.output
    token = told.stdout.split()[-1]
    assert token not in Path("gate/analysts.json").read_text()
    assert asked(token).json() == {
        "analyst": "ana", "epsilon": 2.0, "delta": 0.0, "spent": 0.0, "left": 2.0,
        "dataset": {"name": "patients", "epsilon": 3.0, "delta": 0.0, "left": 3.0},
    }  # fmt: skip


def test_a_revoked_analyst_is_let_in_no_more(privet, gate):
    token = json.loads(privet("serve analyst gate ana --epsilon 2 --json").stdout)["token"]
    assert privet("serve revoke gate ana").exit_code == 0
    assert asked(token).status_code == 401


def test_spending_is_told_by_analyst_and_fit(privet, gate):
    token = json.loads(privet("serve analyst gate ana --epsilon 2 --json").stdout)["token"]
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "one"}
    with served() as client:
        paid = client.post("/v1/fits", json={"epsilon": 0.5, "method": "private-rdt"}, headers=headers).json()
    told = json.loads(privet("serve spending gate --json").stdout)
    assert (told["spent"], told["left"], told["audit_broken_at"]) == (0.5, 2.5, None)
    assert told["analysts"][0] | {"access": "token", "spent": 0.5, "left": 1.5, "fits": 1} == told["analysts"][0]
    assert told["fits"][0]["fit"] == paid["fit"]
    lines = privet("serve spending gate").stdout
    assert "'patients': epsilon=0.5 of 3 spent per row, 2.5 left" in lines
    assert paid["fit"] in lines


def test_a_changed_audit_log_is_told(privet, gate):
    token = json.loads(privet("serve analyst gate ana --epsilon 2 --json").stdout)["token"]
    with served() as client:
        for _ in range(2):
            client.post("/v1/plan", json={"epsilon": 1}, headers={"Authorization": f"Bearer {token}"})
    log = Path("gate/audit.jsonl")
    log.write_text(log.read_text().replace("ana", "eve", 1))
    told = privet("serve spending gate")
    assert told.exit_code == EXIT_DATA
    assert "line 2 of the audit log was changed" in told.stderr


def test_what_is_wrong_is_said_in_one_sentence(privet, refused, gate):
    assert "'gate' exists" in refused(INIT, EXIT_USAGE)
    assert "is no folder of a gateway" in refused("serve spending nowhere", EXIT_DATA)
    assert "there is no analyst 'eve'" in refused("serve revoke gate eve", EXIT_USAGE)
    assert "is no budget" in refused("serve analyst gate ana --epsilon 0", EXIT_USAGE)
    assert "there is no issuer yet" in refused("serve analyst gate ana --epsilon 1 --subject s", EXIT_USAGE)
    Path("jwks.json").write_text("{}")
    line = "serve issuer gate --url https://id.example --audience privet --jwks jwks.json"
    assert "no key for RS256 or ES256" in refused(line, EXIT_USAGE)
    told = privet("serve run gate --host 0.0.0.0")
    assert (told.exit_code, "without TLS" in told.stderr) == (EXIT_USAGE, True)


def test_an_account_that_is_not_strict_is_refused(privet, refused):
    privet("ledger init ledger.db --dataset patients --epsilon 3")
    assert "is not strict" in refused(INIT, EXIT_DATA)
