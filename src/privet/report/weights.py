"""What released leaf weights say of classes and noise. Everything here is post-processing: it costs nothing."""

import math
from typing import Any

import numpy as np

from privet.central.receipts import in_sequence
from privet.joint.released import BALANCE, ROW_COUNT
from privet.privacy.events import releases
from privet.privacy.mechanisms.spread import standard_deviation
from privet.report.effects import Effect
from privet.tree.intervals import RELIABLE, reach


def n_released(model: Any) -> int:
    """Return how many numbers left the room."""
    released = model.released_
    return int(released.weights.size + released.balance.size + (1 if model.schema_.rows is None else 0))


def class_balance(model: Any) -> list[dict[str, Any]]:
    """Return how many rows each class has, as released, with its 95 % noise interval."""
    rows = model.class_shares_ * model.released_.n_rows
    far = float(reach(np.array(_balance_variance(model))))
    return [
        {"class": label, "rows": float(own), "low": float(own - far), "high": float(own + far)}
        for label, own in zip(model.schema_.classes, rows, strict=True)
    ]


def _balance_variance(model: Any) -> float:
    """Return the variance of the noise in a class's rows."""
    variance = _deviation(model, BALANCE) ** 2
    # Of two classes the difference is released: each has half of it, and half of all rows, which may be noisy too.
    return variance if len(model.schema_.classes) > 2 else (variance + _deviation(model, ROW_COUNT) ** 2) / 4


def _deviation(model: Any, what: str) -> float:
    """Return the standard deviation of the noise in what was released by this name; 0 where nothing was."""
    found = [event for part in in_sequence(model.guarantee_.event) for event in releases(part)]
    own = [event for event in found if getattr(event, "what", None) == what]
    return standard_deviation(own[-1]) if own else 0.0


def trees_against_noise(model: Any, effects: list[Effect]) -> list[dict[str, Any]]:
    """Return, tree by tree, how many rows a leaf would have if they spread evenly, and how strong its noise is."""
    n_rows, stds = model.released_.n_rows, model.tree_noise_std_
    return [
        {
            "tree": effect.tree,
            "attributes": list(effect.names),
            "leaves": int(effect.noise.size),
            "rows_per_leaf": n_rows / effect.noise.size,
            "standard_deviation_in_rows": float(stds[effect.tree]),
            "standard_deviation_of_a_weight": _typical(effect.noise),
            "standard_deviation_of_a_weight_without_rows": _typical(effect.rare_noise),
        }
        for effect in effects
    ]


def share_above_noise(effects: list[Effect], *, rare: bool) -> float:
    """Return the share of values that stand out from their noise: that of evenly spread rows, or of no rows at all."""
    found = [_stand_out(effect, effect.rare_noise if rare else effect.noise) for effect in effects]
    total = sum(each.size for each in found)
    return float(sum(each.sum() for each in found) / total) if total else 0.0


def _stand_out(effect: Effect, noise: Any) -> Any:
    return np.abs(effect.values) > RELIABLE * noise[..., None]


def _typical(deviations: Any) -> float:
    return math.sqrt(float((deviations**2).mean()))
