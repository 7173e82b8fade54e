"""What was measured, asked for by its settings."""

from typing import Any

import pandas as pd


class NotMeasured(Exception):
    """A claim rests on cells that this scale does not measure, or that have not been measured yet."""


class Lines:
    """The lines of an experiment.

    Parameters
    ----------
    table
        Its settings and findings, a line a run.
    """

    def __init__(self, table: pd.DataFrame) -> None:
        self._table = table

    def where(self, **settings: Any) -> "Lines":
        """Return the lines with these settings, of which there has to be one."""
        kept = self._table
        for name, value in settings.items():
            kept = kept[kept[name] == value]
        if kept.empty:
            raise NotMeasured
        return Lines(kept)

    def by_run(self) -> "pd.Series[float]":
        """Return the accuracy of every run, by the number of the run."""
        return self._table.set_index("run")["accuracy"]

    def mean(self, finding: str = "accuracy") -> float:
        """Return the mean over runs."""
        return float(self._table[finding].mean())

    def means_by(self, setting: str) -> "pd.Series[float]":
        """Return the mean accuracy for each value of a setting, small values first."""
        return self._table.groupby(setting)["accuracy"].mean()
