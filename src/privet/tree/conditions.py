"""The conditions on a path through a tree, as text: one per attribute, however often the path tests it."""

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from privet.schema import Categorical, Label, Numeric, Schema
from privet.tree.forest import LEAF, Forest

# Codes of one attribute in ascending order, and the same codes as runs of neighbours: the first and last of each run.
Codes: TypeAlias = tuple[int, ...]
Runs: TypeAlias = tuple[tuple[int, int], ...]
_OR = " or "
# Text that could be mistaken for a part of a rule.
_AMBIGUOUS = re.compile(r"""[,{}()<>='"\\]|\b(and|or|then|if|in|is|missing|always)\b""")


@dataclass(frozen=True)
class Condition:
    """What a rule requires of one attribute.

    Attributes
    ----------
    attribute : str
        The column's name.
    text : str
        Such as ``age < 30.5``, ``30.5 <= age < 61``, ``age >= 61 or missing``, ``age < 18 or 65 <= age < 80``,
        ``sex = female``, ``sex is missing``, ``education in {Bachelors, Masters}``. "missing" means a missing value
        or one outside the public domain. A cut between cells of equal width is rounded to a hundredth of the width.
        Whole numbers have rules such as ``age <= 34``, ``35 <= age <= 49`` and ``age = 50``.
    """

    attribute: str
    text: str


class Paths:
    """The conditions on the way to the nodes of a forest."""

    def __init__(self, forest: Forest, schema: Schema) -> None:
        # Lists, because reading one element of an array takes several times as long.
        self._parent: list[int] = forest.parent.tolist()
        self._tested: list[int] = forest.attribute.tolist()
        self._cut: list[int] = forest.cut.tolist()
        self._first_child: list[int] = forest.first_child.tolist()
        self._attributes = schema.attributes
        self._remaining: dict[int, dict[int, Runs]] = {-1: {}}
        self._worded = lru_cache(maxsize=2**16)(self._condition)

    def conditions(self, node: int, codes: Codes | None = None) -> tuple[Condition, ...]:
        """Return the conditions that lead to ``node``, or to it and those siblings that have ``codes``."""
        found = [self._worded(attribute, runs) for attribute, runs in self._codes_on_path(node, codes).items()]
        return tuple([condition for condition in found if condition is not None])

    def last_condition(self, node: int, codes: Codes | None = None) -> Condition | None:
        """Return the condition of the parent's test alone; None for a root."""
        parent = self._parent[node]
        if parent < 0:
            return None
        return self._worded(self._tested[parent], self._answer(parent, node, codes))

    def _codes_on_path(self, node: int, codes: Codes | None) -> dict[int, Runs]:
        """Return, for every attribute that is tested on the path, the codes that reach ``node``."""
        path, known = [node], self._parent[node]
        while known not in self._remaining:
            path.append(known)
            known = self._parent[known]
        remaining = self._remaining[known]
        for below in reversed(path):
            remaining = self._step(below, remaining, codes if below == node else None)
            # A leaf is requested once. The nodes above it are needed again for each of its siblings.
            if self._tested[below] != LEAF and codes is None:
                self._remaining[below] = remaining
        return remaining

    def _step(self, node: int, remaining: dict[int, Runs], codes: Codes | None) -> dict[int, Runs]:
        parent = self._parent[node]
        if parent < 0:
            return {}
        number, answer = self._tested[parent], self._answer(parent, node, codes)
        return {**remaining, number: _common(remaining[number], answer) if number in remaining else answer}

    def _answer(self, parent: int, node: int, codes: Codes | None) -> Runs:
        """Return the codes that the test of ``parent`` sends to ``node``, or ``codes`` where siblings are included."""
        cut, branch = self._cut[parent], node - self._first_child[parent]
        if cut < 0:
            return _runs(codes) if codes else ((branch, branch),)
        return ((0, cut),) if branch == 0 else ((cut + 1, self._attributes[self._tested[parent]].n_codes - 1),)

    def _condition(self, number: int, runs: Runs) -> Condition | None:
        attribute = self._attributes[number]
        text = _numeric_text(attribute, runs) if isinstance(attribute, Numeric) else _categorical_text(attribute, runs)
        return Condition(attribute.name, text) if text else None


