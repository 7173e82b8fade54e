"""What a tree that counts disturbed rows shares with any other: its vote, its rules, its file."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.errors import ModelFileError
from privet.local.classifier import LocalClassifier
from privet.local.guarantee import LocalGuarantee
from privet.model_file import counts_from_json, counts_to_json, structure_from_json, structure_to_json
from privet.schema import Label, Numeric, Schema
from privet.tree.counted import CountedForest, gini_importances
from privet.tree.forest import LEAF, Forest
from privet.tree.rules import RuleTable, chosen_rules
from privet.tree.vote import SummedCounts, Vote, class_shares, nearest_nonempty, node_shares

if TYPE_CHECKING:
    import pandas as pd

MAX_HEIGHT = 64
# How far added noise takes a count. Here answers are noisy, and counts are estimates of another kind.
_INTERVALS = ["support_low", "support_high", "confidence_low", "confidence_high"]


class CountTreeClassifier(LocalClassifier):
    """One tree whose nodes carry estimated class counts; numbers are cut in two, categories have a child each."""

    nodes_: CountedForest
    _vote: Vote

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each attribute's share of the fall in Gini impurity, by the estimated counts."""
        check_is_fitted(self)
        return gini_importances(self.nodes_, n_attributes=self.n_features_in_)

    def rules(
        self,
        min_support: float = 0,
        min_confidence: float = 0.0,
        class_: Label | None = None,
        merge: bool = False,
        leaves_only: bool = False,
    ) -> "pd.DataFrame":
        """Return what the tree says below its root, one rule a line, those with the most rows behind them first.

        Parameters
        ----------
        min_support : float
            Leave out rules of fewer rows.
        min_confidence : float
            Leave out rules whose predicted class has a smaller share, from 0 to 1.
        class_ : label, optional
            Only rules that predict this class.
        merge : bool
            Take sibling leaves that predict the same class together: ``education in {Bachelors, Masters}``.
        leaves_only : bool
            Only rules that run to the end of a path.

        Returns
        -------
        pandas.DataFrame
            With the columns rule, prediction, support, confidence, tree, node, depth, is_leaf, and counts, one column
            a class. They count rows by the cells that they were put into, which are estimates.
        """
        check_is_fitted(self)
        table = RuleTable.of(self.nodes_, self.schema_, merge=bool(merge))
        chosen = chosen_rules(table, min_support, min_confidence, class_, leaves_only=bool(leaves_only))
        return chosen.to_frame().drop(columns=_INTERVALS)

    def _set_fitted(self, guarantee: LocalGuarantee, forest: Forest, counts: NDArray[np.int64]) -> Self:
        """Set all that was fitted; ``counts`` has one line a node."""
        nodes = CountedForest(forest, counts, np.ones(forest.n_nodes, dtype=np.int64), 0.0)
        return self._set_local(guarantee, forest_=forest, nodes_=nodes, _vote=_vote_of(nodes))

    def _probabilities(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        return self._vote.probabilities(codes, n_jobs=self.n_jobs)

    def to_document(self) -> dict[str, Any]:
        """Return what the model file holds."""
        return {
            "method": self.method,
            "parameters": self._fitted_with,
            "schema": self.schema_.to_json(),
            "structure": structure_to_json(self.forest_),
            "released": {"counts": counts_to_json(self.nodes_.counts[self.forest_.leaves])},
            "guarantee": self.guarantee_.to_json(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], schema: Schema) -> Self:
        """Return the model that a document holds, checked in every part."""
        forest = structure_from_json(document["structure"], schema.attributes)
        _check_tree(forest, schema)
        counts = _read_counts(document["released"], forest, n_classes=len(schema.classes))
        guarantee = cls._guarantee_from(document, schema)
        if guarantee.channel.record is not None:
            raise ModelFileError("no tree of this method is grown through such a channel; the file was changed")
        model = cls._unfitted(document["parameters"], guarantee.channel)
        return model._set_fitted(guarantee, forest, forest.sums_of_leaves(counts))  # noqa: SLF001 - of its own class


def _vote_of(nodes: CountedForest) -> Vote:
    """Return how leaves decide; one without rows, such as that of a category nobody has, as the nearest node above."""
    stand_in = nearest_nonempty(nodes.forest, node_shares(nodes.counts))
    weights = nodes.counts[stand_in[nodes.forest.leaves]]
    return SummedCounts.of_weights(nodes.forest, weights, class_shares(nodes.counts[:1]))


def _check_tree(forest: Forest, schema: Schema) -> None:
    is_number = np.array([*(isinstance(a, Numeric) for a in schema.attributes), False])  # the last entry is LEAF's
    if forest.n_trees != 1 or forest.depth > MAX_HEIGHT:
        raise ModelFileError(f"the model is one tree of at most {MAX_HEIGHT} tests a path; the file is damaged")
    if np.any((forest.cut == LEAF) & is_number[forest.attribute]):
        raise ModelFileError("a tree tests what no tree of this method tests; the file was changed")


def _read_counts(released: object, forest: Forest, *, n_classes: int) -> NDArray[np.int64]:
    if not isinstance(released, Mapping) or set(released) != {"counts"}:
        raise ModelFileError("this method keeps counts and nothing else; the file is damaged")
    counts = counts_from_json(released["counts"], n_leaves=len(forest.leaves), n_classes=n_classes)
    if counts.min(initial=0) < 0 or float(counts.sum(dtype=np.float64)) >= 2.0**53:
        raise ModelFileError("the counts are not those of rows; the file is damaged")
    return counts
