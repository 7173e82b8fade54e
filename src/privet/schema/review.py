"""Going through a draft: what is marked as inferred is replaced by what is publicly known, or accepted by name.

A replaced entry is public. An accepted one was read from the rows and stays so: the guarantee says who declared that it
was public before. A typed domain that is the one from the rows, in whatever order, is accepted, not replaced. That
numbers are whole was read from the rows too, so with other bounds it takes the answer's own word.
"""

import csv
import re
from dataclasses import dataclass, field, replace

from privet.errors import ParameterError, PrivetError
from privet.schema.acceptance import Acceptance
from privet.schema.attribute import Attribute, Categorical
from privet.schema.days import Date
from privet.schema.infer import MOST_PROPOSED, wider
from privet.schema.labels import Label
from privet.schema.numeric import Numeric
from privet.schema.schema import Schema

# What becomes of an entry; one that is changed is still open.
ACCEPTED, REPLACED, DROPPED, CHANGED = "accepted", "replaced", "dropped", "changed"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_BOUNDS = re.compile(rf"({_NUMBER})\s*(?:to|\s|;)\s*({_NUMBER})(?:,?\s+(whole|fractions))?", re.IGNORECASE)

_CHANGES = {"whole", "fractions", "log scale", "never missing", "ordered", "unordered"}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_DAYS = re.compile(r"(\d{4}-\d{2}-\d{2})\s*(?:to|\s)\s*(\d{4}-\d{2}-\d{2})", re.IGNORECASE)


