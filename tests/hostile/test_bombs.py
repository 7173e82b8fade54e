"""Bombs: refused, or used, with little memory, in little time, and without running anything."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.bombs import BOMBS

# The longest document that is read at all, and room for the chunk that was one too many.
MOST_BYTES, MOST_SECONDS = 700 * 2**20, 60.0
# They do what they say on the label, and no harm.
HARMLESS = {
    "a csv with a hundred thousand columns",
    "a parquet with a hundred thousand columns",
    "a parquet that lies about its pages",
    "a parquet with lying statistics",
    "a parquet with a pickle in its metadata",
}


@pytest.fixture(scope="module")
def fallout():
    """What became of every bomb, in a process of its own: one that crashes takes the others' test results along."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.hostile.bombs"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"{lines[-1:]}\n{done.stderr[-2_000:]}"
    return {line["name"]: line for line in lines if "name" in line}


def test_every_bomb_was_dropped(fallout):
    assert set(fallout) == set(BOMBS)


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_does_no_harm(fallout, name):
    found = fallout[name]
    assert found["outcome"] == ("opened" if name in HARMLESS else "refused"), found
    assert found["bytes"] < MOST_BYTES, found
    assert found["seconds"] < MOST_SECONDS, found
    assert found["ran"] == []
    assert "\n" not in found["told"]
