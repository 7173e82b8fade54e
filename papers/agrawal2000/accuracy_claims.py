"""What the paper says of Figs 5 and 6, beside what was measured.

Where it says "very close" or "much worse", the points that we read into it stand in the table as our reading.
"""

import math
from collections.abc import Callable, Iterator
from itertools import product

import pandas as pd

from papers.agrawal2000.accuracy import FUNCTIONS, STUMBLING
from papers.agrawal2000.means import Means
from papers.agrawal2000.people import NOISES, SPELLED
from papers.agrawal2000.settings import SETTINGS, least_gap
from papers.claim import ROUNDING, Claim, Reason

RECONSTRUCTING = ("ByClass", "Local")
DIAGONAL = (4, 5)
# Points below Original that the paper allows at 100 % privacy, and what we read into "very close" below that.
_PRINTED = {1: 5.0, 2: 15.0, 3: 15.0, 4: 5.0, 5: 5.0}
_VERY_CLOSE = {0.25: 2.0, 0.5: 5.0}
# What we read into "fares well" and "quite close", "much" and "comparable", "fairly close", "marginally".
_CLOSE, _MUCH, _FAIRLY = 5.0, 5.0, 15.0


def accuracy_claims(means: Means, settings: pd.DataFrame) -> Iterator[Claim]:
    """Yield the claims on accuracy."""
    for privacy, function in product((*_VERY_CLOSE, 1.0), FUNCTIONS):
        yield near_original(means, function, privacy, least_gap(settings, function, privacy))
    yield ahead_of_randomized(means)
    yield from (global_worse(means, privacy) for privacy in (0.25, 1.0))
    yield from (global_fares_well(means, function) for function in DIAGONAL)
    yield from (randomized_close(means, privacy) for privacy in (0.25, 1.0))
    yield original_stumbles(means)
    yield from (uniform_against_gaussian(means, function) for function in FUNCTIONS)
    yield fairly_close(means)
    yield local_marginally_better(means)


def near_original(means: Means, function: int, privacy: float, at_best: float = math.nan) -> Claim:
    """Return whether ByClass and Local come near a tree grown on clear rows.

    ``at_best`` is how far the worst of them is below with the best purity and least node that were tried.
    """
    original = means.original(function)
    gaps = _each(lambda noise, name: original - means.of(function, noise, privacy, name))
    points = _VERY_CLOSE.get(privacy, _PRINTED[function])
    allowed = points if privacy in _VERY_CLOSE else points + ROUNDING
    missed = [f"{name} with {SPELLED[noise]} noise" for (noise, name), gap in gaps.items() if gap > allowed]
    which = "one of the four" if len(missed) == len(gaps) else ", ".join(missed)
    below_stumbling = max(gaps.values()) - (original - means.original(function, STUMBLING))
    evidence = _evidence(means, function, below_stumbling, at_best)
    paper, reading = f"within {points:g} points", ""
    reason: Reason = "protocol" if at_best <= allowed or below_stumbling <= allowed else "paper"
    if privacy in _VERY_CLOSE:
        paper, reading, reason = "very close", paper, "protocol"
        evidence += "; how close is very close is our reading"
    why = f"not {which}: {evidence}" if missed else ""
    where = "Section 5.2" if privacy == 0.5 else "Fig. 5"
    text = f"{where}, F{function} at {privacy:.0%} privacy: ByClass and Local are near Original"
    measured = f"{_told(gaps)} points below"
    return Claim(text, paper, measured, not missed, why, reason, reading).judged_by(gaps.values())


def ahead_of_randomized(means: Means) -> Claim:
    """Return whether reconstruction helps."""
    gains = [
        means.of(function, noise, 1.0, name) - means.of(function, noise, 1.0, "Randomized")
        for function, noise, name in product(FUNCTIONS, NOISES, RECONSTRUCTING)
    ]
    ahead = sum(gain > 0 for gain in gains)
    measured = f"ahead in {ahead} of {len(gains)} cases, by {min(gains):.1f} to {max(gains):.1f} points"
    text = "Fig. 5 at 100% privacy: ByClass and Local are ahead of Randomized"
    why = "" if ahead == len(gains) else "the same rows were given to all, and some gain nothing"
    return Claim(text, "ahead", measured, ahead == len(gains), why, "protocol").judged_by(gains)


