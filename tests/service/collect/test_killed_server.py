"""A server that is killed again and again: no report is lost after its receipt, and none is there twice."""

import json
import signal
import socket
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass

import httpx
import pytest

from tests.service.collect.conftest import randomized
from tests.service.collect.running import ENOUGH, START, RunningServer, made

CLIENTS = 4
COLUMNS = ("age", "sex", "smoker")
# Every possible report about as often as any other, so that one lost or doubled shows in the counts.
POSSIBLE = [[age, sex, label] for age in (10.0, 30.0, 50.0, 70.0, 90.0) for sex in ("female", "male")
            for label in ("no", "yes")]  # fmt: skip
# Faults that the campaign must catch: a store that confirms what it has in memory only, and one that drops the mark.
CONFIRMS_TOO_EARLY = f"""
from privet.service.collect.store import AnswerStore, Stored
put, late = AnswerStore.put, []
def faulty(self, *report):
    late.append(report)
    while len(late) > 8:
        put(self, *late.pop(0))
    return Stored.NEW
AnswerStore.put = faulty
{START}
"""
FORGETS_THE_MARK = f"""
from privet.service.collect.store import AnswerStore, Stored
put = AnswerStore.put
def faulty(self, hashed, mark, answer):
    stored = put(self, hashed, mark, answer)
    with self._transaction() as do:
        do.run("UPDATE token SET mark = NULL WHERE hash = ?", hashed)
    return Stored.NEW
AnswerStore.put = faulty
{START}
"""  # noqa: S608 - a program


@dataclass
class Outcome:
    """What became of a campaign's reports."""

    receipts: dict
    sent: Counter
    kept: Counter
    tries: int
    said: list

    @property
    def lost(self):
        return sum((self.sent - self.kept).values())

    @property
    def doubled(self):
        return sum((self.kept - self.sent).values())


def send_until_receipt(client, url, report, deadline):
    """Repeat the same report, as the page does, until there is a receipt; return it and how often it was sent."""
    sent = 0
    while True:
        sent += 1
        assert time.monotonic() < deadline, "the server did not come back"
        try:
            answer = client.post(url, json=report, timeout=10)
        except httpx.TransportError:
            time.sleep(0.1)  # before the next try; nothing rests on how long it is
            continue
        assert answer.status_code in (200, 201), answer.text
        return answer.json()["receipt"], sent


def campaign(path, n, kills, *, store="", start=START, again=False):
    """Have ``n`` people report while the server is killed; with ``again`` each repeats what has its receipt."""
    folder, tokens = made(path, randomized(), n, batch=2, minimum=2, store=store)
    server, receipts, tries = RunningServer(folder.path, start), {}, Counter()
    answers = [POSSIBLE[i % len(POSSIBLE)] for i in range(n)]
    came, deadline, said = threading.Semaphore(0), time.monotonic() + ENOUGH, []

    def respond(own):
        with httpx.Client() as client:
            for i in range(own, n, CLIENTS):
                told = dict(zip(COLUMNS, answers[i], strict=True))
                report = {"token": tokens[i], "report_id": f"{i:032x}", "answers": told}
                for _ in range(2 if again else 1):
                    receipts[i], tries[i] = send_until_receipt(client, f"{server.url}/answers", report, deadline)
                came.release()

    clients = [threading.Thread(target=respond, args=(own,), daemon=True) for own in range(CLIENTS)]
    for client in clients:
        client.start()
    for _ in range(kills):
        for _ in range(n // (kills + 1)):
            assert came.acquire(timeout=ENOUGH)
        said.append(server.end())  # while the other clients are in the middle of a report
        server.begin()
    for client in clients:
        client.join(ENOUGH)
    said.append(server.end())
    with closing(folder.open_store()) as opened:
        opened.release(1, last=True)
        kept = Counter(tuple(json.loads(text)) for text in opened.released())
    said += tokens  # what must not be said
    return Outcome(receipts, Counter(map(tuple, answers)), kept, sum(tries.values()), said)


def test_no_report_is_lost_after_its_receipt_and_none_is_there_twice(tmp_path, store_url):
    n, kills = 160, 3
    found = campaign(tmp_path, n, kills, store=store_url)
    assert (found.lost, found.doubled) == (0, 0)
    assert len(set(found.receipts.values())) == n
    said, tokens = "".join(found.said[: kills + 1]), found.said[kills + 1 :]
    assert not any(token in said for token in tokens)
    print(f"{n} reports, {kills} kills, {found.tries - n} tries without an answer, 0 lost, 0 twice")


def test_a_store_that_confirms_too_early_is_caught(tmp_path):
    assert campaign(tmp_path, 60, 1, start=CONFIRMS_TOO_EARLY).lost > 0


def test_a_store_that_forgets_what_it_took_is_caught(tmp_path):
    assert campaign(tmp_path, 20, 0, start=FORGETS_THE_MARK, again=True).doubled > 0


def test_a_client_that_draws_a_new_number_for_the_same_report_is_refused(tmp_path):
    folder, (token,) = made(tmp_path, randomized(), 1)
    server = RunningServer(folder.path)
    server.wait()
    report = {"token": token, "answers": dict(zip(COLUMNS, POSSIBLE[0], strict=True))}
    first, other = (
        httpx.post(f"{server.url}/answers", json={**report, "report_id": digit * 32}, timeout=ENOUGH).status_code
        for digit in "01"
    )
    server.end()
    assert (first, other) == (201, 409)


def test_a_server_that_is_asked_to_stop_finishes_the_report_that_it_has_begun(tmp_path, store_url):
    folder, (token,) = made(tmp_path, randomized(), 1, store=store_url)
    server = RunningServer(folder.path)
    server.wait()
    answers = dict(zip(COLUMNS, POSSIBLE[0], strict=True))
    body = json.dumps({"token": token, "report_id": "0" * 32, "answers": answers}).encode()
    head = f"POST /answers HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=ENOUGH) as connection:
        connection.sendall(head.encode() + body[:20])
        httpx.get(f"{server.url}/study.json", timeout=ENOUGH)  # so what came before it is there
        server.process.send_signal(signal.SIGTERM)
        while _listens(server.port):
            time.sleep(0.02)
        connection.sendall(body[20:])
        assert connection.recv(1000).startswith(b"HTTP/1.1 201")
    server.process.communicate()
    with closing(folder.open_store()) as store:
        assert store.release(1, last=True) == 1


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("signals", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_asked_to_stop_says_nothing_about_anybody(tmp_path, signals):
    folder, (token,) = made(tmp_path, randomized(), 1)
    server = RunningServer(folder.path)
    server.wait()
    report = {"token": token, "report_id": "0" * 32, "answers": {"age": 44}}
    httpx.post(f"{server.url}/answers", json=report, timeout=ENOUGH)
    said = server.end(signals)
    assert token not in said
    assert "Traceback" not in said
    assert "127.0.0.1" not in said.replace(f"127.0.0.1:{server.port}/", "")
