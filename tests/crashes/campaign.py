"""Strike a command at every point at which it writes, in every way, and look at what is left."""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.crashes.commands import Command, arranged, privet
from tests.crashes.forked import Outcome, run
from tests.crashes.invariants import (
    NOT_SETTLED,
    State,
    account_of,
    is_whole,
    violations_at_rest,
    violations_in_the_end,
)
from tests.crashes.write_points import KINDS, Fault, Points


@dataclass
class Tally:
    """What came of all strikes at one command."""

    command: str
    points: int = 0
    kinds: set[str] = field(default_factory=set)
    cases: int = 0
    violations: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.command:<40} {self.points:>6} {len(self.kinds):>6} {self.cases:>6} {len(self.violations):>10}"


HEADINGS = f"{'command':<40} {'points':>6} {'faults':>6} {'cases':>6} {'violations':>10}"


@contextmanager
def fresh_copies(command: Command):
    """Yield a function that gives a folder, arranged for the command and as if never used."""
    with tempfile.TemporaryDirectory() as place:
        template, copy = Path(place, "template"), Path(place, "copy")
        arranged(command, template)

        def fresh() -> Path:
            shutil.rmtree(copy, ignore_errors=True)
            return Path(shutil.copytree(template, copy))

        # Once here: children then share what was imported and compiled, and a case takes a tenth of a second.
        with chdir(fresh()):
            privet(command.warming or command.line)
        yield fresh


def points_of(command: Command, fresh: Callable[[], Path]) -> Outcome:
    """Return the outcome of the command where nothing strikes it, with all of its points."""
    outcome = run(fresh(), command.words, beforehand=command.beforehand)
    assert outcome.code == 0, outcome.stderr
    assert not outcome.missed, f"writes that are no points: {outcome.missed}"
    return outcome


def strike(
    command: Command,
    kinds: Iterable[str] = KINDS,
    *,
    chosen: Callable[[int, str, str], bool] = lambda *_: True,
    beforehand: Callable[[Points], None] | None = None,
    again: Callable[[Points], None] | None = None,
) -> Tally:
    """Strike at all points that are ``chosen`` by number, name and kind of strike, in ways of these kinds.

    ``beforehand`` may break the child that is struck, ``again`` that which is given the command a second time.
    """
    tally = Tally(command.name)
    first = command.beforehand if beforehand is None else beforehand
    command = command if again is None else replace(command, beforehand=again)
    with fresh_copies(command) as fresh:
        points = points_of(replace(command, beforehand=first), fresh).points
        tally.points = len(points)
        for at, point in enumerate(points, start=1):
            for how in kinds:
                if not chosen(at, point, how) or not can_happen(how, point):
                    continue
                folder = fresh()
                before = State.of(folder)
                outcome = run(folder, command.words, fault=Fault(at, how), beforehand=first)
                moment = f"{command.name}: {how} point {at}, {point}"
                may_litter = outcome.killed or point.startswith(("unlink", "rmdir"))
                wrong = after(folder, command, before, outcome, may_litter=may_litter)
                tally.violations += [f"{moment}: {words}" for words in wrong]
                tally.kinds.add(how)
                tally.cases += 1
    return tally


def can_happen(how: str, point: str) -> bool:
    """Return whether a system could do this here: only a write has a middle, and an open file is not forbidden."""
    is_write = point.startswith("write")
    return is_write if how == "killed in the midst of" else not (how == "forbidden" and (is_write or "fsync" in point))


def after(folder: Path, command: Command, before: State, outcome: Outcome, *, may_litter: bool = True) -> list[str]:
    """Return all violations: as the crash left it, and after the command was given again as it was advised."""
    found = violations_at_rest(folder, command, before, outcome, may_litter=may_litter)
    if found:
        return found
    rescued = re.search(r"was put in '(.+?)': move it from there", outcome.sentence)
    if rescued:
        return [] if is_whole(folder / rescued[1]) else [f"not there: {outcome.sentence}"]
    struck = State.of(folder)
    advised = ""
    if outcome.code != 0:
        advised, complaints = _given_again(folder, command)
        if complaints:
            return complaints
    # What a disk refused to remove goes with the next command that writes there.
    may_litter = may_litter and outcome.code == 0
    return violations_in_the_end(folder, command, before, struck, advised, may_litter=may_litter)


def _given_again(folder: Path, command: Command) -> tuple[str, list[str]]:
    is_open = any(each.state == "reserved" for each in _releases(folder)[-1:])
    again = run(folder, command.words, beforehand=command.beforehand)
    if is_open and command.price and NOT_SETTLED not in again.stderr and "before" not in again.stderr:
        return "", [f"the next command does not say that an earlier one was stopped: {again.stderr!r}"]
    if again.code == 0:
        return "", []
    words = next((words for part, words in command.advice if part in again.sentence), "no advice")
    if words == "no advice":
        return "", [f"given again: {again.stderr!r}"]
    if words is None:
        return "", []
    followed = run(folder, [*command.words, *words.split()], beforehand=command.beforehand)
    return words, [] if followed.code == 0 else [f"as advised, {words}: {followed.stderr!r}"]


def _releases(folder: Path):
    account = account_of(folder)
    return [] if account is None else account.spendings
