"""Each party fits the recommended forest to its own columns, and all scores are added. Argued in own_columns.md."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.central.weights.combining import Scales
from privet.central.weights.knots import with_cells
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.parts import split_tree
from privet.central.weights.policy import FINE_BINS
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.trees import Axis, Trees
from privet.partitioned.own_forests import ForestRound, OwnForests
from privet.partitioned.release import Release, check_releases
from privet.partitioned.split_columns import SplitColumns, joined_schema
from privet.partitioned.split_structure import SplitStructure
from privet.privacy.events import Event, Sequential
from privet.privacy.mechanisms.rational import float_above
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.schema.table import column_names
from privet.signing.roster import Roster

# Attributes of different parties tell partly the same, so what parties add to a score is taken times this.
OVERLAP = 0.8
# Joined weights are whole numbers of 2 to this power.
_EXPONENT = -20


class ColumnForest(SplitColumns, OwnForests):
    """The recommended forest of parties who hold different attributes of the same rows, and the class.

    Each party has fitted its own, and their scores are added. Make one with `combine`, or `load` its file. All releases
    are about the same people, so their epsilons and deltas add up. A table may lack all columns of a party. Its trees
    then say of every row what they say on average.

    Attributes
    ----------
    parties : dict
        The attributes of each party.
    releases_ : tuple of ReleasedWeights
        What each party released, in the order of their names.
    guarantee_, released_, feature_importances_, classes_, schema_
        As in `PrivateForestClassifier`; ``released_`` is what all of them come to.
    """

    method = "column-forest"

    @classmethod
    def combine(cls, structure: SplitStructure, roster: Roster, releases: Iterable[Release]) -> Self:
        """Return the forest of those parties that have released their part of ``structure``.

        Every release is checked: its signature, round, schema, cost and model.
        """
        agreed = structure.parts_of_kind(ForestRound, "VerticalForest")
        models = check_releases(agreed, roster, releases)
        parts = [part for part in agreed if part.party in models]
        unit, plain = parts[0].unit, joined_schema(parts)
        model = cls(
            plain, parties={str(part.party): list(part.schema.names) for part in parts},
            epsilon=len(parts) * parts[0].epsilon, delta=float_above(len(parts) * Fraction(parts[0].delta)),
            unit=unit.name, max_rows=unit.max_rows,
        )  # fmt: skip
        each = [models[str(part.party)] for part in parts]
        events = tuple(own.guarantee_.event for own in each)
        event = Sequential(events) if len(events) > 1 else events[0]
        schema = with_cells(plain, FINE_BINS)
        guarantee = model._guarantee(schema, event)
        model._set_fitted(Encoder(schema, unit.column), [own.released_ for own in each], guarantee)
        return model

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return every row's class probabilities; all columns of a party may be absent."""
        check_is_fitted(self)
        weights, codes = self._read(X)
        return self._weighted(weights.chances(codes))

    @property
    def party_names(self) -> list[Any]:
        """The parties whose forests are in the model."""
        return list(self.parties)

    @property
    def noise_growth_(self) -> NDArray[np.float64]:
        """The standard deviation of the noise in the pull of a leaf; no leaf has that of two parties."""
        return np.array([self.noise_std_])

    def _read(self, X: Any) -> tuple[LeafWeights, NDArray[Any]]:
        weights, codes = super()._read(self._completed(X))
        found = column_names(X)
        present = self.schema_.names if found is None else self.columns_in(str(name) for name in found)
        absent = {a for a, name in enumerate(self.schema_.names) if name not in present}
        return (self._silent(weights, absent) if absent else weights), codes

    def _silent(self, weights: LeafWeights, absent: set[int]) -> LeafWeights:
        """Return the weights, where trees of ``absent`` attributes say of every row what they say on average."""
        trees, values = weights.trees, weights.weights.copy()
        for axes, start, size in zip(trees.axes, trees.starts, trees.sizes, strict=True):
            if axes[0].attribute in absent:
                own = slice(start, start + size)
                values[own] = split_tree(axes, values[own], self._row_shares)[()].table
        return replace(weights, weights=values)

    def _joined(
        self,
        releases: Sequence[ReleasedWeights],
        scales: Sequence[Scales],
        schema: Schema,  # noqa: ARG002 - forests of the same attributes look
    ) -> tuple[ReleasedWeights, Scales]:
        return joined(releases, scales, [len(names) for names in self.parties.values()])

    def _each_event(self, event: Event) -> tuple[Event, ...]:
        return event.parts if isinstance(event, Sequential) and len(self.parties) > 1 else (event,)

    def _each_schema(self, schema: Schema) -> list[Schema]:
        ends = np.cumsum([0, *map(len, self.parties.values())]).tolist()
        return [replace(schema, attributes=schema.attributes[start:end]) for start, end in pairwise(ends)]

    def _is_receipt(self, event: Event, forest: Sequence[ReleasedWeights], schema: Schema) -> bool:
        return len(forest) == len(self.parties) and super()._is_receipt(event, forest, schema)


