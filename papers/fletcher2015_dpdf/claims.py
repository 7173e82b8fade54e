"""What the paper claims of Figs 2-7, beside what was measured.

Claims are judged by DPDF in the paper's own form; what the sound form does is told beside it.
"""

import pandas as pd

from papers.accuracies import Accuracies, cells, complete
from papers.claim import Claim, too_little
from papers.fletcher2015_dpdf.accuracy import (
    FOREST,
    FOREST_TREES,
    GINI,
    PAPER_1,
    PAPER_4,
    SOUND_1,
    SOUND_4,
    TABLES,
)

# Where the paper sees lines overlap, at one tree.
OVERLAPPING = ("tic-tac-toe", "connect-4")
APART = tuple(name for name in TABLES if name not in OVERLAPPING)
# Lines that come this near in points, or cross, overlap.
NEAR = 1.0
# The paper's figures are whole per cents, "almost" 25 a point less.
ROUNDING = 0.5
NURSERY, CONNECT_4 = "nursery", "connect-4"
PAPER_METHODS = (PAPER_1, PAPER_4, GINI)


def paper_claims(accuracies: Accuracies) -> list[Claim]:
    """Return every claim about accuracy; a cell is a table at a budget."""
    return [
        above_diffpid3(accuracies),
        overlap_at_one_tree(accuracies),
        no_overlap_at_four_trees(accuracies),
        halves_the_difference(accuracies),
        nursery_above_diffpid3(accuracies),
        nursery_near_the_forest(accuracies),
        rises_with_the_budget(accuracies),
        connect_4_does_not_rise(accuracies),
        one_tree_or_four(accuracies),
        connect_4_above_the_forest(accuracies),
    ]


def above_diffpid3(accuracies: Accuracies) -> Claim:
    """Judge the tables on which the paper sees no overlap."""
    text, paper = "Figs 2, 3, 5, 6: one tree is above DiffPID3", "20 of 20 cells"
    own, sound = (accuracies.lead(method, GINI).loc[list(APART)] for method in (PAPER_1, SOUND_1))
    if not complete(own, sound):
        return too_little(text, paper)
    holds = bool((own > 0).to_numpy().all())
    why = (
        f"below in {cells(own <= 0, TABLES)}: there DiffPID3, which stops where noise would outweigh the rows of a "
        "leaf, says little more than the most frequent class, and DPDF, which splits what seems to hold 100 rows, less"
    )
    return Claim(text, paper, _both(_won(own), _won(sound)), holds, "" if holds else why)


def overlap_at_one_tree(accuracies: Accuracies) -> Claim:
    """Judge whether lines touch or cross where the paper says so."""
    text, paper = "Figs 4, 7: some overlap at one tree", "Tic-Tac-Toe, Connect-4"
    own, sound = (accuracies.lead(method, GINI).loc[list(OVERLAPPING)] for method in (PAPER_1, SOUND_1))
    if not complete(own, sound):
        return too_little(text, paper)
    touch = (own < NEAR).any(axis=1) & (own > -NEAR).any(axis=1)
    cross = (own < 0).any(axis=1) & (own > 0).any(axis=1)
    crossing = ", ".join(TABLES[str(name)] for name in own.index[cross]) or "none"
    why = f"taken to overlap: lines that come within {NEAR:g} point, or cross; those that cross: {crossing}"
    return Claim(text, paper, _both(_ranges(own), _ranges(sound)), bool(touch.all()), why)


def no_overlap_at_four_trees(accuracies: Accuracies) -> Claim:
    """Judge the paper's case for several trees."""
    text, paper = "Figs 4, 7: four trees always beat DiffPID3 on Tic-Tac-Toe and Connect-4", "10 of 10 cells"
    own, sound = (accuracies.lead(method, GINI).loc[list(OVERLAPPING)] for method in (PAPER_4, SOUND_4))
    if not complete(own, sound):
        return too_little(text, paper)
    holds = bool((own > 0).to_numpy().all())
    why = f"below in {cells(own <= 0, TABLES)}: four trees share the budget, and each question has four times the noise"
    return Claim(text, paper, _both(_won(own), _won(sound)), holds, "" if holds else why)


def halves_the_difference(accuracies: Accuracies) -> Claim:
    """Judge how much of the way from DiffPID3 to the random forest DPDF goes, on average over budgets."""
    text, paper = "Section 5: halves the difference between DiffPID3 and a random forest on most tables", "most of 6"
    shares = {method: _share_of_the_way(accuracies, method) for method in (PAPER_1, PAPER_4, SOUND_1, SOUND_4)}
    if not complete(*shares.values()):
        return too_little(text, paper)
    halved = {method: int((share >= 0.5).sum()) for method, share in shares.items()}
    holds = max(halved[PAPER_1], halved[PAPER_4]) > len(TABLES) / 2
    way = ", ".join(f"{TABLES[str(name)]} {100 * share:.0f} %" for name, share in shares[PAPER_1].items())
    measured = _both(
        f"{halved[PAPER_1]} of 6 with one tree, {halved[PAPER_4]} with four", f"{halved[SOUND_1]} and {halved[SOUND_4]}"
    )
    why = f"the share of the way that one tree goes: {way}"
    return Claim(text, paper, measured, holds, why)


