"""A script: draws in forked and spawned processes and in threads, printed as JSON.

In a process of its own, since forking a process with threads is unsafe, and test runners have threads.
"""

import json
import multiprocessing
import os
import signal
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from privet import PrivateRDTClassifier
from privet.datasets import agrawal
from privet.entropy import secure_bytes
from privet.local import Secret
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.rng import SystemNoise

DATA = agrawal(100, random_state=5)
NOISE = SystemNoise()
# A child that hangs is ended, and what it did not write is missed.
_SECONDS = 120


class Buffered:
    """A planted fault: words are fetched in advance, and a forked process gets a copy of what is left."""

    def __init__(self):
        self.left = b""

    def words(self, n):
        if len(self.left) < 4 * n:
            self.left = os.urandom(2**16)
        taken, self.left = self.left[: 4 * n], self.left[4 * n :]
        return np.frombuffer(taken, dtype=np.uint32)


BUFFERED = Buffered()


def drawn(_=None):
    """Return one process's draws of every kind, in hexadecimal digits."""
    zeros = np.zeros(32, dtype=np.int64)
    # A model of its own: threads that fit one would take over each other's counts.
    model = PrivateRDTClassifier(DATA.schema, epsilon=0.1, n_trees=2, height=3, random_state=3, n_jobs=1)
    return {
        "words": NOISE.words(256).tobytes().hex(),
        "bytes": secure_bytes(1024).hex(),
        "secret": Secret()._key.hex(),
        "laplace": discrete_laplace(zeros, epsilon=1e-6, sensitivity=1, noise=NOISE)[0].tobytes().hex(),
        "fit": model.fit(DATA.X, DATA.y).noisy_counts_.tobytes().hex(),
        "a buffered source": BUFFERED.words(256).tobytes().hex(),
    }


def forked(n):
    """Fork this process ``n`` times and return what each child drew."""
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for i in range(n):
            child = os.fork()
            if child == 0:
                try:
                    signal.alarm(_SECONDS)
                    Path(folder, str(i)).write_text(json.dumps(drawn()))
                finally:
                    os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
        return [json.loads(Path(folder, str(i)).read_text()) for i in range(n)]


def in_pool(kind, n_processes):
    with multiprocessing.get_context(kind).Pool(n_processes) as pool:
        return pool.map(drawn, range(4), chunksize=1)


def main():
    before = drawn()  # whatever could be kept in a buffer is in it now
    found = {"fork": [before, *forked(8)]}
    # A spawned process imports everything again, which takes seconds; it is compared with this one.
    for kind, n_processes in {"fork": 2, "spawn": 1}.items():
        found[f"pool by {kind}"] = [before, *in_pool(kind, n_processes)]
    with ThreadPoolExecutor(8) as pool:
        found["threads"] = [before, *pool.map(drawn, range(16))]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