def global_worse(means: Means, privacy: float) -> Claim:
    """Return whether one reconstruction for all classes does worse overall than one for each."""
    gaps = {
        (function, noise, name): means.of(function, noise, privacy, name) - means.of(function, noise, privacy, "Global")
        for function, noise, name in product(FUNCTIONS, NOISES, RECONSTRUCTING)
    }
    overall = _each(lambda noise, name: sum(gaps[function, noise, name] for function in FUNCTIONS) / len(FUNCTIONS))
    holds = min(overall.values()) > 0
    ahead = [f"F{f} ({name}, {SPELLED[noise]} noise)" for (f, noise, name), gap in gaps.items() if gap <= 0]
    why = f"no worse on {', '.join(ahead)}" if ahead else ""
    text = f"Fig. 5 at {privacy:.0%} privacy: overall Global is worse than ByClass and Local"
    measured = f"{_told(overall)} points below"
    return Claim(
        text, "overall worse", measured, holds, why, "protocol", "below in the mean over the functions, by both noises"
    ).judged_by(gaps.values())


def global_fares_well(means: Means, function: int) -> Claim:
    """Return whether Global is about as good where the border is diagonal."""
    gaps = _each(lambda noise, name: means.of(function, noise, 1.0, name) - means.of(function, noise, 1.0, "Global"))
    holds = max(gaps.values()) <= _CLOSE
    text = f"Fig. 5, F{function} at 100% privacy: Global fares well"
    why = "" if holds else "the same rows were given to all: one reconstruction for all classes is further behind"
    reading = f"within {_CLOSE:g} points of ByClass and Local"
    measured = f"{_told(gaps)} points below"
    return Claim(text, "fares well", measured, holds, why, "protocol", reading).judged_by(gaps.values())


def randomized_close(means: Means, privacy: float) -> Claim:
    """Return whether noise hardly matters where the border is diagonal."""
    gaps = {
        noise: max(means.original(f) - means.of(f, noise, privacy, "Randomized") for f in DIAGONAL) for noise in NOISES
    }
    holds = max(gaps.values()) <= _CLOSE
    measured = ", ".join(f"{SPELLED[noise]} at most {gap:.1f}" for noise, gap in gaps.items())
    why = (
        "nothing is reconstructed here, so the noise alone does it; and Fig. 6 of the paper itself finds that uniform "
        "noise does much harm before correction"
    )
    text = f"Fig. 5, F4 and F5 at {privacy:.0%} privacy: even Randomized is close to Original"
    told, reading = f"{measured} points below", f"within {_CLOSE:g} points"
    return Claim(text, "quite close", told, holds, "" if holds else why, "paper", reading).judged_by(gaps.values())


def original_stumbles(means: Means) -> Claim:
    """Return whether the disturbed trees beat the clear one on the buried exclusive or."""
    original, stumbling = means.original(2), means.original(2, STUMBLING)
    best = max(_each(lambda noise, name: means.of(2, noise, 0.25, name)).values())
    holds = best > original
    why = "" if holds else "grown without a least gain, Original also takes splits that gain next to nothing"
    if not holds and best > stumbling:
        why += f"; the same tree asked for a gain of 0.0003 stops as the paper's did ({stumbling:.1f}): the claim holds"
    measured = f"Original {original:.1f}, best of ByClass and Local {best:.1f}"
    text = "Fig. 5, F2 at 25% privacy: Original stops at a buried exclusive or that the others get past"
    return Claim(text, "Original is poor", measured, holds, why, "protocol").judged_by([original, best])


