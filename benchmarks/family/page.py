"""The page, its picture and its table of means, made from what has been measured."""

import math
from collections.abc import Iterable
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd

from benchmarks.family.audits import ATTACKS, AUDITS, CONFIDENCE
from benchmarks.family.members import EPSILONS, FLIPPED, FOREST, FOREST_DELTA, MEMBERS, NO_EPSILON
from benchmarks.family.pictures import draw
from benchmarks.family.run import ACCURACY, RECOVERED, SHOWN
from benchmarks.family.summary import Family, percent
from benchmarks.utility.methods import MAJORITY, RANDOM_FOREST
from benchmarks.utility.splits import TABLES as FACTS
from benchmarks.utility.tables import figure, markdown
from papers.accuracies import numbers
from papers.experiment import Scale
from papers.fletcher2015_dpdf.leak import PRICE, SEEMING_SIZE, given_away, paper_exponent

_TEMPLATE = Path(__file__).with_name("template.md")
_SHOWN_AT = 1.0
_PRICED = [name for name, own in MEMBERS.items() if own.epsilons == EPSILONS]
_CURATORS = [name for name in _PRICED if MEMBERS[name].trust == "a curator"]
_LOCAL = [name for name in _PRICED if MEMBERS[name].trust == "nobody"]


def page(family: Family, missing: int) -> str:
    """Return the page in Markdown."""
    widths = [FACTS[table].attributes + 1 for table in family.tables]
    parts = {
        "learnt": learnt(family),
        "n_tables": len(family.tables),
        "state": _state(family, missing),
        "runs": family.runs,
        "majority": percent(*family.mean(MAJORITY, NO_EPSILON)),
        "ceiling": percent(*family.mean(RANDOM_FOREST, NO_EPSILON)),
        "confidence": f"{100 * CONFIDENCE:g}",
        "main": main_table(family),
        "price": PRICE,
        "leak": given_away(paper_exponent(SEEMING_SIZE), PRICE)[0],
        "no_privacy": _no_privacy(family),
        "versus": "\n\n".join(versus(family, name) for name, own in MEMBERS.items() if own.ours),
        "narrowest": min(widths),
        "widest": max(widths),
        "local": local_verdict(family),
        "without_epsilon": without_epsilon_table(family),
        "unbounded": _unbounded(family),
        "tables": "\n\n".join(f"### {_title(table)}\n\n{one_table(family, table)}" for table in family.tables),
        "attacks": attack_table(family),
        "settings": setting_table(),
    }
    blocks = _TEMPLATE.read_text(encoding="utf-8").format(**parts).split("\n\n")
    return "\n\n".join(map(_wrapped, blocks)).rstrip() + "\n"


def _wrapped(block: str) -> str:
    """Return a paragraph in lines of equal length; tables, lists and headings stay as they are."""
    return block if block[:1] in "|#-!" else fill(block, 140, break_long_words=False, break_on_hyphens=False)


def _state(family: Family, missing: int) -> str:
    if missing:
        return f"**The run is not at its end**: {missing} measurements are missing."
    releases = int(family.audits["releases"].sum())
    return f"There are {len(family.lines):,} fits for accuracy, and {releases:,} releases were attacked."


def learnt(family: Family) -> str:
    """Return the three sentences that the page begins with."""

    def means(methods: Iterable[str]) -> str:
        return _range([family.mean(name, _SHOWN_AT)[0] for name in methods])

    others = [name for name in _CURATORS if name not in (FOREST, FOREST_DELTA)]
    guessing, ceiling, right = (family.mean(name, NO_EPSILON)[0] for name in (MAJORITY, RANDOM_FOREST, FLIPPED))
    beyond = [f'"{name}" at epsilon {numbers(found)}' for name in _PRICED if (found := family.contradicted(name))]
    of_what = "; ".join(f"of {each}" for each in beyond) + ", and of nothing else" if beyond else "of nothing"
    flipped = family.recovered[family.recovered["method"] == FLIPPED]
    return " ".join(
        [
            f"At epsilon {_SHOWN_AT:g} the recommended forest is right about {means([FOREST])} % of held-out rows, the",
            f"other methods of a curator about {means(others)} %, and trees from answers that trust nobody about",
            f"{means(_LOCAL)} %, where guessing gets {guessing:.1f} % and no privacy {ceiling:.1f} %.",
            f"Attacks show more than is stated {of_what}.",
            f"Flipped records, which have no epsilon, make a forest that is right about {right:.1f} %, but an attacker",
            f"with rows of other people finds the true record of {_range(100 * flipped['attack'])} % of them, table by",
            "table.",
        ]
    )


def main_table(family: Family) -> str:
    """Return accuracies beside what attacks show, a line a member with an epsilon."""
    header = ["method", "promise", *_prices("accuracy"), *_prices("shown")]
    lines = []
    for name in _PRICED:
        accuracies = [percent(*family.mean(name, epsilon)) for epsilon in EPSILONS]
        shown = [_bound(family.shown(name, epsilon), epsilon) for epsilon in EPSILONS]
        lines.append([name, MEMBERS[name].promise, *accuracies, *shown])
    return markdown(header, lines)


