"""What is left to be unsure of when an answer is known: 2 to the power of the conditional entropy h(X|W).

Agrawal and Aggarwal (2001). For a number it is the width of an interval over which an equally unsure person would
spread the value evenly; for a field with few values, how many equally likely ones there would be.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.columns import AddedNoise, IntervalMembership, edges_of
from privet.local.reconstruction.reconstruct import intervals_for

Floats = NDArray[np.float64]
# Beyond lies a part of the noise that no entropy feels.
_CONFIDENCE = 1 - 1e-12
_N_POINTS = 2**14


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


def of_number(column: AddedNoise | IntervalMembership, prior: Histogram) -> PosteriorEntropy:
    """Return what is left of a number that is spread as ``prior``.

    Noise is taken as its distribution has it; the grid and the clamping of answers hide a little more.
    """
    if isinstance(column, AddedNoise):
        left = prior.entropy + column.noise.entropy - _entropy_of_answers(column, prior)
    else:
        edges = edges_of(column.attribute)
        fine = prior.cut_at(edges)
        cell_of = np.searchsorted(edges, fine.edges[:-1], side="right") - 1
        left = fine.entropy - entropy_of(np.asarray(np.bincount(cell_of, fine.shares), dtype=np.float64))
    return PosteriorEntropy(2**left, 2**prior.entropy, column.attribute.high - column.attribute.low)


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


def _entropy_of_answers(column: AddedNoise, prior: Histogram) -> float:
    """Return the differential entropy of value plus noise: the density is exact, its integral a sum over points."""
    spread = column.noise.width(_CONFIDENCE) / 2
    low, high = column.attribute.low - spread, column.attribute.high + spread
    step = (high - low) / _N_POINTS
    points = low + (np.arange(_N_POINTS) + 0.5) * step
    density = np.zeros(_N_POINTS)
    for start, end, share in zip(prior.edges, prior.edges[1:], prior.shares, strict=False):
        if share > 0:
            density += share * (column.noise.cdf(points - start) - column.noise.cdf(points - end)) / (end - start)
    chances = density * step
    return entropy_of(chances / chances.sum()) + math.log2(step)
