"""The second half of the page: what the released numbers say, and how far noise lets one believe it."""

from typing import Any

import numpy as np

from privet.privacy.unit import ROW
from privet.report import wording
from privet.report.counts import counted_by_leaves, shares
from privet.report.markup import bar, number, percent, stacked_bar, table, text
from privet.report.tree_data import ShownTrees
from privet.tree.intervals import reach, stands_out
from privet.tree.rules import Rule, RuleTable
from privet.tree.vote import class_shares

N_RULES = 30
_PRINTED_TREES = 3
_PRINTED_BRANCHES = 6
_KEY = 20
_MOST_BARS = 40


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
    told = f"{_totals(facts)} Intervals hold 95 times of 100.{_rows_of_each(facts['guarantee'])}"
    headings = ["class", "", "rows", "noise interval"]
    drawn = table(headings, classes, kind="bars", label="Class balance", numbers=[2, 3])
    return (
        f"<h2>Classes and attributes</h2>\n<h3>Class balance, as released</h3>\n<p>{told}</p>\n{drawn}"
        f"{_left_out(len(balance))}<h3>What matters</h3>\n{_importances(facts['importances'])}"
    )


def _totals(facts: dict[str, Any]) -> str:
    if facts["model"]["trees"] == 1:
        return "The root of the tree counts all rows."
    return "All trees count the same rows, so their totals are averaged."


def _rows_of_each(guarantee: dict[str, Any]) -> str:
    if guarantee["unit"] == ROW:
        return ""
    return f" Of the rows of {text(wording.one(guarantee))} at most {guarantee['max_rows']:,} were counted."


def trees_section(model: Any, trees: ShownTrees) -> str:
    """Return the place where the page's script draws the trees, and a few of them drawn already, for print."""
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
        f"{'the' if alone else 'every'} tree and follows the answers. Shown are released rows with the 95 % interval "
        "of their noise, and the classes' shares of them. Grey words mean that noise alone could explain the number."
        f"{_own_noise(model)}</p>\n{cut}{_class_key(model)}"
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


def _interval(low: float, high: float) -> str:
    return f"{number(round(low))} to {number(round(high))}"


def _importances(importances: dict[str, float]) -> str:
    ranked = [(name, share) for name, share in importances.items() if share > 0]
    if not ranked:
        return "<p>No attribute stands out from the noise.</p>\n"
    largest = ranked[0][1]
    cells = [(text(name), bar(share / largest), percent(share)) for name, share in ranked[:_MOST_BARS]]
    silent = len(importances) - len(ranked)
    rest = f"<p class='soft'>{silent} more: not asked for in any tree, or no more than noise.</p>\n" if silent else ""
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
