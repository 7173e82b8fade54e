"""What the paper says of Figs 5 and 6, beside what was measured.

Where it says "very close" or "much worse", the points that are read into it stand in the table.
"""

import math
from collections.abc import Callable, Iterator
from itertools import product

from papers.agrawal2000.accuracy import FUNCTIONS, STUMBLING
from papers.agrawal2000.means import Means
from papers.agrawal2000.people import NOISES, SPELLED
from papers.claim import Claim

RECONSTRUCTING = ("ByClass", "Local")
DIAGONAL = (4, 5)
# Points below Original that are allowed: "very close" is ours, and at 50 % no more than the paper allows at 100 %.
_ALLOWED = {
    0.25: dict.fromkeys(FUNCTIONS, 2.0),
    0.5: dict.fromkeys(FUNCTIONS, 5.0),
    1.0: {1: 5.0, 2: 15.0, 3: 15.0, 4: 5.0, 5: 5.0},
}
_CLOSE, _MUCH, _FAIRLY = 5.0, 5.0, 15.0
_BORDERS = "several borders in salary lie 25K apart, and small errors of the reconstruction move them"


def accuracy_claims(means: Means) -> Iterator[Claim]:
    """Yield the claims on accuracy."""
    yield from (near_original(means, function, privacy) for privacy in _ALLOWED for function in FUNCTIONS)
    yield ahead_of_randomized(means)
    yield from (global_worse(means, function) for function in FUNCTIONS if function not in DIAGONAL)
    yield from (global_fares_well(means, function) for function in DIAGONAL)
    yield from (randomized_close(means, privacy) for privacy in (0.25, 1.0))
    yield original_stumbles(means)
    yield from (uniform_against_gaussian(means, function) for function in FUNCTIONS)
    yield fairly_close(means)
    yield local_marginally_better(means)


def near_original(means: Means, function: int, privacy: float) -> Claim:
    """Return whether ByClass and Local come near a tree grown on clear rows."""
    allowed, original = _ALLOWED[privacy][function], means.original(function)
    gaps = _each(lambda noise, name: original - means.of(function, noise, privacy, name))
    missed = [f"{name} with {SPELLED[noise]} noise" for (noise, name), gap in gaps.items() if gap > allowed]
    which = "one of the four" if len(missed) == len(gaps) else ", ".join(missed)
    why = f"not {which}: {_reason(means, function, gaps, allowed)}" if missed else ""
    paper = f"very close; read as within {allowed:g} points" if privacy < 1 else f"within {allowed:g} points"
    where = "Section 5.2" if privacy == 0.5 else "Fig. 5"
    text = f"{where}, F{function} at {privacy:.0%} privacy: ByClass and Local are near Original"
    return Claim(text, paper, f"{_told(gaps)} points below", not missed, why).judged_by(gaps.values())


def ahead_of_randomized(means: Means) -> Claim:
    """Return whether reconstruction helps."""
    gains = [
        means.of(function, noise, 1.0, name) - means.of(function, noise, 1.0, "Randomized")
        for function, noise, name in product(FUNCTIONS, NOISES, RECONSTRUCTING)
    ]
    ahead = sum(gain > 0 for gain in gains)
    measured = f"ahead in {ahead} of {len(gains)} cases, by {min(gains):.1f} to {max(gains):.1f} points"
    text = "Fig. 5 at 100% privacy: ByClass and Local are ahead of Randomized"
    why = "" if ahead == len(gains) else "some are not"
    return Claim(text, "ahead", measured, ahead == len(gains), why).judged_by(gains)


def global_worse(means: Means, function: int) -> Claim:
    """Return whether one reconstruction for all classes does worse than one for each."""
    gaps = _each(lambda noise, name: means.of(function, noise, 1.0, name) - means.of(function, noise, 1.0, "Global"))
    holds = min(gaps.values()) > 0
    ahead = " and ".join(SPELLED[noise] for noise in NOISES if min(gaps[noise, name] for name in RECONSTRUCTING) <= 0)
    why = "" if holds else f"with {ahead} noise Global is no worse, and at most {-min(gaps.values()):.1f} points ahead"
    text = f"Fig. 5, F{function} at 100% privacy: Global is worse than ByClass and Local"
    return Claim(text, "worse", f"{_told(gaps)} points below", holds, why).judged_by(gaps.values())


def global_fares_well(means: Means, function: int) -> Claim:
    """Return whether Global is about as good where the border is diagonal."""
    gaps = _each(lambda noise, name: means.of(function, noise, 1.0, name) - means.of(function, noise, 1.0, "Global"))
    holds = max(gaps.values()) <= _CLOSE
    text = f"Fig. 5, F{function} at 100% privacy: Global fares well"
    paper = f"fares well; read as within {_CLOSE:g} points of ByClass and Local"
    why = "" if holds else "one reconstruction for all classes is further behind"
    return Claim(text, paper, f"{_told(gaps)} points below", holds, why).judged_by(gaps.values())


