"""Scores of a target that is a number, by scikit-learn: R2 and the size of errors, in units of the target."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from privet.cli.support.scoring.held_out import Answered, HeldOut, known


def _r2(fold: Answered) -> float:
    from sklearn.metrics import r2_score

    return float(r2_score(fold.labels, fold.said)) if len(fold.labels) > 1 else math.nan


def _mean_absolute_error(fold: Answered) -> float:
    from sklearn.metrics import mean_absolute_error

    return float(mean_absolute_error(fold.labels, fold.said))


def _root_mean_squared_error(fold: Answered) -> float:
    from sklearn.metrics import root_mean_squared_error

    return float(root_mean_squared_error(fold.labels, fold.said))


class HeldOutNumbers(HeldOut):
    """What was said of rows that have a number."""

    scores: ClassVar = {
        "R2": _r2,
        "mean absolute error": _mean_absolute_error,
        "root mean squared error": _root_mean_squared_error,
    }

    def to_json(self, classes: Sequence[Any] = ()) -> dict[str, Any]:  # noqa: ARG002 - a number has none
        """Return the scores as plain values; None for what these rows do not tell."""
        return {**self.mean_scores(), "r2_deviation": known(self.means()["R2"][1])}
