"""Mean accuracies over runs, by function, noise, privacy and algorithm."""

import math
from typing import Any

import pandas as pd

from papers.agrawal2000.accuracy import NO_NOISE, NO_PRIVACY, ORIGINAL

_KEYS = ["function", "noise", "privacy", "algorithm"]


class Means:
    """The measured lines of Figs 5 and 6, summed up; what was not measured is NaN."""

    def __init__(self, lines: pd.DataFrame) -> None:
        runs = lines.groupby(_KEYS)["accuracy"]
        self._mean: dict[Any, Any] = dict(runs.mean().items())
        self._sd: dict[Any, Any] = dict(runs.std().items())
        self.n_runs = int(runs.size().min()) if len(lines) else 0
        self.privacies = tuple(sorted(set(lines["privacy"]) - {NO_PRIVACY}))

    def of(self, function: int, noise: str, privacy: float, algorithm: str) -> float:
        """Return the mean accuracy in per cent."""
        return float(self._mean.get(_key(function, noise, privacy, algorithm), math.nan))

    def sd(self, function: int, noise: str, privacy: float, algorithm: str) -> float:
        """Return the standard deviation over runs; of one run it is NaN."""
        return float(self._sd.get(_key(function, noise, privacy, algorithm), math.nan))

    def original(self, function: int, name: str = ORIGINAL) -> float:
        """Return the mean accuracy of a tree grown on clear rows."""
        return self.of(function, NO_NOISE, NO_PRIVACY, name)


def _key(function: int, noise: str, privacy: float, algorithm: str) -> tuple[int, str, float, str]:
    if algorithm.startswith(ORIGINAL):
        return function, NO_NOISE, NO_PRIVACY, algorithm
    return function, noise, privacy, algorithm
