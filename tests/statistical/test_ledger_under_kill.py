"""Whenever a fit is killed, the ledger opens, its chain is whole, and it shows no less spent than what was released.

`PRIVET_KILLS` says how many processes to kill; `make slow` kills a few.
"""

import functools
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from privet import Ledger, PrivateRDTClassifier
from privet.cli.app import main
from privet.datasets import agrawal
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
    return tmp_path


def words(model: str) -> list[str]:
    forest = "--method private-rdt --trees 3 --jobs 1"
    options = f"--schema schema.json --ledger ledger.db --epsilon {EPSILON} {forest} -o {model}"
    return ["fit", "rows.csv", *options.split()]


@functools.cache
def checksum_in(path: Path) -> str:
    return read_document(path)["checksum"]


def checksums_saved() -> set[str]:
    return {checksum_in(path.resolve()) for path in Path().glob("*.privet")}


def assert_nothing_released_is_missing(moment: str) -> int:
    """Return how many models are saved whose settlement is missing; each counts by its reservation."""
    saved = checksums_saved()
    ((account,), entries) = accounts("ledger.db")  # opens, and checks the chain
    settled = {spending.ended.body["model"] for spending in account.spendings if spending.state == "settled"}
    reserved = sum(spending.state == "reserved" for spending in account.spendings)
    assert len(saved - settled) <= reserved, moment
    assert account.spent() >= len(saved) * EPSILON - 1e-12, moment
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
    # Looked for last, since other processes go on: what is settled was saved before.
    assert settled <= checksums_saved(), moment
    return len(saved - settled)


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
    killed = unsettled = 0
    for number, moment in enumerate(np.random.default_rng(2).uniform(0.0, 1.1 * longest, FORK_KILLS)):
        child = forked(f"{number}.privet")
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        unsettled = assert_nothing_released_is_missing(f"after {moment:.4f} s")
    ((account,), _) = accounts("ledger.db")
    states = {spending.state for spending in account.spendings}
    assert killed > FORK_KILLS // 3
    assert unsettled > 0  # kills did fall between saving and settling
    assert {"reserved", "settled"} <= states  # kills did fall between reserving and settling
