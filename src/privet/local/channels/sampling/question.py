"""One question about sampled fields: the label, alone or with an attribute or two, and what was sent about it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.local.channels.cells import Floats, Ints
from privet.local.channels.sampling.subset_selection import SubsetSelection
from privet.schema import Attribute, Categorical, Label, Schema


@dataclass(frozen=True)
class Support:
    """What was sent about one question.

    Attributes
    ----------
    n : int or float
        How many people were asked it; their weights' sum where there are weights.
    counts : int64 or float64 array
        How often each cell was sent.
    chances : (float, float)
        The chance that the true cell is sent, and that a given other one is.
    """

    n: float
    counts: NDArray[Any]
    chances: tuple[float, float]

    @property
    def estimated_counts(self) -> Floats:
        """How many of the people asked are in each cell: unbiased, and so below 0 at times."""
        kept, other = self.chances
        estimated: Floats = (self.counts - self.n * other) / (kept - other)
        return estimated


@dataclass(frozen=True)
class Question:
    """The label, alone or together with one attribute or two, and how the cell of a record is answered.

    A cell's number is row-major: the attributes in order, the label last.
    """

    attributes: tuple[Attribute, ...]
    n_classes: int
    selection: SubsetSelection

    def __post_init__(self) -> None:
        if self.selection.cells != math.prod(self.shape):
            raise ParameterError(f"the question about {self.fields} has {math.prod(self.shape)} cells; correct it")

    @classmethod
    def of_epsilon(cls, attributes: Sequence[Attribute], n_classes: int, epsilon: float) -> Self:
        """Return the question that costs this epsilon at most."""
        cells = size_of(attributes, n_classes)
        return cls(tuple(attributes), n_classes, SubsetSelection.of_epsilon(cells, epsilon))

    @property
    def fields(self) -> list[str]:
        """The attributes' names."""
        return [attribute.name for attribute in self.attributes]

    @property
    def title(self) -> str:
        """What it is about, beside the label."""
        return " and ".join(self.fields) or "the label alone"

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has, a missing one with them where there can be one; and the classes."""
        return _cells_in(self.attributes, self.n_classes)

    @property
    def chances(self) -> tuple[float, float]:
        """The chance that the true cell is sent, and that a given other one is."""
        return self.selection.chances

    def cells_of(self, codes: Ints, labels: Ints) -> Ints:
        """Return the cell of each record, from its attributes' codes, a column each, and its label's."""
        cells: Ints = np.ravel_multi_index((*codes.T, labels), self.shape).astype(np.int64)
        return cells

    def in_words(self, cell: int, classes: Sequence[Label]) -> str:
        """Return what a cell stands for: values of the attributes, and the label's."""
        *codes, label = (int(place) for place in np.unravel_index(cell, self.shape))
        values = [_value(a, code) for a, code in zip(self.attributes, codes, strict=True)]
        return ", ".join([*values, str(classes[label])])

    def to_json(self) -> dict[str, Any]:
        """Return the question as plain JSON values."""
        own = self.selection
        return {"fields": self.fields, "cells": own.cells, "size": own.size, "keep": own.keep}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], schema: Schema) -> Self:
        """Read the question back; the caller compares what is written again."""
        by_name = {a.name: a for a in schema.attributes}
        attributes = tuple(by_name[name] for name in data["fields"])
        return cls(attributes, len(schema.classes), SubsetSelection(data["cells"], data["size"], data["keep"]))


def _value(attribute: Attribute, code: int) -> str:
    if code == attribute.n_values:
        return f"{attribute.name} missing"
    if isinstance(attribute, Categorical):
        return f"{attribute.name} {attribute.categories[code]}"
    low, high = attribute.borders[code : code + 2].tolist()
    return f"{attribute.name} {low:g} to {high:g}"


def size_of(attributes: Sequence[Attribute], n_classes: int) -> int:
    """Return how many cells a question about these attributes has."""
    return math.prod(_cells_in(attributes, n_classes))


def _cells_in(attributes: Sequence[Attribute], n_classes: int) -> tuple[int, ...]:
    return (*(a.n_values + (not a.never_missing) for a in attributes), n_classes)


def all_questions(
    schema: Schema, fields: Sequence[Sequence[str]], epsilon: float, ask: int = 1,
    epsilons: Mapping[str, float] | None = None,
) -> Iterator[Question]:  # fmt: skip
    """Yield a question about each of ``fields``, of which a person is asked ``ask`` for ``epsilon``.

    A field's own epsilon is for all of them that the field has a part in.
    """
    by_name = {a.name: a for a in schema.attributes}
    own = {name: e / min(ask, sum(name in names for names in fields)) for name, e in (epsilons or {}).items()}
    for names in fields:
        least = min([epsilon / ask, *(own[name] for name in names if name in own)])
        yield Question.of_epsilon([by_name[name] for name in names], len(schema.classes), least)
