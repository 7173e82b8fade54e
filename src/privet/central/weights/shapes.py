"""What attributes do to a score, point by point: the shape of an effect, and how far noise may have moved it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.parts import Part, Points, RowShares, Split, first_axes, gram_of_tree, split_tree
from privet.central.weights.prior import covariance_of
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.trees import CODES_A_BIN, Axis
from privet.schema import Attribute, Categorical, Numeric, Schema

Floats = NDArray[np.float64]
MISSING = "missing"
# Digits that tell values apart, if fewer do not; and the exponent from which a number is not written out.
_FEWEST_DIGITS, _MOST_DIGITS, _LONG = 3, 17, 15
# A share of the rows below this is what rounding left of none.
_TRACE = 1e-12


@dataclass(frozen=True)
class Shape:
    """The effect of one attribute, or what two to four do together that fewer do not, on every class's score.

    It is the sum of what all trees say. A point is a category, a cell of a number that has declared bins or edges, or
    else one of many values of a number, and between two of them the effect is nearly a straight line.

    Attributes
    ----------
    attributes : tuple of int
        Which of the schema's attributes.
    names : tuple of str
        Their names.
    cells : tuple of tuples of str
        What the points of each are. Missing values come last; they have no point where they never occur, or where the
        effect takes them for a value in the middle.
    values : tuple of arrays or None
        The value at each point but that of missing values, of each attribute that is a number without cells.
    weights : array of shape (points of the first attribute, ..., classes)
        What a row at these points adds to the score of each class, beside where all rows start.
    noise_std : array of shape (points of the first attribute, ...)
        The standard deviation of what noise adds to a weight, for rows that lie as their released shares say, else
        evenly over leaves. It is that of the fits, of each tree by itself: that trees share rows, and the noise of the
        shares, are not in it.
    shares : tuple of arrays or None
        The sure share of the rows at each point of each attribute: the released share less what noise may have added,
        made to add up to 1. 0 where noise alone may have shown some. None where shares were not released.
    direction : int
        1 where the effect was asked to rise with the attribute, for the second class, -1 to fall, 0 for neither.
    """

    attributes: tuple[int, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    values: tuple[Floats | None, ...]
    weights: Floats
    noise_std: Floats
    shares: tuple[Floats, ...] | None = None
    direction: int = 0

    @property
    def title(self) -> str:
        """The attributes' names."""
        return " x ".join(self.names)


def shapes_of(
    model: LeafWeights,
    schema: Schema,
    released: ReleasedWeights,
    shares: RowShares,
    held: RowShares,
    *,
    rows: float,
    are_released: bool,
) -> list[Shape]:
    """Return the shape of every effect.

    Trees are split as rows of these ``shares`` see them. ``rows`` that lie as ``held`` says hold weights against the
    noise; they are effective rows: rows times the mean curvature of the loss.
    """
    noise: dict[tuple[int, ...], list[Part]] = {}
    factor = 0.5 if model.weights.shape[1] == 1 else 1.0
    for t, axes in enumerate(model.trees.axes):
        if released.noise_std[t] > 0:
            moves = noise_moves(model, t, schema, float(released.variances[t]), rows, held)
            for own, part in split_tree(axes, factor * float(released.noise_std[t]) * moves, shares).items():
                noise.setdefault(own, []).append(part)
    split, fine = Split.of(model, shares), first_axes(model.trees)
    found = []
    for own, parts in split.parts.items():
        attributes = [schema.attributes[a] for a in own]
        axes_of = [[part.axes[i] for part in parts] for i in range(len(own))]
        points = [Points.of(axes, has_missing=not a.never_missing) for axes, a in zip(axes_of, attributes, strict=True)]
        codes = [each.first for each in points]
        weights = np.sum([part.at(codes) for part in parts], axis=0)
        # The noises of all leaves are independent.
        variance = sum(
            ((part.at(codes) ** 2).sum(axis=-1) for part in noise.get(own, ())), np.zeros(weights.shape[:-1])
        )
        named = [_named(schema.attributes[a], fine[a], each) for a, each in zip(own, points, strict=True)]
        found.append(
            Shape(
                own, tuple(a.name for a in attributes), tuple(cells for cells, _ in named),
                tuple(values for _, values in named), weights, np.sqrt(variance),
                tuple(_sure(each, shares[a]) for each, a in zip(points, own, strict=True)) if are_released else None,
            )
        )  # fmt: skip
    return found


