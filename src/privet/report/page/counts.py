"""What released class counts say, set against their noise. All of it is post-processing, which costs nothing."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.privacy.guarantee import CURATOR
from privet.report.page.formats import number, percent
from privet.report.page.pictures import Bin, growth_curve, support_histogram
from privet.report.page.receipts import batch_epsilons
from privet.report.page.trees import counted_by_leaves, printed_trees, shown_trees, tree_data
from privet.tree.intervals import RELIABLE, reach, stands_out
from privet.tree.rules import Rule, RuleTable
from privet.tree.vote import class_shares

# In standard deviations of noise, and in rows where there is none.
_STEPS = (-RELIABLE, -1.0, 1.0, RELIABLE, 10.0, 30.0, 100.0)
_COUNTS = (0.5, 2.5, 9.5, 29.5, 99.5, 999.5)

N_RULES = 30
NOT_TOLD_APART = "not told apart from noise"


def forest(model: Any) -> dict[str, Any]:
    """Return how large the forest is."""
    own = model.forest_
    return {"trees": own.n_trees, "height": own.depth, "nodes": own.n_nodes, "leaves": len(own.leaves)}


def released_values(model: Any) -> int:
    """Return how many numbers were released."""
    return int(model.noisy_counts_.size)


def noise(model: Any) -> dict[str, Any]:
    """Return the noise of a count and of a leaf, and how many leaves stand out from it."""
    return {
        "figure": "smallest noise, standard deviation",
        "standard_deviation_of_a_count": float(model.noise_std_),
        "standard_deviation_of_a_leaf": support_deviation(model),
        "share_of_leaves_above_3_deviations": share_above_noise(model),
        "growth": [float(deviation) for deviation in model.noise_growth_],
        "epsilon_of_batches": batch_epsilons(model.guarantee_.event),
        "histogram": [vars(each) for each in histogram(model)],
    }


def smallest_noise(model: Any, deviations: list[float]) -> float:  # noqa: ARG001 - all presenters have the same signature
    """Return the smallest standard deviation of any release."""
    return min(deviations, default=0.0)


def findings(model: Any) -> dict[str, Any]:
    """Return the class balance and the importances."""
    ranked = {name: share for name, share in ranked_importances(model) if not math.isnan(share)}
    return {"class_balance": class_balance(model), "importances": ranked}


def noise_sentence(noise: dict[str, Any]) -> str:
    """Return the noise in one sentence."""
    return (
        f"Noise of standard deviation {noise['standard_deviation_of_a_count']:.3g} is in each released count; "
        f"{percent(noise['share_of_leaves_above_3_deviations'])} of the leaves stand out from it."
    )


def view(model: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of counts needs beside the facts; ``data`` is for the page's script."""
    noise, rules = facts["noise"], RuleTable.of(model.nodes_, model.schema_)
    unit = f"released support in standard deviations of its noise; grey: within ±{RELIABLE:g}, or below"
    if noise["standard_deviation_of_a_count"] == 0:
        unit = "released rows in a leaf"
    return {
        "template": "counts.html",
        "noise_template": "counts_noise.html",
        "histogram": support_histogram([Bin(**each) for each in noise["histogram"]], unit),
        "growth": growth_of(noise, "of a count", of_parties=facts["guarantee"]["trust"] != CURATOR),
        "own_noise": not counted_by_leaves(model) and model.nodes_.draw_variance != 0,
        "rules": strongest_rules(model, rules),
        **trees_view(model, rules),
    }


def trees_view(model: Any, rules: RuleTable) -> dict[str, Any]:
    """Return the trees as the templates and the page's script draw them."""
    trees = shown_trees(model, rules.paths)
    return {"trees": trees, "printed": printed_trees(model, trees), "data": {"trees": tree_data(model, trees)}}


def growth_of(noise: dict[str, Any], where: str, *, of_parties: bool) -> dict[str, Any] | None:
    """Return how the noise grew with every batch or party; ``where`` says what it is in."""
    deviations, epsilons = noise["growth"], noise["epsilon_of_batches"]
    if len(deviations) < 2 or deviations[-1] == 0:
        return None
    return {
        "where": where,
        "of_parties": of_parties,
        "parts": len(deviations),
        "first": deviations[0],
        "last": deviations[-1],
        "first_epsilon": epsilons[0],
        "largest_epsilon": max(epsilons),
        "picture": growth_curve(deviations, "party" if of_parties else "batch"),
    }


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


def ranked_importances(model: Any) -> list[tuple[str, float]]:
    """Return attributes with their importances, the most important first."""
    named = zip(model.schema_.names, model.feature_importances_.tolist(), strict=True)
    return sorted(named, key=lambda pair: -pair[1])


def not_told_apart(model: Any) -> list[str]:
    """Return the attributes whose importance may be noise alone; methods of counts give those an importance of 0."""
    told_apart = getattr(model, "told_apart_", None)
    if told_apart is None:
        return []
    return [name for name, is_apart in zip(model.schema_.names, told_apart, strict=True) if not is_apart]


def strongest_rules(model: Any, rules: RuleTable) -> list[Rule]:
    """Return leaves that surely predict their class better than its overall share, by how many rows they do."""
    found = rules.take(rules.is_leaf & rules.stands_out)
    # Roots count every row once, where some methods have released the counts of all nodes.
    overall = class_shares(model.nodes_.counts[: model.forest_.n_trees])
    excess = found.numbers["confidence_low"] - overall[found.predicted]
    rows = excess * found.support
    best = np.argsort(-rows, kind="stable")[:N_RULES]
    return list(found.take(best[rows[best] > 0]).rules())


def _leaf_deviations(model: Any) -> NDArray[np.float64]:
    # A leaf that pruning made of several may hold the noise of all of them.
    deviations: NDArray[np.float64] = support_deviation(model) * np.sqrt(model.nodes_.n_draws[model.forest_.leaves])
    return deviations


def _binned(values: NDArray[Any], steps: tuple[float, ...]) -> list[int]:
    # A bin holds its upper end, as what does not exceed its noise does not stand out.
    counted: list[int] = np.bincount(np.digitize(values, steps, right=True), minlength=len(steps) + 1).tolist()
    return counted
