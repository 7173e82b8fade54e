"""What released leaf weights say of classes and noise. All of it is post-processing, which costs nothing."""

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.central.receipts import ROW_COUNT, in_sequence
from privet.central.weights.link import chances_of
from privet.central.weights.released_weights import COUNTS
from privet.privacy.events import releases
from privet.privacy.guarantee import CURATOR
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.report.page.counts import growth_of, not_told_apart, ranked_importances
from privet.report.page.effects import Effect, effects_of, is_stretched, score_of
from privet.report.page.pictures import (
    MOST_BARS,
    MOST_ON_A_SIDE,
    Picture,
    effect_of_categories,
    effect_of_number,
    effect_of_pair,
)
from privet.report.page.receipts import batch_epsilons
from privet.tree.intervals import reach, share_intervals, support_intervals

if TYPE_CHECKING:
    from privet.schema import Label

# As many effects as the page shows: of attributes alone, and together.
MOST_SHAPES, _MOST_TOGETHER = 40, 20
# As many colours as the page has.
_MOST_CLASSES = 10
_MOST_LINES = 200
_STRONGEST = 12
_MOST_ON_A_CURVE = 40
# The page says which chances these are.
_SCORES = (-4.0, -2.0, 0.0, 2.0, 4.0)


def forest(model: Any) -> dict[str, Any]:
    """Return how large the forest is; a tree asks once for each of its attributes."""
    trees = model.trees_
    return {"trees": trees.n_trees, "height": max(map(len, trees.attributes), default=0), "leaves": trees.n_leaves}


def released_values(model: Any) -> int:
    """Return how many numbers were released, over all batches."""
    numbers = [(own.weights, own.balance, own.cells) for own in model.releases_]
    n_released = sum(int(each.size) for own in numbers for each in own if each is not None)
    return n_released + len(_receipts(model, ROW_COUNT))


def noise(model: Any) -> dict[str, Any]:
    """Return the noise in rows, tree by tree, and in effects, and how many effects stand out from it."""
    effects = effects_of(model)
    figure = "noise that pulls at a leaf, standard deviation in rows" if effects else "noise of the balance, in rows"
    return {
        "figure": "noise in each count, standard deviation in rows" if _is_of_counts(model) else figure,
        "of_counts": _is_of_counts(model),
        "standard_deviation_in_rows": float(model.noise_std_),
        "growth": [float(deviation) for deviation in model.noise_growth_],
        "epsilon_of_batches": batch_epsilons(model.guarantee_.event),
        "effects": [_effect_against_noise(effect) for effect in effects],
        "trees": _trees_against_noise(model),
    }


def smallest_noise(model: Any, deviations: list[float]) -> float:  # noqa: ARG001 - all presenters have the same signature
    """Return the noise that pulls at a leaf, in rows; the noise of last digits is no measure of anything."""
    return float(model.noise_std_)


