"""A forest of parties who hold different attributes of the same rows: all their trees vote together.

The argument is in vertical.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.central.receipts import in_sequence, is_count, unwrapped
from privet.partitioned.horizontal import PartyForest
from privet.partitioned.release import Release, check_releases
from privet.partitioned.split_columns import SplitColumns, joined_schema
from privet.partitioned.split_structure import SplitStructure
from privet.partitioned.structure import Structure
from privet.privacy.events import Event, Sequential
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.schema import Attribute, Schema
from privet.signing.roster import Roster
from privet.tree.counted import CountedForest
from privet.tree.forest import LEAF, Forest
from privet.tree.vote import SummedCounts, Vote, class_shares


class VerticalForest(SplitColumns, PartyForest):
    """Random trees of parties who hold different attributes of the same rows, and the class.

    Make one with `combine`, or `load` its file. The counts of all parties are about the same people, so their epsilons
    add up. All trees vote together. If all attributes of a party are missing in a row, the trees of the other parties
    decide. A table may lack all columns of a party.

    Attributes
    ----------
    parties : dict
        The attributes of each party.
    guarantee_, forest_, noisy_counts_, classes_, schema_
        As in `PrivateRDTClassifier`; the trees of the first party come first.
    """

    method = "vertical-forest"

    @classmethod
    def combine(cls, structure: SplitStructure, roster: Roster, releases: Iterable[Release]) -> Self:
        """Return the forest of those parties that have released their part of ``structure``."""
        drawn = structure.parts_of_kind(Structure, "ColumnForest")
        counts_of = check_releases(drawn, roster, releases)
        parts = [part for part in drawn if part.party in counts_of]
        schema = joined_schema(parts)
        model = cls(
            schema, parties={str(part.party): list(part.schema.names) for part in parts},
            epsilon=len(parts) * parts[0].epsilon, unit=parts[0].unit.name, max_rows=parts[0].unit.max_rows,
        )  # fmt: skip
        forest, counts = _union(parts, [counts_of[str(part.party)] for part in parts], schema)
        event = Sequential(tuple(part.receipt for part in parts)) if len(parts) > 1 else parts[0].receipt
        return model._set_combined(forest, counts, event)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return every row's class probabilities; all columns of a party may be missing."""
        return super().predict_proba(self._completed(X) if hasattr(self, "guarantee_") else X)

    def _vote_of(self, nodes: CountedForest, schema: Schema) -> Vote:
        first_column = np.cumsum([0, *(len(names) for names in self.parties.values())])[:-1]
        return UnionVote.of_parties(nodes, schema.attributes, first_column)

    def _owner(self, forest: Forest) -> NDArray[np.int64]:
        """Return for each node the number of its party."""
        return forest.tree_of_node // (forest.n_trees // len(self.parties))

    def _counted(self, forest: Forest, noisy_counts: NDArray[np.int64], event: Event, schema: Schema) -> CountedForest:  # noqa: ARG002
        return CountedForest.of_leaves(forest, noisy_counts, standard_deviation(in_sequence(event)[0]) ** 2)

    def _is_receipt(self, event: Event, forest: Forest, schema: Schema) -> bool:
        receipts, n_parties = in_sequence(event), len(self.parties)
        moves = forest.n_trees // n_parties * self._unit().max_rows
        return (
            len(receipts) == n_parties
            and isinstance(event, Sequential) == (n_parties > 1)
            and forest.n_trees % n_parties == 0
            and all(is_count(receipt, sensitivity=moves) for receipt in receipts)
            and len(set(map(unwrapped, receipts))) == 1
            and self._tests_own_attributes(forest, schema)
        )

    def _tests_own_attributes(self, forest: Forest, schema: Schema) -> bool:
        """Return whether every tree tests only attributes of its own party."""
        holder = {name: i for i, names in enumerate(self.parties.values()) for name in names}
        holders = np.array([*(holder[name] for name in schema.names), -1])[forest.attribute]
        return bool(np.all((forest.attribute == LEAF) | (holders == self._owner(forest))))


def _union(parts: list[Structure], counts: list[NDArray[np.int64]], schema: Schema) -> tuple[Forest, NDArray[np.int64]]:
    """Return all trees as one forest, and the counts of its leaves: level by level, party by party."""
    offsets = np.cumsum([0, *(len(part.schema.attributes) for part in parts)])
    attribute, cut, released = list[Any](), list[Any](), list[Any]()
    for level in range(1 + max(part.forest.depth for part in parts)):
        for part, own_counts, offset in zip(parts, counts, offsets[:-1], strict=True):
            forest = part.forest
            if level > forest.depth:
                continue
            nodes = slice(forest.level_start[level], forest.level_start[level + 1])
            own, leaves = forest.attribute[nodes], forest.leaves
            attribute.append(np.where(own == LEAF, LEAF, own + offset))
            cut.append(forest.cut[nodes])
            released.append(own_counts[(leaves >= nodes.start) & (leaves < nodes.stop)])
    n_trees = sum(part.forest.n_trees for part in parts)
    tested, cuts = (np.concatenate(each).astype(np.int32) for each in (attribute, cut))
    return Forest.from_nodes(tested, cuts, n_trees, schema.attributes), np.concatenate(released)


@dataclass(frozen=True, eq=False)
class UnionVote(SummedCounts):
    """Leaf counts added up over the trees of those parties for which the row has a value.

    Attributes
    ----------
    tree_counts : int64 array
        The released class counts of each tree.
    first_column : int64 array
        The first column of each party.
    missing : int64 array
        Per column, the code of a missing value.
    """

    tree_counts: NDArray[np.int64]
    first_column: NDArray[np.int64]
    missing: NDArray[np.int64]

    @classmethod
    def of_parties(
        cls, nodes: CountedForest, attributes: tuple[Attribute, ...], first_column: NDArray[np.int64]
    ) -> "UnionVote":
        """Prepare the vote of parties that have equally many trees and columns from ``first_column`` on."""
        vote = SummedCounts.of_counts(nodes, attributes)
        missing = np.array([attribute.missing_code for attribute in attributes])
        tree_counts = nodes.counts[: nodes.forest.n_trees]
        return cls(vote.forest, vote.roots, vote.otherwise, vote.node_weights, tree_counts, first_column, missing)

    def _fill(self, codes: NDArray[Any], out: NDArray[np.float64]) -> None:
        knows = np.logical_or.reduceat(codes != self.missing, self.first_column, axis=1)
        if knows.all():
            super()._fill(codes, out)
            return
        for pattern in np.unique(knows, axis=0):
            rows = (knows == pattern).all(axis=1)
            answers = np.empty((int(rows.sum()), out.shape[1]))
            self._of_parties_with_values(pattern)._fill(np.ascontiguousarray(codes[rows]), answers)  # noqa: SLF001 - of the same class
            out[rows] = answers

    def _of_parties_with_values(self, knows: NDArray[np.bool_]) -> SummedCounts:
        """Return the vote of the parties with a value; if there are none, the released class totals of all."""
        forest = self.forest
        votes = knows[np.arange(forest.n_trees) // (forest.n_trees // len(knows))]
        counted = votes if knows.any() else ~votes
        return SummedCounts(forest, np.flatnonzero(votes), class_shares(self.tree_counts[counted]), self.node_weights)