@dataclass
class Review:
    """A draft that is gone through entry by entry.

    Attributes
    ----------
    schema : Schema
        As it is so far.
    acceptance : Acceptance
        Who answers, and on which day.
    few : mapping
        Of attributes with few whole numbers in the rows: which, to be proposed as categories.
    """

    schema: Schema
    acceptance: Acceptance
    few: dict[str, list[int]] = field(default_factory=dict)
    _said_whole: set[str] = field(default_factory=set, init=False)

    @property
    def open(self) -> tuple[str, ...]:
        """The names of entries that are marked as inferred; the target's stands for the classes, or its bounds."""
        names = (*self.schema.names, self.schema.target)
        return tuple(name for name in names if self.attribute(name).inferred)

    def has(self, name: str) -> bool:
        """Return whether there is such an entry; a dropped one is gone."""
        return name in (*self.schema.names, self.schema.target)

    def attribute(self, name: str) -> Attribute:
        """Return the attribute of an entry; the classes as categories, and a target that is a number as it is."""
        if name == self.schema.target:
            if self.schema.number is not None:
                return self.schema.number
            return Categorical(name, self.schema.classes, inferred=self.schema.classes_inferred)
        return next(a for a in self.schema.attributes if a.name == name)

    def proposals(self, name: str) -> list[Attribute]:
        """Return other domains that the rows suggest, to be chosen by number; choosing one accepts it."""
        own = self.attribute(name)
        if not isinstance(own, Numeric):
            return []
        found: list[Attribute] = [] if wider(own) == own else [wider(own)]
        if name in self.few:
            found.append(Categorical(name, self.few[name], inferred=True, never_missing=own.never_missing))
        elif own.whole and not isinstance(own, Date) and own.high - own.low < MOST_PROPOSED:
            values = range(int(own.low), int(own.high) + 1)
            found.append(Categorical(name, list(values), inferred=True, never_missing=own.never_missing))
        return found

    def accept_all(self) -> list[str]:
        """Accept every entry that is still open, unseen, and return their names."""
        together, names = replace(self.acceptance, together=True), list(self.open)
        for name in names:
            self._put(name, replace(self.attribute(name), inferred=False, accepted=together))
        return names

    def answer(self, name: str, text: str) -> str:
        """Do what an answer says of an entry, and return what became of it: accepted, replaced, dropped or changed."""
        word, _, rest = text.strip().partition(" ")
        own = self.attribute(name)
        try:
            if text.strip().isdecimal():
                return self._accept(name, self._proposal(name, int(text)))
            if word.lower() in {"accept", "a"} and not rest:
                return self._accept(name, own)
            if word.lower() == "drop" and not rest:
                return self._drop(name)
            if text.strip().lower() in _CHANGES or word.lower() in {"bins", "edges"}:
                self._put(name, self._changed(own, text.strip().lower()))
                return CHANGED
            return self._replace(name, self._domain(own, text.strip()))
        except PrivetError as error:
            raise ParameterError(f"{name!r}: {error}") from None

    def _accept(self, name: str, attribute: Attribute) -> str:
        self._put(name, replace(attribute, inferred=False, accepted=self.acceptance))
        return ACCEPTED

    def _replace(self, name: str, attribute: Attribute) -> str:
        from_rows = [replace(own, inferred=False) for own in (self.attribute(name), *self.proposals(name))]
        if any(_is_same(attribute, own) for own in from_rows):
            return self._accept(name, attribute)
        self._put(name, attribute)
        return REPLACED

    def _drop(self, name: str) -> str:
        if name == self.schema.target:
            raise ParameterError("the label cannot be dropped; draft again with another --target")
        self.schema = self.schema.with_attributes([a for a in self.schema.attributes if a.name != name])
        return DROPPED

    def _proposal(self, name: str, number: int) -> Attribute:
        found = self.proposals(name)
        if not 1 <= number <= len(found):
            raise ParameterError(f"there is no proposal {number}; bounds are two numbers, such as 0 to 120")
        return found[number - 1]

    def _changed(self, own: Attribute, text: str) -> Attribute:
        if own is self.schema.number:
            raise ParameterError("a label that is a number has bounds only; write two, such as 0 to 120, or accept")
        if own.name != self.schema.target and text == "never missing":
            return replace(own, never_missing=True)
        if text in {"ordered", "unordered"}:
            return self._with_order(own, text)
        if not isinstance(own, Numeric):
            raise ParameterError(f"{text.split()[0]!r} is for numbers; answer accept, skip, or categories A, B, C")
        if isinstance(own, Date) and not text.startswith("bins"):
            raise ParameterError(f"{text.split()[0]!r} is for numbers; answer accept, skip, or two dates")
        if text == "log scale":
            return replace(own, scale="log")
        if text in {"whole", "fractions"}:
            self._said_whole.add(own.name)
            return replace(own, whole=text == "whole")
        word, _, rest = text.partition(" ")
        numbers = [_number(part) for part in rest.replace(",", " ").split()]
        if word == "edges":
            return replace(own, edges=tuple(numbers), bins=None)
        if len(numbers) != 1 or not numbers[0].is_integer():
            raise ParameterError("bins takes one whole number, such as bins 10")
        return replace(own, bins=int(numbers[0]), edges=None)

    def _with_order(self, own: Attribute, text: str) -> Attribute:
        if not isinstance(own, Categorical) or own.name == self.schema.target:
            raise ParameterError(f"{text!r} is for categories of an attribute; answer accept, or skip")
        return replace(own, ordered=text == "ordered")

    def _domain(self, own: Attribute, text: str) -> Attribute:
        """Return the attribute with the domain that was typed."""
        word, _, rest = text.partition(" ")
        is_number = own is self.schema.number
        is_classes = own.name == self.schema.target and not is_number
        if word.lower() in {"categories", "classes"} and rest.strip():
            if is_number:
                raise ParameterError("the label is a number here; to learn classes, draft again without --number")
            labels = _labels(rest, own)
            is_ordered = isinstance(own, Categorical) and own.ordered
            return Categorical(own.name, labels, never_missing=own.never_missing, ordered=is_ordered)
        days = _DAYS.fullmatch(text)
        if days is not None and own.name != self.schema.target:
            _check_holds(own, "dates")
            low, high = days.groups()
            if isinstance(own, Date):
                return replace(own, low=low, high=high, inferred=False)
            return Date(own.name, low, high, never_missing=own.never_missing)
        bounds = _BOUNDS.fullmatch(text)
        if bounds is not None and not is_classes:
            _check_holds(own, "numbers")
            low, high, word = float(bounds[1]), float(bounds[2]), (bounds[3] or "").lower()
            if isinstance(own, Numeric):
                return replace(own, low=low, high=high, whole=self._is_whole(own, low, high, word), inferred=False)
            return Numeric(own.name, low, high, whole=word == "whole", never_missing=own.never_missing)
        raise ParameterError(
            "the answer is not understood; write accept, skip, two bounds such as 0 to 120, or categories A, B, C "
            "(? lists all)"
        )

    def _is_whole(self, own: Numeric, low: float, high: float, word: str) -> bool:
        """Return whether a number with these bounds is whole: as was said, or as the rows have it with their bounds."""
        if word:
            return word == "whole"
        from_rows = [(a.low, a.high) for a in (own, *self.proposals(own.name)) if isinstance(a, Numeric)]
        return own.whole and (own.name in self._said_whole or (low, high) in from_rows)

    def _put(self, name: str, attribute: Attribute) -> None:
        if name == self.schema.target and isinstance(attribute, Numeric):
            self.schema = replace(self.schema, number=attribute)
            return
        if name == self.schema.target and isinstance(attribute, Categorical):
            self.schema = replace(
                self.schema, classes=tuple(attribute.categories), classes_inferred=attribute.inferred,
                classes_accepted=attribute.accepted,
            )  # fmt: skip
            return
        self.schema = self.schema.with_attributes([attribute if a.name == name else a for a in self.schema.attributes])


