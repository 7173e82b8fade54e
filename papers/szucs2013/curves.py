"""The areas under the ROC curve that were measured, by table and theta."""

import math
from typing import Any

import pandas as pd


class Curves:
    """Mean areas over runs by table and theta; what was not measured is NaN."""

    def __init__(self, forest: pd.DataFrame, plain: pd.DataFrame) -> None:
        self._curves = forest.drop(columns=["trees", "run"]).groupby(["table", "theta"]).mean()
        self._plain: dict[Any, Any] = dict(plain.set_index(["table", "given", "least_node"])["auc"].items())

    def of(self, table: str, column: str = "auc") -> "pd.Series[float]":
        """Return a column over theta, the least disguise first."""
        if table not in self._curves.index.get_level_values("table"):
            return pd.Series(dtype=float)
        found: pd.Series[float] = self._curves.loc[table][column].sort_index(ascending=False)
        return found

    def undisguised(self, table: str) -> float:
        """Return the area at theta 1."""
        return float(self.of(table).get(1.0, math.nan))

    def plain(self, table: str, given: str, least_node: int) -> float:
        """Return the area of a plain random forest on clear rows."""
        return float(self._plain.get((table, given, least_node), math.nan))