def nursery_above_diffpid3(accuracies: Accuracies) -> Claim:
    """Judge the largest lead on Nursery."""
    text, paper = "Fig. 6: on Nursery one tree beats DiffPID3 by almost 25 points", "almost 25"
    own, sound = (accuracies.lead(method, GINI).loc[NURSERY] for method in (PAPER_1, SOUND_1))
    if not complete(own, sound):
        return too_little(text, paper)
    measured = _both(f"up to {own.max():.1f} (at {own.idxmax():g})", f"{sound.max():.1f}")
    return Claim(text, paper, measured, bool(own.max() >= 24 - ROUNDING))


def nursery_near_the_forest(accuracies: Accuracies) -> Claim:
    """Judge the smallest distance to the random forest on Nursery."""
    text, paper = "Fig. 6: on Nursery one tree comes within 7 points of the random forest", "7"
    forest = float(accuracies.without_budget(FOREST)[NURSERY])
    own, sound = (forest - accuracies.of(method).loc[NURSERY] for method in (PAPER_1, SOUND_1))
    if not complete(own, sound):
        return too_little(text, paper)
    holds = bool(own.min() <= 7 + ROUNDING)
    measured = _both(f"{own.min():.1f} (at {own.idxmin():g}, forest {forest:.1f})", f"{sound.min():.1f}")
    return Claim(text, paper, measured, holds)


def rises_with_the_budget(accuracies: Accuracies) -> Claim:
    """Judge the steps from one budget to the next."""
    text, paper = "Section 5: accuracy generally rises with the budget", "generally"
    steps = {method: _steps(accuracies, method) for method in PAPER_METHODS}
    if not complete(*steps.values()):
        return too_little(text, paper)
    rising = {method: int((own > 0).to_numpy().sum()) for method, own in steps.items()}
    n_steps = steps[GINI].size
    holds = all(count > n_steps / 2 for count in rising.values())
    measured = "; ".join(f"{method}: {count} of {n_steps} steps rise" for method, count in rising.items())
    return Claim(text, paper, measured, holds)


def connect_4_does_not_rise(accuracies: Accuracies) -> Claim:
    """Judge the table that the paper names as an exception."""
    text, paper = "Fig. 4: on Connect-4 accuracy does not always rise with the budget", "some steps fall"
    steps = pd.concat([_steps(accuracies, method).loc[[CONNECT_4]] for method in PAPER_METHODS])
    if not complete(steps):
        return too_little(text, paper)
    falling = int((steps <= 0).to_numpy().sum())
    why = "" if falling else "what falls in single runs rises in their mean"
    return Claim(text, paper, f"{falling} of {steps.size} steps fall", falling > 0, why)


def one_tree_or_four(accuracies: Accuracies) -> Claim:
    """Judge what the paper finds interesting."""
    text, paper = "Section 5: sometimes one tree beats four", "sometimes"
    own, sound = accuracies.lead(PAPER_1, PAPER_4), accuracies.lead(SOUND_1, SOUND_4)
    if not complete(own, sound):
        return too_little(text, paper)
    measured = _both(f"{_won(own)}, by {own.mean().mean():.1f} points on average", f"{_won(sound)}")
    often = (own > 0).to_numpy().mean() > 0.75
    why = "nearly always: four trees lose more by sharing the budget than they gain by voting" if often else ""
    return Claim(text, paper, measured, bool((own > 0).to_numpy().any()), why)


def connect_4_above_the_forest(accuracies: Accuracies) -> Claim:
    """Judge the paper's surprise that a forest without privacy is worse than all private trees."""
    text, paper = (
        "Fig. 4: on Connect-4 every private method is above the random forest at every budget",
        "15 of 15 cells",
    )
    forest = accuracies.without_budget(FOREST)[CONNECT_4]
    own = pd.DataFrame({method: accuracies.of(method).loc[CONNECT_4] - forest for method in PAPER_METHODS})
    if not complete(own):
        return too_little(text, paper)
    best = forest + own.to_numpy().max()
    measured = f"{_won(own)}; the forest has {forest:.1f}, the best private tree {best:.1f}"
    why = (
        f"a forest of {FOREST_TREES} trees, the default of its day, is well above here; the paper suspects local optima"
    )
    holds = bool((own > 0).to_numpy().all())
    return Claim(text, paper, measured, holds, "" if holds else why)


def _share_of_the_way(accuracies: Accuracies, method: str) -> "pd.Series[float]":
    way = accuracies.without_budget(FOREST) - accuracies.of(GINI).mean(axis=1, skipna=False)
    gone: pd.Series[float] = accuracies.lead(method, GINI).mean(axis=1, skipna=False) / way
    return gone


def _steps(accuracies: Accuracies, method: str) -> pd.DataFrame:
    return accuracies.of(method).diff(axis=1).iloc[:, 1:]


def _won(lead: pd.DataFrame) -> str:
    return f"{int((lead > 0).to_numpy().sum())} of {lead.size} cells"


def _ranges(lead: pd.DataFrame) -> str:
    return ", ".join(f"{TABLES[str(name)]} {own.min():+.1f} to {own.max():+.1f}" for name, own in lead.iterrows())


def _both(paper_form: str, sound_form: str) -> str:
    return f"{paper_form}; sound form: {sound_form}"
