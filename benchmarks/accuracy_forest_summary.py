"""What the results say, as one table per epsilon: a line per data set, a column per method, and the means below.

A share of the gap is how far a method gets from the most frequent class to the ceiling, which is the better of
scikit-learn's random forest and gradient boosting by its mean over the splits. Means are over the data sets that count.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import harness
from benchmarks.accuracy_forest_methods import CEILING, MAJORITY
from benchmarks.accuracy_forest_results import Cell, Results, mean_of


@dataclass(frozen=True)
class Summary:
    """Results seen as tables; only data sets, methods and seeds that are named are looked at."""

    results: Results
    counted: Sequence[str]
    beside: Sequence[str]
    methods: Sequence[str]
    epsilons: Sequence[float]
    seeds: Sequence[int]

    def __str__(self) -> str:
        return "\n\n".join([*(self._at(epsilon) for epsilon in self.epsilons), self._gaps()])

    def mean(self, method: str, dataset: str, epsilon: float, score: str = "accuracy") -> float:
        """Return a method's mean over the splits of a data set."""
        return mean_of(self.results, method, dataset, epsilon, score, self.seeds)

    def majority(self, dataset: str) -> float:
        """Return the accuracy of the most frequent class."""
        return self.mean(MAJORITY, dataset, math.inf)

    def ceiling(self, dataset: str) -> float:
        """Return the accuracy of the better of the two models without privacy."""
        return max(self.mean(method, dataset, math.inf) for method in CEILING)

    def gap_closed(self, method: str, dataset: str, epsilon: float) -> float:
        """Return how far a method gets from the majority, 0, to the ceiling, 1."""
        majority = self.majority(dataset)
        return (self.mean(method, dataset, epsilon) - majority) / (self.ceiling(dataset) - majority)

    def mean_gap_closed(self, method: str, epsilon: float) -> float:
        """Return the mean share of the gap over the data sets."""
        return self._over_sets(lambda name: self.gap_closed(method, name, epsilon))

    def wins(self, method: str, epsilon: float) -> int:
        """Return on how many data sets no other method is better."""
        means = {other: [self.mean(other, name, epsilon) for name in self.counted] for other in self.methods}
        best = np.fmax.reduce(list(means.values()))
        return int(np.sum(means[method] >= best))

    def worst_set(self, method: str, epsilon: float) -> float:
        """Return the least mean over splits, as a difference to the majority."""
        return _least([self.mean(method, name, epsilon) - self.majority(name) for name in self.counted])

    def worst_fit(self, method: str, epsilon: float) -> float:
        """Return the least single fit, as a difference to the majority on the same split."""
        fits = [(name, seed) for name in self.counted for seed in self.seeds]
        return _least([self._accuracy(method, epsilon, *f) - self._accuracy(MAJORITY, math.inf, *f) for f in fits])

    def _accuracy(self, method: str, epsilon: float, dataset: str, seed: int) -> float:
        scores = self.results.get(Cell(method, dataset, epsilon, seed))
        return math.nan if scores is None else scores.accuracy

    def _over_sets(self, value: Callable[[str], float]) -> float:
        """Return the mean over the data sets that are measured; `_at` says how many are not."""
        values = [value(name) for name in self.counted]
        return math.nan if np.isnan(values).all() else float(np.nanmean(values))

    def _at(self, epsilon: float) -> str:
        """Return the table of one epsilon."""
        lines = [("accuracy, %", "majority", "ceiling", *self.methods)]
        lines += [self._line_of(name, epsilon) for name in self.counted]
        lines += [self._line_of(name, epsilon, note=" (not counted)") for name in self.beside]
        return f"epsilon {epsilon:g}\n{harness.table([*lines, *self._figures(epsilon)])}"

    def _line_of(self, name: str, epsilon: float, note: str = "") -> tuple[str, ...]:
        figures = [self.majority(name), self.ceiling(name), *(self.mean(m, name, epsilon) for m in self.methods)]
        return name + note, *(_text(100 * figure) for figure in figures)

    def _figures(self, epsilon: float) -> list[tuple[str, ...]]:
        """Return the lines below the data sets."""

        def line(name: str, figure: Callable[[str], str]) -> tuple[str, ...]:
            return name, "", "", *map(figure, self.methods)

        def mean_of_score(score: str) -> Callable[[str], float]:
            return lambda method: self._over_sets(lambda name: self.mean(method, name, epsilon, score))

        balanced, auc = mean_of_score("balanced"), mean_of_score("auc")
        return [
            line("gap closed, %", lambda m: _text(100 * self.mean_gap_closed(m, epsilon))),
            line("worst set, points over majority", lambda m: _text(100 * self.worst_set(m, epsilon), "+.1f")),
            line("worst fit, points over majority", lambda m: _text(100 * self.worst_fit(m, epsilon), "+.1f")),
            line("balanced accuracy, %", lambda m: _text(100 * balanced(m))),
            line("AUC", lambda m: _text(auc(m), ".3f")),
            line("sets won", lambda m: str(self.wins(m, epsilon))),
            line("sets measured", lambda m: str(self._measured(m, epsilon))),
        ]

    def _measured(self, method: str, epsilon: float) -> int:
        return sum(not math.isnan(self.mean(method, name, epsilon)) for name in self.counted)

    def _gaps(self) -> str:
        """Return the mean share of the gap closed: a line per method, a column per epsilon."""
        lines = [
            (method, *(_text(100 * self.mean_gap_closed(method, epsilon)) for epsilon in self.epsilons))
            for method in self.methods
        ]
        title = f"mean share of the gap closed, %, over {len(self.counted)} data sets"
        return f"{title}\n{harness.table([('epsilon', *(f'{e:g}' for e in self.epsilons)), *lines])}"


def _least(figures: list[float]) -> float:
    """Return the least of the figures that are there; NaN if none is."""
    return float(np.fmin.reduce([*figures, math.nan]))


def _text(figure: float, form: str = ".1f") -> str:
    return "" if math.isnan(figure) else format(figure, form)