def versus(family: Family, paper_form: str) -> str:
    """Return how privet's own form and the paper's compare: in words, and a line a table."""
    ours = MEMBERS[paper_form].ours
    leads = family.leads(ours, paper_form)
    clear = _is_clear(leads)
    words = (
        f"**{ours}**: privet's form is {leads['ahead'].mean():+.1f} points ahead of the paper's on average. It is "
        f"ahead in {_cells(leads['ahead'] > 0, clear)}, and behind in {_cells(leads['ahead'] < 0, clear)}."
    )
    lines = [
        [table, *(_lead(*leads.loc[(table, epsilon), ["ahead", "error"]]) for epsilon in EPSILONS)]
        for table in family.tables
    ]
    return f"{words}\n\n{markdown(['table', *_prices('ahead')], lines)}"


def local_verdict(family: Family) -> str:
    """Return in words how often trees from random answers are better or worse than guessing."""
    leads = pd.concat([family.leads(name, MAJORITY) for name in _LOCAL])
    above, below = ((_is_clear(leads) & way).sum() for way in (leads["ahead"] > 0, leads["ahead"] < 0))
    return (
        f"Trees from random answers are clearly better than guessing the most frequent class in {above} of "
        f"{len(leads)} cells (a method, a table, an epsilon), clearly worse in {below}, and near it in the rest."
    )


def without_epsilon_table(family: Family) -> str:
    """Return how accurate answers without an epsilon are, and what an attacker makes of them."""
    header = ["method", "table", "accuracy", "guessing", "what is found", "without answers", "answers", "attack"]
    lines = []
    for method in (name for name, own in MEMBERS.items() if own.recover is not None):
        for own in family.recovered[family.recovered["method"] == method].to_dict("records"):
            accuracies = [family.cell(name, own["table"], NO_EPSILON) for name in (method, MAJORITY)]
            found = [f"{100 * own[name]:.1f} %" for name in ("without", "answer", "attack")]
            lines.append([method, own["table"], *accuracies, own["measure"], *found])
    return markdown(header, lines)


def one_table(family: Family, table: str) -> str:
    """Return the accuracies on one table."""
    lines = []
    for name, own in MEMBERS.items():
        cells = [family.cell(name, table, epsilon) for epsilon in (*EPSILONS, NO_EPSILON)]
        if any(cells):
            lines.append([name, own.promise, *cells])
    return markdown(["method", "promise", *_prices("accuracy"), "no epsilon"], lines)


def attack_table(family: Family) -> str:
    """Return what was fitted in each attack, to which tables and how often."""
    lines = []
    for name, attacks in AUDITS.items():
        for attack in attacks:
            own = family.audits[family.audits["attack"] == attack]
            if len(own):
                lines.append(
                    [name, ATTACKS[attack].words, f"{own['releases'].iloc[0]:,}", f"{own['most'].iloc[0]:.1f}"]
                )
    return markdown(["method", "what was fitted; the row", "releases at each epsilon", "at most"], lines)


def setting_table() -> str:
    """Return how every member is called."""
    return markdown(["method", "promise", "call"], [[m.name, m.promise, f"`{m.setting}`"] for m in MEMBERS.values()])


def _prices(what: str) -> list[str]:
    return [f"{what} at {EPSILONS[0]:g}", *(f"{epsilon:g}" for epsilon in EPSILONS[1:])]


def _no_privacy(family: Family) -> str:
    own = family.audits[family.audits["attack"].isin(AUDITS[RANDOM_FOREST])]
    if not len(own):
        return ""
    shown, most, releases = own[["shown", "most", "releases"]].iloc[0]
    return f"{int(releases):,} fits show {shown:.1f}, of {most:.1f} that as many can show."


def _unbounded(family: Family) -> str:
    names = [name for name, own in MEMBERS.items() if own.recover is not None]
    found = [f"{family.shown(name, NO_EPSILON):.1f} for {name}" for name in names]
    most = family.audits.loc[family.audits["attack"].isin(AUDITS[FLIPPED]), "most"].max()
    return (
        f"An audit of single answers shows an epsilon of at least {', '.join(found)}, where as many answers can show "
        f"{most:.1f}. With more answers it shows more: there is none to come near to."
    )


def _is_clear(leads: pd.DataFrame) -> "pd.Series[bool]":
    return leads["ahead"].abs() > 2 * leads["error"]


def _cells(chosen: "pd.Series[bool]", clear: "pd.Series[bool]") -> str:
    return f"{int(chosen.sum())} of {len(chosen)} cells, clearly in {int((chosen & clear).sum())}"


def _lead(ahead: float, error: float) -> str:
    if math.isnan(ahead):
        return ""
    text = f"{ahead:+.1f} ± {error:.1f}"
    return f"**{text}**" if abs(ahead) > 2 * error else text


def _bound(shown: float, stated: float) -> str:
    return f"**{shown:.2f}**" if shown > stated else figure(shown, ".2f")


def _range(values: Any) -> str:
    least, most = f"{min(values):.1f}", f"{max(values):.1f}"
    return least if least == most else f"{least} to {most}"


def _title(table: str) -> str:
    facts = FACTS[table]
    return f"{table}: {facts.rows:,} rows, {facts.attributes} attributes, {facts.classes} classes"


def write(folder: Path, scale: Scale, docs: Path) -> None:
    """Write the page and its picture below ``docs``, and the table of means beside the results."""
    family = Family.read(folder, scale)
    missing = sum(len(each.missing(folder, scale)) for each in (ACCURACY, SHOWN, RECOVERED))
    draw(family, docs / "images" / "family.png")
    family.lines_of_members().to_csv(folder / "summary.csv", index=False)
    (docs / "family.md").write_text(page(family, missing), encoding="utf-8")
