"""What a model says of rows that it was not fitted to, fold by fold, and means of scores over folds."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Answered:
    """The rows of a fold by their numbers, their labels, and what was said of them.

    Of classes ``labels`` are positions and ``said`` is how likely each class is; of a number both are numbers.
    """

    rows: NDArray[np.int64]
    labels: NDArray[Any]
    said: NDArray[np.float64]


@dataclass(frozen=True)
class HeldOut(ABC):
    """What was said of the rows of each fold; a subclass has the scores of its kind of label."""

    folds: tuple[Answered, ...]
    # The first one says whether a model is better than guessing.
    scores: ClassVar[Mapping[str, Callable[[Answered], float]]]

    def means(self) -> dict[str, tuple[float, float]]:
        """Return the mean of every score over folds and its standard deviation; NaN where no fold has the score."""
        return {name: _mean_and_deviation([score(fold) for fold in self.folds]) for name, score in self.scores.items()}

    def within(self, rows: NDArray[np.bool_]) -> Self | None:
        """Return the same of some rows alone, or None where no fold has one of them."""
        kept = [
            Answered(fold.rows[own], fold.labels[own], fold.said[own])
            for fold in self.folds
            if (own := rows[fold.rows]).any()
        ]
        return type(self)(tuple(kept)) if kept else None

    def mean_scores(self) -> dict[str, float | None]:
        """Return the mean of every score under the name that JSON has for it; None where no fold has the score."""
        return {name.lower().replace(" ", "_"): known(mean) for name, (mean, _) in self.means().items()}

    @abstractmethod
    def to_json(self, classes: Sequence[Any]) -> dict[str, Any]:
        """Return the scores as plain values; None for what these rows do not tell."""


def known(value: float) -> float | None:
    """Return a score for JSON, which has no NaN."""
    return None if math.isnan(value) else value


def _mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    found = [value for value in values if not math.isnan(value)]
    if not found:
        return math.nan, math.nan
    mean = math.fsum(found) / len(found)
    if len(found) == 1:
        return mean, math.nan
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in found) / (len(found) - 1))
