"""The audit log: a line for every request, in a chain, and no row in it."""

import json

import pytest

from privet.service.gateway.audit import AuditLog
from tests.service.gateway.conftest import files_of_at_most


@pytest.fixture
def log(tmp_path):
    log = AuditLog(tmp_path / "audit.jsonl")
    for i in range(3):
        log.append(who="ana", what="plan", outcome="answered", epsilon=i / 2)
    return log


def lines(log):
    return log._path.read_bytes().splitlines(keepends=True)


def test_every_line_has_the_hash_of_the_one_before(log):
    assert log.first_broken() is None
    assert [each["epsilon"] for each in log.last(2)] == [1.0, 0.5]


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (lambda kept: [kept[0].replace(b"ana", b"eve"), *kept[1:]], 2),
        (lambda kept: [kept[0], kept[2]], 2),
        (lambda kept: kept[1:], 1),
        (lambda kept: [kept[1], kept[0], kept[2]], 1),
    ],
)
def test_a_line_that_was_changed_removed_or_moved_is_found(log, change, broken):
    log._path.write_bytes(b"".join(change(lines(log))))
    assert log.first_broken() == broken


def test_a_line_that_a_crash_cut_short_stands_in_the_chain(log):
    kept = log._path.read_bytes()
    log._path.write_bytes(kept[:-20])
    again = AuditLog(log._path)
    again.append(who="ana", what="plan", outcome="answered")
    assert again.first_broken() is None
    assert len(lines(again)) == 4
    assert len(again.last(10)) == 3


def test_only_the_owner_can_read_it(log):
    assert log._path.stat().st_mode & 0o077 == 0


def test_it_has_who_asked_for_what_at_which_epsilon_and_what_became_of_it(gateway, ana):
    fit = ana.made(epsilon=0.5)["fit"]
    ana.ask(epsilon=99)
    gateway.client.get("/v1/schema")
    told = [{name: each[name] for name in each if name not in ("time", "previous")} for each in read(gateway)]
    cost = {"method": "private-rdt", "delta": 0.0}
    assert {"who": "ana", "what": "fit", "outcome": "answered", "fit": fit, "epsilon": 0.5, **cost} in told
    assert {"who": "ana", "what": "fit", "outcome": "refused: own_budget", "epsilon": 99.0, **cost} in told
    assert {"who": "(unknown)", "what": "schema", "outcome": "refused: token"} in told


def test_without_a_line_there_is_no_answer(gateway, ana):
    with files_of_at_most(0):
        answer = ana.post("/v1/plan", {"epsilon": 1})
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert ana.post("/v1/plan", {"epsilon": 1}).status_code == 200


def test_asking_how_a_fit_stands_again_and_again_fills_no_disk(gateway, ana):
    for path in ("/v1/budget", "/v1/schema", "/v1/fits"):
        assert ana.get(path).status_code == 200
    assert not gateway.folder.audit_file.exists()


def read(gateway):
    return [json.loads(line) for line in gateway.folder.audit_file.read_text().splitlines()]
