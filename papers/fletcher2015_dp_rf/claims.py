"""What the paper claims of Fig. 1, beside what was measured."""

import pandas as pd

from papers.accuracies import Accuracies, cells, complete, place
from papers.claim import Claim, too_little
from papers.fletcher2015_dp_rf.accuracy import BUDGETS, DP_RF, MOST_FREQUENT, PRIVATE_RDT, ROOT_C, TABLES
from papers.paper import Results

OURS = "ours"
# The paper's figures are whole per cents.
ROUNDING = 0.5
# Leads up to this, in points, are counted apart, as neither won nor lost.
EQUAL = 0.1


def claims(results: Results) -> list[Claim]:
    """Return every claim of the paper; a cell is a table at a budget."""
    accuracies = Accuracies(results["accuracy"], tuple(TABLES), BUDGETS)
    lead = accuracies.lead(DP_RF, PRIVATE_RDT)
    return [
        ahead_on_average(lead),
        cells_won(lead),
        largest_gain(lead),
        largest_loss(lead),
        above_the_most_frequent_class(accuracies),
        by_root_of_classes(accuracies),
    ]


def ahead_on_average(lead: pd.DataFrame) -> Claim:
    """Judge the mean over budgets of every table."""
    text, paper = "Fig. 1: on average ahead of Private-RDT on every table", "9 of 9"
    if not complete(lead):
        return too_little(text, paper)
    means = lead.mean(axis=1).sort_values()
    won = int((means > 0).sum())
    told = ", ".join(f"{TABLES[str(name)]} {points:+.1f}" for name, points in means.items())
    behind = [TABLES[str(name)] for name, points in means.items() if points < -EQUAL]
    equal = [TABLES[str(name)] for name, points in means.items() if abs(points) <= EQUAL]
    reasons = (
        _about(behind, "behind on {}, where Private-RDT is good at small budgets already"),
        _about(equal, "equal on {}, where both say the most frequent class at nearly every budget"),
    )
    return Claim(text, paper, f"{won} of {len(means)}: {told}", won == len(means), "; ".join(filter(None, reasons)))


def cells_won(lead: pd.DataFrame) -> Claim:
    """Judge the number of cells in which it is ahead."""
    text, paper = "Fig. 1: ahead in most cells", "55 of 63"
    if not complete(lead):
        return too_little(text, paper)
    won, tied = int((lead > EQUAL).sum().sum()), int((lead.abs() <= EQUAL).sum().sum())
    holds = won >= 55
    why = f"behind in {cells(lead < -EQUAL, TABLES)}; the paper does not name its nine tables"
    return Claim(
        text, paper, f"{won} of {lead.size}, and {tied} within {EQUAL:g} points either way", holds, "" if holds else why
    )


def largest_gain(lead: pd.DataFrame) -> Claim:
    """Judge the best cell."""
    text, paper = "Fig. 1: at its best so many points ahead", "45"
    if not complete(lead):
        return too_little(text, paper)
    best, where = place(lead, largest=True, titles=TABLES)
    holds = best >= 45 - ROUNDING
    why = "" if holds else "the paper does not name its nine tables, so that one with a larger gain may be missing here"
    return Claim(text, paper, f"{best:.1f} ({where})", holds, why)


def largest_loss(lead: pd.DataFrame) -> Claim:
    """Judge the worst cell."""
    text, paper = "Fig. 1: at its worst so many points behind", "7"
    if not complete(lead):
        return too_little(text, paper)
    worst, where = place(lead, largest=False, titles=TABLES)
    holds = worst >= -7 - ROUNDING
    beyond = cells(lead < -7 - ROUNDING, TABLES)
    why = f"beyond 7 in {beyond}; the paper does not name its nine tables, and the cause was not measured"
    return Claim(text, paper, f"{-worst:.1f} ({where})", holds, "" if holds else why)


def above_the_most_frequent_class(accuracies: Accuracies) -> Claim:
    """Judge what the abstract calls high accuracy by what it takes no data to reach."""
    text = "Abstract: high accuracy; here, more than a point above the most frequent class"
    own, guess = accuracies.of(DP_RF), accuracies.without_budget(MOST_FREQUENT)
    if not complete(own, guess):
        return too_little(text, "no figure")
    above = own.sub(guess, axis=0) > 1
    holds = int(above.sum().sum()) > above.size / 2
    why = f"only {cells(above, TABLES)}"
    return Claim(text, "no figure", f"{int(above.sum().sum())} of {above.size} cells", holds, "" if holds else why)


def by_root_of_classes(accuracies: Accuracies) -> Claim:
    """Compare the noise of a sum of C counts taken as sqrt(C), as it is, with the paper's C."""
    text = "Eq. 7: C times the noise, where the noise of C counts grows with sqrt(C); C is the better choice"
    own, other = accuracies.lead(ROOT_C, PRIVATE_RDT), accuracies.lead(DP_RF, PRIVATE_RDT)
    if not complete(own, other):
        return too_little(text, OURS)
    measured = (
        f"mean accuracy {accuracies.of(DP_RF).mean().mean():.1f} with C, {accuracies.of(ROOT_C).mean().mean():.1f} "
        f"with sqrt(C); ahead of Private-RDT in {(other > EQUAL).sum().sum()} and {(own > EQUAL).sum().sum()} cells, "
        f"at worst {-other.min().min():.1f} and {-own.min().min():.1f} behind"
    )
    holds = bool(other.mean().mean() >= own.mean().mean())
    why = (
        "with sqrt(C) trees split further and smaller nodes are kept; that this is the cause was not measured"
        if holds
        else ""
    )
    return Claim(text, OURS, measured, holds, why)


def _about(names: list[str], words: str) -> str:
    return words.format(", ".join(names)) if names else ""