class _Tree(NamedTuple):
    """One tree of one party, with the numbers that its attributes have among those of all."""

    is_later: bool
    axes: tuple[Axis, ...]
    weights: NDArray[np.float64]
    variance: float
    noise_std: float


def joined(
    releases: Sequence[ReleasedWeights], scales: Sequence[Scales], widths: Sequence[int]
) -> tuple[ReleasedWeights, Scales]:
    """Return the forests of parties with different attributes of the same rows as one, and the noise in its counts.

    Parameters
    ----------
    releases, scales
        What each party released, and the noise in its counts.
    widths : sequence of int
        How many attributes each party has.
    """
    firsts = (np.cumsum(widths) - widths).tolist()
    found = [tree for own, first in zip(releases, firsts, strict=True) for tree in _trees_of(own, first)]
    found.sort(key=lambda tree: tree.is_later)
    whole, balance = _balance_of_same_rows(releases, [own.balance for own in scales])
    if not found:
        return whole, Scales(balance, 0.0)
    counted = [own.cells for own in releases if own.trees.n_trees]
    cells = [own for own in counted if own is not None]
    values = np.concatenate([tree.weights for tree in found])
    released = replace(
        whole, trees=Trees(tuple(tree.axes for tree in found), sum(tree.is_later for tree in found)),
        weights=np.rint(values * 2.0**-_EXPONENT).astype(np.int64), exponent=_EXPONENT,
        variances=np.array([tree.variance for tree in found]), noise_std=np.array([tree.noise_std for tree in found]),
        cells=np.concatenate(cells) if len(cells) == len(counted) else None,
    )  # fmt: skip
    return released, Scales(balance, max(own.cells for own in scales))


def _trees_of(released: ReleasedWeights, first: int) -> Iterable[_Tree]:
    """Yield a party's trees; its attributes are those from ``first`` on. Noise shrinks with the weights."""
    trees, weights = released.trees, OVERLAP * np.float64(2.0**released.exponent) * released.weights
    for t, (axes, start, size) in enumerate(zip(trees.axes, trees.starts, trees.sizes, strict=True)):
        moved = tuple(replace(axis, attribute=axis.attribute + first) for axis in axes)
        variance, noise_std = float(released.variances[t]), OVERLAP * float(released.noise_std[t])
        yield _Tree(trees.is_later(t), moved, weights[start : start + size], variance, noise_std)


def _balance_of_same_rows(releases: Sequence[ReleasedWeights], noise: Sequence[float]) -> tuple[ReleasedWeights, float]:
    """Return the rows of each class as all parties released them, by their precisions, and the scale of their noise."""
    least = min(noise)
    precisions = np.array([(least / scale) ** 2 if scale else 1.0 for scale in noise])
    shares = precisions / precisions.sum()
    counts = np.rint(shares @ np.array([own.class_counts for own in releases])).astype(np.int64)
    n_rows = max(1, round(float(shares @ np.array([own.n_rows for own in releases], dtype=np.float64))))
    return ReleasedWeights.balance_only(Trees(()), n_rows, counts), least / math.sqrt(precisions.sum())
