"""What happens when fits fail, the disk is full or the server stops: everything paid for is in the ledger."""

import hashlib
import json
import signal
import threading
import time
from datetime import datetime, timedelta
from itertools import product
from types import SimpleNamespace

import httpx
import pytest

from privet.privacy.ledger import Cost, reservation
from privet.service.gateway import workers
from privet.service.gateway.fits import fits_of
from privet.service.gateway.workers import Workers
from tests.service.gateway.conftest import ENOUGH, files_of_at_most, people
from tests.service.gateway.running import RunningServer, told

# Its model is larger than the ledger.
LARGE = {"n_trees": 500}


def test_a_fit_that_fails_is_charged_and_says_that_it_failed_and_no_more(gateway, ana):
    people().assign(smoker="maybe").to_csv(gateway.folder.rows, index=False)
    told = ana.made(epsilon=0.5)
    assert (told["state"], told["receipt"]["state"], told["receipt"]["epsilon"]) == ("failed", "reserved", 0.5)
    assert "maybe" not in str(told)
    assert gateway.ledger.spent == 0.5
    for path in ("model", "report"):
        answer = ana.get(f"/v1/fits/{told['fit']}/{path}")
        assert (answer.status_code, answer.json()["error"]) == (409, "not_done")


def test_a_table_that_is_gone_is_charged_too(gateway, ana):
    gateway.folder.rows.unlink()
    assert ana.made(epsilon=0.5)["state"] == "failed"
    assert gateway.releases() == ["failed"]


def test_the_hundredth_fit_is_the_last(make_gateway):
    gateway = make_gateway(epsilon=5.0)
    for _ in range(100):
        gateway.ledger.reserve(Cost(0.01))
    answer = gateway.analyst().ask(epsilon=0.01)
    assert (answer.status_code, answer.json()["error"]) == (409, "no_fits_left")


@pytest.mark.parametrize("room", [0, 2_000, 12_000, 20_000, 40_000, 2_000_000])
def test_on_a_full_disk_a_fit_is_paid_for_once_or_not_at_all(make_gateway, monkeypatch, room):
    make, tried = Workers._make, threading.Event()

    def make_and_tell(self, fit):
        try:
            make(self, fit)
        finally:
            tried.set()

    monkeypatch.setattr(Workers, "_make", make_and_tell)
    gateway = make_gateway(epsilon=5.0)
    ana = gateway.analyst()
    with files_of_at_most(room):
        answer = ana.ask(epsilon=0.5, key="the one", parameters=LARGE)
        assert answer.status_code in (202, 503), answer.text
        unpaid = fits_of(gateway.ledger.account()) == []
        assert answer.status_code == 503 or tried.wait(ENOUGH)  # it may fail meanwhile
    again = ana.ask(epsilon=0.5, key="the one", parameters=LARGE)
    assert again.status_code == 202
    fit = again.json()["fit"]
    deadline = time.monotonic() + ENOUGH
    while ana.get(f"/v1/fits/{fit}").json()["state"] not in ("done", "failed"):
        assert time.monotonic() < deadline, "the fit did not end"
        time.sleep(0.3)  # the requests of a minute are few
    state = ana.get(f"/v1/fits/{fit}").json()["state"]
    print(f"files of at most {room} bytes: {answer.status_code}, then {again.status_code} {state}, unpaid {unpaid}")
    assert [each.id for each in fits_of(gateway.ledger.account())] == [fit]
    assert gateway.ledger.spent == 0.5
    assert (ana.get(f"/v1/fits/{fit}/model").status_code == 200) == (state == "done")
    assert [path.name for path in gateway.folder.model_file(fit).parent.glob("*")] in ([], [f"{fit}.privet"])


def test_nothing_is_paid_for_while_the_disk_has_no_room_for_a_model(gateway, ana, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=10_000_000))
    answer = ana.ask()
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert gateway.releases() == []


def test_what_waits_when_the_server_stops_is_made_by_the_next(make_gateway, monkeypatch):
    gateway = make_gateway()
    ana = gateway.analyst()
    with monkeypatch.context() as held:
        held.setattr(Workers, "_work", lambda self: None)
        waiting = gateway.start()
        with waiting:
            gateway.client, before = waiting, gateway.client
            fit = ana.ask(epsilon=0.5).json()["fit"]
            assert ana.get(f"/v1/fits/{fit}").json()["state"] == "waiting"
        gateway.client = before
    with gateway.start() as gateway.client:
        assert ana.ended(fit)["state"] == "done"
    assert gateway.releases() == ["settled"]


