"""Public cells of numeric attributes: equal widths, and ever finer ones where small numbers crowd."""

import math
from dataclasses import replace

from privet.schema import Numeric, Schema


def with_cells(schema: Schema, n_bins: int) -> Schema:
    """Return the schema with the cells of numbers that declare neither bins nor edges; no row is looked at.

    Many numbers about people (incomes, durations, debts) crowd near zero or near their lower bound, where cells of
    equal width tell nothing apart; so the cell there is halved again and again.
    """
    return schema.with_attributes(
        replace(a, edges=_edges(a, n_bins)) if isinstance(a, Numeric) and a.is_open else a for a in schema.attributes
    )


def _edges(attribute: Numeric, n_bins: int) -> tuple[float, ...]:
    low, high = attribute.low, attribute.high
    steps = [i / n_bins for i in range(1, n_bins)]
    edges = {low * (1 - step) + high * step for step in steps}
    halvings = [2.0**-j / n_bins for j in range(1, math.ceil(n_bins / 2) + 1)]
    if low < 0 < high:
        edges |= {0.0, *(high * part for part in halvings), *(low * part for part in halvings)}
    else:
        edges |= {low * (1 - part) + high * part for part in halvings}
    return _apart(sorted(edges), low, high)


def _apart(edges: list[float], low: float, high: float) -> tuple[float, ...]:
    """Return the edges inside the bounds, without those that rounding alone tells from a neighbour, or from 0."""
    least = (high - low) * 2.0**-30
    apart = [low]
    for edge in (0.0 if abs(edge) < least else edge for edge in edges):
        if edge - apart[-1] > least and high - edge > least:
            apart.append(edge)
    return tuple(apart[1:])
