"""A place where something about the rows might show: what it is called, and how to make what is searched there."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from tests.leaks.marks import N_PLANTINGS, planting
from tests.leaks.scanner import Finding, Scanner

Make = Callable[[Path], Iterator[tuple[str, Any]]]


@dataclass(frozen=True)
class Place:
    """What is searched there is made in an empty folder, each thing with a name in words."""

    name: str
    group: str
    make: Make
    slow: bool = False
    # Not where the number of answers or of lines is no secret; the page says why.
    counts: bool = True


class Swept(NamedTuple):
    """What came of searching a place."""

    place: Place
    n_things: int
    findings: list[Finding]


@dataclass
class Register:
    """The places of one group, in the order in which they are written down."""

    group: str
    places: list[Place] = field(default_factory=list)

    def __call__(self, name: str, *, slow: bool = False, counts: bool = True) -> Callable[[Make], Make]:
        """Enter what a function makes."""

        def enter(make: Make) -> Make:
            self.places.append(Place(name, self.group, make, slow, counts))
            return make

        return enter


def sweep(place: Place) -> Swept:
    """Search everything that is made at a place, and make it of other rows where a number was found that may be luck.

    A released number may be an exact one by luck, and a length, a position or the line of a traceback may be for good:
    on this machine, in this folder. What comes of the rows is there at every planting, each time with its number.
    """
    n_things, found = _once(place, 0)
    doubtful = [(what, finding) for what, finding in found if not finding.sure]
    for number in range(1, N_PLANTINGS):
        if not doubtful:
            break
        again = {(what, finding.mark.what) for what, finding in _once(place, number)[1]}
        doubtful = [(what, finding) for what, finding in doubtful if (what, finding.mark.what) in again]
    return Swept(place, n_things, [finding for _, finding in found if finding.sure] + [own for _, own in doubtful])


def _once(place: Place, number: int) -> tuple[int, list[tuple[str, Finding]]]:
    n_things, found = 0, []
    with planting(number) as rows, tempfile.TemporaryDirectory() as folder, chdir(folder), _state_in(folder):
        scanner = Scanner((*rows.values, *rows.counts) if place.counts else rows.values)
        for what, thing in place.make(Path(folder)):
            n_things += 1
            found += [(what, finding) for finding in scanner.search(thing, what)]
    return n_things, found


def _state_in(folder: str) -> AbstractContextManager[Any]:
    """Let heads of ledgers be kept where all that a command leaves is searched."""
    return patch.dict(os.environ, {"XDG_STATE_HOME": f"{folder}/state"})
