"""What released counts say, and how far noise lets one believe it: facts, and the second half of the page."""

import math
from typing import Any

import numpy as np

from privet.report.page import counts
from privet.report.page.balance import balance_section, interval
from privet.report.page.counts import counted_by_leaves, shares
from privet.report.page.formats import class_key, number, percent, stacked_bar, table, text
from privet.report.page.noise import noise_section
from privet.report.page.receipts import batch_epsilons
from privet.report.page.trees import ShownTrees, shown_trees, tree_data
from privet.tree.intervals import reach, stands_out
from privet.tree.rules import Rule, RuleTable
from privet.tree.vote import class_shares

N_RULES = 30
_PRINTED_TREES = 3
_PRINTED_BRANCHES = 6
_IMPORTANCES = "Each attribute's share of the fall in impurity, from released counts and corrected for noise."
_SHOWN = (
    "Shown are released rows with the 95 % interval of their noise, and the classes' shares of them. Grey words mean "
    "that noise alone could explain the number."
)
_SILENT = "not asked for in any tree, or no more than noise"


def forest(model: Any) -> dict[str, Any]:
    """Return how large the forest is."""
    own = model.forest_
    return {"trees": own.n_trees, "height": own.depth, "nodes": own.n_nodes, "leaves": len(own.leaves)}


def released_values(model: Any) -> int:
    """Return how many numbers left the room."""
    return int(model.noisy_counts_.size)


def noise(model: Any) -> dict[str, Any]:
    """Return the noise of a count and of a leaf, and how many leaves stand out from it."""
    return {
        "figure": "smallest noise, standard deviation",
        "standard_deviation_of_a_count": float(model.noise_std_),
        "standard_deviation_of_a_leaf": counts.support_deviation(model),
        "share_of_leaves_above_3_deviations": counts.share_above_noise(model),
        "growth": [float(deviation) for deviation in model.noise_growth_],
        "epsilon_of_batches": batch_epsilons(model.guarantee_.event),
        "histogram": [vars(each) for each in counts.histogram(model)],
    }


def smallest_noise(model: Any, deviations: list[float]) -> float:  # noqa: ARG001 - all kinds are asked alike
    """Return the smallest standard deviation of any release."""
    return min(deviations, default=0.0)


def read_off(model: Any) -> dict[str, Any]:
    """Return the class balance and the importances."""
    ranked = {name: share for name, share in counts.ranked_importances(model) if not math.isnan(share)}
    return {"class_balance": counts.class_balance(model), "importances": ranked}


def in_words(told: dict[str, Any]) -> str:
    """Return the noise in one sentence."""
    return (
        f"Noise of standard deviation {told['standard_deviation_of_a_count']:.3g} in each released count; "
        f"{percent(told['share_of_leaves_above_3_deviations'])} of the leaves stand out from it."
    )


