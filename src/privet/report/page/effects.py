"""What each tree of released weights adds to a score, ready to be shown: values, their noise, and where cells lie."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.shapes import Shape
from privet.central.weights.trees import cell_ends
from privet.checks import class_position
from privet.schema import Attribute, Label, Numeric

Floats = NDArray[np.float64]
TIMES = "\N{MULTIPLICATION SIGN}"
# How many standard deviations the bands and whiskers of pictures reach to either side.
BAND = 2.0
# The least width of a number's cell in a picture, as a share of the width that all cells would have if they were equal.
_NARROWEST = 0.5


@dataclass(frozen=True, eq=False)
class Effect:
    """What the cells of one to three attributes add to the score of some classes.

    Attributes
    ----------
    tree : int
        Which of the model's trees.
    names : tuple of str
        The attributes' names.
    attributes : tuple of Attribute
    cells : tuple of tuples of str
        What the cells of each attribute are, the missing value last unless it never occurs.
    classes : tuple of labels
        Whose score: with two classes, that of the second against the first.
    values : array of shape (cells of the first attribute, ..., classes)
        What is added to the score, in addition to the tree's ``levels``. With two classes it is the score of the
        second against the first, with more the score of each class.
    levels : array of shape (classes,)
        What all cells add alike: the mean over cells that are not of missing values. It has no meaning of its own,
        because other trees and the class balance make up for it.
    noise : array of shape (cells of the first attribute, ...)
        The standard deviation of the noise in a value, if rows were spread evenly over the tree's leaves.
    rare_noise : array of the same shape
        The same in a cell that hardly any row reaches.
    share : float
        The attributes' share in how much scores differ.
    """

    tree: int
    names: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    cells: tuple[tuple[str, ...], ...]
    classes: tuple[Label, ...]
    values: Floats
    levels: Floats
    noise: Floats
    rare_noise: Floats
    share: float

    @property
    def title(self) -> str:
        """The attributes' names."""
        return f" {TIMES} ".join(self.names)

    @property
    def is_number(self) -> bool:
        """Whether it is the effect of one numeric attribute, whose cells have an order."""
        return len(self.attributes) == 1 and isinstance(self.attributes[0], Numeric)

    def of_class(self, position: int) -> Floats:
        """Return the values of one class."""
        values: Floats = self.values[..., position]
        return values

    def strongest(self, most: int) -> list[tuple[tuple[int, ...], int]]:
        """Return the cells and classes, by position, of the largest values, whatever their sign."""
        order = np.argsort(-np.abs(self.values), axis=None, kind="stable")[:most]
        places = [tuple(map(int, place)) for place in np.transpose(np.unravel_index(order, self.values.shape))]
        return [(place[:-1], place[-1]) for place in places]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "tree": self.tree,
            "attributes": list(self.names),
            "cells": [list(own) for own in self.cells],
            "classes": list(self.classes),
            "values": self.values.tolist(),
            "levels": self.levels.tolist(),
            "noise_standard_deviation": self.noise.tolist(),
            "noise_standard_deviation_without_rows": self.rare_noise.tolist(),
        }


def effects_of(model: Any, class_: Label | None = None) -> list[Effect]:
    """Return what each tree of a forest of weights adds, the trees of the most important attributes first.

    ``class_`` asks for one class; by default it is the second of two, and all of more.
    """
    shapes, rare = model.shapes(), model.shapes(rows=0)
    importances = model.feature_importances_
    shown = _shown_classes(model, class_)
    factor = 2.0 if len(model.schema_.classes) == 2 else 1.0
    effects = [
        _effect(model, t, shape, empty, shown, factor, float(importances[list(shape.attributes)].sum()))
        for t, (shape, empty) in enumerate(zip(shapes, rare, strict=True))
    ]
    return sorted(effects, key=lambda effect: -effect.share)


def _effect(model: Any, tree: int, shape: Shape, empty: Shape, shown: list[int], factor: float, share: float) -> Effect:
    schema, weights = model.schema_, factor * shape.weights[..., shown]
    levels = factor * model.leaf_weights_.levels[tree, shown]
    return Effect(
        tree, shape.names, tuple(schema.attributes[a] for a in shape.attributes), shape.cells,
        tuple(schema.classes[k] for k in shown), weights - levels, levels, factor * shape.noise_std,
        factor * empty.noise_std, share,
    )  # fmt: skip


def _shown_classes(model: Any, class_: Label | None) -> list[int]:
    classes = model.schema_.classes
    if class_ is None:
        return [1] if len(classes) == 2 else list(range(len(classes)))
    return [class_position(classes, class_)]


def score_of(effect: Effect, classes: tuple[Label, ...]) -> str:
    """Return whose score the values are added to, in words; plain text."""
    if len(classes) == 2:
        (own,) = effect.classes
        other = classes[1 - classes.index(own)]
        return f"score of {own} against {other}"
    return "score of each class" if len(effect.classes) > 1 else f"score of {effect.classes[0]}"


def borders(attribute: Numeric) -> Floats:
    """Return where the cells of a number begin and end."""
    inner = cell_ends(attribute.n_values)[1:-1]
    return np.array([attribute.low, *(attribute.cuts[end - 1] for end in inner), attribute.high])


def places(attribute: Numeric) -> Floats:
    """Return where the borders of cells stand in a picture that is 1 wide: narrow cells are stretched to be seen."""
    widths = np.maximum(_shares(attribute), _NARROWEST / (len(borders(attribute)) - 1))
    return np.concatenate([[0.0], np.cumsum(widths / widths.sum())])


def is_stretched(attribute: Numeric) -> bool:
    """Return whether some cells are so narrow that a picture shows them wider than they are."""
    shares = _shares(attribute)
    return bool(shares.min() < _NARROWEST / len(shares))


def _shares(attribute: Numeric) -> Floats:
    widths = np.diff(borders(attribute))
    shares: Floats = widths / widths.sum()
    return shares
