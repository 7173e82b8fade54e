"""What exported predictors compute: per class, the sum of whole numbers in the leaves that a row reaches.

For released counts, the probability of a class is its share of the sums. For released weights the sums are scores,
which a link function turns into probabilities. Both use the same trees and the same walk.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.trees import Trees
from privet.errors import ParameterError
from privet.schema import Attribute, Categorical, Numeric
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
    """

    forest: Forest
    cell_of: tuple[NDArray[np.int64], ...]
    weights: NDArray[np.int64]
    coding: "Coding | None" = field(default=None, kw_only=True)

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
class WeightSums(LeafSums):
    """Weights in units of ``step``, added to ``offsets``, give scores. Softmax v becomes v (1 - bend v), normalised."""

    step: float
    offsets: NDArray[np.float64]
    bend: float
    kind: ClassVar[str] = "weights"

    def entries(self) -> dict[str, Any]:
        """Return the entries of the portable document besides trees and weights."""
        return {"step": self.step, "offsets": self.offsets.tolist(), "bend": self.bend}


def leaf_sums(model: "PrivateClassifier") -> CountSums | WeightSums:
    """Return what ``model`` adds up. Refuse a model that decides in another way, or with sums beyond a double."""
    check_is_fitted(model)
    # A subclass may compute something else, so the type must be exactly this one.
    vote, weights = vars(model).get("_vote"), vars(model).get("_answering")
    if type(vote) is SummedCounts:
        return _of_counts(vote, model.schema_.attributes, vars(model).get("coding_"))
    if type(weights) is LeafWeights:
        return _of_weights(weights, vars(model)["released_"].exponent)
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


def _of_weights(model: LeafWeights, exponent: int) -> WeightSums:
    trees, n_columns = model.trees, model.weights.shape[1]
    # With two classes each has half the weight, one with the opposite sign.
    step = 2.0 ** (exponent if n_columns > 1 else exponent - 1)
    weights = (model.by_class / step).astype(np.int64)[_level_order(trees)]
    if trees.n_trees == 0:  # class balance only: one tree that is a leaf of weight 0
        weights = np.zeros((1, weights.shape[1]), dtype=np.int64)
    bend = float(-np.expm1(-model.margin))
    cell_of = tuple(trees.cell_of(a) for a in range(len(trees.n_values)))
    return WeightSums(_forest_of(trees), cell_of, weights, step, model.offsets, bend)


def _forest_of(trees: Trees) -> Forest:
    """Return the nodes of ``trees``: each level tests one more attribute, with a child for each of its cells."""
    tested = trees.attributes or ((),)
    attribute = [
        np.full(_n_nodes(trees, own[:level]), own[level] if level < len(own) else LEAF, dtype=np.int32)
        for level in range(max(map(len, tested)) + 1)
        for own in tested
        if level <= len(own)
    ]
    flat = np.concatenate(attribute)
    # No node has a cut, so only the number of cells of an attribute matters.
    cells = [Categorical(str(a), range(trees.n_cells(a) - 1)) for a in range(len(trees.n_values))]
    return Forest.from_nodes(flat, np.full_like(flat, -1), len(tested), cells)


def _n_nodes(trees: Trees, tested: tuple[int, ...]) -> int:
    return int(np.prod([trees.n_cells(a) for a in tested]))


def _level_order(trees: Trees) -> NDArray[np.int64]:
    """Return the leaves in the order of the forest's nodes: those of trees with fewer levels come first."""
    order = sorted(range(trees.n_trees), key=lambda t: len(trees.attributes[t]))
    return np.concatenate([np.empty(0, dtype=np.int64), *(trees.starts[t] + np.arange(trees.sizes[t]) for t in order)])
