"""Effects that only rise or only fall: released weights brought to the nearest ones that do, at no cost.

The argument is in private_forest.md, step 15.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.combining import Scales
from privet.central.weights.order import Directions, known_leaves
from privet.central.weights.parts import RowShares, first_axes, leaf_shares, over_codes
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.trees import Axis, Trees
from privet.errors import ParameterError
from privet.schema import Schema
from privet.schema.attribute import has_order

Floats = NDArray[np.float64]
# A leaf counts by its share of the rows, and by this much of an even share where hardly a row is.
_EVEN = 0.05


def directions_of(wanted: Mapping[str, int] | None, schema: Schema) -> dict[int, int]:
    """Return the directions of attributes that were given by name, those without one left out."""
    asked = {name: int(direction) for name, direction in (wanted or {}).items() if direction}
    if asked and schema.n_classes != 2:
        raise ParameterError(
            f"monotonic_cst is for two classes, and the schema has {len(schema.classes)}; "
            "leave it out, or merge classes"
        )
    for name in asked:
        if name not in schema.names:
            raise ParameterError(
                f"monotonic_cst (--increasing, --decreasing) names {name!r}, which is no attribute of the schema; "
                "correct the name"
            )
        if not has_order(schema.attributes[schema.names.index(name)]):
            raise ParameterError(
                f"monotonic_cst (--increasing, --decreasing) names {name!r}, whose categories have no order; declare "
                "it ordered, or leave it out"
            )
    return {schema.names.index(name): direction for name, direction in asked.items()}


def monotone(released: ReleasedWeights, directions: Directions, scales: Scales) -> ReleasedWeights:
    """Return the weights nearest to the released ones with which no score goes against a direction.

    Parameters
    ----------
    released : ReleasedWeights
        Weights of one column, whose rise is the second class's.
    directions : mapping
        1 or -1, by attribute.
    scales : Scales
        The noise in the released counts. Leaves count by their share of the rows, where that was released.

    Privacy
    -------
    Only released numbers enter: post-processing, which costs nothing.
    """
    trees, asked = released.trees, {a for own in released.trees.attributes for a in own} & set(directions)
    if not asked:
        return released
    tables, axes = _tables(released), first_axes(trees)
    histograms = released.histograms(scales.cells, released.about_rows(scales.balance)) or {}
    shares = {a: over_codes(axes[a], own.shares) for a, own in histograms.items()}
    n_first = trees.n_trees - trees.n_later
    for t in range(n_first):
        _bring_in_order(tables[t], trees.axes[t], directions, shares)
    _move_to_later_trees(tables, released, {a: directions[a] for a in asked})
    for t in range(n_first, trees.n_trees):
        _bring_in_order(tables[t], trees.axes[t], directions, shares)
    whole = [
        _whole_in_order(table, own, directions).reshape(-1, 1) for table, own in zip(tables, trees.axes, strict=True)
    ]
    return replace(released, weights=np.concatenate(whole))


def _tables(released: ReleasedWeights) -> list[Floats]:
    """Return each tree's weights, a dimension an attribute."""
    parts = np.split(released.weights[:, 0].astype(np.float64), np.cumsum(released.trees.sizes)[:-1])
    return [
        part.reshape(*(axis.n_leaves for axis in own)) for part, own in zip(parts, released.trees.axes, strict=True)
    ]


def _move_to_later_trees(tables: list[Floats], released: ReleasedWeights, directions: Directions) -> None:
    """Move as much of an attribute's own effect as they can take to the trees that it shares with others.

    A tree of several attributes mostly says where an effect is weaker or stronger. Alone it would go against the
    direction; with its part of the effect it need not. What is moved rises nowhere faster than the effect does, so what
    is left of the effect still goes its way. An attribute that shares its tree of the first stage has no such effect.
    """
    trees = released.trees
    for a, direction in directions.items():
        places = [(t, own.index(a)) for t, own in enumerate(trees.attributes) if a in own]
        (first, _), *later = places
        if not later or trees.is_later(first) or len(trees.axes[first]) > 1:
            continue
        fine, coarse = trees.axes[first][0], trees.axes[later[0][0]][later[0][1]]
        known = known_leaves(tables[first], 0, fine)
        at_coarse, at_fine = _least_rise(fine, direction * known, coarse)
        known -= direction * at_fine
        for t, place in later:
            known_leaves(tables[t], place, trees.axes[t][place])[...] += direction * at_coarse / len(later)


