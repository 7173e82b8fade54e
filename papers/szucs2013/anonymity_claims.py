"""What the paper says of binary anonymity, beside what was measured."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pandas as pd

from papers.claim import Claim
from papers.szucs2013.anonymity import ALONE, PAIRS

_HALF = 0.5


def anonymity_claims(lines: pd.DataFrame) -> Iterator[Claim]:
    """Yield the claims of Fig. 1."""
    curves = lines.pivot(index="theta", columns="frequent", values="anonymity")
    yield largest_at_half(curves)
    yield largest_is_one(curves)
    yield unequal_is_lower(curves)
    yield none_without_a_partner(curves)
    yield none_at_the_ends(curves)


def largest_at_half(curves: pd.DataFrame) -> Claim:
    """Return whether every pair is best mixed at theta 1/2."""
    at: list[Any] = [curves[pair].idxmax() for pair in PAIRS]
    told = ", ".join(f"{theta:g}" for theta in at)
    holds = all(theta == _HALF for theta in at)
    return Claim("Fig. 1: anonymity is largest at theta 1/2", "0.5", told, holds, _worked_out(holds=holds), "paper")


def largest_is_one(curves: pd.DataFrame) -> Claim:
    """Return whether equal frequencies reach 1."""
    most = float(curves[_HALF].max())
    why = _worked_out(holds=most == 1)
    return Claim("Fig. 1: its largest value, of equally frequent values", "1", f"{most:g}", most == 1, why, "paper")


def unequal_is_lower(curves: pd.DataFrame) -> Claim:
    """Return whether a larger difference of frequencies means less anonymity, whatever theta."""
    ordered = all((curves[a] > curves[b]).all() for a, b in pairwise(PAIRS))
    told = ", ".join(f"{curves[pair].max():.2f} ({pair:g} and {1 - pair:.2g})" for pair in PAIRS)
    text = "Fig. 1: the more unequal the two frequencies, the lower"
    why = "" if ordered else f"two curves cross; {_worked_out(holds=False)}"
    return Claim(text, "lower", f"at theta 1/2: {told}", ordered, why, "paper")


def none_without_a_partner(curves: pd.DataFrame) -> Claim:
    """Return whether a code that no value is the mirror image of has no anonymity."""
    most = float(curves[ALONE].max())
    why = f"{_worked_out(holds=most == 0)}; it gives half the entropy of the coin, where the text has 0 from the limit"
    text = "Section 3.1: a value without a partner has no anonymity"
    return Claim(text, "0", f"{most:g} at theta 1/2", most == 0, "" if most == 0 else why, "paper")


def none_at_the_ends(curves: pd.DataFrame) -> Claim:
    """Return whether nothing is hidden where every record is given as it is."""
    ends = [float(curves[pair].loc[1.0]) for pair in PAIRS]
    holds = not any(ends)
    why = (
        f"{_worked_out(holds=holds)}; it also counts how unsure one is before any answer, and no record is hidden there"
    )
    text = "Section 5: at theta 1 there is no anonymity at all"
    return Claim(text, "0", " / ".join(f"{end:.2f}" for end in ends), holds, "" if holds else why, "paper")


def _worked_out(*, holds: bool) -> str:
    return "" if holds else "worked out from equation 3, no data needed"