def sections(model: Any, facts: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return noise, classes, trees and rules, and the trees for the page's script."""
    rules = RuleTable.of(model.nodes_, model.schema_)
    trees = shown_trees(model, rules.paths)
    told = [
        noise_section(facts),
        balance_section(facts, totals=_totals(facts), importances=_IMPORTANCES, silent=_SILENT),
        trees_section(model, trees),
        rules_section(model, rules),
    ]
    return told, {"trees": tree_data(model, trees)}


def _totals(facts: dict[str, Any]) -> str:
    if facts["model"]["trees"] == 1:
        return "The root of the tree counts all rows."
    return "All trees count the same rows, so their totals are averaged."


def trees_section(model: Any, trees: ShownTrees, shown: str | None = None) -> str:
    """Return the place where the page's script draws the trees, and a few of them drawn already, for print.

    ``shown`` says what their numbers are, where they are not released counts.
    """
    numbers = shown or f"{_SHOWN}{_own_noise(model)}"
    forest = trees.forest
    cut = "" if trees.complete else (
        f"<p class='soft'>The page holds {len(trees.chosen):,} of the forest's {forest.n_nodes:,} nodes, in "
        f"{trees.n_trees} of its {forest.n_trees:,} trees: those that stand out most from their noise, and what is "
        "above them. The rest is in the model file.</p>\n"
    )  # fmt: skip
    alone = trees.n_trees == forest.n_trees == 1
    options = "".join(f'<option value="{i}">tree {i}</option>' for i in range(trees.n_trees))
    return (
        f"<h2>The {'tree' if alone else 'trees'}</h2>\n<p>A row of the table starts at the top of "
        f"{'the' if alone else 'every'} tree and follows the answers. {numbers}</p>\n{cut}"
        f"{class_key(model.schema_.classes)}"
        f'<div class="with-script"><div class="tools"><span{" hidden" if alone else ""}>'
        f'<label for="tree-choice">Show</label> <select id="tree-choice">{options}</select> '
        '<button type="button" id="tree-next">Next tree</button></span>'
        '<button type="button" id="open-3">Open three levels</button>'
        '<button type="button" id="close-all">Close all</button></div>'
        '<svg id="icicle" role="img" aria-label="The chosen tree, its root at the top, branches as wide as their '
        'released support. The same is told in the list below." preserveAspectRatio="none"></svg>'
        '<ul id="outline" class="tree" role="tree" aria-label="The chosen tree"></ul>'
        '<p class="soft small">Click a line, or use the arrow keys, Enter and Space, to open a branch and see its '
        f'counts.</p></div>\n<div class="without-script">{_printed_trees(model, trees)}</div>\n'
    )


def _own_noise(model: Any) -> str:
    if counted_by_leaves(model) or model.nodes_.draw_variance == 0:
        return ""
    return " Nodes were counted with noise of their own, so branches need not add up to what is above them."


def rules_section(model: Any, table_of_rules: RuleTable) -> str:
    """Return the strongest rules with their intervals."""
    rules = strongest_rules(model, table_of_rules)
    if not rules:
        return (
            "<h2>The strongest rules</h2>\n<p>No leaf stands out from the noise so far that its class is surely more "
            "frequent there than overall.</p>\n"
        )
    several = model.forest_.n_trees > 1
    cells = [
        (
            text(rule.text, 600) + (f" <span class='soft small'>tree {rule.tree}</span>" if several else ""),
            _with_interval(number(rule.support), interval(rule.support_low, rule.support_high)),
            _with_interval(
                percent(rule.confidence), f"{percent(rule.confidence_low)} to {percent(rule.confidence_high)}"
            ),
        )
        for rule in rules
    ]
    headings = ["rule", "released rows", "share of the class"]
    return (
        "<h2>The strongest rules</h2>\n<p>Paths to leaves where a class is more frequent than overall, even at the "
        "lower end of the interval; first those that stand out by the most rows. Intervals hold 95 times of 100 for "
        "a rule chosen beforehand; the best of many owe their rank in part to their noise.</p>\n"
        f"{table(headings, cells, kind='rules', label='Rules', numbers=[1, 2])}"
    )


def strongest_rules(model: Any, rules: RuleTable) -> list[Rule]:
    """Return leaves that surely predict their class better than its overall share, by how many rows they do."""
    found = rules.take(rules.is_leaf & rules.stands_out)
    # Roots count every row once, where some methods have released the counts of all nodes.
    overall = class_shares(model.nodes_.counts[: model.forest_.n_trees])
    excess = found.numbers["confidence_low"] - overall[found.predicted]
    rows = excess * found.support
    best = np.argsort(-rows, kind="stable")[:N_RULES]
    return list(found.take(best[rows[best] > 0]).rules())


def _with_interval(value: str, interval: str) -> str:
    return f"{value}<br><span class='soft small'>{interval}</span>"


def _printed_trees(model: Any, trees: ShownTrees) -> str:
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(trees.parent.tolist()):
        below.setdefault(parent, []).append(node)
    printed = min(_PRINTED_TREES, trees.n_trees)
    drawn = [f'<h3>Tree {i}</h3><ul class="tree">{_printed(model, trees, below, i, 2)}</ul>' for i in range(printed)]
    return "\n".join(drawn)


def _printed(model: Any, trees: ShownTrees, below: dict[int, list[int]], node: int, levels: int) -> str:
    """Return a node and what is below it, ``levels`` deep."""
    children = below.get(node, []) if levels else []
    if trees.forest.cut[trees.chosen[node]] < 0:  # a child per code: those with the most rows first
        children = sorted(children, key=lambda child: -int(trees.counts[child].sum()))
    listed = children[:_PRINTED_BRANCHES]
    inside = "".join(_printed(model, trees, below, child, levels - 1) for child in listed)
    n_left = int(trees.forest.n_children[trees.chosen[node]]) - len(listed)
    if listed and n_left:
        inside += f'<li><div class="node unsure"><span></span><span class="told">… {n_left:,} more</span></div></li>'
    return f"<li>{_printed_line(model, trees, node)}{f'<ul>{inside}</ul>' if inside else ''}</li>"


def _nothing(far: int) -> str:
    return "nothing but noise" if far else "no rows"


def _printed_line(model: Any, trees: ShownTrees, node: int) -> str:
    counts = trees.counts[node]
    own, support = shares(counts), int(counts.sum())
    variance = model.nodes_.draw_variance * trees.draws[node] * len(counts)
    far = int(reach(np.array(variance)))
    best = int(own.argmax())
    guess = f"{text(model.schema_.classes[best], 24)} {100 * own[best]:.0f} %" if own[best] > 0 else _nothing(far)
    unsure = "" if stands_out(support, variance) else " unsure"
    rows = f"{number(support)} ± {number(far)}" if far else number(support)
    return (
        f'<div class="node{unsure}"><span class="twist"></span>'
        f'<span class="told">{text(trees.conditions[node], most=None)}</span>{stacked_bar(own.tolist())}'
        f'<span class="number">{rows}</span><span class="guess">{guess}</span></div>'
    )
