"""Class tables of attributes, estimated from what people sent. See sampled_forest.md."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.sampling.question import Support
from privet.local.channels.sampling.sampled_fields import SampledFields

Floats = NDArray[np.float64]
# A class is taken to have at least this share of the people.
_LEAST_SHARE = 1e-3
NORMAL_95 = 1.959964
# What drawing people adds to the variance of a class's share, at most one over four.
_DRAWN = 0.25


@dataclass(frozen=True)
class ClassTable:
    """Estimated numbers of people by an attribute's values and by class: values x classes, for ``n`` people.

    ``noise`` is the variance that the channel adds to each number where nobody is in its cell, and ``slope`` how fast
    the variance rises with the share of people who are. Numbers may lie below 0.
    """

    n: float
    counts: Floats
    noise: float
    slope: float = 1.0

    @property
    def variance(self) -> Floats:
        """The variance of each number: what the channel adds, and which people happened to be asked."""
        shares = np.clip(self.counts / self.n, 0.0, 1.0)
        return self.noise + self.n * shares * (self.slope - shares)

    @property
    def share_variance(self) -> float:
        """The variance of a class's share, which is a sum over the values."""
        return self.noise * len(self.counts) / self.n**2 + _DRAWN / self.n

    def shares(self) -> tuple[Floats, Floats]:
        """Return the share of the people in each cell, and how far from it the truth lies 95 times of 100."""
        return self.counts / self.n, NORMAL_95 * np.sqrt(self.variance) / self.n


def joint_table(support: Support, shape: tuple[int, ...]) -> ClassTable:
    """Return the table of a question, all its attributes' values in rows."""
    kept, other = support.chances
    noise = support.n * other * (1 - other) / (kept - other) ** 2
    slope = (1 - 2 * other) / (kept - other)
    return ClassTable(float(support.n), support.estimated_counts.reshape(-1, shape[-1]), noise, slope)


def class_tables(record: SampledFields, supports: Sequence[Support]) -> list[ClassTable | None]:
    """Return a table for every attribute of the schema, from all questions about it; None where nobody was asked."""
    found: dict[str, list[ClassTable]] = {name: [] for name in record.schema.names}
    for question, support in zip(record.questions, supports, strict=True):
        if support.n <= 0:
            continue
        joint = joint_table(support, question.shape)
        table = joint.counts.reshape(question.shape)
        for place, name in enumerate(question.fields):
            others = tuple(i for i in range(len(question.fields)) if i != place)
            summed = int(np.prod([question.shape[i] for i in others], dtype=np.int64))
            found[name].append(ClassTable(joint.n, table.sum(axis=others), joint.noise * summed, joint.slope))
    return [pooled(own) if own else None for own in found.values()]


def label_tables(record: SampledFields, supports: Sequence[Support]) -> list[ClassTable]:
    """Return the tables of those who were asked for their label alone, of one line each."""
    asked = zip(record.questions, supports, strict=True)
    return [
        joint_table(support, question.shape) for question, support in asked if not question.fields and support.n > 0
    ]


def pooled(tables: Sequence[ClassTable]) -> ClassTable:
    """Return several tables of one attribute as one: shares weighted by how little noise they have."""
    if len(tables) == 1:
        return tables[0]
    precision = np.array([own.n**2 / (own.noise + own.n) for own in tables])
    parts = precision / precision.sum()
    n = sum(own.n for own in tables)
    shares = sum(part * own.counts / own.n for part, own in zip(parts, tables, strict=True))
    noise = sum(part**2 * own.noise / own.n**2 for part, own in zip(parts, tables, strict=True))
    slope = n * sum(part**2 * own.slope / own.n for part, own in zip(parts, tables, strict=True))
    return ClassTable(n, np.asarray(shares) * n, float(noise) * n**2, float(slope))


def class_balance(tables: Iterable[ClassTable]) -> tuple[Floats, float]:
    """Return each class's share, from the margins of all tables by their precision, and its standard error."""
    known = list(tables)
    precision = np.array([1 / own.share_variance for own in known])
    margins = np.array([own.counts.sum(axis=0) / own.n for own in known])
    shares = np.maximum(precision @ margins / precision.sum(), _LEAST_SHARE)
    return shares / shares.sum(), float(np.sqrt(1 / precision.sum()))
