"""A gateway's server in a process of its own, and analysts who send it real requests."""

import signal
import subprocess
import sys
import time

import httpx

from tests.service.gateway.conftest import ENOUGH
from tests.service.ports import OwnPort

START = "from privet.cli.app import main; main()"


class RunningServer:
    """A server that can be killed, and is started again at the same port."""

    def __init__(self, folder, *options):
        self.folder, self.options = folder, options
        self._own_port = OwnPort()
        self.port = self._own_port.number
        self.scheme = "https" if "--certificate" in options else "http"

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def start(self, **how):
        words = ["serve", "run", str(self.folder), "--port", str(self.port), *self.options]
        self.process = subprocess.Popen([sys.executable, "-c", START, *words], stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + ENOUGH
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                return httpx.get(f"{self.url}/v1/schema", timeout=ENOUGH, **how)
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError(self.kill())

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        return self.process.communicate()[1]

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.kill()


def asked_until_answered(url, token, document, key):
    """Send a fit with its key until there is an answer, as after a lost one."""
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": key}
    deadline = time.monotonic() + ENOUGH
    while True:
        assert time.monotonic() < deadline, "the server did not come back"
        try:
            answer = httpx.post(f"{url}/v1/fits", json=document, headers=headers, timeout=ENOUGH)
        except httpx.TransportError:
            time.sleep(0.05)
            continue
        if answer.status_code != 429:
            return answer
        time.sleep(0.2)


def told(url, token, path):
    """Ask for a path until there is an answer."""
    deadline = time.monotonic() + ENOUGH
    while True:
        assert time.monotonic() < deadline, "the server did not come back"
        try:
            answer = httpx.get(f"{url}{path}", headers={"Authorization": f"Bearer {token}"}, timeout=ENOUGH)
        except httpx.TransportError:
            time.sleep(0.05)
            continue
        if answer.status_code != 429:
            return answer
        time.sleep(0.2)
