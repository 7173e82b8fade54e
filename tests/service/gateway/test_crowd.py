"""Many at once, and a server that is killed: what is paid for is made once, and the ledger has all of it."""

import threading
import time
from collections import Counter

import pytest

from privet.service.gateway.fits import fits_of
from privet.service.gateway.workers import DONE, FAILED
from tests.service.gateway.conftest import ENOUGH, Gateway, people
from tests.service.gateway.running import RunningServer, asked_until_answered, told

CROWD, FITS = 32, 10
KILLS = 3


def at_once(acts):
    threads = [threading.Thread(target=act, daemon=True) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(ENOUGH)
    assert not any(thread.is_alive() for thread in threads)


@pytest.fixture
def prepared(tmp_path):
    """A folder of a gateway; its servers are processes."""
    return lambda **options: Gateway(tmp_path / "one", **options)


def test_of_32_analysts_at_once_on_a_budget_for_10_fits_exactly_10_are_paid_and_made(prepared):
    gateway = prepared(epsilon=0.5 * FITS)
    crowd = [gateway.analyst(f"analyst-{i}") for i in range(CROWD)]
    answers = {}
    ready = threading.Barrier(CROWD)
    with RunningServer(gateway.folder.path, "--workers", "2") as server:

        def ask(own):
            ready.wait(ENOUGH)
            document = {"epsilon": 0.5, "method": "private-rdt"}
            answers[own.name] = asked_until_answered(server.url, own.token, document, "the one")

        at_once([lambda own=own: ask(own) for own in crowd])
        paid = {name: answer.json()["fit"] for name, answer in answers.items() if answer.status_code == 202}
        refused = [answer for answer in answers.values() if answer.status_code != 202]
        deadline = time.monotonic() + ENOUGH
        while any(fit.is_open for fit in fits_of(gateway.ledger.account())):
            assert time.monotonic() < deadline, "the fits did not end"
            time.sleep(0.05)
        tokens = {own.name: own.token for own in crowd}
        models = [told(server.url, tokens[name], f"/v1/fits/{fit}/model") for name, fit in paid.items()]
    statuses = Counter(answer.status_code for answer in answers.values())
    print(f"{CROWD} analysts at once: {dict(statuses)}, ledger {dict(Counter(gateway.releases()))}")
    assert statuses == {202: FITS, 402: CROWD - FITS}
    assert all("is left of the budget" in answer.json()["message"] for answer in refused)
    assert [model.status_code for model in models] == [200] * FITS
    assert gateway.releases() == ["settled"] * FITS
    assert gateway.ledger.left == 0.0


def test_a_killed_server_loses_no_model_and_makes_no_fit_twice(prepared):
    # Fits take long enough to be killed in their midst.
    gateway = prepared(epsilon=10.0, table=people(60_000))
    ana = gateway.analyst(epsilon=10.0)
    document = {"epsilon": 0.5, "method": "private-forest"}
    server, kept, done = RunningServer(gateway.folder.path), {}, {}
    server.start()
    deadline = time.monotonic() + 3 * ENOUGH

    def note_what_is_done():
        for each in told(server.url, ana.token, "/v1/fits").json()["fits"]:
            if each["state"] == DONE:
                done.setdefault(each["fit"], told(server.url, ana.token, f"/v1/fits/{each['fit']}/model").content)
            kept[each["fit"]] = each["state"]

    for kill in range(KILLS):
        for i in range(4):
            answer = asked_until_answered(server.url, ana.token, document, f"{kill} {i}")
            assert answer.status_code == 202, answer.text
        begun = len(done)
        while len(done) == begun or "running" not in kept.values():
            assert time.monotonic() < deadline, "no fit began"
            note_what_is_done()
        server.kill()
        server.start()
    while any(state not in (DONE, FAILED) for state in kept.values()) or len(kept) < 4 * KILLS:
        assert time.monotonic() < deadline, "the fits did not end"
        note_what_is_done()
        time.sleep(0.1)
    repeated = [
        asked_until_answered(server.url, ana.token, document, f"{kill} {i}").json()["fit"]
        for kill in range(KILLS) for i in range(4)
    ]  # fmt: skip
    again = {fit: told(server.url, ana.token, f"/v1/fits/{fit}/model").content for fit in done}
    server.kill()
    fits = fits_of(gateway.ledger.account())
    states = Counter(kept.values())
    print(f"{len(fits)} fits, {KILLS} kills: {dict(states)}, ledger {dict(Counter(gateway.releases()))}")
    assert again == done  # told done once, done for ever, and the same model
    assert sorted(repeated) == sorted(fit.id for fit in fits)  # a key pays once, whatever was killed
    assert len(fits) == 4 * KILLS
    assert gateway.ledger.spent == 0.5 * len(fits)  # every one is charged
    assert states[FAILED] <= KILLS  # those in the midst of which it was killed
    assert len(list(gateway.folder.model_file("x").parent.glob("*.privet"))) == states[DONE]
    assert all(gateway.folder.begun_file(fit.id).exists() for fit in fits)
