"""Files and folders that are really read-only: whoever runs the tests, the child is no administrator."""

import os
import tempfile
from pathlib import Path

import pytest

from tests.conftest import refuse
from tests.crashes.commands import arranged, named
from tests.crashes.forked import run
from tests.crashes.invariants import State

NOBODY = 65_534


@pytest.fixture
def given_away():
    """Arrange a folder for a command, which nobody owns and can reach."""
    # Not one of pytest's: those are closed to others, and stay so.
    with tempfile.TemporaryDirectory() as place:

        def arrange(name: str) -> Path:
            folder = Path(place, "folder")
            arranged(named(name), folder)
            if os.geteuid() == 0:
                for path in [folder, *folder.rglob("*")]:
                    os.chown(path, NOBODY, NOBODY)
                Path(place).chmod(0o711)
                if not all(path.stat().st_mode & 0o001 for path in folder.parents):
                    refuse("nobody can reach the folder for temporary files; choose another with TMPDIR")
            return folder

        yield arrange
        for path in Path(place).rglob("*"):
            path.chmod(0o755)


@pytest.fixture
def closed(given_away):
    """Run a command as nobody, after paths in its folder were closed to writing."""

    def run_closed(name, *paths):
        folder = given_away(name)
        for path in paths:
            (folder / path).chmod(0o555 if (folder / path).is_dir() else 0o444)
        before = State.of(folder)
        outcome = run(folder, named(name).words, beforehand=become_nobody)
        return outcome, before, State.of(folder)

    return run_closed


def become_nobody(_):
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


CLOSED = [
    ("fit --ledger", ["ledger.db"], "cannot be written; check its path, its folder and their permissions"),
    ("fit --ledger", ["."], "cannot write to 'model.privet': its folder is read-only; choose another with -o"),
    ("update --ledger", ["ledger.db"], "cannot be written; check its path, its folder and their permissions"),
    ("update --ledger", ["."], "cannot write to 'model.privet': its folder is read-only; choose another with -o"),
    ("update of a folder", ["models"], "its folder is read-only; choose another with -o"),
    ("party release", ["."], "cannot write to 'bank.json': its folder is read-only; choose another with -o"),
    ("party sum", ["shared"], "cannot write to 'shared': Permission denied; choose another"),
    ("ledger add", ["ledger.db"], "cannot be written; check its path, its folder and their permissions"),
    ("ledger init", ["."], "cannot be written; check its path, its folder and their permissions"),
    ("perturb --secret, a new one", ["."], "its folder is read-only; choose another with -o"),
    ("report", ["."], "cannot write to 'model.html': its folder is read-only; choose another with -o"),
    ("export", ["."], "cannot write to 'model.py': its folder is read-only; choose another with -o"),
]


@pytest.mark.parametrize(("name", "paths", "words"), CLOSED)
def test_what_is_read_only_is_named_before_anything_is_spent(closed, name, paths, words):
    outcome, before, now = closed(name, *paths)
    assert outcome.code in (2, 3), outcome.stderr
    assert words in outcome.sentence
    if name != "party sum":  # its noised counts are kept for the next attempt, in its own store
        assert now == before


def test_a_ledger_that_may_only_be_read_can_be_shown(given_away):
    folder = given_away("ledger add")
    (folder / "ledger.db").chmod(0o444)
    outcome = run(folder, ["ledger", "show", "ledger.db"], beforehand=become_nobody)
    assert (outcome.code, outcome.stderr) == (0, "")
