"""Checks that all rooms share: ranges of parameters, hexadecimal digits, days, classes, look-alike names; plurals."""

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from numbers import Real
from typing import Any, Protocol, TypeGuard

import numpy as np

from privet.errors import ParameterError

# Letters of Cyrillic and Greek, and dashes, with the Latin letter or dash that they look like (Unicode TS 39).
_LIKE_LATIN = str.maketrans(
    "АВСԀЕНІЈКМОРԚЅТУҮԜХѴӀасԁеһіјорԛѕуүԝхѵӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορυχ‐‑‒–—−",  # noqa: RUF001
    "ABCDEHIJKMOPQSTYYWXVIacdehijopqsyywxvlABEZHIKMNOPTYXayikvopux------",
)


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether ``value`` is an int of Python or NumPy; True and False are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether ``value`` is a number of Python or NumPy; True and False are none."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_whole(name: str, value: object, *, least: int, most: int) -> int:
    """Return ``value`` as an int where it is a whole number from ``least`` to ``most``."""
    if is_whole(value) and least <= value <= most:
        return int(value)
    raise ParameterError(f"{name}={value!r} {Whole(least, most)}")


def is_day(value: object) -> TypeGuard[str]:
    """Return whether ``value`` is the text of a day, such as 2026-11-19; Python reads other spellings too."""
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def plain(value: Any) -> Any:
    """Return any kind of number as a plain one of Python, those of a mapping too, and all else as it is."""
    if isinstance(value, Mapping):
        return {key: plain(own) for key, own in value.items()}
    if isinstance(value, (np.bool_, np.str_)):
        return value.item()
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    return int(value) if is_whole(value) else float(value)


class Constraint(Protocol):
    """What a parameter may be; as text, the end of the sentence that refuses another value."""

    def allows(self, value: object) -> bool:
        """Return whether the parameter may have this value."""


@dataclass(frozen=True)
class Whole:
    """A whole number in a range; None too where it is ``optional``."""

    least: int
    most: int
    optional: bool = False

    def allows(self, value: object) -> bool:
        """Return whether ``value`` is such a number."""
        return (value is None and self.optional) or (is_whole(value) and self.least <= value <= self.most)

    def __str__(self) -> str:
        return f"must be a whole number from {self.least} to {self.most:,}{', or None' if self.optional else ''}"


@dataclass(frozen=True)
class Number:
    """A number in a range; None too where it is ``optional``."""

    least: float
    most: float
    optional: bool = False

    def allows(self, value: object) -> bool:
        """Return whether ``value`` is such a number; True, False and NaN are none."""
        if value is None:
            return self.optional
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        return bool(value <= self.most and not value < self.least)

    def __str__(self) -> str:
        return f"must be a number from {self.least:g} to {self.most:g}{', or None' if self.optional else ''}"


class OneOf:
    """One of a few words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def allows(self, value: object) -> bool:
        """Return whether ``value`` is one of the words."""
        return isinstance(value, str) and value in self.words

    def __str__(self) -> str:
        return f"is not known; choose from {', '.join(self.words)}"


class OneOfTwoWays:
    """None, or a mapping from names to 1, -1, or 0 for neither."""

    def allows(self, value: object) -> bool:
        """Return whether ``value`` is such a mapping."""
        return value is None or (
            isinstance(value, Mapping)
            and all(isinstance(name, str) for name in value)
            and all(is_whole(way) and way in (-1, 0, 1) for way in value.values())
        )

    def __str__(self) -> str:
        return "must be a dict from names of attributes to 1 (may only rise) or -1 (may only fall), or None"


class Flag:
    """True or False."""

    def allows(self, value: object) -> bool:
        """Return whether ``value`` is one of the two, of Python or NumPy."""
        return isinstance(value, (bool, np.bool_))

    def __str__(self) -> str:
        return "must be True or False"


def check_constraints(owner: object, constraints: Mapping[str, Constraint]) -> None:
    """Refuse the first of an object's parameters whose value its constraint does not allow."""
    for name, constraint in constraints.items():
        value = getattr(owner, name)
        if not constraint.allows(value):
            raise ParameterError(f"{name}={value!r} {constraint}")


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's ``n_jobs`` means: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs) or n_jobs == 0:
        raise ParameterError(f"n_jobs={n_jobs!r} must be a whole number other than 0; -1 uses all cores")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def pluralize(n: int, one: str, many: str = "") -> str:
    """Return how many there are in words: "1 release", "2,000 releases"."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def is_hex(value: object, n_bytes: int) -> bool:
    """Return whether ``value`` spells so many bytes in lower-case hexadecimal digits."""
    return isinstance(value, str) and len(value) == 2 * n_bytes and set(value) <= set("0123456789abcdef")


def class_position(classes: Sequence[Any], class_: object) -> int:
    """Return where ``class_`` stands among the classes."""
    if class_ not in classes:
        raise ParameterError(f"class_={class_!r} is none of the classes; choose from {list(classes)}")
    return classes.index(class_)


def look_alike(name: str, others: Iterable[str]) -> str | None:
    """Return the first of ``others`` that is spelled otherwise and looks like ``name``, or differs in case alone."""
    looks = looks_of(name)
    return next((other for other in others if other != name and looks & looks_of(other)), None)


def looks_of(name: str) -> frozenset[str]:
    """Return what a name looks like as it is and in small letters; two that share one of these look alike."""
    return frozenset(look_of(spelling) for spelling in (name, name.casefold()))


def look_of(name: str) -> str:
    """Return a name without what cannot be told by looking: its script, width, case and spaces."""
    # Accents are taken off their letters first and put back last, so that a Cyrillic letter with one is seen.
    latin = unicodedata.normalize("NFKD", name).translate(_LIKE_LATIN)
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", latin).casefold()).casefold().split())
