"""What has been measured, seen as figures: means over splits and tables, leads, and what attacks show."""

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.family.audits import AUDITS
from benchmarks.family.members import EPSILONS, MEMBERS
from benchmarks.family.run import ACCURACY, RECOVERED, SHOWN, TABLES
from papers.experiment import Scale


@dataclass(frozen=True)
class Family:
    """What has been measured, seen as figures."""

    lines: pd.DataFrame
    audits: pd.DataFrame
    recovered: pd.DataFrame
    tables: tuple[str, ...]

    @classmethod
    def read(cls, folder: Path, scale: Scale) -> "Family":
        """Read the results of a scale."""
        lines, audits, recovered = (each.read(folder, scale) for each in (ACCURACY, SHOWN, RECOVERED))
        return cls(lines, audits, recovered, TABLES[scale])

    @cached_property
    def _figures(self) -> dict[tuple[str, str, float], tuple[float, float]]:
        """The means over splits and their standard errors, by method, table and epsilon."""
        found = self.lines.groupby(["method", "table", "epsilon"])["accuracy"].agg(["mean", "sem"])
        return dict(zip(found.index, found.itertuples(index=False, name=None), strict=True))

    @property
    def runs(self) -> int:
        """The number of splits."""
        return int(self.lines["run"].nunique())

    def mean(self, method: str, epsilon: float) -> tuple[float, float]:
        """Return the mean over tables, and its standard error: tables are what they are, splits vary."""
        places = [self._figures.get((method, table, epsilon), (math.nan, math.nan)) for table in self.tables]
        means, errors = np.array(places).T
        return float(means.mean()), float(np.sqrt((errors**2).sum()) / len(errors))

    def cell(self, method: str, table: str, epsilon: float) -> str:
        """Return the mean and its error on one table, nothing where there is none."""
        return percent(*self._figures.get((method, table, epsilon), (math.nan, math.nan)))

    def leads(self, better: str, worse: str) -> pd.DataFrame:
        """Return by how many points the one is ahead, a line a table and epsilon, with its error over splits."""
        mine, theirs = (
            self.lines[self.lines["method"] == name].set_index(["table", "epsilon", "run"])["accuracy"]
            for name in (better, worse)
        )
        if not math.isfinite(float(theirs.index.get_level_values("epsilon").max())):
            theirs = theirs.droplevel("epsilon")
        ahead = (mine - theirs).groupby(["table", "epsilon"])
        found = pd.DataFrame({"ahead": ahead.mean(), "error": ahead.sem()})
        return found.reindex(pd.MultiIndex.from_product([self.tables, EPSILONS], names=["table", "epsilon"]))

    def shown(self, method: str, epsilon: float) -> float:
        """Return the most that an attack on a member shows at an epsilon."""
        chosen = self.audits["attack"].isin(AUDITS.get(method, ())) & (self.audits["epsilon"] == epsilon)
        return float(self.audits.loc[chosen, "shown"].max())

    def contradicted(self, method: str) -> list[float]:
        """Return the epsilons at which more is shown than is stated."""
        return [epsilon for epsilon in EPSILONS if self.shown(method, epsilon) > epsilon]

    def lines_of_members(self) -> pd.DataFrame:
        """Return a line a member and epsilon: the mean accuracy, its error, and what an attack shows."""
        lines = []
        for name, own in MEMBERS.items():
            for epsilon in own.epsilons:
                mean, error = self.mean(name, epsilon)
                lines.append([name, own.promise, epsilon, round(mean, 3), round(error, 3), self.shown(name, epsilon)])
        return pd.DataFrame(lines, columns=["method", "promise", "epsilon", "accuracy", "error", "shown"])


def percent(mean: float, error: float) -> str:
    """Return a mean with its standard error, nothing for NaN."""
    return "" if math.isnan(mean) else f"{mean:.1f} ± {error:.1f}"
