"""What the fits say together: means over splits and over tables, ranks, and who is ahead where.

Means over tables are over those that all methods named are measured on, so that a run that is not at its end compares
like with like.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, studentized_range

from benchmarks.utility.methods import CEILING, MAJORITY
from benchmarks.utility.scores import Scores
from benchmarks.utility.splits import TABLES
from benchmarks.utility.store import Results


class Place(NamedTuple):
    """A method on a table at an epsilon, whatever the split."""

    method: str
    table: str
    epsilon: float | None


class Lead(NamedTuple):
    """How far one place is ahead of another in a score, over the splits that both have; ``error`` is that of it."""

    place: Place
    ahead: float
    error: float

    @property
    def is_clear(self) -> bool:
        """Whether the lead is more than twice its standard error."""
        return self.ahead > 2 * self.error

    @property
    def turned(self) -> "Lead":
        """How far the other is ahead of it."""
        return self._replace(ahead=-self.ahead)


@dataclass(frozen=True)
class Summary:
    """Results seen as figures."""

    results: Results

    @cached_property
    def _by_place(self) -> dict[Place, dict[int, Scores]]:
        """By split, each score's mean over the runs of that split."""
        found: dict[Place, dict[int, list[Scores]]] = {}
        for cell, scores in self.results.items():
            found.setdefault(Place(*cell[:3]), {}).setdefault(cell.repeat, []).append(scores)
        return {place: {repeat: _mean(runs) for repeat, runs in own.items()} for place, own in found.items()}

    @property
    def places(self) -> list[Place]:
        """Every method, table and epsilon of which there is a fit."""
        return list(self._by_place)

    def repeats(self, place: Place) -> int:
        """Return the number of splits."""
        return len(self._by_place.get(place, {}))

    def mean(self, place: Place, score: str = "accuracy") -> float:
        """Return a score's mean over splits, NaN where there is none."""
        return float(np.mean(self._values(place, score))) if self.repeats(place) else math.nan

    def deviation(self, place: Place, score: str = "accuracy") -> float:
        """Return a score's standard deviation over splits, NaN where there are not two."""
        return float(np.std(self._values(place, score), ddof=1)) if self.repeats(place) > 1 else math.nan

    def _values(self, place: Place, score: str) -> list[float]:
        return [getattr(scores, score) for scores in self._by_place[place].values()]

    def majority(self, table: str) -> float:
        """Return the accuracy of the most frequent class."""
        return self.mean(Place(MAJORITY, table, None))

    def ceiling(self, table: str) -> float:
        """Return the accuracy of the better of the two models without privacy."""
        return max(self.mean(Place(method, table, None)) for method in CEILING)

    def gap_closed(self, place: Place) -> float:
        """Return how far a method gets from the majority, 0, to the ceiling, 1."""
        majority = self.majority(place.table)
        return (self.mean(place) - majority) / (self.ceiling(place.table) - majority)

    def common_tables(self, methods: Iterable[str], epsilons: Sequence[float]) -> list[str]:
        """Return the tables on which every method is measured at every epsilon, and what bounds them."""
        asked: list[tuple[str, float | None]] = [(method, epsilon) for method in methods for epsilon in epsilons]
        asked += [(method, None) for method in (MAJORITY, *CEILING)]
        return [t for t in TABLES if all(self.repeats(Place(method, t, epsilon)) for method, epsilon in asked)]

    def over_tables(
        self, method: str, epsilon: float | None, tables: Sequence[str], figure: Callable[[Place], float] | None = None
    ) -> float:
        """Return the mean over tables of a figure, by default of the accuracy."""
        own = [(figure or self.mean)(Place(method, table, epsilon)) for table in tables]
        return float(np.mean(own)) if own else math.nan

    def ranks(self, methods: Sequence[str], epsilon: float, tables: Sequence[str]) -> NDArray[np.float64]:
        """Return each method's mean rank over tables by accuracy; 1 is the best, equals share a rank."""
        if not tables:
            return np.full(len(methods), math.nan)
        accuracies = [[self.mean(Place(method, table, epsilon)) for method in methods] for table in tables]
        ranks: NDArray[np.float64] = rankdata(-np.round(accuracies, 9), axis=1).mean(axis=0)
        return ranks

    def lead(self, place: Place, other: str) -> Lead:
        """Return how far a method is ahead of another."""
        return self.difference(place, place._replace(method=other))

    def difference(self, place: Place, other: Place, score: str = "accuracy") -> Lead:
        """Return how much more a score is at a place than at another, NaN where they share no split."""
        mine, theirs = (self._by_place.get(each, {}) for each in (place, other))
        ahead = [getattr(mine[r], score) - getattr(theirs[r], score) for r in mine.keys() & theirs.keys()]
        error = float(np.std(ahead, ddof=1) / math.sqrt(len(ahead))) if len(ahead) > 1 else math.nan
        return Lead(place, float(np.mean(ahead)) if ahead else math.nan, error)

    def leads(self, method: str, other: str, epsilons: Sequence[float]) -> list[Lead]:
        """Return how far a method is ahead of another, for each table and epsilon that both are measured on."""
        places = [Place(method, table, epsilon) for table in TABLES for epsilon in epsilons]
        return [self.lead(p, other) for p in places if self.repeats(p) and self.repeats(p._replace(method=other))]

    def leader(self, table: str, epsilon: float, methods: Iterable[str]) -> str:
        """Return the method with the best mean accuracy on a table; of equals the one named first."""
        return max(methods, key=lambda method: _or_least(self.mean(Place(method, table, epsilon))))

    def best_gap_closed(self, methods: Sequence[str], epsilon: float, tables: Sequence[str]) -> float:
        """Return the mean share of the gap of the best of some methods, picked on each table after the fact."""
        best = [self.gap_closed(Place(self.leader(table, epsilon, methods), table, epsilon)) for table in tables]
        return float(np.mean(best)) if best else math.nan

    def losses(self, champion: str, methods: Sequence[str], epsilons: Sequence[float]) -> list[Lead]:
        """Return, for each table and epsilon where another method is best, how far it is ahead of ``champion``."""
        found = []
        for table in TABLES:
            for epsilon in epsilons:
                if not self.repeats(Place(champion, table, epsilon)):
                    continue
                best = self.leader(table, epsilon, [champion, *methods])
                if best != champion:
                    found.append(self.lead(Place(best, table, epsilon), champion))
        return found


def critical_difference(n_methods: int, n_tables: int) -> float:
    """Return how far mean ranks must be apart to differ at the 5 % level (Nemenyi's test, as in Demšar 2006)."""
    if not n_tables:
        return math.inf
    quantile = float(studentized_range.ppf(0.95, n_methods, math.inf))
    return quantile / math.sqrt(2) * math.sqrt(n_methods * (n_methods + 1) / (6 * n_tables))


def _mean(runs: Sequence[Scores]) -> Scores:
    return Scores(*np.mean(runs, axis=0).tolist())


def _or_least(figure: float) -> float:
    return -math.inf if math.isnan(figure) else figure
