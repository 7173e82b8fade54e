"""What a tree says, cell by cell: the shape of an effect, and how far noise may have moved it."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.prior import covariance_of
from privet.central.weights.trees import cell_ends
from privet.schema import Attribute, Categorical, Schema

Floats = NDArray[np.float64]
MISSING = "missing"


@dataclass(frozen=True)
class Shape:
    """The effect of one attribute, or of two or three together, on every class's score.

    Attributes
    ----------
    attributes : tuple of int
        Which of the schema's attributes.
    names : tuple of str
        Their names.
    cells : tuple of tuples of str
        What the cells of each are, the missing value last unless it never occurs.
    weights : array of shape (cells of the first attribute, ..., classes)
        What a row in these cells adds to the score of each class.
    noise_std : array of shape (cells of the first attribute, ...)
        The standard deviation of what noise adds to a weight, if rows were spread evenly over the tree's leaves. A leaf
        that few rows reach has more noise, one that many reach has less.
    """

    attributes: tuple[int, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    weights: Floats
    noise_std: Floats

    @property
    def title(self) -> str:
        """The attributes' names."""
        return " x ".join(self.names)


def shape_of(
    model: LeafWeights, tree: int, schema: Schema, *, noise_std: float, variance: float, rows_per_leaf: float
) -> Shape:
    """Return the shape of one tree; ``rows_per_leaf`` are effective rows: rows times the mean curvature of the loss."""
    own = model.trees.attributes[tree]
    shape = [model.trees.n_cells(a) for a in own]
    deviations = np.zeros(shape)
    if noise_std > 0:
        covariance = covariance_of(model.trees, tree, schema, variance)
        # The weights move by the inverse of the Hessian, K^-1 + rows, times the noise.
        moves = np.linalg.solve(np.eye(len(covariance)) + rows_per_leaf * covariance, covariance)
        factor = 0.5 if model.weights.shape[1] == 1 else 1.0
        deviations = factor * noise_std * np.sqrt((moves**2).sum(axis=1))
    return Shape(
        own,
        tuple(schema.names[a] for a in own),
        tuple(cell_names(schema.attributes[a]) for a in own),
        model.of_tree(tree).reshape(*shape, -1),
        deviations.reshape(shape),
    )


def cell_names(attribute: Attribute) -> tuple[str, ...]:
    """Return what the cells of an attribute are, in words."""
    known = [_cell_name(attribute, low, high - 1) for low, high in pairwise(cell_ends(attribute.n_values))]
    return tuple(known) if attribute.never_missing else (*known, MISSING)


def _cell_name(attribute: Attribute, first: int, last: int) -> str:
    """Return what the codes from ``first`` to ``last`` are."""
    if isinstance(attribute, Categorical):
        names = [str(attribute.categories[first]), str(attribute.categories[last])]
        return names[0] if first == last else f"{names[0]} to {names[1]}"
    cuts = attribute.cuts
    low = "" if first == 0 else f"{cuts[first - 1]:.10g}"
    high = "" if last == attribute.n_values - 1 else f"{cuts[last]:.10g}"
    if not low:
        return f"below {high}" if high else "any"
    return f"{low} to {high}" if high else f"{low} or more"
