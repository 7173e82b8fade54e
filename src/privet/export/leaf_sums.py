"""What exported predictors compute: per class, the sum of whole numbers in the leaves that a row reaches.

For released counts, the probability of a class is its share of the sums. For released weights the sums are scores,
which a link function turns into probabilities. Both use the same trees and the same walk. Where numbers are soft, a row
may stand between two children, and gets a share of both.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.trees import Axis, Trees
from privet.errors import ParameterError
from privet.schema import Attribute, Categorical, Date, Numeric, Schema
from privet.tree.forest import LEAF, Forest
from privet.tree.vote import SummedCounts

if TYPE_CHECKING:
    from privet.estimator import PrivateClassifier
    from privet.local.channels.coding import Coding

# JavaScript has only doubles, in which whole numbers up to 2^53 are exact.
MAX_VOTES = 2**53

Borders: TypeAlias = NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class LeafSums:
    """Trees over cells, and whole numbers in their leaves.

    Attributes
    ----------
    forest : Forest
        The trees.
    cell_of : tuple of arrays
        Per attribute, the cell of each of its codes; the last one is for missing values.
    weights : int64 array
        Leaves x classes.
    coding : Coding, optional
        The bits of each value, where the trees test bits of coded values.
    class_weights : list of float, optional
        By what the probability of each class is multiplied in the end, where the model has class weights.
    """

    forest: Forest
    cell_of: tuple[NDArray[np.int64], ...]
    weights: NDArray[np.int64]
    coding: "Coding | None" = field(default=None, kw_only=True)
    class_weights: list[float] | None = field(default=None, kw_only=True)

    def borders(self, attributes: Sequence[Attribute]) -> list[Borders]:
        """Return the borders between the cells of each numeric attribute, None for the others."""
        return [
            a.cuts[np.diff(cells[:-1]) > 0] if isinstance(a, Numeric) else None
            for a, cells in zip(attributes, self.cell_of, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class CountSums(LeafSums):
    """Clipped counts. The probability of a class is its share of the sums, or its ``fallback`` if all sums are 0."""

    fallback: NDArray[np.float64]
    kind: ClassVar[str] = "counts"

    def entries(self) -> dict[str, Any]:
        """Return the entries of the portable document besides trees and weights."""
        return {"fallback": self.fallback.tolist()}


@dataclass(frozen=True, eq=False)
class Place:
    """Where a row stands among the children of a node: at one of them, or between one and the next.

    Attributes
    ----------
    attribute : int
        The attribute that the node asks for.
    of_code : int array
        The place of each cell of the attribute, the last one that of missing values: ``grid`` times the child's number,
        and the parts of ``grid`` on the way to the next one.
    grid : int
        A power of two.
    n_children : int
        How many children such a node has.
    """

    attribute: int
    of_code: NDArray[np.int64]
    grid: int
    n_children: int


@dataclass(frozen=True, eq=False)
class WeightSums(LeafSums):
    """Weights in units of ``step``, added to ``offsets``, give scores. Softmax v becomes v (1 - bend v), normalised.

    Where a row may stand between two children, or two trees ask for an attribute in different ways, nodes ask for
    ``places`` instead of attributes. ``axes`` are all ways in which ``trees`` ask, and ``of_cells`` are the scores that
    a row in each of their cells gets: the same sums, looked up instead of walked to.
    """

    step: float
    offsets: NDArray[np.float64]
    bend: float
    places: tuple[Place, ...] | None
    trees: Trees
    axes: tuple[Axis, ...]
    of_cells: NDArray[np.float64]
    kind: ClassVar[str] = "weights"

    def entries(self) -> dict[str, Any]:
        """Return the entries of the portable document besides trees and weights."""
        return {"step": self.step, "offsets": self.offsets.tolist(), "bend": self.bend}


def leaf_sums(model: "PrivateClassifier") -> CountSums | WeightSums:
    """Return what ``model`` adds up. Refuse a model that decides in another way, or with sums beyond a double."""
    check_is_fitted(model)
    if model.schema_.number is not None:
        raise ParameterError(
            f"{type(model).__name__} predicts a number, and exported predictors know classes alone; save it with "
            "save() and predict with privet"
        )
    dates = [attribute.name for attribute in model.schema_.attributes if isinstance(attribute, Date)]
    if dates:
        raise ParameterError(
            f"this model cannot be exported: {dates[0]!r} is a date, which exported predictors do not read; predict "
            "with privet, or fit with a number of days instead"
        )
    # A subclass may compute something else, so the type must be exactly this one.
    vote, weights = vars(model).get("_vote"), vars(model).get("_weights_with_missing")
    class_weight = getattr(model, "class_weight_", None)
    by_class = None if class_weight is None else list(class_weight.values())
    if type(vote) is SummedCounts:
        counts = _of_counts(vote, model.schema_.attributes, vars(model).get("coding_"))
        return replace(counts, class_weights=by_class)
    if type(weights) is LeafWeights:
        scores = _of_weights(weights, model.schema_, vars(model)["released_"].exponent)
        return replace(scores, class_weights=by_class)
    raise ParameterError(
        f"{type(model).__name__} cannot be exported: its vote is not a sum of leaf counts or weights over the trees, "
        "and an exported predictor computes nothing else; save it with save() and predict with privet"
    )


def _of_counts(vote: SummedCounts, attributes: Sequence[Attribute], coding: "Coding | None") -> CountSums:
    heaviest = int(vote.leaf_weights.sum(axis=1).max())
    if vote.forest.n_trees * heaviest > MAX_VOTES:
        raise ParameterError(
            "this model cannot be exported: its released counts may add up beyond 2^53, where a double is no longer "
            "exact; predict with privet instead"
        )
    cell_of = tuple(np.arange(a.n_values + 1) for a in attributes)
    return CountSums(vote.forest, cell_of, vote.leaf_weights, vote.otherwise, coding=coding)


def _of_weights(model: LeafWeights, schema: Schema, exponent: int) -> WeightSums:
    trees, n_columns = model.trees, model.weights.shape[1]
    # With two classes each has half the weight, one with the opposite sign.
    step = 2.0 ** (exponent if n_columns > 1 else exponent - 1)
    weights, of_cells = (model.by_class / step).astype(np.int64)[_level_order(trees)], model.of_cells
    if int(np.abs(weights).max(initial=0)) * int(trees.grids.max(initial=1)) > MAX_VOTES:
        raise ParameterError(
            "this model cannot be exported: shares of its released weights may add up beyond 2^53, where a double is "
            "no longer exact; predict with privet instead"
        )
    if trees.n_trees == 0:  # class balance only: one tree that is a leaf of weight 0
        weights, of_cells = np.zeros((1, weights.shape[1]), dtype=np.int64), np.zeros((1, weights.shape[1]))
    axes = tuple(dict.fromkeys(axis for own in trees.axes for axis in own))
    # The first stage tells all cells of an attribute apart; the second puts some of them together.
    finest = {axis.attribute: axis for axis in reversed(axes)}
    cell_of = tuple(finest[a].cell_of if a in finest else _unasked(own) for a, own in enumerate(schema.attributes))
    plain = len(finest) == len(axes) and not any(axis.knots for axis in axes)
    number = {axis: axis.attribute if plain else i for i, axis in enumerate(axes)}
    return WeightSums(
        _forest_of(trees, number), cell_of, weights, step, model.offsets, float(-np.expm1(-model.margin)),
        None if plain else tuple(_place(axis, finest[axis.attribute]) for axis in axes), trees, axes, of_cells,
    )  # fmt: skip


def _unasked(attribute: Attribute) -> NDArray[np.int64]:
    """Return the cells of an attribute that no tree asks for: of a number, one for all values needs no border."""
    codes = np.arange(attribute.n_values + 1)
    return codes // attribute.n_values if isinstance(attribute, Numeric) else codes


def _place(axis: Axis, finest: Axis) -> Place:
    """Return the place on ``axis`` of each cell of the finest axis."""
    return Place(axis.attribute, axis.place_of_cell[axis.cell_of[finest.first_codes]], axis.grid, axis.n_leaves)


def _forest_of(trees: Trees, number: Mapping[Axis, int]) -> Forest:
    """Return the nodes of ``trees``: each level asks in one more way, by its ``number``, with a child for each leaf."""
    tested = trees.axes or ((),)
    attribute = [
        np.full(_n_nodes(own[:level]), number[own[level]] if level < len(own) else LEAF, dtype=np.int32)
        for level in range(max(map(len, tested)) + 1)
        for own in tested
        if level <= len(own)
    ]
    flat = np.concatenate(attribute)
    # No node has a cut, so only the number of children matters.
    n_children = {i: axis.n_leaves for axis, i in number.items()}
    asked = [Categorical(str(i), range(n_children.get(i, 2) - 1)) for i in range(max(n_children, default=0) + 1)]
    return Forest.from_nodes(flat, np.full_like(flat, -1), len(tested), asked)


def _n_nodes(tested: Sequence[Axis]) -> int:
    return math.prod(axis.n_leaves for axis in tested)


def _level_order(trees: Trees) -> NDArray[np.int64]:
    """Return the leaves in the order of the forest's nodes: those of trees with fewer levels come first."""
    order = sorted(range(trees.n_trees), key=lambda t: len(trees.axes[t]))
    return np.concatenate([np.empty(0, dtype=np.int64), *(trees.starts[t] + np.arange(trees.sizes[t]) for t in order)])
