"""Figs 4 and 5 and section 5.3, rows and columns in parts: what the paper claims, beside what was measured.

Accuracies are means over runs, in per cent. Runs of two ways have the same folds and trees, so differences are taken
run by run.
"""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from papers.jagannathan2012 import horizontal, vertical
from papers.jagannathan2012.lines import Lines, NotMeasured
from papers.jagannathan2012.row import Row, Verdict
from papers.jagannathan2012.tables import SHORT, TREES, VOTES
from papers.paper import Results

# A difference that small is chance, in points.
CHANCE = 1.0
NOT_SHOWN = "not in the paper"
MOST_PARTIES = 10


def in_batches() -> Iterator[Row]:
    """Yield the claims of Fig. 4, and the same of the table that it does not show."""
    for name in TREES:
        where = f"Fig. 4, {SHORT[name]}:"
        gradual, good = ("gradual", "good accuracy") if name != VOTES else (NOT_SHOWN, NOT_SHOWN)
        yield Row(f"{where} accuracy falls gradually from 1 batch to 10", gradual, partial(_falls_gradually, name))
        yield Row(f"{where} a small number of updates costs little", good, partial(_two_batches_cost_little, name))


def _falls_gradually(name: str, results: Results) -> Verdict:
    means = Lines(results["batches"]).where(table=name).means_by("batches")
    if not {1, 10} <= set(means.index):
        raise NotMeasured
    losses = -np.diff(means.to_numpy()) / np.diff(means.index.to_numpy())
    holds = means[1] > means[10] and losses.min() >= -CHANCE and losses.max() <= 5
    why = "no batch more costs above 5 points or gains above 1"
    return Verdict(f"{means[1]:.1f} to {means[10]:.1f}", holds, why if holds else f"not so: {why}")


def _two_batches_cost_little(name: str, results: Results) -> Verdict:
    lines = Lines(results["batches"]).where(table=name)
    lost = lines.where(batches=1).mean() - lines.where(batches=2).mean()
    return Verdict(f"{lost:.1f} points lost with 2 batches", lost <= 5, "below 5 points counts as little")


def among_parties() -> Iterator[Row]:
    """Yield the claim that parties are as batches are, and how a secure sum compares."""
    for name in TREES:
        where = f"Sec. 5.3, {SHORT[name]}:"
        yield Row(f"{where} as many release files as batches cost the same", "the same", partial(_as_batches, name))
        yield Row(
            f"{where} {MOST_PARTIES} release files are below one curator", "as Fig. 4", partial(_files_below, name)
        )
        for way in (horizontal.SUM, horizontal.SUM_OF_HONEST):
            text = f"{where} a {way}, {MOST_PARTIES} parties, is within noise of one curator"
            yield Row(text, NOT_SHOWN, partial(_sum_as_curator, name, way))


def _as_batches(name: str, results: Results) -> Verdict:
    files = Lines(results["horizontal"]).where(table=name, way=horizontal.FILES).means_by("parties")
    batches = Lines(results["batches"]).where(table=name).means_by("batches")
    apart = (files - batches).dropna()
    if apart.empty:
        raise NotMeasured
    largest = max(apart, key=abs)
    return Verdict(f"{largest:+.1f} points at most", abs(largest) <= 3, "up to 3 points apart counts as the same")


def _files_below(name: str, results: Results) -> Verdict:
    lines = Lines(results["horizontal"]).where(table=name)
    curator = lines.where(way=horizontal.CURATOR).mean()
    files = lines.where(way=horizontal.FILES, parties=MOST_PARTIES).mean()
    return Verdict(f"{files:.1f} against {curator:.1f}", files < curator)


def _sum_as_curator(name: str, way: str, results: Results) -> Verdict:
    lines = Lines(results["horizontal"]).where(table=name)
    curator, opened = lines.where(way=horizontal.CURATOR), lines.where(way=way, parties=MOST_PARTIES)
    mean, error = _difference(opened, curator)
    holds = abs(mean) <= max(CHANCE, 2 * error)
    return Verdict(
        f"{opened.mean():.1f} against {curator.mean():.1f}", holds, f"difference {mean:+.1f}, se {error:.1f}"
    )


def _difference(one: Lines, other: Lines) -> tuple[float, float]:
    """Return by how much the one is ahead on average over the runs that both have, and the standard error of that."""
    ahead = (one.by_run() - other.by_run()).dropna()
    if len(ahead) < 2:
        raise NotMeasured
    return float(ahead.mean()), float(ahead.std(ddof=1) / math.sqrt(len(ahead)))


def in_halves() -> Iterator[Row]:
    """Yield the claims of Fig. 5 and of Algorithm 6."""
    yield Row("Alg. 6: two halves at epsilon 0.5 each are together 0.5-private", "0.5", _price_of_halves)
    useful = "Fig. 5, Votes: two halves keep their use, at a true total epsilon of 0.5"
    yield Row(useful, "can be above the whole table", _halves_are_useful)
    chance = "Fig. 5, Votes: halves that beat the whole table are a side effect of high variance"
    yield Row(chance, "unpredictable", _ahead_by_chance)


def _price_of_halves(results: Results) -> Verdict:
    spent = Lines(results["vertical"]).where(way=vertical.PAPER, epsilon=0.5).mean("spent")
    holds = spent <= 0.5
    why = "the same people and their classes are in both halves, so what they cost adds up"
    return Verdict(f"{spent:g}", holds, "" if holds else why)


def _halves_are_useful(results: Results) -> Verdict:
    at_half = Lines(results["vertical"]).where(spent=0.5)
    whole, shared, paper = (at_half.where(way=way).mean() for way in (vertical.WHOLE, vertical.SHARED, vertical.PAPER))
    told = f"{shared:.1f} shared, {paper:.1f} as in the paper, {whole:.1f} whole"
    return Verdict(told, min(shared, paper) >= whole - CHANCE)


def _ahead_by_chance(results: Results) -> Verdict:
    lines = Lines(results["vertical"])
    whole, shared = lines.where(way=vertical.WHOLE), lines.where(way=vertical.SHARED)
    leads = {e: _difference(shared.where(epsilon=e), whole.where(epsilon=e)) for e in (0.1, 0.25, 0.5)}
    told = ", ".join(f"{mean:+.1f}" for mean, _ in leads.values())
    systematic = all(mean > 2 * error for mean, error in leads.values())
    why = "below epsilon 1 the lead is systematic; most likely lower trees, so fuller leaves, and twice as many"
    return Verdict(f"{told} points at epsilon 0.1, 0.25, 0.5", not systematic, why if systematic else "")
