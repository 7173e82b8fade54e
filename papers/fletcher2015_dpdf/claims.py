"""What the paper claims of Figs 2-7, beside what was measured.

Claims are judged by DPDF in the paper's own form; what the sound form does is told beside it. Claims against DiffPID3
are judged twice: the paper lists how it differs from DPDF, and where it stops is not among that.
"""

import pandas as pd

from papers.accuracies import Accuracies, cells, complete
from papers.claim import ROUNDING, Claim, too_little
from papers.fletcher2015_dpdf.accuracy import (
    CONNECT_4,
    FOREST,
    GINI,
    GINI_100,
    PAPER_1,
    PAPER_4,
    PAPER_METHODS,
    SOUND_1,
    SOUND_4,
    TABLES,
)

# Where DiffPID3 stops, in words.
RULES = {GINI_100: "(it stops at 100 rows, as DPDF does)", GINI: "(it stops where its authors say)"}
# Where the paper sees lines overlap, at one tree.
OVERLAPPING = ("tic-tac-toe", CONNECT_4)
APART = tuple(name for name in TABLES if name not in OVERLAPPING)
# How we know where neither rule helps.
ANOTHER_SET_UP = "the tables are the paper's, so its set-up differs in what its text does not tell"
# Lines that come this near in points, or cross, overlap.
NEAR = 1.0
NURSERY = "nursery"


def paper_claims(accuracies: Accuracies, in_order: Accuracies) -> list[Claim]:
    """Return every claim about accuracy; a cell is a table at a budget. ``in_order`` has unshuffled folds."""
    against = (
        above_diffpid3,
        overlap_at_one_tree,
        no_overlap_at_four_trees,
        halves_the_difference,
        nursery_above_diffpid3,
    )
    return [
        *(judge(accuracies, rival) for judge in against for rival in RULES),
        nursery_near_the_forest(accuracies),
        rises_with_the_budget(accuracies),
        connect_4_does_not_rise(accuracies, in_order),
        one_tree_or_four(accuracies),
        connect_4_above_the_forest(accuracies, in_order),
    ]


def above_diffpid3(accuracies: Accuracies, rival: str) -> Claim:
    """Judge the tables on which the paper sees no overlap."""
    text = f"Figs 2, 3, 5, 6: one tree is above DiffPID3 {RULES[rival]}"
    return _above_in_every_cell(accuracies, text, (PAPER_1, SOUND_1), rival, APART)


def overlap_at_one_tree(accuracies: Accuracies, rival: str) -> Claim:
    """Judge whether lines touch or cross where the paper says so."""
    text, paper = f"Figs 4, 7: one tree overlaps with DiffPID3 {RULES[rival]}", "Tic-Tac-Toe, Connect-4"
    reading = f"lines that come within {NEAR:g} point, or cross"
    own, sound = (accuracies.lead(method, rival).loc[list(OVERLAPPING)] for method in (PAPER_1, SOUND_1))
    if not complete(own, sound):
        return too_little(text, paper, reading=reading)
    touch, with_other = (
        _touch(accuracies.lead(PAPER_1, rule).loc[list(OVERLAPPING)]) for rule in (rival, _other(rival))
    )
    holds = bool(touch.all())
    why = "" if holds else f"apart: {_ranges(own[~touch])}; {_other_rule(with_other)}"
    return Claim(text, paper, _both(_ranges(own), _ranges(sound)), holds, why, "protocol", reading)


def no_overlap_at_four_trees(accuracies: Accuracies, rival: str) -> Claim:
    """Judge the paper's case for several trees."""
    text = f"Figs 4, 7: on Tic-Tac-Toe and Connect-4 four trees always beat DiffPID3 {RULES[rival]}"
    return _above_in_every_cell(accuracies, text, (PAPER_4, SOUND_4), rival, OVERLAPPING)


