"""A fault at every point at which a command writes; `make crashes` prints what came of it."""

import pytest

from tests.crashes.campaign import HEADINGS, fresh_copies, points_of, strike
from tests.crashes.commands import COMMANDS, named
from tests.crashes.write_points import KINDS

QUICK = ("fit --ledger", "update --ledger", "party release")


@pytest.mark.parametrize("name", QUICK)
def test_a_fault_at_each_point_leaves_nothing_half_written_lost_or_paid_twice(name):
    # Every point once; the way goes round, and half of the ways are kills.
    tally = strike(named(name), chosen=lambda at, _, how: how == KINDS[(at + QUICK.index(name)) % len(KINDS)])
    assert tally.cases > 10
    assert not tally.violations, "\n".join(tally.violations)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_fault_at_every_point(command, capsys):
    tally = strike(command)
    with capsys.disabled():
        heading = f"\n{HEADINGS}" if command is COMMANDS[0] else ""
        print(f"{heading}\n{tally}", end="", flush=True)
    assert tally.cases > 0
    assert not tally.violations, "\n".join(tally.violations)


def test_the_points_of_a_fit_are_those_that_one_would_look_for():
    command = named("fit --ledger")
    with fresh_copies(command) as fresh:
        points = points_of(command, fresh).points
    whole = ("open .*.unfinished", "write", "fsync", "rename .*.unfinished", "fsync", "unlink .*.unfinished")
    turn = ("sqlite BEGIN", "sqlite INSERT", "sqlite COMMIT", *whole)  # after it, the head of the chain is kept
    reserved, key, batch, saved, settled = turn, turn, turn, whole, turn
    assert points == (*reserved, *key, *batch, *saved, *settled, "write stdout")
