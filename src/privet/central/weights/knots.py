"""Where the knots and cells of numbers lie, from declared bounds or from released counts; no row is looked at."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.histograms import Histogram
from privet.central.weights.trees import CODES_A_BIN
from privet.schema import Attribute, Numeric, Schema

# Halvings near zero or the lower bound, in the bins of a histogram.
FINE_HALVINGS = 6
# Before rows are counted, so many of them are guessed to lie evenly over bins, the others evenly over values.
_GUESSED_EVEN, _GUESSED_EVEN_AROUND_ZERO = 0.5, 0.3
# Equal widths, and halvings near zero or the lower bound: a score is the best of these and of an attribute's own.
_CODINGS = ((2, 5), (6, 0), (12, 0))


def with_cells(schema: Schema, n_bins: int) -> Schema:
    """Return the schema with cells for numbers that declare neither bins nor edges; no row is looked at.

    Many numbers about people (incomes, durations, debts) crowd near zero or near their lower bound, where cells of
    equal width tell nothing apart; so the width there is halved again and again.
    """
    return schema.with_attributes(
        replace(a, edges=_edges_between(a, knot_values(a, n_bins, FINE_HALVINGS)))
        if isinstance(a, Numeric) and a.is_open
        else a
        for a in schema.attributes
    )


def without_cells(schema: Schema, n_bins: int) -> Schema:
    """Return the schema that `with_cells` made this one of: numbers with the cells that it gives have none declared."""

    def opened(a: Attribute) -> Attribute:
        if not isinstance(a, Numeric) or a.edges is None:
            return a
        is_given = a.edges == _edges_between(a, knot_values(a, n_bins, FINE_HALVINGS))
        return replace(a, edges=None) if is_given else a

    return schema.with_attributes(map(opened, schema.attributes))


def quantile_codes(attribute: Numeric, histogram: Histogram, n_knots: int) -> tuple[int, ...]:
    """Return the codes that part the rows evenly, as far as a noisy histogram of four codes a bin tells."""
    n_bins = len(histogram.noisy) - (not attribute.never_missing)
    borders = attribute.borders
    ends = (CODES_A_BIN * np.arange(n_bins + 1) - CODES_A_BIN // 2).clip(0, attribute.n_values)
    ends[-1] = attribute.n_values
    widths = np.diff(attribute.place(borders[ends]))
    widths /= widths.sum() if attribute.is_log else borders[-1] - borders[0]
    even = _GUESSED_EVEN_AROUND_ZERO if attribute.low < 0 < attribute.high else _GUESSED_EVEN
    guess = (1 - even) * widths + even / n_bins
    seen = histogram.noisy[:n_bins] / max(1, histogram.n_rows)
    variance = 2 * (histogram.scale / max(1, histogram.n_rows)) ** 2
    trust = max(0.0, 1 - variance / max(float(((seen - guess) ** 2).mean()), 1e-300))
    found = np.maximum(guess + trust * (seen - guess) - 0.5 * trust * math.sqrt(variance), 0.0)
    found = 0.85 * found / max(found.sum(), 1e-300) + 0.15 * guess
    for _ in range(8):  # a bin that has most of the rows needs no more than a few knots
        found /= found.sum()
        over = found > 2.5 / n_knots
        if not over.any() or over.all():
            break
        excess = float((found[over] - 2.5 / n_knots).sum())
        found[over] = 2.5 / n_knots
        found[~over] += excess * found[~over] / max(float(found[~over].sum()), 1e-300)
    up_to = np.append(0.0, np.cumsum(found / found.sum()))
    places = np.interp((np.arange(n_knots) + 0.5) / n_knots, up_to, ends)
    return tuple(np.unique(np.clip(np.rint(places - 0.5), 0, attribute.n_values - 1).astype(int)).tolist())


def codings(attribute: Attribute, n_bins: int, *, soft: bool) -> list[NDArray[np.int64]]:
    """Return several ways to put an attribute's codes into cells, for its score; by the values of the codes alone."""
    if not soft or not isinstance(attribute, Numeric):
        return [np.arange(attribute.n_codes)]
    values = attribute.middles
    ways = [np.searchsorted(cell_cuts(attribute, *way), values, side="right") for way in ((n_bins, None), *_CODINGS)]
    return [way if attribute.never_missing else np.append(way, way.max() + 1) for way in ways]


def knot_values(attribute: Numeric, n_bins: int, n_halvings: int | None = None) -> list[float]:
    """Return knots of equal distance, with finer ones near zero or the lower bound, both bounds among them."""
    low, high = attribute.low, attribute.high
    equal = _equal_parts(attribute, max(n_bins - 1, 1))
    return [low, *_inside(attribute, equal | _halvings(attribute, n_bins, n_halvings)), high]


def cell_cuts(attribute: Numeric, n_bins: int, n_halvings: int | None) -> tuple[float, ...]:
    """Return the borders of cells of equal width, of which that near zero or the lower bound is halved further."""
    return _inside(attribute, _equal_parts(attribute, n_bins) | _halvings(attribute, n_bins, n_halvings))


def _equal_parts(attribute: Numeric, n_parts: int) -> set[float]:
    """Return the values between parts of the range that are equally wide on its scale."""
    low, high = attribute.place([attribute.low, attribute.high]).tolist()
    steps = [i / n_parts for i in range(1, n_parts)]
    return set(attribute.value([low * (1 - step) + high * step for step in steps]).tolist())


def _halvings(attribute: Numeric, n_bins: int, n_halvings: int | None) -> set[float]:
    if attribute.is_log:  # small values have room as it is
        return set()
    low, high = attribute.low, attribute.high
    wanted = math.ceil(n_bins / 2) if n_halvings is None else n_halvings
    parts = [2.0**-j / n_bins for j in range(1, wanted + 1)]
    if low < 0 < high and parts:
        return {0.0, *(high * part for part in parts), *(low * part for part in parts)}
    return {low * (1 - part) + high * part for part in parts}


def _edges_between(attribute: Numeric, knots: list[float]) -> tuple[float, ...]:
    """Return the borders of cells, of which each knot has one and four lie from one knot to the next.

    Whole numbers next to each other have no cells between them.
    """
    parts = [(i + 0.5) / CODES_A_BIN for i in range(CODES_A_BIN)]
    places = pairwise(attribute.place(knots).tolist())
    edges = attribute.value([low * (1 - part) + high * part for low, high in places for part in parts]).tolist()
    if attribute.whole:
        return tuple(sorted({float(math.ceil(edge)) for edge in edges}))
    # Floats may not tell them apart where bounds are large and close together.
    return tuple(sorted({edge for edge in edges if knots[0] < edge < knots[-1]}))


def _inside(attribute: Numeric, values: set[float]) -> tuple[float, ...]:
    """Return the values inside the bounds, without those that rounding alone tells from a neighbour, or from 0."""
    low, high = attribute.low, attribute.high
    if attribute.whole:
        return tuple(value for value in sorted({float(math.floor(v + 0.5)) for v in values}) if low < value < high)
    least = (high - low) * 2.0**-30
    apart = [low]
    for edge in (0.0 if abs(edge) < least else edge for edge in sorted(values)):
        if edge - apart[-1] > least and high - edge > least:
            apart.append(edge)
    return tuple(apart[1:])
