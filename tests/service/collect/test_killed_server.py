"""A server that is killed again and again: no report is lost after its receipt, and none is there twice."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter

import httpx

from privet.service.collect.folder import CollectFolder, Settings
from privet.service.collect.tokens import new_token, token_hash
from tests.service.collect.conftest import randomized

KILLS, CLIENTS, REPORTS = 6, 4, 240
START = "from privet.cli.app import main; main()"
ENOUGH = 60.0


class KilledServer:
    """A server in a process of its own, which is started again at the same port."""

    def __init__(self, folder):
        self.folder, self.lock = folder, threading.Lock()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def start(self):
        words = ["collect", "run", str(self.folder), "--port", str(self.port), "--per-minute", "1000000"]
        words += ["--address-per-minute", "1000000"]
        self.process = subprocess.Popen([sys.executable, "-c", START, *words], stderr=subprocess.PIPE, text=True)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        return self.process.communicate()[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/answers"


def send_until_receipt(url, report, deadline):
    """Repeat the same report, as the page does, until there is a receipt; return it and how often it was sent."""
    for sent in range(1, 100_000):
        assert time.monotonic() < deadline, "the server did not come back"
        try:
            answer = httpx.post(url, json=report, timeout=10)
        except httpx.TransportError:
            time.sleep(0.02)  # before the next try; nothing rests on how long it is
            continue
        assert answer.status_code in (200, 201), answer.text
        return answer.json()["receipt"], sent
    raise AssertionError


def test_no_report_is_lost_after_its_receipt_and_none_is_there_twice(tmp_path):
    channel = randomized()
    channel.save(tmp_path / "channel.json")
    folder = CollectFolder.make(
        tmp_path / "smokers", tmp_path / "channel.json", Settings("Smoking", 1000, batch=2, minimum=2)
    )
    tokens = [new_token() for _ in range(REPORTS)]
    store = folder.open_store()
    store.add_tokens([token_hash(token) for token in tokens])
    store.close()
    # Every possible report the same number of times, so that one lost or doubled shows in the counts.
    possible = [[age, sex, label] for age in (10.0, 30.0, 50.0, 70.0, 90.0) for sex in ("female", "male")
                for label in ("no", "yes")]  # fmt: skip
    answers = [possible[i % len(possible)] for i in range(REPORTS)]
    server, receipts, tries = KilledServer(folder.path), {}, Counter()
    came, deadline, said = threading.Semaphore(0), time.monotonic() + ENOUGH, []

    def respond(own):
        for i in range(own, REPORTS, CLIENTS):
            told = dict(zip(("age", "sex", "smoker"), answers[i], strict=True))
            report = {"token": tokens[i], "report_id": f"{i:032x}", "answers": told}
            receipts[i], tries[i] = send_until_receipt(server.url, report, deadline)
            came.release()

    clients = [threading.Thread(target=respond, args=(own,), daemon=True) for own in range(CLIENTS)]
    for client in clients:
        client.start()
    for _ in range(KILLS):
        for _ in range(REPORTS // (KILLS + 1)):
            assert came.acquire(timeout=ENOUGH)
        said.append(server.kill())  # while the other clients are in the middle of a report
        server.start()
    for client in clients:
        client.join(ENOUGH)
    said.append(server.kill())
    store = folder.open_store()
    store.release(1, last=True)
    kept = [json.loads(text) for text in store.released()]
    store.close()
    assert len(receipts) == REPORTS
    assert len(set(receipts.values())) == REPORTS
    assert Counter(map(tuple, kept)) == Counter(map(tuple, answers))
    assert not any(token in line for token in tokens for line in said)
    assert "127.0.0.1:" not in "".join(said).replace(f"127.0.0.1:{server.port}", "")
    print(f"{REPORTS} reports, {KILLS} kills, {sum(tries.values()) - REPORTS} tries without an answer, 0 lost, 0 twice")
