"""Bombs: refused, or used, with little memory, within the time that a case has, and without running anything."""

import json
import subprocess
import sys
from pathlib import Path

from tests.hostile.bombs import BOMBS

# The longest document that is read at all, and room for the chunk that was one too many.
MOST_BYTES = 700 * 2**20
# They do what they say on the label, and no harm.
HARMLESS = {
    "a csv with a hundred thousand columns",
    "a parquet with twenty thousand columns",
    "a parquet with a pickle in its metadata",
}
# Of files that differ by a little: whether some are read, and whether some are refused.
VARIANTS = {
    "a parquet that lies about its rows": (True, True),
    "a parquet that lies about its pages": (True, True),
    "a parquet with lying statistics": (True, False),
}


def fallout():
    """Return what became of every bomb, in a process of its own: one that crashes takes others' results along."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.hostile.bombs"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"{lines[-1:]}\n{done.stderr[-2_000:]}"
    return {line["name"]: line for line in lines if "name" in line}


def harm(found):
    """Return whether a bomb did any."""
    name, told = found["name"], found["told"]
    if name in VARIANTS:
        as_expected = found["outcome"] == "variants" and (told["read"] > 0, told["refused"] > 0) == VARIANTS[name]
    else:
        as_expected = found["outcome"] == ("opened" if name in HARMLESS else "refused") and "\n" not in told
    return not as_expected or found["bytes"] >= MOST_BYTES or found["ran"] != []


# One test: runners that share tests out would drop all bombs, which takes seconds, once for each process of theirs.
def test_every_bomb_is_dropped_and_does_no_harm():
    found = fallout()
    assert set(found) == set(BOMBS)
    assert {*HARMLESS, *VARIANTS} < set(BOMBS)
    assert [each for each in found.values() if harm(each)] == []