def uniform_against_gaussian(means: Means, function: int) -> Claim:
    """Return whether uniform noise does more harm before correction, and as much after."""
    behind = {
        name: means.of(function, "gaussian", 1.0, name) - means.of(function, "uniform", 1.0, name)
        for name in ("Randomized", *RECONSTRUCTING)
    }
    apart = max(behind[name] for name in RECONSTRUCTING)
    holds = behind["Randomized"] >= _MUCH and apart <= _MUCH
    why = ""
    if not holds:
        after = "; ".join(f"{name} is {behind[name]:.1f} behind" for name in RECONSTRUCTING if behind[name] > _MUCH)
        found = after or "the noises do not differ much before correction"
        why = f"{found}; what is comparable is our reading, and the trees differ in the noise alone"
    measured = ", ".join(f"{name} {points:+.1f}" for name, points in behind.items())
    text = f"Fig. 6, F{function} at 100% privacy: uniform noise does much more harm before correction, as much after"
    reading = f"{_MUCH:g} points or more behind before, at most {_MUCH:g} after"
    told = f"uniform behind Gaussian: {measured}"
    return Claim(text, "much larger, then comparable", told, holds, why, "protocol", reading).judged_by(behind.values())


def fairly_close(means: Means) -> Claim:
    """Return whether the largest privacy of Fig. 6 still comes fairly close."""
    gaps = {
        function: max(means.original(function) - means.of(function, noise, 2.0, "ByClass") for noise in NOISES)
        for function in FUNCTIONS
    }
    holds = max(gaps.values()) <= _FAIRLY
    far = [f"F{function}" for function, gap in gaps.items() if gap > _FAIRLY]
    told = ", ".join(f"F{function} {gap:.1f}" for function, gap in gaps.items())
    why = (
        f"further below on {' and '.join(far)}, where at half this privacy the paper itself allows 15 points; "
        "Original finds their borders on the same people"
    )
    text = "Fig. 6 at 200% privacy: ByClass still comes fairly close to Original"
    measured = f"{told} points below with the worse noise"
    told, reading = "" if holds else why, f"within {_FAIRLY:g} points"
    return Claim(text, "fairly close", measured, holds, told, "paper", reading).judged_by(gaps.values())


def local_marginally_better(means: Means) -> Claim:
    """Return whether Local is a little ahead of ByClass over all that was measured."""
    leads = [
        means.of(function, noise, privacy, "Local") - means.of(function, noise, privacy, "ByClass")
        for function, noise, privacy in product(FUNCTIONS, NOISES, means.privacies)
    ] or [math.nan]
    lead = sum(leads) / len(leads)
    measured = f"{lead:+.1f} points in the mean, {min(leads):+.1f} to {max(leads):+.1f}"
    holds = 0 < lead <= _CLOSE
    why = "" if holds else "the same rows were given to both: Local is " + ("not ahead" if lead <= 0 else "far ahead")
    text, reading = "Section 6: Local is marginally better than ByClass", f"ahead in the mean, by {_CLOSE:g} at most"
    return Claim(text, "marginally", measured, holds, why, "protocol", reading).judged_by(leads)


def _evidence(means: Means, function: int, below_stumbling: float, at_best: float) -> str:
    """Return how we know what a function falls short by."""
    original, stumbling = means.original(function), means.original(function, STUMBLING)
    told = [f"Original has {original:.1f} on the same people, so the reconstruction is what loses it"]
    if stumbling < original - ROUNDING:
        told.append(
            f"and it finds the exclusive or, on which the paper's stumbles: below one that does ({stumbling:.1f}) they "
            f"lie by {max(below_stumbling, 0.0):.1f} points or less"
        )
    if not math.isnan(at_best):
        told.append(f"with the best purity and least node of {len(SETTINGS)} tried, {at_best:.1f} points or less")
    return "; ".join(told)


def _each(of: Callable[[str, str], float]) -> dict[tuple[str, str], float]:
    return {(noise, name): of(noise, name) for noise, name in product(NOISES, RECONSTRUCTING)}


def _told(gaps: dict[tuple[str, str], float]) -> str:
    return ", ".join(
        f"{SPELLED[noise]} {' / '.join(f'{gaps[noise, name]:.1f}' for name in RECONSTRUCTING)}" for noise in NOISES
    )
