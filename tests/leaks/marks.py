"""What is planted in the rows and must show nowhere: marked values, and counts that nothing else would be."""

from dataclasses import dataclass
from enum import Enum

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

    @property
    def is_exact_number(self) -> bool:
        """Whether a noisy number may be the same by luck."""
        return self.kind in (Kind.COUNT, Kind.SHARE)


# Each has a letter beyond ASCII and signs that HTML, JSON and addresses escape; none is in a domain.
CATEGORY = "zyx-category-ø<&>"
LABEL = "zyx-label-ø<&>"
NOTE = "zyx-note-ø<&>"
PERSON = "zyx-person-ø<&>"
INDEX = "zyx-index-ø<&>"
# What keys are made of here; they stay with their owners.
KEY = "zyx-key-ø<&>"
# Inside the bounds, so that fits succeed; so many digits that no other number has them.
AGE = 73519.02468135
PAY = 86420.97531864

# Primes, which no round size and no power of two is.
N_ROWS = 7_919
CLASSES = {"no": 4_507, "yes": 2_381, "maybe": 1_031}
# The three rows that are left have the marked category.
SEXES = {"female": 4_273, "male": 3_643}
PARTS = (2_411, 5_508)  # of a table in two parts


def _counts() -> dict[str, int]:
    together = class_and_sex_counts()
    return {
        "the number of rows": N_ROWS,
        **{f"rows of the class {name!r}": count for name, count in CLASSES.items()},
        **{f"rows of the sex {name!r}": count for name, count in SEXES.items()},
        **{f"rows of {names}": count for names, count in together.items() if count > 999},
        **{f"rows of part {number}": count for number, count in enumerate(PARTS)},
    }


def labels() -> np.ndarray:
    """Return the classes of all rows, mixed up in one way only."""
    plain = np.repeat(np.array(list(CLASSES), dtype=object), list(CLASSES.values()))
    return plain[np.random.default_rng(11).permutation(N_ROWS)]


def sexes() -> np.ndarray:
    """Return the category of all rows, a marked one among them three times; mixed so that leaves count primes."""
    plain = np.repeat(np.array([*SEXES, CATEGORY], dtype=object), [*SEXES.values(), N_ROWS - sum(SEXES.values())])
    return plain[np.random.default_rng(1761).permutation(N_ROWS)]


def class_and_sex_counts() -> dict[str, int]:
    """Return how many rows have a class and a sex together: what a leaf counts."""
    y, sex = labels(), sexes()
    return {f"{name!r} and {own!r}": int(((y == name) & (sex == own)).sum()) for name in CLASSES for own in SEXES}


VALUES = (
    Mark("a category that is not in the domain", CATEGORY, Kind.TEXT),
    Mark("a label that is not in the domain", LABEL, Kind.TEXT),
    Mark("text in a column that the schema lacks", NOTE, Kind.TEXT),
    Mark("the name of a person", PERSON, Kind.TEXT),
    Mark("a row's name in a data frame", INDEX, Kind.TEXT),
    Mark("a secret key", KEY, Kind.TEXT),
    Mark("a number within its bounds", AGE, Kind.NUMBER),
    Mark("another number within its bounds", PAY, Kind.NUMBER),
)
COUNTS = (
    *(Mark(what, count, Kind.COUNT) for what, count in _counts().items()),
    *(Mark(f"the share of the class {name!r}", count / N_ROWS, Kind.SHARE) for name, count in CLASSES.items()),
    *(Mark(f"the share of the sex {name!r}", count / N_ROWS, Kind.SHARE) for name, count in SEXES.items()),
)
MARKS = (*VALUES, *COUNTS)
