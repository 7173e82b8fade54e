"""What a path through a tree asks, in words: one condition an attribute, however often the path tests it."""

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from privet.schema import Categorical, Label, Numeric, Schema
from privet.tree.forest import LEAF, Forest

# What a path leaves of an attribute's codes: first and last of a numeric one, all of a categorical one.
Left: TypeAlias = tuple[int, ...]
_OR_MISSING = " or missing"
# Text that could be taken for a part of a rule.
_AMBIGUOUS = re.compile(r"""[,{}()<>='"\\]|\b(and|or|then|if|in|is|missing|always)\b""")


@dataclass(frozen=True)
class Condition:
    """What a rule asks of one attribute.

    Attributes
    ----------
    attribute : str
        The column's name.
    text : str
        Such as ``age < 30.5``, ``30.5 <= age < 61``, ``age >= 61 or missing``, ``sex = female``, ``sex is missing``,
        ``education in {Bachelors, Masters}``. "Missing" is a missing value or one outside the public domain. A cut
        between cells of equal width is rounded to a hundredth of the width.
    """

    attribute: str
    text: str


class Paths:
    """The conditions on the way to the nodes of a forest."""

    def __init__(self, forest: Forest, schema: Schema) -> None:
        # Lists: one element of an array takes several times as long to read.
        self._parent: list[int] = forest.parent.tolist()
        self._tested: list[int] = forest.attribute.tolist()
        self._cut: list[int] = forest.cut.tolist()
        self._first_child: list[int] = forest.first_child.tolist()
        self._attributes = schema.attributes
        self._left: dict[int, dict[int, Left]] = {-1: {}}
        self._worded = lru_cache(maxsize=2**16)(self._condition)

    def conditions(self, node: int, codes: Left | None = None) -> tuple[Condition, ...]:
        """Return what leads to ``node``, or to all those of its siblings that answer ``codes``."""
        found = [self._worded(attribute, left) for attribute, left in self._ways(node, codes).items()]
        return tuple([condition for condition in found if condition is not None])

    def last_condition(self, node: int, codes: Left | None = None) -> Condition | None:
        """Return the answer to the parent's test alone; None for a root."""
        parent = self._parent[node]
        if parent < 0:
            return None
        return self._worded(self._tested[parent], self._answer(parent, node, {}, codes))

    def _ways(self, node: int, codes: Left | None = None) -> dict[int, Left]:
        way, known = [node], self._parent[node]
        while known not in self._left:
            way.append(known)
            known = self._parent[known]
        left = self._left[known]
        for below in reversed(way):
            left = self._step(below, left, codes if below == node else None)
            # Leaves are asked for once; what is above them, for each of their siblings again.
            if self._tested[below] != LEAF and codes is None:
                self._left[below] = left
        return left

    def _step(self, node: int, left: dict[int, Left], codes: Left | None) -> dict[int, Left]:
        parent = self._parent[node]
        if parent < 0:
            return {}
        return {**left, self._tested[parent]: self._answer(parent, node, left, codes)}

    def _answer(self, parent: int, node: int, left: dict[int, Left], codes: Left | None) -> Left:
        number, cut = self._tested[parent], self._cut[parent]
        branch = node - self._first_child[parent]
        attribute = self._attributes[number]
        if isinstance(attribute, Numeric):
            first, last = left.get(number, (0, attribute.missing_code))
            if cut < 0:
                return branch, branch
            return (first, min(last, cut)) if branch == 0 else (max(first, cut + 1), last)
        answered = codes or (branch,)
        return tuple(code for code in answered if number not in left or code in left[number])

    def _condition(self, number: int, left: Left) -> Condition | None:
        attribute = self._attributes[number]
        text = _numeric_text(attribute, *left) if isinstance(attribute, Numeric) else _categorical_text(attribute, left)
        return Condition(attribute.name, text) if text else None


def joined(conditions: tuple[Condition, ...]) -> str:
    """Return the conditions in one text, in brackets where "or" would reach too far."""
    if len(conditions) == 1:
        return conditions[0].text
    return " and ".join([f"({c.text})" if c.text.endswith(_OR_MISSING) else c.text for c in conditions])


@lru_cache(maxsize=2**12, typed=True)  # typed: 1 and True are equal and look different
def shown(label: Label) -> str:
    """Return a name or label as it stands in a rule: in quotes where it could be taken for something else."""
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


def _numeric_text(attribute: Numeric, first: int, last: int) -> str:
    name, missing = shown(attribute.name), attribute.missing_code
    if first > last:
        return f"{name} in {{}}"
    if first == missing:
        return f"{name} is missing"
    below = _cut_text(attribute, last) if last < missing - 1 else ""
    least = _cut_text(attribute, first - 1) if first > 0 else ""
    if below:
        return f"{least} <= {name} < {below}" if least else f"{name} < {below}"
    if least:
        return f"{name} >= {least}{_OR_MISSING if last == missing else ''}"
    return "" if last == missing else f"{name} is not missing"


def _cut_text(attribute: Numeric, cut: int) -> str:
    value = float(attribute.cuts[cut])
    if attribute.uniform:
        width = (attribute.high - attribute.low) / attribute.n_values
        value = round(value, 2 - math.floor(math.log10(width)))
    return repr(value + 0.0).removesuffix(".0")  # adding 0 takes the sign off a zero


def _categorical_text(attribute: Categorical, codes: Left) -> str:
    name = shown(attribute.name)
    if len(codes) == attribute.branches:
        return ""
    known = [shown(attribute.categories[code]) for code in codes if code != attribute.missing_code]
    if codes and not known:
        return f"{name} is missing"
    values = f"{name} = {known[0]}" if len(known) == 1 else f"{name} in {{{', '.join(known)}}}"
    return values + (_OR_MISSING if len(known) < len(codes) else "")
