"""The second half of the page: what the released numbers say, and how far noise lets one believe it."""

from typing import Any

import numpy as np

from privet.report.counts import histogram, shares
from privet.report.drawing import growth_curve, support_histogram
from privet.report.markup import bar, number, percent, stacked_bar, table, text
from privet.report.tree_data import ShownTrees
from privet.tree.intervals import RELIABLE, reach, stands_out
from privet.tree.rules import Rule, RuleTable
from privet.tree.vote import class_shares

N_RULES = 30
_PRINTED_TREES = 3
_PRINTED_BRANCHES = 6
_KEY = 20
_MOST_BARS = 40


def noise_section(model: Any, facts: dict[str, Any]) -> str:
    """Return the noise against the counts it was added to."""
    noise = facts["noise"]
    share = percent(noise["share_of_leaves_above_3_deviations"])
    if noise["standard_deviation_of_a_count"] == 0:
        told = "<p>The counts carry no noise: they are exact.</p>\n"
        unit = "released rows in a leaf"
    else:
        told = (
            "<p>Every released count carries noise with a standard deviation of "
            f"{number(noise['standard_deviation_of_a_count'])} rows; a leaf's support, the sum over its "
            f"{len(facts['model']['classes'])} classes, of {number(noise['standard_deviation_of_a_leaf'])}. "
            f"<strong>{share} of the {facts['model']['leaves']:,} leaves stand out</strong>: their support exceeds "
            f"{RELIABLE:g} standard deviations. Noise alone lifts fewer than one empty leaf in a hundred so far. What "
            "stays in the grey bars tells next to nothing on its own; a prediction adds up one leaf of every tree."
            "</p>\n"
        )
        unit = f"released support in standard deviations of its noise; grey: within ±{RELIABLE:g}, or below"
    picture = f'<figure class="wide">{support_histogram(histogram(model), unit)}<figcaption>Leaves by released support.'
    return f"<h2>Noise against counts</h2>\n{told}{picture}</figcaption></figure>\n{_growth(noise['growth'])}"


def balance_section(facts: dict[str, Any]) -> str:
    """Return how many rows each class has, as released, and which attributes matter."""
    largest = max(max(each["rows"] for each in facts["class_balance"]), 1.0)
    balance = sorted(facts["class_balance"], key=lambda each: -each["rows"])
    classes = [
        (
            text(each["class"]),
            bar(each["rows"] / largest),
            number(round(each["rows"])),
            _interval(each["low"], each["high"]),
        )
        for each in balance[:_MOST_BARS]
    ]
    told = "All trees count the same rows, so their totals are averaged; intervals hold 95 times of 100."
    max_rows = facts["guarantee"]["max_rows"]
    told += "" if facts["guarantee"]["unit"] == "row" else f" Of each person's rows at most {max_rows:,} were counted."
    headings = ["class", "", "rows", "noise interval"]
    drawn = table(headings, classes, kind="bars", label="Class balance", numbers=[2, 3])
    return (
        f"<h2>Classes and attributes</h2>\n<h3>Class balance, as released</h3>\n<p>{told}</p>\n{drawn}"
        f"{_left_out(len(balance))}<h3>What matters</h3>\n{_importances(facts['importances'])}"
    )


def trees_section(model: Any, trees: ShownTrees) -> str:
    """Return the place where the page's script draws the trees, and a few of them drawn already, for print."""
    forest = trees.forest
    cut = "" if trees.complete else (
        f"<p class='soft'>The page holds {len(trees.chosen):,} of the forest's {forest.n_nodes:,} nodes, in "
        f"{trees.n_trees} of its {forest.n_trees:,} trees: those that stand out most from their noise, and what is "
        "above them. The rest is in the model file.</p>\n"
    )  # fmt: skip
    options = "".join(f'<option value="{i}">tree {i + 1}</option>' for i in range(trees.n_trees))
    return (
        "<h2>The trees</h2>\n<p>A row of the table starts at the top of every tree and follows the answers. Shown "
        "are released rows with the 95 % interval of their noise, and the classes' shares of them. Grey words mean "
        f"that noise alone could explain the number.</p>\n{cut}{_class_key(model)}"
        '<div class="with-script"><div class="tools">'
        f'<label for="tree-choice">Show</label><select id="tree-choice">{options}</select>'
        '<button type="button" id="tree-next">Next tree</button>'
        '<button type="button" id="open-3">Open three levels</button>'
        '<button type="button" id="close-all">Close all</button></div>'
        '<svg id="icicle" role="img" aria-label="The chosen tree, its root at the top, branches as wide as their '
        'released support. The same is told in the list below." preserveAspectRatio="none"></svg>'
        '<ul id="outline" class="tree" role="tree" aria-label="The chosen tree"></ul>'
        '<p class="soft small">Click a line, or use the arrow keys, Enter and Space, to open a branch and see its '
        f'counts.</p></div>\n<div class="without-script">{_printed_trees(model, trees)}</div>\n'
    )


