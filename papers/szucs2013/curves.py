"""The areas under the ROC curve that were measured, by table and theta."""

import math
from typing import Any

import pandas as pd

_SETTINGS = ["table", "vote", "least_node"]


class Curves:
    """Mean areas over runs by table and theta; what was not measured is NaN."""

    def __init__(self, forest: pd.DataFrame, plain: pd.DataFrame, votes: pd.DataFrame) -> None:
        self._curves = forest.drop(columns=["trees", "run"]).groupby(["table", "theta"]).mean()
        runs = forest.groupby(["table", "theta"])["auc"]
        self._apart: dict[Any, Any] = dict((runs.max() - runs.min()).items())
        self._plain: dict[Any, Any] = dict(plain.set_index(["table", "given", "least_node", "vote"])["auc"].items())
        self._votes = votes.groupby([*_SETTINGS, "trees", "theta"], as_index=False)["auc"].mean()

    def of(self, table: str, column: str = "auc") -> "pd.Series[float]":
        """Return a column over theta, the least disguise first."""
        if table not in self._curves.index.get_level_values("table"):
            return pd.Series(dtype=float)
        found: pd.Series[float] = self._curves.loc[table][column].sort_index(ascending=False)
        return found

    def apart(self, table: str, theta: float) -> float:
        """Return how far the runs of a forest lie apart."""
        return float(self._apart.get((table, theta), math.nan))

    def voted(self, table: str, vote: str, least_node: int) -> "pd.Series[float]":
        """Return the areas over theta of a forest that votes in one way, the least disguise first."""
        of_table = self._votes[self._votes["table"] == table]
        chosen = of_table[(of_table["vote"] == vote) & (of_table["least_node"] == least_node)]
        # Larger forests were grown without disguise only.
        areas = chosen[chosen["trees"] == chosen["trees"].min()].set_index("theta")["auc"]
        found: pd.Series[float] = areas.astype(float).sort_index(ascending=False)
        return found

    def undisguised(self, table: str, vote: str, least_node: int) -> float:
        """Return the area at theta 1."""
        return float(self.voted(table, vote, least_node).get(1.0, math.nan))

    def largest_undisguised(self, table: str, vote: str) -> tuple[float, int, int]:
        """Return the largest area at theta 1, with its least node and its number of trees."""
        found = self._votes[
            (self._votes["table"] == table) & (self._votes["vote"] == vote) & (self._votes["theta"] == 1)
        ]
        if found.empty:
            return math.nan, 0, 0
        best: Any = found.loc[found["auc"].astype(float).idxmax()]
        return float(best["auc"]), int(best["least_node"]), int(best["trees"])

    def plain(self, table: str, given: str, least_node: int, vote: str) -> float:
        """Return the area of a plain random forest on clear rows."""
        return float(self._plain.get((table, given, least_node, vote), math.nan))
