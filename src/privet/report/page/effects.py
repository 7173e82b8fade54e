"""What attributes add to a score by released weights, ready to be shown: values, their noise, and where points lie."""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.shapes import Shape
from privet.central.weights.trees import cell_ends
from privet.checks import class_position
from privet.report.page.formats import number
from privet.schema import Attribute, Date, Label, Numeric, Schema

Floats = NDArray[np.float64]
TIMES = "\N{MULTIPLICATION SIGN}"
# How many standard deviations the bands and whiskers of pictures reach to either side.
BAND = 2.0
# The least width between two borders in a picture, as a share of the width that all would have if they were equal.
_NARROWEST = 0.5
# A curve is stretched if this share of the rows is where it would not be if rows lay evenly. Then half of the width is
# for rows, but a stretch in which they crowd has no more than so many times the width that all would have.
# So many dates are written below a picture.
_DATES = 4
_CROWDED, _FOR_ROWS, _WIDEST = 0.6, 0.5, 3.0
# What several attributes do together is shown from this share of what matters.
_LEAST_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class Effect:
    """What one attribute adds to the score of some classes, or what two to four add together beyond that.

    Attributes
    ----------
    position : int
        Which of the model's shapes.
    names : tuple of str
        The attributes' names.
    attributes : tuple of Attribute
    cells : tuple of tuples of str
        What the points of each attribute are; missing values come last.
    points : tuple of arrays or None
        The values at the points of each number without cells.
    has_missing : tuple of bool
        Whether the last point of each attribute is that of missing values.
    classes : tuple of labels
        Whose score: with two classes, that of the second against the first.
    values : array of shape (points of the first attribute, ..., classes)
        What is added to the score. With two classes it is the score of the second against the first, with more the
        score of each class.
    noise : array of shape (points of the first attribute, ...)
        The standard deviation of the noise in a value, for rows that lie as released, else evenly.
    rare_noise : array of the same shape, or None
        The same where hardly any row comes, if it is not released how rows lie.
    row_shares : tuple of arrays or None
        The sure share of the rows at each point of each attribute, 0 where noise alone may have shown some.
    share : float
        The effect's share in how much scores differ.
    stands_out : bool
        Whether noise alone would not show as much.
    direction : int
        1 where it was asked to rise, for the second class, -1 to fall, 0 for neither.
    """

    position: int
    names: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    cells: tuple[tuple[str, ...], ...]
    points: tuple[Floats | None, ...]
    has_missing: tuple[bool, ...]
    classes: tuple[Label, ...]
    values: Floats
    noise: Floats
    rare_noise: Floats | None
    row_shares: tuple[Floats, ...] | None
    share: float
    stands_out: bool
    direction: int = 0

    @property
    def title(self) -> str:
        """The attributes' names."""
        return f" {TIMES} ".join(self.names)

    @property
    def asked(self) -> str:
        """Which way the effect was asked to go; empty where no way was."""
        return {1: "may only rise", -1: "may only fall", 0: ""}[self.direction]

    @property
    def is_shown(self) -> bool:
        """Whether it is what one attribute does, or what several do together and noise alone would not show."""
        return len(self.names) == 1 or (self.stands_out and self.share >= _LEAST_SHARE)

    @property
    def is_number(self) -> bool:
        """Whether it is the effect of one numeric attribute, whose points have an order."""
        return len(self.attributes) == 1 and isinstance(self.attributes[0], Numeric)

    @property
    def curve(self) -> Floats | None:
        """The values of the points, if it is a curve over them: that of one number without cells."""
        return self.points[0] if self.is_number else None

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which points have rows for sure, by each attribute alone; all where that is not released."""
        seen = np.ones(self.noise.shape, dtype=bool)
        for i, own in enumerate(self.row_shares or ()):
            seen &= (own > 0).reshape(-1, *[1] * (len(self.cells) - 1 - i))
        return seen if seen.any() else ~seen

    @property
    def sure_runs(self) -> list[slice]:
        """The stretches of a curve, two points or more each, in which rows are for sure."""
        n_known = len(self.cells[0]) - self.has_missing[0]
        seen = np.flatnonzero(np.diff(np.concatenate([[False], self.seen[:n_known], [False]]).astype(np.int8)))
        return [slice(int(start), int(end)) for start, end in seen.reshape(-1, 2) if end - start > 1]

    @property
    def without_missing(self) -> list[str]:
        """The names of attributes that may be missing, of which the released shares show no missing values."""
        return [self.names[i] for i in self._unseen]

    @property
    def _unseen(self) -> list[int]:
        shares = self.row_shares or ()
        return [i for i, own in enumerate(shares) if self.has_missing[i] and own[-1] == 0 and len(own) > 1]

    def of_seen(self) -> Self:
        """Return the effect without points of missing values where none were seen."""
        kept = tuple(slice(0, len(own) - (i in self._unseen)) for i, own in enumerate(self.cells))
        return replace(
            self,
            has_missing=tuple(own and i not in self._unseen for i, own in enumerate(self.has_missing)),
            cells=tuple(own[part] for own, part in zip(self.cells, kept, strict=True)),
            values=self.values[kept],
            noise=self.noise[kept],
            rare_noise=None if self.rare_noise is None else self.rare_noise[kept],
            row_shares=self.row_shares and tuple(own[part] for own, part in zip(self.row_shares, kept, strict=True)),
        )

    def of_classes(self, positions: list[int]) -> Self:
        """Return the effect on some of its classes."""
        return replace(self, classes=tuple(self.classes[k] for k in positions), values=self.values[..., positions])

    def of_class(self, position: int) -> Floats:
        """Return the values of one class."""
        values: Floats = self.values[..., position]
        return values

    def strongest(self, most: int) -> list[tuple[tuple[int, ...], int]]:
        """Return the points and classes, by position, of the largest values, those first that have rows for sure."""
        strength = np.where(self.seen[..., None], 1 + np.abs(self.values), 0.0)
        order = np.argsort(-strength, axis=None, kind="stable")[:most]
        places = [tuple(map(int, place)) for place in np.transpose(np.unravel_index(order, self.values.shape))]
        return [(place[:-1], place[-1]) for place in places]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "attributes": list(self.names),
            "cells": [list(own) for own in self.cells],
            "points": [None if own is None else own.tolist() for own in self.points],
            "classes": list(self.classes),
            "values": self.values.tolist(),
            "noise_standard_deviation": self.noise.tolist(),
            "noise_standard_deviation_without_rows": None if self.rare_noise is None else self.rare_noise.tolist(),
            "sure_shares_of_rows": None if self.row_shares is None else [own.tolist() for own in self.row_shares],
            "share_of_what_matters": self.share,
            "stands_out": self.stands_out,
        }


def effects_of(model: Any, class_: Label | None = None) -> list[Effect]:
    """Return what a forest of weights adds: attributes alone, what several do together and stands out, and the rest.

    The most important come first. ``class_`` asks for one class; by default it is the second of two, and all of more.
    """
    shapes = model.shapes()
    rare: list[Any] = model.shapes(rows=0) if model.cell_shares_ is None else [None] * len(shapes)
    sizes, classes = [effect.size for effect in model.effects_], model.schema_.ends
    shown, factor = _shown_classes(classes, class_), 2.0 if len(classes) == 2 else 1.0
    effects = [
        Effect(
            position, shape.names, tuple(model.schema_.attributes[a] for a in shape.attributes), shape.cells,
            shape.values, _have_missing(shape, model.schema_), tuple(classes[k] for k in shown),
            factor * shape.weights[..., shown], factor * shape.noise_std,
            None if empty is None else factor * empty.noise_std, shape.shares, own.size / (sum(sizes) or 1.0),
            own.stands_out, shape.direction,
        )
        for position, (shape, empty, own) in enumerate(zip(shapes, rare, model.effects_, strict=True))
    ]  # fmt: skip

    def rank(effect: Effect) -> tuple[bool, bool, float]:
        several = len(effect.names) > 1
        return several, not effect.is_shown, -effect.share

    return sorted(effects, key=rank)


def _have_missing(shape: Shape, schema: Schema) -> tuple[bool, ...]:
    """Return of which attributes the last point is that of missing values."""
    return tuple(
        not schema.attributes[a].never_missing if values is None else len(cells) > len(values)
        for a, values, cells in zip(shape.attributes, shape.values, shape.cells, strict=True)
    )


def _shown_classes(classes: tuple[Label, ...], class_: Label | None) -> list[int]:
    if class_ is None:
        return [1] if len(classes) == 2 else list(range(len(classes)))
    return [class_position(classes, class_)]


def score_of(effect: Effect, schema: Schema) -> str:
    """Return whose score the values are added to, in words; plain text."""
    classes = schema.classes
    if schema.number is not None:
        return f"score of {schema.target}"
    if len(classes) == 2:
        (own,) = effect.classes
        other = classes[1 - classes.index(own)]
        return f"score of {own} against {other}"
    return "score of each class" if len(effect.classes) > 1 else f"score of {effect.classes[0]}"


def borders(attribute: Numeric) -> Floats:
    """Return where the cells of a number begin and end."""
    ends = cell_ends(attribute.n_values)
    return attribute.borders[ends]


def marked(effect: Effect) -> Floats:
    """Return the values that a number's picture is made of: its points, or the borders of its cells."""
    (attribute,) = effect.attributes
    assert isinstance(attribute, Numeric)  # noqa: S101 - the caller has asked
    return borders(attribute) if effect.curve is None else effect.curve


