"""A collecting server in a process of its own, which can be killed and started again at the same port."""

import signal
import subprocess
import sys
import time

import httpx

from privet.service.collect.folder import CollectFolder, Settings
from privet.service.collect.tokens import new_token, token_hash
from tests.service.ports import OwnPort

START = "from privet.cli.app import main; main()"
# Even a busy machine needs a part of it only.
ENOUGH = 600.0


def made(path, channel, n_tokens, **settings):
    """Make a collection, and tokens for it."""
    channel.save(path / "channel.json")
    folder = CollectFolder.make(path / "smokers", path / "channel.json", Settings("Smoking", 1000, **settings))
    tokens = [new_token() for _ in range(n_tokens)]
    store = folder.open_store()
    store.add_tokens([token_hash(token) for token in tokens])
    store.close()
    return folder, tokens


class RunningServer:
    """`privet collect run` of a folder."""

    def __init__(self, folder, start=START, *options):
        self.folder, self._start, self._options = folder, start, options
        self._own_port = OwnPort()
        self.port = self._own_port.number
        self.begin()

    def begin(self):
        words = ["collect", "run", str(self.folder), "--port", str(self.port), "--per-minute", "1000000"]
        words += ["--address-per-minute", "1000000", *self._options]
        self.process = subprocess.Popen([sys.executable, "-c", self._start, *words], stderr=subprocess.PIPE, text=True)

    def end(self, by=signal.SIGKILL):
        """Send a signal, wait for the end, and return what the server said."""
        self.process.send_signal(by)
        return self.process.communicate()[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def wait(self):
        end = time.monotonic() + ENOUGH
        while True:
            try:
                return httpx.get(f"{self.url}/study.json", timeout=ENOUGH).raise_for_status()
            except httpx.TransportError:
                assert time.monotonic() < end, "the server did not come"
                time.sleep(0.02)
