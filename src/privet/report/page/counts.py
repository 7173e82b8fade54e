"""What released class counts say, set against their noise. Everything here is post-processing: it costs nothing."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.report.page.formats import number
from privet.tree.intervals import RELIABLE, reach, stands_out

# In standard deviations of noise, and in rows where there is none.
_STEPS = (-RELIABLE, -1.0, 1.0, RELIABLE, 10.0, 30.0, 100.0)
_COUNTS = (0.5, 2.5, 9.5, 29.5, 99.5, 999.5)

NOT_TOLD_APART = "not told apart from noise"


@dataclass(frozen=True)
class Bin:
    """A range of released supports and how many leaves fall in it."""

    label: str
    leaves: int
    within_noise: bool


def counted_by_leaves(model: Any) -> bool:
    """Return whether nodes are the sums of their leaves; else some were counted with noise of their own."""
    return bool(np.array_equal(model.nodes_.n_draws, model.forest_.n_leaves_below))


def leaf_supports(model: Any) -> NDArray[np.int64]:
    """Return each leaf's released number of rows, all classes together."""
    supports: NDArray[np.int64] = model.nodes_.counts[model.forest_.leaves].sum(axis=1)
    return supports


def support_deviation(model: Any) -> float:
    """Return the standard deviation of the noise in the support of a leaf that was counted once."""
    return math.sqrt(model.nodes_.draw_variance * model.nodes_.counts.shape[1])


def share_above_noise(model: Any) -> float:
    """Return the share of leaves whose support stands out from its noise."""
    return float(stands_out(leaf_supports(model), _leaf_deviations(model) ** 2).mean())


def histogram(model: Any) -> list[Bin]:
    """Return leaves by released support, in steps of the noise's standard deviation; without noise in rows."""
    supports = leaf_supports(model)
    if model.nodes_.draw_variance == 0:
        labels = ["0", "1 to 2", "3 to 9", "10 to 29", "30 to 99", "100 to 999", "1,000 +"]
        return [Bin(label, n, False) for label, n in zip(labels, _binned(supports, _COUNTS), strict=True)]
    inner = [f"{number(low)} to {number(high)}" for low, high in pairwise(_STEPS)]
    labels = [f"below {number(_STEPS[0])}", *inner, f"above {number(_STEPS[-1])}"]
    counted = _binned(supports / _leaf_deviations(model), _STEPS)
    ends = [*_STEPS, math.inf]
    return [Bin(label, n, end <= RELIABLE) for label, n, end in zip(labels, counted, ends, strict=True)]


def class_balance(model: Any) -> list[dict[str, Any]]:
    """Return how many rows each class has, as released, with its 95 % noise interval.

    Every root counts all rows. Those with fewer draws of noise in them weigh more.
    """
    nodes = model.nodes_
    draws = nodes.n_draws[: nodes.forest.n_trees].astype(np.float64)
    weights = (1 / draws) / (1 / draws).sum()
    estimates = (weights @ nodes.counts[: nodes.forest.n_trees]).round(6)  # whole where the counts are exact
    far = float(reach(nodes.draw_variance / (1 / draws).sum()))
    return [
        {"class": label, "rows": float(rows), "low": float(rows - far), "high": float(rows + far)}
        for label, rows in zip(model.schema_.classes, estimates, strict=True)
    ]


def shares(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return each row's class shares, negative counts taken as 0; all 0 where nothing is left."""
    positive = np.maximum(counts, 0).astype(np.float64)
    total = positive.sum(axis=-1, keepdims=True)
    of_all: NDArray[np.float64] = np.divide(positive, total, out=np.zeros_like(positive), where=total > 0)
    return of_all


def ranked_importances(model: Any) -> list[tuple[str, float]]:
    """Return attributes with their importances, the most important first."""
    named = zip(model.schema_.names, model.feature_importances_.tolist(), strict=True)
    return sorted(named, key=lambda pair: -pair[1])


def not_told_apart(model: Any) -> list[str]:
    """Return the attributes that have an importance, but may owe it to noise; methods that count tell it by 0."""
    told = getattr(model, "told_apart_", None)
    return (
        [] if told is None else [name for name, is_told in zip(model.schema_.names, told, strict=True) if not is_told]
    )


def _leaf_deviations(model: Any) -> NDArray[np.float64]:
    # A leaf that pruning made of several may hold the noise of all of them.
    deviations: NDArray[np.float64] = support_deviation(model) * np.sqrt(model.nodes_.n_draws[model.forest_.leaves])
    return deviations


def _binned(values: NDArray[Any], steps: tuple[float, ...]) -> list[int]:
    # A bin holds its upper end, as what does not exceed its noise does not stand out.
    counted: list[int] = np.bincount(np.digitize(values, steps, right=True), minlength=len(steps) + 1).tolist()
    return counted