def places(effect: Effect) -> Floats:
    """Return where `marked` values stand in a picture that is 1 wide, stretched where rows crowd."""
    widths, rows = _widths(effect), _rows_between(effect)
    if rows is None:
        widths = np.maximum(widths, _NARROWEST / len(widths))
    elif is_stretched(effect):
        rows = np.minimum(rows, _WIDEST / len(rows))
        widths = (1 - _FOR_ROWS) * widths + _FOR_ROWS * rows / rows.sum()
    return np.concatenate([[0.0], np.cumsum(widths / widths.sum())])


def is_stretched(effect: Effect) -> bool:
    """Return whether a picture shows narrow parts wider than they are: where rows crowd, or where nobody knows."""
    widths, rows = _widths(effect), _rows_between(effect)
    if rows is None:
        return bool(widths.min() < _NARROWEST / len(widths))
    return float(np.abs(rows - widths).sum() / 2) >= _CROWDED


def _widths(effect: Effect) -> Floats:
    (attribute,) = effect.attributes
    assert isinstance(attribute, Numeric)  # noqa: S101 - the caller has asked
    values = attribute.place(marked(effect))
    widths: Floats = np.diff(values) / (values[-1] - values[0])
    return widths


def _rows_between(effect: Effect) -> Floats | None:
    """Return the share of the rows between every two points of a curve, if it was released."""
    if effect.curve is None or effect.row_shares is None:
        return None
    at = effect.row_shares[0][: len(effect.curve)]
    # Half of those at a point are on either side of it; those at both ends have one.
    halves = np.concatenate([[1.0], np.full(len(at) - 2, 0.5), [1.0]]) * at
    rows: Floats = halves[:-1] + halves[1:]
    return rows / rows.sum() if rows.any() else None


