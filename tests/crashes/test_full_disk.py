"""A disk that is really full, and a process that the system kills inside of a write: SQLite's own writes too.

Files may not grow beyond a limit (RLIMIT_FSIZE). A write that would cross it fails, or, where the child has not asked
to be spared, ends the child by a signal. Limits from nothing to the largest file strike every write in turn.
"""

import pytest

from tests.crashes.campaign import after, fresh_copies
from tests.crashes.commands import named
from tests.crashes.forked import run
from tests.crashes.invariants import State

COMMANDS = ("fit --ledger", "update --ledger", "party release", "ledger add", "perturb --secret, a new one")


def struck(name, limits):
    """Return violations, and how often a limit ended the command."""
    command, found, stopped = named(name), [], 0
    with fresh_copies(command) as fresh:
        for limit in limits:
            for dies in (False, True):
                folder = fresh()
                before = State.of(folder)
                outcome = run(folder, command.words, largest_file=limit, dies_of_large_files=dies)
                stopped += outcome.code != 0
                wrong = after(folder, command, before, outcome, may_litter=outcome.killed)
                found += [f"{name}, files of at most {limit} bytes, dies: {dies}: {words}" for words in wrong]
    return found, stopped


@pytest.mark.parametrize("name", COMMANDS[:3])
def test_a_full_disk_spends_nothing_unseen(name):
    found, stopped = struck(name, [0, 512, 6_000, 21_000])
    assert not found, "\n".join(found)
    assert stopped > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_every_size_of_a_full_disk(name, capsys):
    limits = range(0, 33_000, 1_000)
    found, stopped = struck(name, limits)
    with capsys.disabled():
        print(f"\nfull disk, {name:<28} {2 * len(limits)} cases, {stopped} stopped, {len(found)} violations", end="")
    assert not found, "\n".join(found)
    assert stopped > 10
