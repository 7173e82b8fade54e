"""What released leaf weights say, and how far noise lets one believe it: facts, and the second half of the page."""

from typing import Any

from privet.checks import counted
from privet.report.page import weights
from privet.report.page.balance import balance_section
from privet.report.page.counts import not_told_apart, ranked_importances
from privet.report.page.effects import TIMES, effects_of
from privet.report.page.formats import number, percent, table, text
from privet.report.page.shapes import shapes_section
from privet.tree.intervals import RELIABLE

_MOST_TREES = 40
_TOTALS = "Each class's rows were counted, whatever number of rows was declared, and noise was added."
_FROM_DIFFERENCE = (
    "The file is of an earlier privet: it holds by how many rows the two classes differ, and each class's rows follow "
    "from the number of rows."
)
_AS_DECLARED = (
    " They are as right as that number, which was declared: each hundred rows more or less move both classes by fifty. "
    "So no interval is given; a new fit has one."
)
_IMPORTANCES = (
    "Each attribute's share in how much the scores of rows differ, from released weights, less what noise would show. "
    "What several attributes do together is split between them. How many rows a cell has is not released. It is guessed"
    " from the weights, so shares are rough, and another fit may order neighbours otherwise. Where noise alone might "
    "show as much, if rows lay over the cells in an unlucky way, an attribute is not told apart from it."
)
_SILENT = "left out of the forest by a private choice, or no more than noise"
_ONLY_BALANCE = (
    "<h2>Noise against rows</h2>\n<p>For so few rows at this epsilon a fit would be noise. So, by a public rule, only "
    "the class balance was released, and every row is given the same chances.</p>\n"
)


def forest(model: Any) -> dict[str, Any]:
    """Return how large the forest is; a tree asks once for each of its attributes."""
    trees = model.trees_
    return {
        "trees": trees.n_trees,
        "height": max(map(len, trees.attributes), default=0),
        "leaves": trees.n_leaves,
    }


def released_values(model: Any) -> int:
    """Return how many numbers left the room."""
    return weights.n_released(model)


def noise(model: Any) -> dict[str, Any]:
    """Return the noise in rows and in weights, tree by tree, and how many weights stand out from it."""
    effects = effects_of(model)
    figure = "noise that pulls at a leaf, standard deviation in rows" if effects else "noise of the balance, in rows"
    return {
        "figure": figure,
        "standard_deviation_in_rows": float(model.noise_std_),
        "share_of_weights_above_3_deviations": weights.share_above_noise(effects, rare=False),
        "share_of_weights_above_3_deviations_without_rows": weights.share_above_noise(effects, rare=True),
        "trees": weights.trees_against_noise(model, effects),
    }


def smallest_noise(model: Any, deviations: list[float]) -> float:  # noqa: ARG001 - all kinds are asked alike
    """Return the noise that pulls at a leaf, in rows; that of the last digits is no measure of anything."""
    return float(model.noise_std_)


def read_off(model: Any) -> dict[str, Any]:
    """Return the class balance, the importances, and every tree's effect."""
    return {
        "class_balance": weights.class_balance(model),
        "importances": dict(ranked_importances(model)),
        "not_told_apart": not_told_apart(model),
        "shapes": [effect.to_json() for effect in effects_of(model)],
    }


def in_words(told: dict[str, Any]) -> str:
    """Return the noise in one sentence."""
    pulled = f"Noise of standard deviation {told['standard_deviation_in_rows']:.3g} rows"
    if not told["trees"]:
        return f"{pulled} in the class balance, which is all that was released."
    return f"{pulled} pulls at each leaf while weights are fitted; how far it moves them is told tree by tree."


def sections(model: Any, facts: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return noise, classes and shapes; the page's script needs nothing for them."""
    classes = balance_section(facts, totals=_totals(model, facts), importances=_IMPORTANCES, silent=_SILENT)
    if not facts["noise"]["trees"]:
        return [_ONLY_BALANCE, classes], {}
    return [_noise_section(facts), classes, shapes_section(model, effects_of(model))], {}


def _totals(model: Any, facts: dict[str, Any]) -> str:
    """Return where each class's rows come from."""
    if model.released_.has_counts:
        return _TOTALS
    return _FROM_DIFFERENCE + (_AS_DECLARED if facts["class_balance"][0]["low"] is None else "")


def _noise_section(facts: dict[str, Any]) -> str:
    noise = facts["noise"]
    if noise["standard_deviation_in_rows"] == 0:
        told = "<p>The weights carry no noise: they are those of the exact fit.</p>\n"
    else:
        told = (
            "<p>Weights are no counts. All were fitted together, and while they were, noise pulled at every leaf as if "
            f"some {number(noise['standard_deviation_in_rows'])} rows (its standard deviation) had come or gone. How "
            "far that moves a weight depends on how many rows hold it, which is not released. <strong>If rows were "
            f"spread evenly, {percent(noise['share_of_weights_above_3_deviations'])} of the weights would stand out"
            f"</strong>: exceed {RELIABLE:g} standard deviations of their noise. In cells that hardly a row reaches "
            "the last column is what counts, and there a weight may be noise alone.</p>\n"
        )
    return f"<h2>Noise against rows</h2>\n{told}{_trees_table(noise['trees'])}"


def _trees_table(trees: list[dict[str, Any]]) -> str:
    cells = [
        (
            text(f" {TIMES} ".join(each["attributes"])),
            number(each["leaves"]),
            number(round(each["rows_per_leaf"], 1)),
            number(each["standard_deviation_in_rows"]),
            number(each["standard_deviation_of_a_weight"]),
            number(each["standard_deviation_of_a_weight_without_rows"]),
        )
        for each in trees[:_MOST_TREES]
    ]
    headings = [
        "tree", "leaves", "rows a leaf, if spread evenly", "noise, in rows", "in a weight, if spread evenly",
        "in a weight, without rows",
    ]  # fmt: skip
    caption = "Standard deviations; trees of the most important attributes first."
    drawn = table(headings, cells, kind="receipts", label="Noise", caption=caption, numbers=range(1, 6))
    left = len(trees) - _MOST_TREES
    return drawn + (f"<p class='soft'>{counted(left, 'more tree')}; --json has them.</p>\n" if left > 0 else "")
