"""What is left to be unsure of when an answer is known: 2 to the power of the conditional entropy h(X|W), and guesses.

Agrawal and Aggarwal (2001). For a number it is the width of an interval over which an equally unsure person would
spread the value evenly; for a field with few values, how many equally likely ones there would be.
"""

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

from privet.local.channels.cells import Floats, intervals_for


@dataclass(frozen=True)
class Histogram:
    """How the values of a number are taken to be spread: evenly within each cell."""

    edges: Floats
    shares: Floats

    @classmethod
    def flat(cls, low: float, high: float) -> "Histogram":
        """Return the histogram of values that are anywhere in the range with equal chance."""
        return cls(np.array([low, high]), np.ones(1))

    @classmethod
    def of(cls, values: Floats, low: float, high: float) -> "Histogram":
        """Return the histogram of ``values``, some 100 to a cell, in 10 to 100 cells."""
        counts, edges = np.histogram(np.clip(values, low, high), bins=intervals_for(len(values)), range=(low, high))
        return cls(edges, counts / counts.sum())

    def cut_at(self, cuts: Floats) -> "Histogram":
        """Return the same histogram in finer cells, which end at ``cuts`` too."""
        edges = np.union1d(self.edges, cuts)
        return Histogram(edges, np.diff(np.interp(edges, self.edges, np.append(0.0, np.cumsum(self.shares)))))

    @property
    def entropy(self) -> float:
        """The differential entropy in bits."""
        held = self.shares > 0
        return float(np.sum(self.shares[held] * np.log2(np.diff(self.edges)[held] / self.shares[held])))


# How values are taken to be spread: numbers by cells, few values by their shares.
Prior: TypeAlias = Histogram | Floats


@dataclass(frozen=True)
class PosteriorEntropy:
    """How unsure one is with the answer and without it.

    Attributes
    ----------
    after, before : float
        With the answer, and without: units of the number, or how many equally likely values.
    out_of : float
        The width of the range, or the number of values: what both would be at most.
    """

    after: float
    before: float
    out_of: float

    @property
    def share(self) -> float:
        """What is left, as a share of the range or of all values."""
        return self.after / self.out_of

    def to_json(self) -> dict[str, Any]:
        """Return the measure as plain JSON values."""
        return {"after": self.after, "before": self.before, "out_of": self.out_of, "share": self.share}


@dataclass(frozen=True)
class BestGuess:
    """How often a guess at a field with few values is right.

    Attributes
    ----------
    naive : float
        The most frequent value, whatever the answer.
    answer : float
        The answer itself.
    best : float
        The likeliest value, given the answer and how frequent values are.
    """

    naive: float
    answer: float
    best: float

    @classmethod
    def of(cls, matrix: Floats, prior: Floats) -> Self:
        """Return how often guesses are right; ``matrix`` has the chance of each answer (a row) for each value."""
        joint = matrix * prior
        return cls(float(prior.max()), float(np.trace(joint)), float(joint.max(axis=1).sum()))

    def to_json(self) -> dict[str, Any]:
        """Return the shares as plain JSON values."""
        return {"naive": self.naive, "answer": self.answer, "best": self.best}


def of_answer(matrix: Floats, prior: Floats) -> PosteriorEntropy:
    """Return what is left of a value with chances ``prior``; each row of ``matrix`` has the chances of one answer."""
    joint = matrix * prior
    return PosteriorEntropy(
        2 ** (entropy_of(joint) - entropy_of(joint.sum(axis=1))), 2 ** entropy_of(prior), len(prior)
    )


def entropy_of(chances: Floats) -> float:
    """Return the entropy of chances that add up to 1, in bits."""
    held = chances[chances > 0]
    return float(-np.sum(held * np.log2(held)))
