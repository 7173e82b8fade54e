"""Processes and threads share no random bits: nothing is kept that a fork could copy."""

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("forked.py")
WAYS = ["fork", "pool by fork", "pool by spawn", "threads"]


@pytest.fixture(scope="module")
def draws():
    command = [sys.executable, "-W", "error", str(SCRIPT)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def pieces(digits, length=16):
    """Eight bytes each: by chance two are the same once in 2**64."""
    return {digits[i : i + length] for i in range(0, len(digits) - length + 1, length)}


def shared(processes, kind):
    """Return whether any two processes have a piece in common."""
    found = [pieces(drawn[kind]) for drawn in processes if kind in drawn]
    return any(one & other for one, other in combinations(found, 2))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["words", "bytes", "secret"])
def test_no_two_processes_or_threads_draw_the_same_bytes(draws, way, kind):
    assert not shared(draws[way], kind)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["laplace", "fit"])
def test_no_two_processes_or_threads_draw_the_same_noise(draws, way, kind):
    found = [drawn[kind] for drawn in draws[way] if kind in drawn]
    assert len(set(found)) == len(found)


def test_a_source_that_keeps_words_would_be_seen_to_share_them(draws):
    assert shared(draws["fork"], "a buffered source")