def _check_holds(own: Attribute, typed: str) -> None:
    """Refuse bounds of another kind than the rows have: with them no table of this kind could be read."""
    ways = {
        "dates": "write the first and the last day, such as 2020-01-01 to 2025-12-31",
        "numbers": "write two bounds, such as 0 to 120",
        "words": "write categories A, B, C",
    }
    if (held := _held(own)) != typed:
        raise ParameterError(f"the rows have {held} here; accept, or {ways[held]}")


def _held(own: Attribute) -> str:
    if isinstance(own, Numeric):
        return "dates" if isinstance(own, Date) else "numbers"
    if all(isinstance(label, str) and _DAY.match(label) for label in own.categories):
        return "dates"
    return "words" if any(isinstance(label, str | bool) for label in own.categories) else "numbers"


def _is_same(typed: Attribute, own: Attribute) -> bool:
    """Return whether two domains are one; neither the order of categories nor whether numbers are whole makes two."""
    if isinstance(typed, Categorical) and isinstance(own, Categorical):
        return set(typed.categories) == set(own.categories)
    if isinstance(typed, Numeric) and isinstance(own, Numeric):
        return replace(typed, whole=False) == replace(own, whole=False)
    return typed == own


def _labels(text: str, own: Attribute) -> list[Label]:
    """Return a list as a line of a CSV has it; numbers where the domain was one of numbers."""
    texts = [part.strip() for part in next(csv.reader([text], skipinitialspace=True))]
    is_text = isinstance(own, Categorical) and isinstance(own.categories[0], str)
    if is_text:
        return list(texts)
    if isinstance(own, Categorical) and isinstance(own.categories[0], bool):
        words: dict[str, Label] = {"true": True, "false": False}
        return [words.get(part.lower(), part) for part in texts]
    numbers = [_number(part) for part in texts]
    return [int(number) if number.is_integer() else number for number in numbers]


def _number(text: str) -> float:
    if not re.fullmatch(_NUMBER, text):
        raise ParameterError("numbers are needed here, with a decimal point and commas between them, such as 1, 2.5")
    return float(text)
