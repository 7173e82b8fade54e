"""The sections of a page about a model of disturbed records."""

import math
from typing import Any

from privet.privacy.guarantee import NOT_PRIVATE, SOUND
from privet.report.page.balance import importance_bars
from privet.report.page.count_findings import strongest_rules, trees_section
from privet.report.page.domains import domains_section
from privet.report.page.formats import number, percent, sentence, table, text
from privet.report.page.local import channel_section, local_guarantee_section, local_opening
from privet.report.page.odds import number_up, of_hundred
from privet.report.page.trees import shown_trees, tree_data
from privet.tree.rules import RuleTable

_TITLE = "What an attacker can gain"
_IMPORTANCES = "Each attribute's share of the fall in impurity, from estimated counts."
_SILENT = "not asked for in any tree, or no more than noise"
_SHOWN = (
    "Shown are rows by the cells that they were put into, which are estimates: the distribution of disturbed values "
    "was reconstructed, and rows were placed in it by the order of their answers. No single row is where it was."
)
_ESTIMATES = (
    "<strong>The numbers are estimates</strong>, and this method cannot tell how far chance has moved them: a rule "
    "with a handful of estimated rows may be chance alone."
)
_FILTERED = (
    "Several disturbed fields of one person can be set against each other: where they go together, filtering takes "
    "noise out again."
)
_MIRRORED = "Whoever knows which records are likely can tell most of them from their mirror images."
_AVERAGE = (
    "It is an average over people, looks at one attribute at a time, and takes the attacker to know nothing but how "
    "frequent values are. Of a whole record the mirror image hardly ever occurs, so whoever has clear rows of the "
    "same kind can mostly tell which of the two is the true one."
)


def local_sections(model: Any, told: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return the sections of the page but for the last, and what its script needs."""
    sections = [local_opening(told), local_guarantee_section(told), channel_section(told), _attacker_section(told)]
    if told["binary_anonymity"] is not None:
        sections.append(_anonymity_section(told["binary_anonymity"]))
    bars = importance_bars(told["importances"], _IMPORTANCES, _SILENT)
    sections.append(f"<h2>What matters</h2>\n{bars}")
    if told["noise"] is not None:
        return [*sections, _noise_section(told), domains_section(model.schema_)], {}
    rules = RuleTable.of(model.nodes_, model.schema_)
    trees = shown_trees(model, rules.paths)
    sections += [trees_section(model, trees, _SHOWN), _rules_section(model, rules), domains_section(model.schema_)]
    return sections, {"trees": tree_data(model, trees)}


def _attacker_section(told: dict[str, Any]) -> str:
    guarantee = told["guarantee"]
    if guarantee["mode"] == NOT_PRIVATE:
        return f'<h2>{_TITLE}</h2>\n<p class="lead">Everything that the rows tell: they were given as they are.</p>\n'
    if guarantee["mode"] != SOUND:
        further = _MIRRORED if told["binary_anonymity"] is not None else _FILTERED
        return (
            f'<h2>{_TITLE}</h2>\n<p class="lead">No bound is proven: {sentence(guarantee["reason"])}.</p>\n'
            f"<p>{further} <code>privet perturb --explain</code> shows on rows of your own how much that is.</p>\n"
            f"{_not_covered(told)}"
        )
    leaks = " apart from the leaks" if guarantee["leaks"] else ""
    return (
        f'<h2>{_TITLE}</h2>\n<p class="lead">Picture somebody who sees all answers of a person, knows all else about '
        "them, and hesitates between two records that differ in the disturbed fields. A coin decided between the two. "
        f"<strong>They guess right at most {of_hundred(told['right_guesses'])} times of 100</strong>{leaks}, however "
        f"they compute: the odds move by a factor of {_factor(guarantee['local_epsilon'])} at most.</p>\n"
        f"{_not_covered(told)}"
    )


def _factor(epsilon: float) -> str:
    return number_up(math.exp(epsilon)) if epsilon <= 50 else "more than anybody could use"


def _not_covered(told: dict[str, Any]) -> str:
    guarantee = told["guarantee"]
    items = [
        f"Fields that were given as they are: {text(', '.join(guarantee['given_clear']) or 'none', 400)}.",
        "A second answer of the same person through another channel: both together say more, and several average the "
        "noise away. A respondent's secret refuses that; a new secret does not.",
        "Which answers are missing, unless the channel covers it, and that somebody answered at all.",
        "What is true of people in general: a model that finds that smokers fall ill tells something about every "
        "smoker.",
    ]
    return f"<h3>What this does not cover</h3>\n<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>\n"


def _anonymity_section(told: dict[str, Any]) -> str:
    rows = [(text(name), f"{value:.3f}") for name, value in told["fields"].items()]
    rows.append(("<strong>mean</strong>", f"<strong>{told['mean']:.3f}</strong>"))
    drawn = table(["attribute", "binary anonymity"], rows, label="Binary anonymity", numbers=[1])
    return (
        "<h2>Binary anonymity</h2>\n<p>The paper's own measure (Szűcs 2013): how well a value and its mirror image "
        f"are mixed up where a record is kept with chance {told['theta']:g}; 1 is the most there is. <strong>It is no "
        f"epsilon and no bound.</strong> {_AVERAGE}</p>\n{drawn}"
    )


def _noise_section(told: dict[str, Any]) -> str:
    noise, model = told["noise"], told["model"]
    return (
        "<h2>Noise against rows</h2>\n<p>Class counts are estimated through the channel, and chance is in every one "
        f"of them. <strong>{percent(noise['share_of_leaves'])} of the {number(model['leaves'])} leaves are only "
        "noise</strong>: their leading class is ahead by no more than two standard deviations. The same holds for "
        f"{number(noise['nodes_that_are_only_noise'])} of all {number(model['nodes'])} nodes. One such leaf tells "
        f"next to nothing; a prediction averages over the {number(model['trees'])} trees.</p>\n"
    )


def _rules_section(model: Any, rules: RuleTable) -> str:
    strongest = strongest_rules(model, rules)
    if not strongest:
        return "<h2>The strongest rules</h2>\n<p>In no leaf a class is more frequent than overall.</p>\n"
    cells = [(text(rule.text, 600), number(rule.support), percent(rule.confidence)) for rule in strongest]
    drawn = table(["rule", "estimated rows", "share of the class"], cells, kind="rules", label="Rules", numbers=[1, 2])
    return (
        "<h2>The strongest rules</h2>\n<p>Paths to leaves where a class is more frequent than overall; first those "
        f"that stand out by the most rows. {_ESTIMATES}</p>\n{drawn}"
    )