def halves_the_difference(accuracies: Accuracies, rival: str) -> Claim:
    """Judge how much of the way from DiffPID3 to the random forest DPDF goes, on average over budgets."""
    text = f"Section 5: on most tables halves the difference between a random forest and DiffPID3 {RULES[rival]}"
    paper, reading = "most of 6", "more than 3 tables, on average over budgets, with one tree or with four"
    shares = {method: _share_of_the_way(accuracies, method, rival) for method in (PAPER_1, PAPER_4, SOUND_1, SOUND_4)}
    if not complete(*shares.values()):
        return too_little(text, paper, reading=reading)
    halved = {method: int((share >= 0.5).sum()) for method, share in shares.items()}
    holds = max(halved[PAPER_1], halved[PAPER_4]) > len(TABLES) / 2
    way = ", ".join(f"{TABLES[str(name)]} {100 * share:.0f} %" for name, share in shares[PAPER_1].items())
    measured = _both(
        f"{halved[PAPER_1]} of 6 with one tree, {halved[PAPER_4]} with four", f"{halved[SOUND_1]} and {halved[SOUND_4]}"
    )
    why = "" if holds else f"the share of the way that one tree goes, table by table: {way}; {ANOTHER_SET_UP}"
    return Claim(text, paper, measured, holds, why, "protocol", reading)


def nursery_above_diffpid3(accuracies: Accuracies, rival: str) -> Claim:
    """Judge the largest lead on Nursery."""
    text, paper = f"Fig. 6: on Nursery one tree is almost 25 points above DiffPID3 {RULES[rival]}", "almost 25"
    own, sound = (accuracies.lead(method, rival).loc[NURSERY] for method in (PAPER_1, SOUND_1))
    if not complete(own, sound):
        return too_little(text, paper, reading="24 at least")
    measured = _both(f"up to {own.max():.1f} (at {own.idxmax():g})", f"{sound.max():.1f}")
    holds = bool(own.max() >= 24 - ROUNDING)
    with_other = accuracies.lead(PAPER_1, _other(rival)).loc[NURSERY].max()
    why = "" if holds else f"with the other rule up to {with_other:.1f}"
    return Claim(text, paper, measured, holds, why, "protocol", "24 at least")


def nursery_near_the_forest(accuracies: Accuracies) -> Claim:
    """Judge the smallest distance to the random forest on Nursery."""
    text, paper = "Fig. 6: on Nursery one tree comes within 7 points of the random forest", "7"
    forest = float(accuracies.without_budget(FOREST)[NURSERY])
    own, sound = (forest - accuracies.of(method).loc[NURSERY] for method in (PAPER_1, SOUND_1))
    if not complete(own, sound):
        return too_little(text, paper)
    holds = bool(own.min() <= 7 + ROUNDING)
    measured = _both(f"{own.min():.1f} (at {own.idxmin():g}, forest {forest:.1f})", f"{sound.min():.1f}")
    why = "" if holds else "at the best budget, with the paper's trees and folds"
    return Claim(text, paper, measured, holds, why, "paper")


def rises_with_the_budget(accuracies: Accuracies) -> Claim:
    """Judge the steps from one budget to the next."""
    text, paper = "Section 5: accuracy generally rises with the budget", "generally"
    reading = "in more than half of the steps, for every method"
    steps = {method: _steps(accuracies, method) for method in PAPER_METHODS}
    if not complete(*steps.values()):
        return too_little(text, paper, reading=reading)
    rising = {method: int((own > 0).to_numpy().sum()) for method, own in steps.items()}
    n_steps = steps[GINI].size
    holds = all(count > n_steps / 2 for count in rising.values())
    measured = "; ".join(f"{method}: {count} of {n_steps} steps rise" for method, count in rising.items())
    why = "" if holds else "counted over all tables"
    return Claim(text, paper, measured, holds, why, "paper", reading)


def connect_4_does_not_rise(accuracies: Accuracies, in_order: Accuracies) -> Claim:
    """Judge the table that the paper names as an exception."""
    text, paper = "Fig. 4: on Connect-4 accuracy does not always rise with the budget", "some steps fall"
    steps, others = (
        pd.concat([_steps(figures, method).loc[[CONNECT_4]] for method in PAPER_METHODS])
        for figures in (accuracies, in_order)
    )
    if not complete(steps, others):
        return too_little(text, paper)
    falling, in_file = (int((own < 0).to_numpy().sum()) for own in (steps, others))
    why = "" if falling else f"with folds in the order of the file {in_file} of {others.size} steps fall"
    return Claim(text, paper, f"{falling} of {steps.size} steps fall", falling > 0, why, "protocol")


