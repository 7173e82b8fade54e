"""What the run says and does where the UCI tables are missing, seen from outside."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from privet.datasets import uci_folder

PROJECT = Path(__file__).parents[2]


def run(folder, *, ci):
    # The run around this one may hand its own options down.
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment = inherited | {"PRIVET_DATA": str(folder), "CI": "true" if ci else ""}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "real_data"]
    return subprocess.run(
        [*command, "tests/datasets/test_tic_tac_toe.py"],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("folder", ["", "absent"])
def test_without_the_tables_their_tests_are_skipped_and_counted(tmp_path, folder):
    done = run(tmp_path / folder, ci=False)
    assert done.returncode == 0
    assert "2 skipped" in done.stdout
    assert "the UCI tables are not here; set PRIVET_DATA to their folder" in done.stdout
    assert "UCI tables: not found: 2 tests on real data did not run" in done.stdout
    assert str(tmp_path) not in done.stdout


def test_in_ci_their_absence_is_a_failure(tmp_path):
    done = run(tmp_path, ci=True)
    assert done.returncode == 1
    assert "2 errors" in done.stdout
    assert "UCI tables: not found: 2 tests on real data did not run" in done.stdout


@pytest.mark.real_data
def test_with_the_tables_they_run(uci_table):
    done = run(uci_folder().resolve(), ci=True)
    assert done.returncode == 0
    assert "2 passed" in done.stdout
    assert "UCI tables: found at PRIVET_DATA (15 tables)" in done.stdout
