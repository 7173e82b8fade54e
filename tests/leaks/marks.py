"""What is planted in the rows and must show nowhere: marked values, and exact numbers of the rows.

A marked text is met nowhere by accident. A number may be: by a noisy one, a length, a position, a line of a traceback,
a port. So there are many plantings, the same but for their numbers: what comes of the rows changes with them, and what
comes of a path, a machine or a day does not.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np


class Kind(Enum):
    """How a mark is looked for."""

    TEXT = "text"
    NUMBER = "number"
    COUNT = "count"
    SHARE = "share"


@dataclass(frozen=True)
class Mark:
    """A planted value, or an exact number about the planted rows, and what it is in words."""

    what: str
    value: str | float | int
    kind: Kind


# Each has a letter beyond ASCII and signs that HTML, JSON and addresses escape; none is in a domain.
CATEGORY = "zyx-category-ø<&>"
LABEL = "zyx-label-ø<&>"
NOTE = "zyx-note-ø<&>"
PERSON = "zyx-person-ø<&>"
INDEX = "zyx-index-ø<&>"
# What keys are made of here; they stay with their owners.
KEY = "zyx-key-ø<&>"
TEXTS = (
    Mark("a category that is not in the domain", CATEGORY, Kind.TEXT),
    Mark("a label that is not in the domain", LABEL, Kind.TEXT),
    Mark("text in a column that the schema lacks", NOTE, Kind.TEXT),
    Mark("the name of a person", PERSON, Kind.TEXT),
    Mark("a row's name in a data frame", INDEX, Kind.TEXT),
    Mark("a secret key", KEY, Kind.TEXT),
)
N_PLANTINGS = 8
_CLASSES = ("no", "yes", "maybe")
# Rows of a class and a sex at the first planting, and how many more there are at each further one.
_BOTH = {
    ("no", "female"): (2_423, 35), ("no", "male"): (2_083, 26), ("no", CATEGORY): (1, 0),
    ("yes", "female"): (1_289, 22), ("yes", "male"): (1_091, 19), ("yes", CATEGORY): (1, 0),
    ("maybe", "female"): (561, 13), ("maybe", "male"): (469, 10), ("maybe", CATEGORY): (1, 0),
}  # fmt: skip


@dataclass(frozen=True)
class Planting:
    """The numbers of one planting; each is another in every other planting. Those of the first are primes."""

    number: int = 0

    @property
    def age(self) -> float:
        """A number within its bounds, so that fits succeed; so many digits that no other number has them."""
        return round(73_519.02468135 + 1_207.30517919 * self.number, 8)

    @property
    def pay(self) -> float:
        """Another."""
        return round(86_420.97531864 + 1_207.30517919 * self.number, 8)

    @property
    def both(self) -> dict[tuple[str, str], int]:
        """How many rows have a class and a sex together: what a leaf counts."""
        return {names: count + more * self.number for names, (count, more) in _BOTH.items()}

    @property
    def classes(self) -> dict[str, int]:
        """How many rows each class has."""
        return {name: sum(own for (label, _), own in self.both.items() if label == name) for name in _CLASSES}

    @property
    def sexes(self) -> dict[str, int]:
        """How many rows each sex has, but for the marked one."""
        return {name: sum(own for (_, sex), own in self.both.items() if sex == name) for name in ("female", "male")}

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.both.values())

    @property
    def parts(self) -> tuple[int, int]:
        """The sizes of a table in two parts."""
        first = 2_411 + 29 * self.number
        return first, self.n_rows - first

    def labels(self) -> np.ndarray:
        """Return the classes of all rows, mixed up in one way only."""
        return self._mixed([label for label, _ in _BOTH])

    def sex_of_rows(self) -> np.ndarray:
        """Return the category of all rows, a marked one among them three times."""
        return self._mixed([sex for _, sex in _BOTH])

    def _mixed(self, names: list[str]) -> np.ndarray:
        plain = np.repeat(np.array(names, dtype=object), list(self.both.values()))
        return plain[np.random.default_rng(11).permutation(self.n_rows)]

    @cached_property
    def values(self) -> tuple[Mark, ...]:
        """What is in single rows."""
        return (
            *TEXTS,
            Mark("a number within its bounds", self.age, Kind.NUMBER),
            Mark("another number within its bounds", self.pay, Kind.NUMBER),
        )

    @cached_property
    def counts(self) -> tuple[Mark, ...]:
        """What is true of all rows together."""
        counts = {
            "the number of rows": self.n_rows,
            **{f"rows of the class {name!r}": count for name, count in self.classes.items()},
            **{f"rows of the sex {name!r}": count for name, count in self.sexes.items()},
            **{f"rows of {names}": count for names, count in self.both.items() if count > 999},
            **{f"rows of part {number}": count for number, count in enumerate(self.parts)},
        }
        groups = {"class": self.classes, "sex": self.sexes}
        return (
            *(Mark(what, count, Kind.COUNT) for what, count in counts.items()),
            *(
                Mark(f"the share of the {group} {name!r}", count / self.n_rows, Kind.SHARE)
                for group, sizes in groups.items()
                for name, count in sizes.items()
            ),
        )


PLANTINGS = tuple(Planting(number) for number in range(N_PLANTINGS))
# The same in all threads.
_planted = [PLANTINGS[0]]


def planted() -> Planting:
    """Return the planting that rows are made of now."""
    return _planted[-1]


@contextmanager
def planting(number: int) -> Iterator[Planting]:
    """Make rows of another planting for a while."""
    _planted.append(PLANTINGS[number])
    try:
        yield planted()
    finally:
        _planted.pop()
