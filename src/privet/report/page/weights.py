"""What released leaf weights say of classes and noise. Everything here is post-processing: it costs nothing."""

import math
from typing import Any

import numpy as np

from privet.central.receipts import in_sequence
from privet.central.weights.released import BALANCE, ROW_COUNT
from privet.privacy.events import releases
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.report.page.effects import Effect
from privet.tree.intervals import RELIABLE, reach, share_intervals, support_intervals


def n_released(model: Any) -> int:
    """Return how many numbers left the room."""
    released = model.released_
    return int(released.weights.size + released.balance.size + (1 if model.schema_.rows is None else 0))


def class_balance(model: Any) -> list[dict[str, Any]]:
    """Return how many rows each class has and their share, as released, with intervals that hold 95 times of 100.

    Where the file of an earlier privet holds the difference of two classes and the number of rows was not bought, that
    number may be wrong: there is no interval, and its ends are None.
    """
    released, classes = model.released_, model.schema_.classes
    counts, variance = np.maximum(released.class_counts, 0.0), _deviation(model, BALANCE) ** 2
    ends: Any = np.full((4, len(counts)), None)
    if released.has_counts:
        ends[:2] = support_intervals(released.balance[:, None], np.array(variance))
        ends[2:] = share_intervals(released.balance, released.balance.sum(), np.array(variance), n_classes=len(classes))
    elif _receipts(model, ROW_COUNT):
        # Half of the difference and half of all rows, which were bought: each is noisy.
        far = float(reach(np.array((variance + _deviation(model, ROW_COUNT) ** 2) / 4)))
        ends[:2] = released.class_counts - far, released.class_counts + far
    return [
        {
            "class": label, "rows": float(count), "low": _from_zero(low), "high": _from_zero(high),
            "share": float(share), "share_low": lowest, "share_high": highest,
        }
        for label, count, share, low, high, lowest, highest
        in zip(classes, counts, model.class_shares_, *ends.tolist(), strict=True)
    ]  # fmt: skip


def _from_zero(rows: float | None) -> float | None:
    return None if rows is None else max(rows, 0.0)


def _deviation(model: Any, what: str) -> float:
    """Return the standard deviation of the noise in what was released by this name."""
    return standard_deviation(_receipts(model, what)[-1])


def _receipts(model: Any, what: str) -> list[Any]:
    found = [event for part in in_sequence(model.guarantee_.event) for event in releases(part)]
    return [event for event in found if getattr(event, "what", None) == what]


def trees_against_noise(model: Any, effects: list[Effect]) -> list[dict[str, Any]]:
    """Return, tree by tree, how many rows a leaf would have if they spread evenly, and how strong its noise is."""
    n_rows, stds = model.n_rows_, model.tree_noise_std_
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
