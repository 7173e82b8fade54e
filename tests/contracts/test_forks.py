"""Processes and threads share no random bits: nothing is kept that a fork could copy."""

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path

SCRIPT = Path(__file__).with_name("forked.py")
WAYS = ["fork", "pool by fork", "pool by spawn", "threads"]


def all_draws():
    command = [sys.executable, "-W", "error", str(SCRIPT)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=900).stdout)


def pieces(digits, length=16):
    """Eight bytes each: by chance two are the same once in 2**64."""
    return {digits[i : i + length] for i in range(0, len(digits) - length + 1, length)}


def shared(processes, kind):
    """Return whether any two processes have a piece in common."""
    found = [pieces(drawn[kind]) for drawn in processes]
    assert len(found) > 1
    return any(one & other for one, other in combinations(found, 2))


# One test: runners that share tests out would run the script, which takes seconds, once for each process of theirs.
def test_no_two_processes_or_threads_draw_the_same():
    draws = all_draws()
    assert list(draws) == WAYS
    for way, processes in draws.items():
        for kind in ("words", "bytes", "secret"):
            assert not shared(processes, kind), (way, kind)
        for kind in ("laplace", "fit"):
            found = [drawn[kind] for drawn in processes]
            assert len(set(found)) == len(found) > 1, (way, kind)
    # A source that keeps words is seen to share them.
    assert shared(draws["fork"], "a buffered source")
