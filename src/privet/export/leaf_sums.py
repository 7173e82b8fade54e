"""What exported predictors compute: per class, the sum of whole numbers in the leaves that a row reaches.

Of released counts a class's probability is its share of the sums. Of released weights the sums are scores, which a link
turns into probabilities. Both stand in the same trees, so that one walk serves them all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.central.weights.released import Released
from privet.central.weights.trees import Trees
from privet.central.weights.weights import LeafWeights
from privet.errors import ParameterError
from privet.schema import Attribute, Categorical, Numeric
from privet.tree.forest import LEAF, Forest
from privet.tree.vote import SummedCounts

if TYPE_CHECKING:
    from privet.estimator import PrivateClassifier
    from privet.local.channels.coding import Coding

# JavaScript has doubles only: whole numbers up to here are exact, and so are sums that stay below.
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
        Per attribute, the cell of each of its codes; that of missing values is the last.
    weights : int64 array
        Leaves x classes.
    coding : Coding, optional
        Where the trees test bits of coded values: what each value is in bits.
    """

    forest: Forest
    cell_of: tuple[NDArray[np.int64], ...]
    weights: NDArray[np.int64]
    coding: "Coding | None" = field(default=None, kw_only=True)

    def borders(self, attributes: Sequence[Attribute]) -> list[Borders]:
        """Return the borders between the cells of each attribute that is a number, None for the others."""
        return [
            a.cuts[np.diff(cells[:-1]) > 0] if isinstance(a, Numeric) else None
            for a, cells in zip(attributes, self.cell_of, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class CountSums(LeafSums):
    """Clipped counts: a class has its share of the sums, and of ``fallback`` where they are 0."""

    fallback: NDArray[np.float64]
    kind: ClassVar[str] = "counts"

    def entries(self) -> dict[str, Any]:
        """Return what the portable document says besides trees and weights."""
        return {"fallback": self.fallback.tolist()}


@dataclass(frozen=True, eq=False)
class WeightSums(LeafSums):
    """Weights in units of ``step``, added to ``offsets``: scores, whose softmax v becomes v (1 - bend v), made one."""

    step: float
    offsets: NDArray[np.float64]
    bend: float
    kind: ClassVar[str] = "weights"

    def entries(self) -> dict[str, Any]:
        """Return what the portable document says besides trees and weights."""
        return {"step": self.step, "offsets": self.offsets.tolist(), "bend": self.bend}


def leaf_sums(model: "PrivateClassifier") -> CountSums | WeightSums:
    """Return what ``model`` adds up; refuse one that decides in another way, or whose sums a double cannot hold."""
    check_is_fitted(model)
    # A subclass may add up in another way, so only the classes themselves will do.
    vote, weights = vars(model).get("_vote"), vars(model).get("leaf_weights_")
    if type(vote) is SummedCounts:
        return _of_counts(vote, model.schema_.attributes, vars(model).get("coding_"))
    if type(weights) is LeafWeights:
        return _of_weights(weights, vars(model)["released_"])
    raise ParameterError(
        f"{type(model).__name__} cannot be exported: its vote is no sum of leaf counts or weights over the trees, and "
        "that is all an exported predictor computes; save it with save() and predict with privet"
    )


def _of_counts(vote: SummedCounts, attributes: Sequence[Attribute], coding: "Coding | None") -> CountSums:
    heaviest = int(vote.weights.sum(axis=1).max())
    if vote.forest.n_trees * heaviest > MAX_VOTES:
        raise ParameterError(
            "this model cannot be exported: its released counts may add up beyond 2^53, where a double is no longer "
            "exact; predict with privet instead"
        )
    cell_of = tuple(np.arange(a.n_values + 1) for a in attributes)
    return CountSums(vote.forest, cell_of, vote.weights[vote.forest.leaves], vote.otherwise, coding=coding)


def _of_weights(model: LeafWeights, released: Released) -> WeightSums:
    trees, n_columns = released.trees, released.weights.shape[1]
    # Of two classes each has half the weight, one of them turned round.
    step = 2.0 ** (released.exponent if n_columns > 1 else released.exponent - 1)
    weights = (model.by_class / step).astype(np.int64)[_level_order(trees)]
    if trees.n_trees == 0:  # the class balance alone: a tree that is a leaf without weight
        weights = np.zeros((1, weights.shape[1]), dtype=np.int64)
    bend = float(-np.expm1(-model.margin))
    cell_of = tuple(trees.cell_of(a) for a in range(len(trees.n_values)))
    return WeightSums(_forest_of(trees), cell_of, weights, step, model.offsets, bend)


def _forest_of(trees: Trees) -> Forest:
    """Return the nodes of ``trees``: each level asks for one attribute more, with a child for each of its cells."""
    asked = trees.attributes or ((),)
    attribute = [
        np.full(_n_nodes(trees, own[:level]), own[level] if level < len(own) else LEAF, dtype=np.int32)
        for level in range(max(map(len, asked)) + 1)
        for own in asked
        if level <= len(own)
    ]
    flat = np.concatenate(attribute)
    # No node has a cut, so all that matters of an attribute is how many cells it has.
    cells = [Categorical(str(a), range(trees.n_cells(a) - 1)) for a in range(len(trees.n_values))]
    return Forest.from_nodes(flat, np.full_like(flat, -1), len(asked), cells)


def _n_nodes(trees: Trees, asked: tuple[int, ...]) -> int:
    return int(np.prod([trees.n_cells(a) for a in asked]))


def _level_order(trees: Trees) -> NDArray[np.int64]:
    """Return the leaves in the order of the forest's nodes: those of trees that ask for less come first."""
    order = sorted(range(trees.n_trees), key=lambda t: len(trees.attributes[t]))
    return np.concatenate([np.empty(0, dtype=np.int64), *(trees.starts[t] + np.arange(trees.sizes[t]) for t in order)])
