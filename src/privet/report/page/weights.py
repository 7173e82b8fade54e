"""What released leaf weights say of classes and noise. All of it is post-processing, which costs nothing."""

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from privet.central.receipts import ROW_COUNT, in_sequence
from privet.central.weights.released_weights import BALANCE
from privet.privacy.events import releases
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.report.page.counts import not_told_apart, ranked_importances
from privet.report.page.effects import Effect, effects_of, is_stretched, score_of
from privet.report.page.formats import number
from privet.report.page.pictures import (
    MOST_BARS,
    MOST_ON_A_SIDE,
    Picture,
    effect_of_categories,
    effect_of_number,
    effect_of_pair,
)
from privet.tree.intervals import RELIABLE, reach, share_intervals, support_intervals

if TYPE_CHECKING:
    from privet.schema import Label, Numeric

MOST_SHAPES = 40
# As many colours as the page has.
_MOST_CLASSES = 10
_MOST_LINES = 200
_STRONGEST = 12


def forest(model: Any) -> dict[str, Any]:
    """Return how large the forest is; a tree asks once for each of its attributes."""
    trees = model.trees_
    return {
        "trees": trees.n_trees,
        "height": max(map(len, trees.attributes), default=0),
        "leaves": trees.n_leaves,
    }


def released_values(model: Any) -> int:
    """Return how many numbers were released."""
    released = model.released_
    cells = 0 if released.cells is None else released.cells.size
    return int(released.weights.size + released.balance.size + cells + (1 if model.schema_.rows is None else 0))


def noise(model: Any) -> dict[str, Any]:
    """Return the noise in rows and in weights, tree by tree, and how many weights stand out from it."""
    effects = effects_of(model)
    figure = "noise that pulls at a leaf, standard deviation in rows" if effects else "noise of the balance, in rows"
    return {
        "figure": figure,
        "standard_deviation_in_rows": float(model.noise_std_),
        "share_of_weights_above_3_deviations": share_above_noise(effects, rare=False),
        "share_of_weights_above_3_deviations_without_rows": share_above_noise(effects, rare=True),
        "trees": trees_against_noise(model, effects),
    }


def smallest_noise(model: Any, deviations: list[float]) -> float:  # noqa: ARG001 - all presenters have the same signature
    """Return the noise that pulls at a leaf, in rows; the noise of last digits is no measure of anything."""
    return float(model.noise_std_)


def findings(model: Any) -> dict[str, Any]:
    """Return the class balance, the importances, how rows lie over cells, and every tree's effect."""
    cell_shares = model.cell_shares_
    return {
        "class_balance": class_balance(model),
        "importances": dict(ranked_importances(model)),
        "not_told_apart": not_told_apart(model),
        "cell_shares": None if cell_shares is None else {name: each.tolist() for name, each in cell_shares.items()},
        "shapes": [effect.to_json() for effect in effects_of(model)],
    }


def noise_sentence(noise: dict[str, Any]) -> str:
    """Return the noise in one sentence."""
    pulled = f"Noise of standard deviation {noise['standard_deviation_in_rows']:.3g} rows"
    if not noise["trees"]:
        return f"{pulled} in the class balance, which is all that was released."
    return f"{pulled} pulls at each leaf while weights are fitted. The page shows tree by tree how far it moves them."


def view(model: Any, facts: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - all presenters have the same signature
    """Return what the template of weights needs beside the facts; the page's script needs nothing."""
    effects, classes = effects_of(model), model.schema_.classes
    colours = _colours(model)
    return {
        "template": "weights.html",
        "data": {},
        "has_counts": model.released_.has_counts,
        "score": score_of(effects[0], classes) if effects else "",
        "drawn_classes": colours,
        "most_classes": _MOST_CLASSES,
        "shapes": [_figure(effect, f"shape-{i}", colours) for i, effect in enumerate(effects[:MOST_SHAPES])],
        "n_left": len(effects) - MOST_SHAPES,
    }


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
    noises = [effect.rare_noise if rare else effect.noise for effect in effects]
    found = [np.abs(each.values) > RELIABLE * noise[..., None] for each, noise in zip(effects, noises, strict=True)]
    total = sum(each.size for each in found)
    return float(sum(each.sum() for each in found) / total) if total else 0.0


def _typical(deviations: Any) -> float:
    return math.sqrt(float((deviations**2).mean()))


def _colours(model: Any) -> list[int]:
    """Return which classes are drawn: the second of two, and of more than there are colours the most frequent."""
    n_classes = len(model.schema_.classes)
    if n_classes == 2:
        return [1]
    most_frequent = sorted(range(n_classes), key=lambda k: -float(model.class_shares_[k]))[:_MOST_CLASSES]
    return sorted(most_frequent)


def _figure(effect: Effect, name: str, colours: list[int]) -> dict[str, Any]:
    """Return a tree's effect as a picture, or as its strongest cells where no picture can hold it, and as a table."""
    picture = _picture(effect, name, colours)
    is_list = len(effect.cells) == 1 and not effect.is_number
    places = list(product(*(range(len(own)) for own in effect.cells)))
    return {
        "effect": effect,
        "picture": picture,
        "strongest": None if picture else [_strong_line(effect, *found) for found in effect.strongest(_STRONGEST)],
        "is_broad": len(effect.cells) > 1,
        "is_stretched": effect.is_number and is_stretched(cast("Numeric", effect.attributes[0])),
        "n_cut": len(effect.cells[0]) if is_list and len(effect.cells[0]) > MOST_BARS else 0,
        "n_drawn": MOST_BARS,
        "is_map": _is_map(effect),
        "noise": float(effect.noise.max()),
        "rare_noise": float(effect.rare_noise.max()),
        "levels": ", ".join(number(float(level)) for level in effect.levels),
        "lines": [_line(effect, place) for place in places[:_MOST_LINES]],
        "n_more": len(places) - _MOST_LINES,
    }


def _picture(effect: Effect, name: str, colours: list[int]) -> Picture | None:
    drawn = effect
    if len(effect.classes) != len(colours):
        kept = tuple(effect.classes[k] for k in colours)
        drawn = replace(effect, classes=kept, values=effect.values[..., colours], levels=effect.levels[colours])
    keyed = [k % 10 for k in colours]
    if effect.is_number:
        return effect_of_number(drawn, name, keyed)
    if len(effect.cells) == 1:
        return effect_of_categories(drawn, name, keyed)
    return effect_of_pair(drawn, name, keyed) if _is_map(effect) else None


def _is_map(effect: Effect) -> bool:
    return len(effect.cells) == 2 and max(map(len, effect.cells)) <= MOST_ON_A_SIDE


def _strong_line(effect: Effect, place: tuple[int, ...], k: int) -> "tuple[list[str], Label, float]":
    """Return a cell's names, the class, and what is added to its score."""
    return _names(effect, place), effect.classes[k], float(effect.values[(*place, k)])


def _line(effect: Effect, place: tuple[int, ...]) -> tuple[list[str], list[float]]:
    """Return a cell's names; then what it adds to each class, and its noise with rows and without."""
    noise = float(effect.noise[place]), float(effect.rare_noise[place])
    return _names(effect, place), [*effect.values[place].tolist(), *noise]


def _names(effect: Effect, place: tuple[int, ...]) -> list[str]:
    return [own[i] for own, i in zip(effect.cells, place, strict=True)]