def shown_range(effect: Effect) -> tuple[float, float]:
    """Return the lowest and highest value of a picture: with bands, where rows are for sure, and zero."""
    seen, reach = effect.seen, BAND * effect.noise[..., None]
    low, high = float((effect.values - reach)[seen].min()), float((effect.values + reach)[seen].max())
    return min(low, 0.0), max(high, 0.0)


def ticks(effect: Effect) -> list[float]:
    """Return values to be written below the picture of a number: borders of cells, or round numbers."""
    values = marked(effect)
    low, high = float(values[0]), float(values[-1])
    if isinstance(effect.attributes[0], Date) and effect.curve is not None:
        at = np.interp(np.arange(_DATES) / (_DATES - 1), places(effect), values)
        return [float(day) for day in np.unique(np.floor(at))]
    (attribute,) = effect.attributes
    assert isinstance(attribute, Numeric)  # noqa: S101 - the caller has asked
    if effect.curve is None:
        # The last cell of whole numbers ends where the next one would begin.
        return sorted({*map(float, values[:-1]), attribute.high})
    if attribute.is_log or is_stretched(effect):
        sizes = range(math.floor(math.log10((high - low) / 100)), math.ceil(math.log10(max(abs(low), abs(high)))) + 1)
        found = {sign * m * 10.0**size for size in sizes for m in (1, 2, 5) for sign in (-1, 1)} | {0.0}
        marks = [low, *sorted(each for each in found if low < each < high), high]
    else:
        marks = round_numbers(low, high)
    return [mark for mark in marks if mark.is_integer()] if attribute.whole else marks


def tick_names(effect: Effect) -> list[str]:
    """Return the same as they are written: dates as dates."""
    (attribute,) = effect.attributes
    return [attribute.written(tick) if isinstance(attribute, Date) else number(tick) for tick in ticks(effect)]


def round_numbers(low: float, high: float) -> list[float]:
    """Return a few round numbers between two ends."""
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    step *= next(m for m in (1, 2, 5, 10) if (high - low) / (m * step) <= 5)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