def one_tree_or_four(accuracies: Accuracies) -> Claim:
    """Judge what the paper finds interesting."""
    text, paper, reading = "Section 5: sometimes one tree beats four", "sometimes", "in a cell or more"
    own, sound = accuracies.lead(PAPER_1, PAPER_4), accuracies.lead(SOUND_1, SOUND_4)
    if not complete(own, sound):
        return too_little(text, paper, reading=reading)
    measured = _both(f"{_won(own)}, by {own.mean().mean():.1f} points on average", f"{_won(sound)}")
    holds = bool((own > 0).to_numpy().any())
    why = "" if holds else "four trees are ahead in every cell"
    return Claim(text, paper, measured, holds, why, "paper", reading)


def connect_4_above_the_forest(accuracies: Accuracies, in_order: Accuracies) -> Claim:
    """Judge the paper's surprise that a forest without privacy is worse than all private trees."""
    text = "Fig. 4: on Connect-4 every private method is above the random forest at every budget"
    own, others = (_above_the_forest(figures) for figures in (accuracies, in_order))
    if not complete(own, others):
        return too_little(text, "all cells")
    holds = bool((own > 0).to_numpy().all())
    forest, in_file = (figures.without_budget(FOREST)[CONNECT_4] for figures in (accuracies, in_order))
    why = (
        f"with folds in the order of the file, the default of scikit-learn, {_won(others)} are above: "
        f"neighbouring positions are then held out together, and the forest has {in_file:.1f}"
    )
    measured = f"{_won(own)}; the forest has {forest:.1f}, the best private tree {forest + own.to_numpy().max():.1f}"
    return Claim(text, "all cells", measured, holds, "" if holds else why, "protocol")


def _above_the_forest(accuracies: Accuracies) -> pd.DataFrame:
    forest = accuracies.without_budget(FOREST)[CONNECT_4]
    return pd.DataFrame({method: accuracies.of(method).loc[CONNECT_4] - forest for method in PAPER_METHODS})


def _above_in_every_cell(
    accuracies: Accuracies, text: str, methods: tuple[str, str], rival: str, tables: tuple[str, ...]
) -> Claim:
    """Judge the first of the methods, and tell the second beside it."""
    own, sound = (accuracies.lead(method, rival).loc[list(tables)] for method in methods)
    other = accuracies.lead(methods[0], _other(rival)).loc[list(tables)]
    paper = f"{own.size} of {own.size} cells"
    if not complete(own, sound, other):
        return too_little(text, paper)
    holds = bool((own > 0).to_numpy().all())
    why = "" if holds else f"not above in {cells(own <= 0, TABLES)}; {_other_rule((other > 0).all(axis=1))}"
    return Claim(text, paper, _both(_won(own), _won(sound)), holds, why, "protocol")


def _touch(lead: pd.DataFrame) -> "pd.Series[bool]":
    """Return on which tables lines come near each other, or cross."""
    return (lead < NEAR).any(axis=1) & (lead > -NEAR).any(axis=1)


def _other_rule(holds: "pd.Series[bool]") -> str:
    """Return what the other rule of stopping gives, and so how we know what decides."""
    if holds.all():
        return "with the other rule it holds"
    named = ", ".join(TABLES[str(name)] for name in holds.index[~holds])
    return f"with the other rule it does not hold either, on {named}; {ANOTHER_SET_UP}"


def _other(rival: str) -> str:
    (other,) = set(RULES) - {rival}
    return other


def _share_of_the_way(accuracies: Accuracies, method: str, rival: str) -> "pd.Series[float]":
    way = accuracies.without_budget(FOREST) - accuracies.of(rival).mean(axis=1, skipna=False)
    gone: pd.Series[float] = accuracies.lead(method, rival).mean(axis=1, skipna=False) / way
    return gone


def _steps(accuracies: Accuracies, method: str) -> pd.DataFrame:
    return accuracies.of(method).diff(axis=1).iloc[:, 1:]


def _won(lead: pd.DataFrame) -> str:
    return f"{int((lead > 0).to_numpy().sum())} of {lead.size} cells"


def _ranges(lead: pd.DataFrame) -> str:
    return ", ".join(f"{TABLES[str(name)]} {own.min():+.1f} to {own.max():+.1f}" for name, own in lead.iterrows())


def _both(paper_form: str, sound_form: str) -> str:
    return f"{paper_form}; sound form: {sound_form}"
