"""Running exported JavaScript in node."""

import json
import os
import shutil
import subprocess

import pytest

MISSING = "node is not installed; install Node.js to test exported JavaScript"


def run_node(script, folder, *, module=False):
    """Run a script in ``folder`` and return what it prints, read as JSON."""
    done = subprocess.run(
        [_node(), *(["--input-type=module"] if module else []), "--eval", script],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _node():
    found = shutil.which("node")
    if found is None and os.environ.get("CI") == "true":
        # A test that silently stopped running would go unnoticed there.
        pytest.fail(MISSING, pytrace=False)
    if found is None:
        pytest.skip(MISSING)
    return found