def joined(conditions: tuple[Condition, ...]) -> str:
    """Return the conditions as one text, with parentheses around those that contain "or"."""
    if len(conditions) == 1:
        return conditions[0].text
    return " and ".join([f"({c.text})" if _OR in c.text else c.text for c in conditions])


@lru_cache(maxsize=2**12, typed=True)  # typed: 1 and True are equal and print differently
def quoted(label: Label) -> str:
    """Return a name or label as a rule shows it, in quotes where it could be mistaken for something else."""
    if not isinstance(label, str):
        return repr(label)
    plain = label.isprintable() and label == label.strip() and label and not _AMBIGUOUS.search(label)
    return label if plain and not _reads_as_number(label) else repr(label)


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in {"True", "False"}
    return True


def _runs(codes: Codes) -> Runs:
    firsts = [code for i, code in enumerate(codes) if i == 0 or codes[i - 1] != code - 1]
    lasts = [code for i, code in enumerate(codes) if i == len(codes) - 1 or codes[i + 1] != code + 1]
    return tuple(zip(firsts, lasts, strict=True))


def _common(some: Runs, others: Runs) -> Runs:
    pairs = [(max(first, start), min(last, stop)) for first, last in some for start, stop in others]
    return tuple([(first, last) for first, last in pairs if first <= last])


def _numeric_text(attribute: Numeric, runs: Runs) -> str:
    name, missing = quoted(attribute.name), attribute.missing_code
    if not runs:
        return f"{name} in {{}}"
    or_missing = runs[-1][1] == missing
    cells = _common(runs, ((0, missing - 1),))
    if cells == ((0, missing - 1),):
        return "" if or_missing or attribute.never_missing else f"{name} is not missing"
    if not cells:
        return f"{name} is missing"
    spans = [_span_text(attribute, name, first, last) for first, last in cells]
    return _OR.join([*spans, "missing"] if or_missing else spans)


def _span_text(attribute: Numeric, name: str, first: int, last: int) -> str:
    """Return the condition for a run of neighbouring cells that are not all cells."""
    if attribute.whole:
        return _whole_text(attribute, name, first, last)
    below = _cut_text(attribute, last) if last < attribute.n_values - 1 else ""
    least = _cut_text(attribute, first - 1) if first > 0 else ""
    if not below:
        return f"{name} >= {least}"
    return f"{least} <= {name} < {below}" if least else f"{name} < {below}"


def _whole_text(attribute: Numeric, name: str, first: int, last: int) -> str:
    """Return the same for whole numbers, by the first and the last of them."""
    least, most = (attribute.written(number) for number in (attribute.borders[first], attribute.borders[last + 1] - 1))
    if last == attribute.n_values - 1:
        return f"{name} >= {least}"
    if first == 0:
        return f"{name} <= {most}"
    return f"{name} = {least}" if least == most else f"{least} <= {name} <= {most}"


def _cut_text(attribute: Numeric, cut: int) -> str:
    value = float(attribute.cuts[cut])
    if attribute.uniform:
        width = (attribute.high - attribute.low) / attribute.n_values
        value = round(value, 2 - math.floor(math.log10(width)))
    return repr(value + 0.0).removesuffix(".0")  # adding 0 turns -0.0 into 0.0


def _categorical_text(attribute: Categorical, runs: Runs) -> str:
    name = quoted(attribute.name)
    codes = [code for first, last in runs for code in range(first, last + 1)]
    if len(codes) == attribute.branches:
        return ""
    known = [quoted(attribute.categories[code]) for code in codes if code != attribute.missing_code]
    if codes and not known:
        return f"{name} is missing"
    values = f"{name} = {known[0]}" if len(known) == 1 else f"{name} in {{{', '.join(known)}}}"
    return values + (f"{_OR}missing" if len(known) < len(codes) else "")