def randomized_close(means: Means, privacy: float) -> Claim:
    """Return whether noise hardly matters where the border is diagonal."""
    gaps = {
        noise: max(means.original(f) - means.of(f, noise, privacy, "Randomized") for f in DIAGONAL) for noise in NOISES
    }
    holds = max(gaps.values()) <= _CLOSE
    measured = ", ".join(f"{SPELLED[noise]} at most {gap:.1f}" for noise, gap in gaps.items())
    why = "" if holds else "noise is then as wide as the range, and nothing corrects for it"
    text = f"Fig. 5, F4 and F5 at {privacy:.0%} privacy: even Randomized is close to Original"
    paper = f"quite close; read as within {_CLOSE:g} points"
    return Claim(text, paper, f"{measured} points below", holds, why).judged_by(gaps.values())


def original_stumbles(means: Means) -> Claim:
    """Return whether the disturbed trees beat the clear one on the buried exclusive or."""
    original, stumbling = means.original(2), means.original(2, STUMBLING)
    best = max(_each(lambda noise, name: means.of(2, noise, 0.25, name)).values())
    holds = best > original
    why = "" if holds else "grown without a least gain, Original also takes splits that gain next to nothing"
    if not holds and best > stumbling:
        why += f"; asked for a gain of 0.0003 it stops as the paper's did ({stumbling:.1f}), and the claim holds"
    measured = f"Original {original:.1f}, best of ByClass and Local {best:.1f}"
    text = "Fig. 5, F2 at 25% privacy: Original stops at a buried exclusive or that the others get past"
    return Claim(text, "Original is poor", measured, holds, why).judged_by([original, best])


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
        why = after or "the noises do not differ much before correction"
    measured = ", ".join(f"{name} {points:+.1f}" for name, points in behind.items())
    text = f"Fig. 6, F{function} at 100% privacy: uniform noise is much worse before correction, about equal after"
    paper = f"read as {_MUCH:g} points or more behind before, at most {_MUCH:g} after"
    return Claim(text, paper, f"uniform behind Gaussian: {measured}", holds, why).judged_by(behind.values())


def fairly_close(means: Means) -> Claim:
    """Return whether the largest privacy of Fig. 6 still comes fairly close."""
    gaps = {
        function: max(means.original(function) - means.of(function, noise, 2.0, "ByClass") for noise in NOISES)
        for function in FUNCTIONS
    }
    holds = max(gaps.values()) <= _FAIRLY
    far = [f"F{function}" for function, gap in gaps.items() if gap > _FAIRLY]
    told = ", ".join(f"F{function} {gap:.1f}" for function, gap in gaps.items())
    why = "" if holds else f"further below on {' and '.join(far)}: {_BORDERS}"
    text = "Fig. 6 at 200% privacy: ByClass still comes fairly close to Original"
    measured = f"{told} points below with the worse noise"
    return Claim(text, f"read as within {_FAIRLY:g} points", measured, holds, why).judged_by(gaps.values())


def local_marginally_better(means: Means) -> Claim:
    """Return whether Local is a little ahead of ByClass over all that was measured."""
    leads = [
        means.of(function, noise, privacy, "Local") - means.of(function, noise, privacy, "ByClass")
        for function, noise, privacy in product(FUNCTIONS, NOISES, means.privacies)
    ] or [math.nan]
    lead = sum(leads) / len(leads)
    measured = f"{lead:+.1f} points in the mean, {min(leads):+.1f} to {max(leads):+.1f}"
    holds = 0 < lead <= _CLOSE
    why = "" if holds else "Local is not ahead in the mean" if lead <= 0 else "Local is far ahead"
    return Claim("Section 6: Local is marginally better than ByClass", "marginally", measured, holds, why).judged_by(
        leads
    )


def _reason(means: Means, function: int, gaps: dict[tuple[str, str], float], allowed: float) -> str:
    if function == 3:
        return _BORDERS
    if function != 2:
        return "the tree finds borders a little off the true ones"
    original, stumbling = means.original(2), means.original(2, STUMBLING)
    against = max(gaps.values()) - (original - stumbling)
    enough = "as claimed" if against <= allowed else "still too much"
    return (
        f"{_BORDERS}; and Original finds the exclusive or here ({original:.1f}), on which the paper's stumbles; "
        f"below one that does ({stumbling:.1f}) they lie by {max(against, 0.0):.1f} points or less, {enough}"
    )


def _each(of: Callable[[str, str], float]) -> dict[tuple[str, str], float]:
    return {(noise, name): of(noise, name) for noise, name in product(NOISES, RECONSTRUCTING)}


def _told(gaps: dict[tuple[str, str], float]) -> str:
    return ", ".join(
        f"{SPELLED[noise]} {' / '.join(f'{gaps[noise, name]:.1f}' for name in RECONSTRUCTING)}" for noise in NOISES
    )
