"""Mean accuracies over runs, by table, method and budget: what claims about accuracy are judged by."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True)
class Accuracies:
    """The measured lines of an experiment, with columns table, method, epsilon, run and accuracy.

    Parameters
    ----------
    lines
        A line a run.
    tables, budgets
        What the figure shows, in its order.
    """

    lines: pd.DataFrame
    tables: tuple[str, ...]
    budgets: tuple[float, ...]

    def of(self, method: str) -> pd.DataFrame:
        """Return a line a table and a column a budget; what has not been measured is missing."""
        return self._laid_out(self._over_runs(method).mean())

    def deviation(self, method: str) -> pd.DataFrame:
        """Return the standard deviation over runs; with one run it is missing."""
        return self._laid_out(self._over_runs(method).std())

    def without_budget(self, method: str) -> "pd.Series[Any]":
        """Return the accuracy, table by table, of a method that has no budget."""
        return self._own(method).groupby("table")["accuracy"].mean().reindex(list(self.tables))

    def lead(self, better: str, worse: str) -> pd.DataFrame:
        """Return by how many points the one is ahead of the other."""
        return self.of(better) - self.of(worse)

    def _laid_out(self, figures: "pd.Series[Any]") -> pd.DataFrame:
        return figures.unstack().reindex(index=list(self.tables), columns=list(self.budgets))

    def _own(self, method: str) -> pd.DataFrame:
        return self.lines[self.lines["method"] == method]

    def _over_runs(self, method: str) -> Any:
        return self._own(method).groupby(["table", "epsilon"])["accuracy"]


def complete(*figures: "pd.DataFrame | pd.Series[Any]") -> bool:
    """Return whether nothing is missing."""
    return not any(figure.isna().to_numpy().any() for figure in figures)


def cells(chosen: pd.DataFrame, titles: dict[str, str]) -> str:
    """Return the cells marked in ``chosen`` in words: "Nursery at 0.5, 1; Adult at 2"."""
    return "; ".join(_marked(chosen, titles)) or "none"


def _marked(chosen: pd.DataFrame, titles: dict[str, str]) -> Iterator[str]:
    for name, marks in chosen.iterrows():
        if marks.all():
            yield f"{titles[str(name)]} at every budget"
        elif marks.any():
            yield f"{titles[str(name)]} at {numbers(marks.index[marks])}"


def place(figures: pd.DataFrame, *, largest: bool, titles: dict[str, str]) -> tuple[float, str]:
    """Return the largest or the least figure, and where it is: "Nursery at 0.5"."""
    values = figures.to_numpy()
    i, j = divmod(int(values.argmax() if largest else values.argmin()), values.shape[1])
    return float(values[i, j]), f"{titles[str(figures.index[i])]} at {figures.columns[j]:g}"


def numbers(values: Iterable[float]) -> str:
    """Return numbers in words."""
    return ", ".join(f"{value:g}" for value in values)
