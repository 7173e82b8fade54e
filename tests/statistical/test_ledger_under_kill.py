"""Whenever a fit is killed, the ledger opens, its chain is whole, and it shows no less spent than what was released.

`PRIVET_KILLS` says how many processes to kill; `make slow` kills a few.
"""

import functools
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from privet import Ledger, PrivateRDTClassifier
from privet.cli.app import main
from privet.cli.support.stopped import waiting_models
from privet.datasets import agrawal
from privet.files.file_lock import file_lock
from privet.model_file import read_document
from privet.privacy.ledger.account import accounts

pytestmark = pytest.mark.slow
PROCESS_KILLS = int(os.environ.get("PRIVET_KILLS", "60"))
FORK_KILLS = min(10 * PROCESS_KILLS, 2_000)
EPSILON = 0.001


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = agrawal(2_000, random_state=5)
    data.X.assign(**{data.schema.target: data.y}).to_csv("rows.csv", index=False)
    data.schema.save("schema.json")
    Ledger("ledger.db", dataset="people", epsilon=100.0)
    Path("fetched").mkdir()
    return tmp_path


def words(model: str) -> list[str]:
    forest = "--method private-rdt --trees 3 --jobs 1"
    options = f"--schema schema.json --ledger ledger.db --epsilon {EPSILON} {forest} -o {model}"
    return ["fit", "rows.csv", *options.split()]


@functools.cache
def checksum_in(path: Path) -> str:
    return read_document(path)["checksum"]


def checksums_kept() -> set[str]:
    """Return the models that lie beside the ledger; any may be half written, or go away, at this moment."""
    found = set()
    for path in [*Path().glob("ledger.db.*.pending"), *Path().glob("ledger.db.*.privet")]:
        with suppress(FileNotFoundError, ValueError):
            found.add(json.loads(path.read_text())["checksum"])
    return found


def checksums_in(folder: str) -> list[str]:
    return [checksum_in(path.resolve()) for path in Path(folder).glob("*.privet") if path.stem.isalnum()]


def assert_nothing_released_is_missing(moment: str) -> None:
    saved = checksums_in(".")
    ((account,), entries) = accounts("ledger.db")  # opens, and checks the chain
    settled = {spending.ended.body["model"] for spending in account.spendings if spending.state == "settled"}
    assert set(saved) <= settled, moment
    assert account.spent() >= len([*checksums_in("."), *checksums_in("fetched")]) * EPSILON - 1e-12, moment
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
    # What is saved is looked for last, since a living process moves its model there; and again, should it lie between.
    assert any(settled <= checksums_kept().union(*map(checksums_in, (".", "fetched"))) for _ in range(20)), moment


def fetch(name: str) -> int:
    """Move what a killed fit has paid for out of the way of the next, as that would say to."""
    waiting = []
    for path, _ in waiting_models(Path("ledger.db"), "people"):
        waiting.append(path.rename(f"fetched/{name}"))
    return len(waiting)


def seconds_of_a_fit(command) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def test_processes_killed_at_random_moments(folder):
    command = [sys.executable, "-m", "privet"]
    seconds_of_a_fit([*command, *words("first.privet")])
    longest = seconds_of_a_fit([*command, *words("second.privet")])
    moments = np.random.default_rng(1).uniform(0.0, 1.1 * longest, PROCESS_KILLS)

    def kill_one(number: int) -> bool:
        process = subprocess.Popen([*command, *words(f"{number}.privet")], stderr=subprocess.DEVNULL)
        time.sleep(moments[number])
        process.kill()
        killed = process.wait() == -signal.SIGKILL
        assert_nothing_released_is_missing(f"after {moments[number]:.3f} s")
        with file_lock("rows.csv"):  # one at a time, while others fit
            fetch(f"{number}.privet")
        return killed

    with ThreadPoolExecutor(2) as pool:
        killed = sum(pool.map(kill_one, range(PROCESS_KILLS)))
    assert killed > PROCESS_KILLS // 2


def test_forked_fits_killed_while_they_write(folder, capfd):
    """A fork has everything imported, so its few milliseconds are all reading, reserving, releasing and settling."""

    def forked(model: str) -> int:
        child = os.fork()
        if child == 0:
            sys.argv = ["privet", *words(model)]
            try:
                main()
            finally:
                os._exit(0)
        return child

    data = agrawal(100, random_state=5)
    PrivateRDTClassifier(data.schema, n_trees=3).fit(data.X, data.y)  # forks then share the compiled kernels
    start = time.perf_counter()
    os.waitpid(forked("first.privet"), 0)
    longest = time.perf_counter() - start
    killed = fetched = 0
    for number, moment in enumerate(np.random.default_rng(2).uniform(0.0, 1.1 * longest, FORK_KILLS)):
        child = forked(f"{number}.privet")
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        assert_nothing_released_is_missing(f"after {moment:.4f} s")
        fetched += fetch(f"{number}.privet")
    ((account,), _) = accounts("ledger.db")
    states = {spending.state for spending in account.spendings}
    assert killed > FORK_KILLS // 3
    assert fetched > 0  # kills did fall between settling and saving
    assert {"reserved", "settled"} <= states  # kills did fall between reserving and settling
