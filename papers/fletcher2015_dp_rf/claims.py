"""What the paper claims of Fig. 1, beside what was measured."""

import pandas as pd

from papers.accuracies import Accuracies, cells, complete, place
from papers.claim import ROUNDING, Claim, too_little
from papers.fletcher2015_dp_rf.accuracy import BUDGETS, DP_RF, MOST_FREQUENT, PRIVATE_RDT, ROOT_C, TABLES
from papers.paper import Results

# The paper names none of its nine tables. What holds on some of ours and not on others depends on the choice.
UNNAMED = "the paper does not name its nine tables"


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
    told = ", ".join(f"{TABLES[str(name)]} {points:+.2f}" for name, points in means.items())
    behind = ", ".join(TABLES[str(name)] for name in means.index[means <= 0])
    why = f"not ahead on {behind}; ahead on all others; {UNNAMED}"
    return Claim(text, paper, f"{won} of {len(means)}: {told}", not behind, why if behind else "", "data set")


def cells_won(lead: pd.DataFrame) -> Claim:
    """Judge the number of cells in which it is ahead."""
    text, paper = "Fig. 1: ahead in most cells", "55 of 63"
    if not complete(lead):
        return too_little(text, paper)
    won, tied = int((lead > 0).sum().sum()), int((lead == 0).sum().sum())
    holds, fewest = won >= 55, int((lead <= 0).sum(axis=1).min())
    why = f"behind in {cells(lead < 0, TABLES)}; {UNNAMED}"
    if fewest:
        why += (
            f", but each of ours has {fewest} cells or more in which it is not ahead, so that other tables alone do "
            "not explain it: their Private-RDT is likely to have been the less accurate one"
        )
    measured = f"{won} of {lead.size}" + (f", and {tied} equal" if tied else "")
    return Claim(text, paper, measured, holds, "" if holds else why, "protocol" if fewest else "data set")


def largest_gain(lead: pd.DataFrame) -> Claim:
    """Judge the best cell."""
    text, paper = "Fig. 1: at its best so many points ahead", "45"
    if not complete(lead):
        return too_little(text, paper)
    best, where = place(lead, largest=True, titles=TABLES)
    holds = best >= 45 - ROUNDING
    why = f"a best cell is one table's, and {UNNAMED}, of which one with a larger gain may be missing here"
    return Claim(text, paper, f"{best:.1f} ({where})", holds, "" if holds else why, "data set")


def largest_loss(lead: pd.DataFrame) -> Claim:
    """Judge the worst cell."""
    text, paper = "Fig. 1: at its worst so many points behind", "7"
    if not complete(lead):
        return too_little(text, paper)
    worst, where = place(lead, largest=False, titles=TABLES)
    holds = worst >= -7 - ROUNDING
    why = f"beyond 7 in {cells(lead < -7 - ROUNDING, TABLES)} and nowhere else; {UNNAMED}"
    return Claim(text, paper, f"{-worst:.1f} ({where})", holds, "" if holds else why, "data set")


def above_the_most_frequent_class(accuracies: Accuracies) -> Claim:
    """Judge what the abstract calls high accuracy by what it takes no data to reach."""
    text, reading = "Abstract: high accuracy", "more than a point above the most frequent class in most cells"
    own, guess = accuracies.of(DP_RF), accuracies.without_budget(MOST_FREQUENT)
    if not complete(own, guess):
        return too_little(text, "no figure", reading=reading)
    above = own.sub(guess, axis=0) > 1
    won = int(above.sum().sum())
    holds = won > above.size / 2
    why = f"only {cells(above, TABLES)}: DP-RF prunes what is weaker than its noise, and so falls back on guessing"
    measured = f"{won} of {above.size} cells"
    return Claim(text, "no figure", measured, holds, "" if holds else why, "paper", reading)


def by_root_of_classes(accuracies: Accuracies) -> Claim:
    """Compare the noise of a sum of C counts taken as sqrt(C), as it is, with the paper's C."""
    text = "Eq. 7: C times the noise is the better choice, though the noise of C counts grows with sqrt(C)"
    own, other = accuracies.lead(ROOT_C, PRIVATE_RDT), accuracies.lead(DP_RF, PRIVATE_RDT)
    if not complete(own, other):
        return too_little(text, ours=True)
    measured = (
        f"mean accuracy {accuracies.of(DP_RF).mean().mean():.1f} with C, {accuracies.of(ROOT_C).mean().mean():.1f} "
        f"with sqrt(C); ahead of Private-RDT in {(other > 0).sum().sum()} and {(own > 0).sum().sum()} cells, "
        f"at worst {-other.min().min():.1f} and {-own.min().min():.1f} behind"
    )
    holds = bool(other.mean().mean() > own.mean().mean())
    return Claim(text, "", measured, holds, "" if holds else "by the means over all cells", "data set", ours=True)