def _codes(axis: Axis) -> NDArray[np.int64]:
    """Return the code at which each leaf of values lies."""
    known = axis.cell_of[: axis.n_values]
    return np.array(axis.knots) if axis.knots else np.searchsorted(known, np.arange(axis.n_known))


def slack_of(released: ReleasedWeights, directions: Directions, later: Trees) -> dict[int, Floats]:
    """Return how far trees of a second stage may go against each direction, as the released first stage makes up for.

    ``released`` are weights of the first stage that go their way.
    """
    tables, first = _tables(released), {own[0]: t for t, own in enumerate(released.trees.attributes) if len(own) == 1}
    found = {}
    for a in set(directions) & set(first):
        shared = [axis for own in later.axes for axis in own if axis.attribute == a]
        if shared:
            axis = released.trees.axes[first[a]][0]
            rises = directions[a] * known_leaves(tables[first[a]], 0, axis)
            at_coarse, _ = _least_rise(axis, rises, shared[0])
            found[a] = np.diff(at_coarse) * 2.0**released.exponent / len(shared)
    return found


def _least_rise(fine: Axis, values: Floats, coarse: Axis) -> tuple[Floats, Floats]:
    """Return a curve that rises nowhere faster than another one: its values at the coarse leaves and at the fine ones.

    Between two coarse leaves it has the least slope that the other one, of rising ``values``, has there.
    """
    at, knots = _codes(fine), _codes(coarse)
    slopes = np.diff(values) / np.diff(at)
    outside = np.concatenate([[0.0], slopes, [0.0]])  # flat before its first code and after its last
    rises = []
    for low, high in pairwise(knots):
        touched = slice(np.searchsorted(at, low, side="right"), np.searchsorted(at, high, side="left") + 1)
        rises.append(float(outside[touched].min()) * (high - low))
    at_knots = np.concatenate([[0.0], np.cumsum(rises)])
    return at_knots, np.interp(at, knots, at_knots)


def _bring_in_order(table: Floats, axes: Sequence[Axis], directions: Directions, shares: RowShares) -> None:
    """Bring a table to the nearest one whose lines along each attribute go its way; missing values stay as they are.

    All lines along an attribute have the same weights, so lines that are in order stay so: what is done for one
    attribute does not undo what was done for another.
    """
    from scipy.optimize import isotonic_regression

    for place, axis in enumerate(axes):
        if axis.attribute in directions:
            held = np.full(axis.n_known, _EVEN / axis.n_known)
            if axis.attribute in shares:
                held += leaf_shares(axis, shares[axis.attribute])[: axis.n_known]
            lines = directions[axis.attribute] * known_leaves(table, place, axis)
            nearest = [isotonic_regression(line, weights=held).x for line in lines.reshape(-1, axis.n_known)]
            known_leaves(table, place, axis)[...] = directions[axis.attribute] * np.reshape(nearest, lines.shape)


def _whole_in_order(table: Floats, axes: Sequence[Axis], directions: Directions) -> NDArray[np.int64]:
    """Return a table in whole numbers, without what rounding may have put out of order."""
    whole: NDArray[np.int64] = np.rint(table).astype(np.int64)
    for place, axis in enumerate(axes):
        if axis.attribute in directions:
            known, direction = known_leaves(whole, place, axis), directions[axis.attribute]
            known[...] = direction * np.maximum.accumulate(direction * known, axis=-1)
    return whole