def rules_section(model: Any) -> str:
    """Return the strongest rules with their intervals."""
    rules = strongest_rules(model)
    if not rules:
        return (
            "<h2>The strongest rules</h2>\n<p>No leaf stands out from the noise so far that its class is surely more "
            "frequent there than overall.</p>\n"
        )
    cells = [
        (
            f"{text(rule.text, 600)} <span class='soft small'>tree {rule.tree + 1}</span>",
            _with_interval(number(rule.support), _interval(rule.support_low, rule.support_high)),
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


def strongest_rules(model: Any) -> list[Rule]:
    """Return leaves that surely predict their class better than its overall share, by how many rows they do."""
    found = RuleTable.of(model.nodes_, model.schema_)
    found = found.take(found.is_leaf & found.stands_out)
    excess = found.numbers["confidence_low"] - class_shares(model.noisy_counts_)[found.predicted]
    rows = excess * found.support
    best = np.argsort(-rows, kind="stable")[:N_RULES]
    return list(found.take(best[rows[best] > 0]).rules())


def _with_interval(value: str, interval: str) -> str:
    return f"{value}<br><span class='soft small'>{interval}</span>"


def _interval(low: float, high: float) -> str:
    return f"{number(round(low))} to {number(round(high))}"


def _growth(deviations: list[float]) -> str:
    if len(deviations) < 2 or deviations[-1] == 0:
        return ""
    return (
        f"<h3>Noise over batches</h3>\n<p>New rows were added in {len(deviations):,} batches. Each brought its own "
        f"noise, so that of a count grew from {number(deviations[0])} to "
        f'{number(deviations[-1])}; epsilon did not.</p>\n<figure class="wide">{growth_curve(deviations)}'
        "<figcaption>Standard deviation of the noise in a released count.</figcaption></figure>\n"
    )


def _importances(importances: dict[str, float]) -> str:
    ranked = [(name, share) for name, share in importances.items() if share > 0]
    if not ranked:
        return "<p>No attribute stands out from the noise.</p>\n"
    largest = ranked[0][1]
    cells = [(text(name), bar(share / largest), percent(share)) for name, share in ranked[:_MOST_BARS]]
    silent = len(importances) - len(ranked)
    rest = (
        f"<p class='soft'>{silent} more {'does' if silent == 1 else 'do'} not stand out from the noise.</p>\n"
        if silent
        else ""
    )
    told = "<p>Each attribute's share of the fall in impurity, from released counts and corrected for noise.</p>\n"
    drawn = table(["attribute", "", "share"], cells, kind="bars", label="Importances", numbers=[2])
    return f"{told}{drawn}{_left_out(len(ranked))}{rest}"


def _left_out(n_ranked: int) -> str:
    n_left = n_ranked - _MOST_BARS
    return f"<p class='soft'>{n_left:,} with less are left out here; --json has them.</p>\n" if n_left > 0 else ""


def _class_key(model: Any) -> str:
    classes = model.schema_.classes
    entries = "".join(
        f'<li><span class="swatch class-{k % 10}"></span>{text(label)}</li>' for k, label in enumerate(classes[:_KEY])
    )
    more = f"<li>and {len(classes) - _KEY:,} more</li>" if len(classes) > _KEY else ""
    return f'<ul class="key" aria-label="Colours of the classes">{entries}{more}</ul>\n'


def _printed_trees(model: Any, trees: ShownTrees) -> str:
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(trees.parent.tolist()):
        below.setdefault(parent, []).append(node)
    printed = min(_PRINTED_TREES, trees.n_trees)
    drawn = [
        f'<h3>Tree {i + 1}</h3><ul class="tree">{_printed(model, trees, below, i, 2)}</ul>' for i in range(printed)
    ]
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