def test_a_fit_that_was_begun_elsewhere_is_not_begun_again(gateway, ana, monkeypatch):
    monkeypatch.setattr(Workers, "take", lambda self, fit: None)
    fit = ana.ask(epsilon=0.5).json()["fit"]
    gateway.folder.begun_file(fit).touch()
    monkeypatch.undo()
    assert ana.ask(epsilon=0.5, key="ana 1").json()["state"] == "failed"
    assert gateway.releases() == ["reserved"]
    assert gateway.ledger.spent == 0.5


def test_a_second_server_on_the_same_folder_is_refused(make_gateway):
    gateway = make_gateway()
    second = RunningServer(gateway.folder.path)
    with RunningServer(gateway.folder.path), pytest.raises(AssertionError, match="a server runs on this folder"):
        second.start()


def test_a_server_that_is_asked_to_stop_finishes_the_fit_that_runs(make_gateway):
    gateway = make_gateway(table=people(60_000), epsilon=5.0)
    ana = gateway.analyst()
    with RunningServer(gateway.folder.path) as server:
        headers = {"Authorization": f"Bearer {ana.token}", "Idempotency-Key": "k"}
        document = {"epsilon": 1.0, "method": "private-forest"}
        fit = httpx.post(f"{server.url}/v1/fits", json=document, headers=headers, timeout=ENOUGH).json()["fit"]
        while told(server.url, ana.token, f"/v1/fits/{fit}").json()["state"] == "waiting":
            pass
        server.kill(signal.SIGTERM)
    assert gateway.releases() == ["settled"]
    assert gateway.folder.model_file(fit).exists()


def failed_and_next(gateway, ana):
    """What is told of a fit that fails for a row, and of the fit after it."""
    people().assign(smoker="maybe").to_csv(gateway.folder.rows, index=False)
    failed = ana.made(epsilon=0.5)
    return failed["receipt"], ana.ask(epsilon=0.25, key="the next").json()


def ends_that_fit(gateway, failed, after):
    """Return the errors in which a fit may have ended, as the hashes of two receipts show them by trying all.

    The hash of an entry is over the one before: the end of the failed fit, of which an analyst knows the rest.
    """
    asked = {name: after[name] for name in ("method", "epsilon", "delta", "parameters")}
    body = {
        "analyst": "ana", "dataset": "patients", "delta": 0.0, "epsilon": 0.25, "fit": after["fit"],
        "gateway": gateway.folder.name, "method": after["method"], "part": None, "request": asked, "what": "fit",
        "request_key": hashlib.sha256(b"the next").hexdigest(),
    }  # fmt: skip
    receipt = after["receipt"]
    begun, found = datetime.fromisoformat(failed["time"]), set()
    for error, second in product(("ValueError", "KeyError", "OSError", "DataError", "SchemaError"), range(60)):
        ended = {"because": error, "dataset": "patients", "delta": 0.0, "epsilon": 0.5, "reservation": failed["entry"]}
        moment = (begun + timedelta(seconds=second)).isoformat(timespec="seconds")
        between = entry_hash(failed["hash"], failed["entry"] + 1, moment, "settled", ended)
        if entry_hash(between, receipt["entry"], receipt["time"], "reserved", body) == receipt["hash"]:
            found.add(error)
    return found


def entry_hash(previous, number, moment, kind, body):
    """The hash of an entry, as ledger_file.py has it."""
    entry = [previous, number, moment, kind, json.dumps(body, sort_keys=True)]
    return hashlib.sha256(json.dumps(entry).encode()).hexdigest()


def test_the_hashes_of_receipts_do_not_show_in_which_error_a_fit_ended(gateway, ana):
    assert ends_that_fit(gateway, *failed_and_next(gateway, ana)) == set()


def test_without_a_salt_they_would(gateway, ana, monkeypatch):
    monkeypatch.setattr(reservation, "salt", dict)
    assert ends_that_fit(gateway, *failed_and_next(gateway, ana)) == {"DataError"}


def test_a_receipt_does_not_tell_whether_a_fit_failed_before_its_first_noise_or_after(gateway, ana, monkeypatch):
    gateway.folder.rows.rename(gateway.folder.path / "away")
    before = ana.made(epsilon=0.5)
    (gateway.folder.path / "away").rename(gateway.folder.rows)

    def cannot_save(path, model):
        raise OSError

    monkeypatch.setattr(workers, "_save", cannot_save)
    fit = ana.ask(epsilon=0.5).json()["fit"]
    deadline = time.monotonic() + ENOUGH
    while (after := ana.get(f"/v1/fits/{fit}").json())["state"] != "failed":
        assert time.monotonic() < deadline, "the fit did not end"
        time.sleep(0.3)  # the requests of a minute are few
    assert gateway.releases() == ["failed", "reserved"]
    assert before["receipt"]["state"] == after["receipt"]["state"] == "reserved"
