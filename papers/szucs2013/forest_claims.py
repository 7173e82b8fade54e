"""What the paper says of its forest's accuracy, beside what was measured.

Its claims are judged by its own forest, whose trees have a vote each; what the mean of probabilities does is ours.
"""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from papers.claim import ROUNDING, Claim
from papers.szucs2013.curves import Curves
from papers.szucs2013.plain_forest import ATTRIBUTES, BITS, FULLY_GROWN, LEAST_NODE, MAJORITY, MEAN
from papers.szucs2013.split import TITLES

if TYPE_CHECKING:
    import pandas as pd

# The area under the curve without any disguise.
_PRINTED = {"adult": 0.89, "census-income-kdd": 0.88}
# An area of 0.01 is a point.
_ROUNDED = ROUNDING / 100
# What claims of ours take for a loss.
_NOTICEABLE = 0.01
_GROWN = {LEAST_NODE: f"nodes of {LEAST_NODE} rows", FULLY_GROWN: "trees grown to the end"}


def forest_claims(curves: Curves) -> Iterator[Claim]:
    """Yield the claims on accuracy."""
    for table in TITLES:
        yield reaches_the_printed(curves, table)
        yield mean_reaches_the_printed(curves, table)
        yield equal_on_bits(curves, table)
        yield equal_on_attributes(curves, table)
        yield worse_near_half(curves, table)
        yield trade_off(curves, table)
        yield mean_falls(curves, table)
        yield label_disguised_too(curves, table)
        yield disguise_ignored(curves, table)


def reaches_the_printed(curves: Curves, table: str) -> Claim:
    """Return whether the paper's vote gives the area printed for clear records."""
    areas = [curves.undisguised(table, MAJORITY, least) for least in _GROWN]
    best, least_node, trees = curves.largest_undisguised(table, MAJORITY)
    holds = best >= _PRINTED[table] - _ROUNDED
    measured = f"{_told(areas)}; at best {best:.3f} ({trees} trees, nodes of {least_node} rows)"
    mean = curves.undisguised(table, MEAN, LEAST_NODE)
    why = (
        "how votes become scores is not said, nor the least node or the number of trees; by the mean of their "
        f"probabilities the same trees with nodes of {LEAST_NODE} rows have {mean:.3f}, so it is the vote"
    )
    text = f"Section 4.4, {TITLES[table]}: the AUC without disguise is reached, by majority vote"
    told, reading = "" if holds else why, "at the best of all least nodes and numbers of trees"
    return Claim(text, f"{_PRINTED[table]:.2f}", measured, holds, told, "protocol", reading).judged_by(areas)


def mean_reaches_the_printed(curves: Curves, table: str) -> Claim:
    """Return whether the mean of probabilities gives the area printed."""
    areas = [curves.undisguised(table, MEAN, least) for least in _GROWN]
    holds = areas[0] >= _PRINTED[table] - _ROUNDED
    text = f"{TITLES[table]}: by the mean of probabilities and nodes of {LEAST_NODE} rows the printed AUC is reached"
    why = "" if holds else "the same trees were tried fully grown, too"
    return Claim(text, "", _told(areas), holds, why, "protocol", ours=True).judged_by(areas)


def equal_on_bits(curves: Curves, table: str) -> Claim:
    """Return whether a plain forest that votes alike does as well on the same bits."""
    pairs = {
        f"{vote} {_GROWN[least]}": (
            curves.undisguised(table, vote, least), curves.plain(table, BITS, least, vote)
        )
        for vote in (MAJORITY, MEAN) for least in _GROWN
    }  # fmt: skip
    apart = {name: area - plain for name, (area, plain) in pairs.items()}
    far = [name for name, points in apart.items() if abs(points) > _ROUNDED]
    measured = "; ".join(f"{name}: {area:.3f} against {plain:.3f}" for name, (area, plain) in pairs.items())
    why = f"not {', '.join(far)}: bootstraps and bits to try are drawn otherwise, one run each" if far else ""
    text = f"Section 4.4, {TITLES[table]}: without disguise equal to a plain random forest, on the same bits"
    return Claim(text, "the same", measured, not far, why, "protocol").judged_by(apart.values())


def equal_on_attributes(curves: Curves, table: str) -> Claim:
    """Return whether a plain forest does as well on the table as it comes."""
    pairs = {
        vote: (curves.undisguised(table, vote, LEAST_NODE), curves.plain(table, ATTRIBUTES, LEAST_NODE, vote))
        for vote in (MAJORITY, MEAN)
    }
    holds = all(abs(area - plain) <= _ROUNDED for area, plain in pairs.values())
    on_bits = curves.plain(table, BITS, LEAST_NODE, MEAN)
    why = (
        f"the paper does not say in which form the plain forest had the rows: on bits the same one has {on_bits:.3f} "
        "(mean), so the coding loses the difference, such as the amount of a capital gain"
    )
    measured = "; ".join(f"{vote} {area:.3f} against {plain:.3f}" for vote, (area, plain) in pairs.items())
    text = f"Section 4.4, {TITLES[table]}: without disguise equal to a plain random forest on the table as it comes"
    numbers = [area for pair in pairs.values() for area in pair]
    return Claim(text, "the same", measured, holds, "" if holds else why, "protocol").judged_by(numbers)


