"""Files and folders that are really read-only: whoever runs the tests, the child is no administrator."""

import os
from pathlib import Path

import pytest

from tests.crashes.commands import arranged, named
from tests.crashes.forked import run
from tests.crashes.invariants import State

NOBODY = 65_534


@pytest.fixture
def closed(tmp_path_factory):
    """Run a command as nobody, after paths in its folder were closed to writing."""
    opened = []

    def run_closed(name, *paths):
        place = tmp_path_factory.mktemp("closed")
        command, folder = named(name), place / "folder"
        arranged(command, folder)
        _give_away(folder)
        for path in paths:
            (folder / path).chmod(0o555 if (folder / path).is_dir() else 0o444)
            opened.append(folder / path)
        before = State.of(folder)
        outcome = run(folder, command.words, beforehand=become_nobody)
        return outcome, before, State.of(folder)

    yield run_closed
    for path in opened:
        path.chmod(0o755)


def _give_away(folder: Path) -> None:
    """Let nobody own what is below ``folder``, and reach it."""
    if os.geteuid() != 0:
        return
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    for path in folder.parents:
        if path.stat().st_mode & 0o001 == 0:
            path.chmod(path.stat().st_mode | 0o011)


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


def test_a_ledger_that_may_only_be_read_can_be_shown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shown") / "folder"
    arranged(named("ledger add"), folder)
    _give_away(folder)
    (folder / "ledger.db").chmod(0o444)
    outcome = run(folder, ["ledger", "show", "ledger.db"], beforehand=become_nobody)
    assert (outcome.code, outcome.stderr) == (0, "")
