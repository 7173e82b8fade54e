"""What the paper says of Fig. 2, beside what was measured: L1 distances to the original, and the dip between peaks."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import pandas as pd

from papers.agrawal2000.people import SPELLED
from papers.agrawal2000.shapes import SCALES, SHAPES
from papers.claim import Claim

# A shape has come back where reconstruction leaves at most so much of the distance to the original.
_LEFT = 0.5
# The triangles' peaks, and where they meet; cells of the paper's width about them.
_PEAKS, _MEETING = ((0.2, 0.3), (0.7, 0.8)), (0.45, 0.55)
_DIP = 0.8


class Distances(NamedTuple):
    """Mean L1 distances to the original over draws: of the disturbed values, and of the reconstruction."""

    before: float
    after: float


def shape_claims(lines: pd.DataFrame) -> Iterator[Claim]:
    """Yield the claims on reconstructed distributions."""
    yield from (comes_back(lines, shape, noise) for shape, noise in product(SHAPES, SCALES))
    yield from (two_peaks(lines, noise) for noise in SCALES)


def distances(lines: pd.DataFrame) -> Distances:
    """Return the distances of one shape under one noise."""
    parts = (lines[part].sub(lines["original"]).abs() for part in ("disturbed", "reconstructed"))
    return Distances(*(float(part.groupby(lines["draw"]).sum().mean()) for part in parts))


def comes_back(lines: pd.DataFrame, shape: str, noise: str) -> Claim:
    """Return whether reconstruction takes most of the distance away."""
    found = lines[(lines["shape"] == shape) & (lines["noise"] == noise)]
    by_size = {size: distances(found[found["values"] == size]) for size in sorted(set(found["values"]))}
    told = [f"{at.before:.2f} to {at.after:.2f} with {size:,} values" for size, at in by_size.items()]
    holds = all(at.after <= _LEFT * at.before for at in by_size.values())
    text = f"Fig. 2, {shape} with {SPELLED[noise]} noise: the shape comes back"
    reading = f"at most {_LEFT:g} of the distance is left"
    why = "" if holds else "the distances were measured at the step at which the paper's rule stops"
    measured = f"L1 distance from {', '.join(told)}"
    return Claim(text, "picked out", measured, holds, why, "protocol", reading)


def two_peaks(lines: pd.DataFrame, noise: str) -> Claim:
    """Return whether the triangles are seen as two, which disturbed they are not."""
    found = lines[(lines["shape"] == "triangles") & (lines["noise"] == noise)]
    dips = {part: dip(found, part) for part in ("original", "disturbed", "reconstructed")}
    holds = dips["reconstructed"] <= _DIP < dips["disturbed"]
    measured = ", ".join(f"{part} {share:.0%}" for part, share in dips.items())
    text = f"Fig. 2, {SPELLED[noise]} noise: the triangles are two again; disturbed they look nothing like it"
    reading = f"a dip to {_DIP:.0%} of the peaks or less, and none when disturbed"
    why = (
        "" if holds else "the heights were measured at the step at which the paper's rule stops: the peaks run together"
    )
    return Claim(text, "picked out", f"dip to {measured}", holds, why, "protocol", reading)


def dip(lines: pd.DataFrame, part: str) -> float:
    """Return the mean height between the triangles as a share of that at their peaks."""
    # Borders are rounded in the file.
    middle = lines["low"] + 1e-6
    peaks = [lines[part][(middle >= low) & (middle < high)].mean() for low, high in _PEAKS]
    between = lines[part][(middle >= _MEETING[0]) & (middle < _MEETING[1])].mean()
    return float(between / (sum(peaks) / len(peaks)))