def worse_near_half(curves: Curves, table: str) -> Claim:
    """Return whether the strongest disguise costs accuracy, at one of the two least nodes."""
    found = {least: curves.voted(table, MAJORITY, least) for least in _GROWN}
    losses = {least: float(curve.iloc[0] - curve.iloc[-1]) for least, curve in found.items() if len(curve) > 1}
    theta = min((curve.index.min() for curve in found.values() if len(curve)), default=math.nan)
    measured = ", ".join(f"{loss:.3f} {_GROWN[least]}" for least, loss in losses.items())
    text = f"Section 5, {TITLES[table]}: near theta 1/2 classification is worse than near 1, by majority vote"
    worse = [least for least, loss in losses.items() if loss > 0]
    why = _not_at("every theta was measured, with three runs on Adult", worse, list(losses))
    return Claim(
        text, "worse", f"theta {theta:g} loses {measured}", bool(worse), why, "protocol", "at one of two least nodes"
    ).judged_by(losses.values())


def trade_off(curves: Curves, table: str) -> Claim:
    """Return whether every step towards more anonymity costs the paper's own forest accuracy, at one of the nodes."""
    found = {least: curves.voted(table, MAJORITY, least) for least in _GROWN}
    rises = {least: _largest_rise(curve) for least, curve in found.items()}
    measured = "; ".join(
        f"{_GROWN[least]}: {', '.join(f'{area:.3f} at {theta:g}' for theta, area in curve.items())}"
        for least, curve in found.items()
    )
    by_mean = _largest_rise(curves.voted(table, MEAN, LEAST_NODE))
    falling = [least for least, rise in rises.items() if rise <= _ROUNDED]
    why = (
        f"AUC rises by {' or '.join(f'{rise:.3f}' for rise in rises.values())} before it falls; it is the vote, for by "
        f"the mean of their probabilities the same trees with nodes of {LEAST_NODE} rows rise by {by_mean:.3f} at most"
    )
    text = f"Fig. 2 and Section 5, {TITLES[table]}: anonymity rises only as AUC falls, by majority vote"
    reading = f"no AUC is more than {_ROUNDED:g} above one at less disguise, at one of two least nodes"
    return Claim(
        text, "increasing one by decreasing the other", measured, bool(falling), _not_at(why, falling, list(rises)),
        "protocol", reading,
    ).judged_by(area for curve in found.values() for area in curve)  # fmt: skip


def mean_falls(curves: Curves, table: str) -> Claim:
    """Return whether accuracy falls throughout by the mean of probabilities."""
    curve = curves.voted(table, MEAN, LEAST_NODE)
    holds = _largest_rise(curve) <= _ROUNDED and bool(len(curve) and curve.iloc[-1] < curve.iloc[0])
    measured = ", ".join(f"{area:.3f} at {theta:g}" for theta, area in curve.items())
    text = f"{TITLES[table]}: by the mean of probabilities and nodes of {LEAST_NODE} rows AUC falls towards theta 1/2"
    why = "" if holds else "every theta was measured, and the curve does not fall throughout"
    return Claim(text, "", measured, holds, why, "protocol", ours=True).judged_by(curve)


def label_disguised_too(curves: Curves, table: str) -> Claim:
    """Return whether it matters that the label is flipped with its record."""
    losses = curves.of(table) - curves.of(table, "auc_disguised_label")
    largest = float(losses.max())
    theta: Any = losses.idxmax() if len(losses) else math.nan
    holds = largest <= _NOTICEABLE
    why = (
        f"chance may be all, for runs of one forest on Adult lie {curves.apart('adult', theta):.3f} apart there; from "
        f"theta {_least(losses):g} on no more than {_NOTICEABLE:g} is lost"
    )
    text = f"{TITLES[table]}: a label that is disguised too costs no more than {_NOTICEABLE:g} of AUC"
    measured = f"loses at most {largest:.4f}, at theta {theta:g}"
    return Claim(text, "", measured, holds, "" if holds else why, "protocol", ours=True).judged_by(losses)


def disguise_ignored(curves: Curves, table: str) -> Claim:
    """Return whether a forest that believes every record loses next to nothing."""
    text = f"{TITLES[table]}: who ignores the disguise loses no more than {_NOTICEABLE:g} of AUC by it"
    ignored, anonymity = curves.of(table, "auc_disguise_ignored"), curves.of(table, "anonymity")
    if ignored.empty:
        return Claim(text, "", "", None, ours=True)
    first, last = ignored.iloc[0], ignored.iloc[-1]
    measured = (
        f"from theta 1 to {ignored.index[-1]:g} anonymity goes from {anonymity.iloc[0]:.2f} to "
        f"{anonymity.iloc[-1]:.2f}, and the AUC of a forest that believes every record from {first:.3f} to {last:.3f}"
    )
    holds = bool(first - last <= _NOTICEABLE)
    why = "mirror images lie where no true record does, and hardly disturb the trees"
    told = why if holds else "enough mirror images lie where true records do"
    return Claim(text, "", measured, holds, told, "data set", ours=True)


def _not_at(why: str, so: list[int], tried: list[int]) -> str:
    """Return why it is so at no least node, or at which it is not."""
    if not so:
        return why
    otherwise = [_GROWN[least] for least in tried if least not in so]
    return f"not with {otherwise[0]}: the least node, which the paper leaves open, decides" if otherwise else ""


def _told(areas: list[float]) -> str:
    return ", ".join(f"{area:.3f} {grown}" for area, grown in zip(areas, _GROWN.values(), strict=True))


def _largest_rise(curve: "pd.Series[float]") -> float:
    """Return by how much a later area is above an earlier one at most."""
    return float((curve - curve.cummin()).max()) if len(curve) else math.nan


def _least(losses: "pd.Series[float]") -> float:
    """Return the least theta from which on next to nothing is lost."""
    large = losses[losses > _NOTICEABLE]
    small = losses[losses.index > large.index.max()] if len(large) else losses
    return float(small.index.min()) if len(small) else 1.0
