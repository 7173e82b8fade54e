"""What the paper says of its forest's accuracy, beside what was measured."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from papers.claim import Claim
from papers.szucs2013.curves import Curves
from papers.szucs2013.plain_forest import ATTRIBUTES, BITS, FULLY_GROWN, LEAST_NODE
from papers.szucs2013.split import TITLES

if TYPE_CHECKING:
    import pandas as pd

# The area under the curve without any disguise.
_PRINTED = {"adult": 0.89, "census-income-kdd": 0.88}
_EQUAL, _NOTICEABLE = 0.005, 0.01
# What chance does from run to run, below which a curve is not said to rise.
_WOBBLE = 0.004


def forest_claims(curves: Curves) -> Iterator[Claim]:
    """Yield the claims on accuracy."""
    for table in TITLES:
        yield reaches_the_printed(curves, table)
        yield equal_on_bits(curves, table)
        yield equal_on_attributes(curves, table)
        yield falls_towards_half(curves, table)
        yield label_disguised_too(curves, table)
        yield trade_off(curves, table)


def reaches_the_printed(curves: Curves, table: str) -> Claim:
    """Return whether clear records give the area printed."""
    area, fully_grown = curves.undisguised(table), curves.plain(table, BITS, FULLY_GROWN)
    holds = area >= _PRINTED[table]
    why = f"nodes of fewer than {LEAST_NODE} rows are not split; grown to the end, a plain forest has {fully_grown:.3f}"
    text = f"Section 4.4, {TITLES[table]}: the AUC without disguise is reached"
    return Claim(text, f"{_PRINTED[table]:.2f}", f"{area:.3f}", holds, why).judged_by([area])


def equal_on_bits(curves: Curves, table: str) -> Claim:
    """Return whether a plain forest does as well on the same bits."""
    area, plain = curves.undisguised(table), curves.plain(table, BITS, LEAST_NODE)
    holds = abs(area - plain) <= _EQUAL
    text = f"Section 4.4, {TITLES[table]}: without disguise equal to a plain random forest, on the same bits"
    why = "" if holds else "bootstraps and bits to try are drawn otherwise"
    return Claim(text, "the same", f"{area:.3f} against {plain:.3f}", holds, why).judged_by([area, plain])


def equal_on_attributes(curves: Curves, table: str) -> Claim:
    """Return whether a plain forest does as well on the table as it comes."""
    area = curves.undisguised(table)
    plain = max(curves.plain(table, ATTRIBUTES, least) for least in (LEAST_NODE, FULLY_GROWN))
    holds = abs(area - plain) <= _EQUAL
    why = "" if holds else "coding loses what lies within a quarter of a number, such as the amount of a capital gain"
    text = f"Section 4.4, {TITLES[table]}: without disguise equal to a plain random forest on the original table"
    return Claim(text, "the same", f"{area:.3f} against {plain:.3f}", holds, why).judged_by([area, plain])


def falls_towards_half(curves: Curves, table: str) -> Claim:
    """Return whether accuracy falls as the disguise grows."""
    curve = curves.of(table)
    rises = curve.diff().max() > _WOBBLE
    holds = len(curve) > 1 and not rises and bool(curve.iloc[-1] < curve.iloc[0] - _WOBBLE)
    measured = ", ".join(f"{area:.3f} at {theta:g}" for theta, area in curve.items())
    why = "" if holds else "the curve does not fall throughout"
    return Claim(f"Fig. 2, {TITLES[table]}: AUC falls towards theta 1/2", "falls", measured, holds, why).judged_by(
        curve
    )


def label_disguised_too(curves: Curves, table: str) -> Claim:
    """Return whether it matters that the label is flipped with its record."""
    losses = curves.of(table) - curves.of(table, "auc_disguised_label")
    largest = float(losses.max())
    theta: Any = losses.idxmax() if len(losses) else math.nan
    holds = largest <= _NOTICEABLE
    why = "" if holds else f"near 1/2 estimates are mostly noise; from theta {_least(losses):g} on they are as good"
    text = f"Section 4.1, {TITLES[table]}: a disguised label is dealt with as well as a clear one"
    measured = f"loses at most {largest:.4f}, at theta {theta:g}"
    return Claim(text, f"both given; read as a loss of {_NOTICEABLE:g} at most", measured, holds, why).judged_by(losses)


def trade_off(curves: Curves, table: str) -> Claim:
    """Return whether less accuracy is the price of more anonymity; it is not for who ignores the disguise."""
    text = f"Section 5, {TITLES[table]}: anonymity rises only as accuracy falls"
    ignored, anonymity = curves.of(table, "auc_disguise_ignored"), curves.of(table, "anonymity")
    if ignored.empty:
        return Claim(text, "strongly dependent", "", None)
    first, last = ignored.iloc[0], ignored.iloc[-1]
    measured = (
        f"from theta 1 to {ignored.index[-1]:g} anonymity goes from {anonymity.iloc[0]:.2f} to "
        f"{anonymity.iloc[-1]:.2f}, and the AUC of a forest that believes every record from {first:.3f} to {last:.3f}"
    )
    holds = bool(first - last > _NOTICEABLE)
    why = "" if holds else "mirror images lie where no true record does, and hardly disturb the trees"
    return Claim(text, "strongly dependent", measured, holds, why)


def _least(losses: "pd.Series[float]") -> float:
    """Return the least theta at which next to nothing is lost."""
    small = losses[losses <= _NOTICEABLE]
    return float(small.index.min()) if len(small) else 1.0