def findings(model: Any) -> dict[str, Any]:
    """Return the class balance, the importances, how rows lie over cells, and every effect."""
    cell_shares = model.cell_shares_
    return {
        "class_balance": class_balance(model),
        **({} if model.schema_.number is None else {"target_mean": target_mean(model)}),
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
    if noise["of_counts"]:
        return f"{pulled} in each class count of the leaves of one tree. The page shows how far it moves the effect."
    batches = len(noise["growth"])
    when = f"in all of {batches:,} batches" if batches > 1 else "while weights are fitted"
    return f"{pulled} pulls at each leaf {when}. The page shows how far it moves each effect."


def view(model: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of weights needs beside the facts; the page's script needs nothing."""
    effects, schema = effects_of(model), model.schema_
    colours = _colours(model)
    alone = [effect for effect in effects if len(effect.names) == 1]
    together = [effect for effect in effects if len(effect.names) > 1 and effect.is_shown]
    shares = model.cell_shares_

    def figures(shown: list[Effect], name: str) -> list[dict[str, Any]]:
        return [_figure(effect, f"{name}-{i}", colours, shares) for i, effect in enumerate(shown)]

    return {
        "template": "weights.html",
        "noise_template": "weights_noise.html",
        "data": {},
        "growth": growth_of(facts["noise"], "at a leaf", of_parties=facts["guarantee"]["trust"] != CURATOR),
        "has_counts": model.released_.has_counts,
        "score": score_of(effects[0], schema) if effects else "",
        "chances": _chances(model),
        "drawn_classes": colours,
        "most_classes": _MOST_CLASSES,
        "alone": figures(alone[:MOST_SHAPES], "shape"),
        "n_alone_left": len(alone) - MOST_SHAPES,
        "together": figures(together[:_MOST_TOGETHER], "together"),
        "n_together_left": len(together) - _MOST_TOGETHER,
        "n_quiet": len(effects) - len(alone) - len(together),
    }


def class_balance(model: Any) -> list[dict[str, Any]]:
    """Return how many rows each class has and their share, as released, with intervals that hold 95 times of 100.

    Where the file of an earlier privet holds the difference of two classes and the number of rows was not bought, that
    number may be wrong: there is no interval, and its ends are None.
    """
    released, classes = model.released_, model.schema_.ends
    counts, variance = np.maximum(released.class_counts, 0.0), model.class_count_std_**2
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


def target_mean(model: Any) -> dict[str, float]:
    """Return the released mean of a target that is a number, and an interval that holds 95 times of 100."""
    number, upper = model.schema_.number, class_balance(model)[1]
    shares = {"mean": upper["share"], "low": upper["share_low"], "high": upper["share_high"]}
    return {name: number.low * (1 - share) + number.high * share for name, share in shares.items()}


def _from_zero(rows: float | None) -> float | None:
    return None if rows is None else max(rows, 0.0)


def _deviation(model: Any, what: str) -> float:
    """Return the standard deviation of the noise in what was released by this name."""
    return standard_deviation(_receipts(model, what)[-1])


def _receipts(model: Any, what: str) -> list[Any]:
    found = [event for part in in_sequence(model.guarantee_.event) for event in releases(part)]
    return [event for event in found if getattr(event, "what", None) == what]


def _is_of_counts(model: Any) -> bool:
    """Return whether the model is one tree whose weights follow from released counts."""
    return len(model.releases_) == 1 and bool(_receipts(model, COUNTS))


def _chances(model: Any) -> list[tuple[float, float]]:
    """Return a few scores of the second of two classes, and its chance at each."""
    scores = np.array(_SCORES) if model.schema_.n_classes == 2 else np.empty(0)
    chances = (
        chances_of(np.column_stack([-scores, scores]) / 2, model.leaf_weights_.margin)[:, 1] if len(scores) else ()
    )
    return list(zip(scores.tolist(), map(float, chances), strict=True))


def _trees_against_noise(model: Any) -> list[dict[str, Any]]:
    """Return, tree by tree, how many rows a leaf would have if they spread evenly, and how strong the noise is."""
    trees = model.trees_
    return [
        {
            "attributes": [model.schema_.names[a] for a in own],
            "stage": 2 if trees.is_later(t) else 1,
            "leaves": int(trees.sizes[t]),
            "rows_per_leaf": model.n_rows_ / int(trees.sizes[t]),
            "standard_deviation_in_rows": float(model.tree_noise_std_[t]),
        }
        for t, own in enumerate(trees.attributes)
    ]


def _effect_against_noise(effect: Effect) -> dict[str, Any]:
    """Return how far noise moves the values of an effect: typical figures, weighted by rows if it is known where."""
    return {
        "attributes": list(effect.names),
        "stands_out": effect.stands_out,
        "standard_deviation": _typical(effect.noise, effect),
        "standard_deviation_without_rows": (None if effect.rare_noise is None else _typical(effect.rare_noise, effect)),
    }


def _typical(deviations: Any, effect: Effect) -> float:
    """Return the root of the mean square: over rows where it is known how they lie, else over points."""
    squares = deviations**2
    for own in effect.row_shares or ():
        squares = np.tensordot(own, squares, (0, 0))
    return math.sqrt(float(squares.mean()))


def _colours(model: Any) -> list[int]:
    """Return which classes are drawn: the second of two, and of more than there are colours the most frequent."""
    n_classes = model.schema_.n_classes
    if n_classes == 2:
        return [1]
    most_frequent = sorted(range(n_classes), key=lambda k: -float(model.class_shares_[k]))[:_MOST_CLASSES]
    return sorted(most_frequent)


def _figure(effect: Effect, name: str, colours: list[int], cell_shares: dict[str, Any] | None) -> dict[str, Any]:
    """Return an effect as a picture, or as its strongest points where no picture can hold it, and as a table."""
    shown = effect.of_seen()
    # The cells of one attribute are those whose shares were released, unless it is a curve.
    in_cells = len(shown.cells) == 1 and shown.curve is None
    shares = cell_shares[shown.names[0]] if in_cells and cell_shares is not None else None
    picture = _picture(shown, name, colours)
    is_list = len(shown.cells) == 1 and not shown.is_number
    places = _listed(shown)
    return {
        "effect": shown,
        "picture": picture,
        "strongest": None if picture else [_strong_line(shown, *found) for found in shown.strongest(_STRONGEST)],
        "is_broad": len(shown.cells) > 1,
        "is_stretched": shown.is_number and is_stretched(shown),
        "n_cut": len(shown.cells[0]) if is_list and len(shown.cells[0]) > MOST_BARS else 0,
        "n_drawn": MOST_BARS,
        "is_map": _is_map(shown),
        "is_crossed": _is_map(shown) and not shown.seen.all(),
        "is_pale": is_list and len(shown.classes) == 1 and not shown.seen.all(),
        "is_unsure": shown.curve is not None and not shown.seen.all(),
        "without_missing": effect.without_missing,
        "noise": _typical(shown.noise, shown),
        "rare_noise": None if shown.rare_noise is None else float(shown.rare_noise.max()),
        "has_shares": shares is not None,
        "lines": [(*_line(shown, place), None if shares is None else shares[place]) for place in places[:_MOST_LINES]],
        "n_more": len(places) - _MOST_LINES,
    }


def _listed(effect: Effect) -> list[tuple[int, ...]]:
    """Return which points a table has: of a curve about as many as are needed, else all."""
    places = list(product(*(range(len(own)) for own in effect.cells)))
    if effect.curve is None:
        return places
    step = math.ceil(len(effect.curve) / _MOST_ON_A_CURVE)
    return [(i,) for (i,) in places if i % step == 0 or i >= len(effect.curve) - 1]


def _picture(effect: Effect, name: str, colours: list[int]) -> Picture | None:
    drawn = effect if len(effect.classes) == len(colours) else effect.of_classes(colours)
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
    """Return a point's names; then what it adds to each class, and its noise with rows and, if need be, without."""
    noise = [float(each[place]) for each in (effect.noise, effect.rare_noise) if each is not None]
    return _names(effect, place), [*effect.values[place].tolist(), *noise]


def _names(effect: Effect, place: tuple[int, ...]) -> list[str]:
    return [own[i] for own, i in zip(effect.cells, place, strict=True)]
