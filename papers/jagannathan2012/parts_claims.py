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

# How we read "gradual", "small" and "the same", in points.
STEP, RISE, LITTLE, SAME = 5, 1, 5, 3
MOST_PARTIES = 10


def in_batches() -> Iterator[Row]:
    """Yield the claims of Fig. 4, and the same of the table that it does not show."""
    for name in TREES:
        where = f"Fig. 4, {SHORT[name]}:"
        gradual = f"no batch more costs above {STEP} points or gains above {RISE}"
        text, judge = f"{where} accuracy falls gradually from 1 batch to 10", partial(_falls_gradually, name)
        yield Row(text, "gradual", judge, gradual) if name != VOTES else Row(f"{text}: {gradual}", "", judge, ours=True)
        little = f"2 batches cost at most {LITTLE} points"
        text, judge = f"{where} a small number of updates costs little", partial(_two_batches_cost_little, name)
        yield Row(text, "good", judge, little) if name != VOTES else Row(f"{text}: {little}", "", judge, ours=True)


def _falls_gradually(name: str, results: Results) -> Verdict:
    means = Lines(results["batches"]).where(table=name).means_by("batches")
    if not {1, 10} <= set(means.index):
        raise NotMeasured
    losses = -np.diff(means.to_numpy()) / np.diff(means.index.to_numpy())
    holds = means[1] > means[10] and losses.min() >= -RISE and losses.max() <= STEP
    why = f"a batch more costs {losses.max():.1f} points at most and {losses.min():.1f} at least, here alone"
    return Verdict(f"{means[1]:.1f} to {means[10]:.1f}", holds, why, "data set")


def _two_batches_cost_little(name: str, results: Results) -> Verdict:
    lines = Lines(results["batches"]).where(table=name)
    lost = lines.where(batches=1).mean() - lines.where(batches=2).mean()
    return Verdict(f"{lost:.1f} points lost with 2 batches", lost <= LITTLE, "the other tables lose less", "data set")


def among_parties() -> Iterator[Row]:
    """Yield the claim that parties are as batches are, and how a secure sum compares."""
    for name in TREES:
        where = f"Sec. 5.3, {SHORT[name]}:"
        text, reading = f"{where} as many release files as batches cost the same", f"at most {SAME} points apart"
        yield Row(text, "the same", partial(_as_batches, name), reading)
        yield Row(
            f"{where} {MOST_PARTIES} release files are below one curator", "as Fig. 4", partial(_files_below, name)
        )
        for way in (horizontal.SUM, horizontal.SUM_OF_HONEST):
            text = f"{where} a {way}, {MOST_PARTIES} parties, is within a point or two standard errors of one curator"
            yield Row(text, "", partial(_sum_as_curator, name, way), ours=True)


def _as_batches(name: str, results: Results) -> Verdict:
    files = Lines(results["horizontal"]).where(table=name, way=horizontal.FILES).means_by("parties")
    batches = Lines(results["batches"]).where(table=name).means_by("batches")
    apart = (files - batches).dropna()
    if apart.empty:
        raise NotMeasured
    largest = max(apart, key=abs)
    return Verdict(
        f"{largest:+.1f} points at most", abs(largest) <= SAME, "the noise is the same, not the rows", "data set"
    )


def _files_below(name: str, results: Results) -> Verdict:
    lines = Lines(results["horizontal"]).where(table=name)
    curator = lines.where(way=horizontal.CURATOR).mean()
    files = lines.where(way=horizontal.FILES, parties=MOST_PARTIES).mean()
    return Verdict(f"{files:.1f} against {curator:.1f}", files < curator, "its leaves are full enough", "data set")


def _sum_as_curator(name: str, way: str, results: Results) -> Verdict:
    lines = Lines(results["horizontal"]).where(table=name)
    curator, opened = lines.where(way=horizontal.CURATOR), lines.where(way=way, parties=MOST_PARTIES)
    mean, error = _difference(opened, curator)
    told = f"{opened.mean():.1f} against {curator.mean():.1f}: {mean:+.1f}, standard error {error:.1f}"
    return Verdict(told, abs(mean) <= max(1, 2 * error))


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
    reading = "at epsilon 0.1, 0.25 or 0.5 the lead is within two standard errors"
    yield Row(chance, "unpredictable", _ahead_by_chance, reading)


def _price_of_halves(results: Results) -> Verdict:
    spent = Lines(results["vertical"]).where(way=vertical.PAPER, epsilon=0.5).mean("spent")
    why = "the same people and their classes are in both halves, so what they cost adds up"
    return Verdict(f"{spent:g}", spent <= 0.5, why, "paper")


def _halves_are_useful(results: Results) -> Verdict:
    at_half = Lines(results["vertical"]).where(spent=0.5)
    whole, shared, paper = (at_half.where(way=way).mean() for way in (vertical.WHOLE, vertical.SHARED, vertical.PAPER))
    told = f"{shared:.1f} shared, {paper:.1f} as in the paper, {whole:.1f} whole"
    return Verdict(told, max(shared, paper) > whole, "with the paper's trees and epsilons", "protocol")


def _ahead_by_chance(results: Results) -> Verdict:
    lines = Lines(results["vertical"])
    whole, shared = lines.where(way=vertical.WHOLE), lines.where(way=vertical.SHARED)
    leads = {e: _difference(shared.where(epsilon=e), whole.where(epsilon=e)) for e in (0.1, 0.25, 0.5)}
    told = ", ".join(f"{mean:+.1f}" for mean, _ in leads.values())
    systematic = all(mean > 2 * error for mean, error in leads.values())
    why = "run by run, the lead is more than two standard errors at each of the three"
    return Verdict(f"{told} points at epsilon 0.1, 0.25, 0.5", not systematic, why, "paper")