def _sure(points: Points, shares: Floats) -> Floats:
    """Return the share of the rows at each point, without what rounding left."""
    found = points.shares(shares)
    return np.where(found < _TRACE, 0.0, found)


def noise_moves(model: LeafWeights, tree: int, schema: Schema, variance: float, rows: float, held: RowShares) -> Floats:
    """Return how far noise at each leaf moves each weight of a tree: the inverse of K^-1 + rows."""
    covariance = covariance_of(model.trees, tree, schema, variance)
    rows_of_leaves = rows * gram_of_tree(model.trees.axes[tree], held)
    moves = np.linalg.solve(np.eye(len(covariance)) + covariance @ rows_of_leaves, covariance)
    return moves.astype(np.float64, copy=False)


def code_values(attribute: Numeric) -> Floats:
    """Return the value that each code of a number with knots stands for: even steps between those that bins lie at."""
    cuts = attribute.cuts
    if attribute.whole:
        inner = np.clip(np.floor(attribute.middles[1:-1]), attribute.borders[1:-2], None)
        return np.array([attribute.low, *inner, attribute.high])
    if attribute.is_log:
        return np.array([attribute.low, *attribute.middles[1:-1], attribute.high])
    if attribute.n_values % CODES_A_BIN != 1:  # floats did not tell all cells apart
        return attribute.middles
    ends = cuts.reshape(-1, CODES_A_BIN)
    bins = np.append(attribute.low, ends[:, -1] + (ends[:, -1] - ends[:, 0]) / (CODES_A_BIN - 1) / 2)
    bins[-1] = attribute.high
    # What rounding left is taken off.
    decimals = 12 - math.ceil(math.log10(attribute.high - attribute.low))
    bins = bins.round(decimals) if -300 < decimals < 300 else bins
    values: Floats = np.interp(np.arange(attribute.n_values), CODES_A_BIN * np.arange(len(bins)), bins)
    return values


def _named(attribute: Attribute, fine: Axis, points: Points) -> tuple[tuple[str, ...], Floats | None]:
    """Return what the points of an attribute are, in words, and their values if it is a number without cells.

    ``fine`` is how the first stage asks for it.
    """
    last = points.last(attribute.n_values)
    known = last >= 0
    missing = [MISSING] * int((~known).sum())
    if isinstance(attribute, Numeric) and fine.knots:
        values = code_values(attribute)
        own = (values[points.first[known]] + values[last[known]]) / 2
        own = np.floor(own) if attribute.whole else own
        own[0], own[-1] = values[0], values[-1]
        return (*(map(attribute.written, own) if attribute.whole else brief(own)), *missing), own
    names = [_cell_name(attribute, int(i), int(j)) for i, j in zip(points.first[known], last[known], strict=True)]
    return (*names, *missing), None


def brief(values: Floats) -> list[str]:
    """Return numbers with as few digits as tell them apart, whole ones in full."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
        names = [_written(float(value), digits) for value in values]
        if len(set(names)) == len(names):
            break
    return names


def _written(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if abs(size) > _LONG:
        return f"{value:.{digits}g}"
    text = f"{value:.{max(0, digits - 1 - size)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _cell_name(attribute: Attribute, first: int, last: int) -> str:
    """Return what the codes from ``first`` to ``last`` are."""
    if isinstance(attribute, Categorical):
        names = [str(attribute.categories[first]), str(attribute.categories[last])]
        return names[0] if first == last else f"{names[0]} to {names[1]}"
    cuts = attribute.cuts
    if attribute.whole:
        return _whole_name(attribute, first, last)
    low = "" if first == 0 else f"{cuts[first - 1]:.10g}"
    high = "" if last == attribute.n_values - 1 else f"{cuts[last]:.10g}"
    if not low:
        return f"below {high}" if high else "any"
    return f"{low} to {high}" if high else f"{low} or more"


def _whole_name(attribute: Numeric, first: int, last: int) -> str:
    least, most = (attribute.written(number) for number in (attribute.borders[first], attribute.borders[last + 1] - 1))
    if first == 0:
        return f"up to {most}" if last < attribute.n_values - 1 else "any"
    if last == attribute.n_values - 1:
        return f"{least} or more"
    return least if least == most else f"{least} to {most}"
