"""A place where something about the rows might show: what it is called, and how to make what is searched there."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.leaks.marks import COUNTS, VALUES
from tests.leaks.scanner import Finding, Scanner

# A released number may be an exact one by luck; so often in a row it is none.
_TIMES = 5
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
    """Search everything that is made at a place, and make it again where only a number was found."""
    n_things, found = _once(place)
    lucky = [(what, finding) for what, finding in found if finding.mark.is_exact_number]
    for _ in range(_TIMES - 1):
        if not lucky:
            break
        again = {(what, finding.mark) for what, finding in _once(place)[1]}
        lucky = [(what, finding) for what, finding in lucky if (what, finding.mark) in again]
    certain = [finding for _, finding in found if not finding.mark.is_exact_number]
    return Swept(place, n_things, certain + [finding for _, finding in lucky])


def _once(place: Place) -> tuple[int, list[tuple[str, Finding]]]:
    scanner = Scanner((*VALUES, *COUNTS) if place.counts else VALUES)
    n_things, found = 0, []
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for what, thing in place.make(Path(folder)):
            n_things += 1
            found += [(what, finding) for finding in scanner.search(thing, what)]
    return n_things, found
