"""What a forest over coded bits shares with any other model: its vote, its rules, its noise, its file."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.errors import ChannelError, ModelFileError, ParameterError
from privet.local.channels.channel import Channel
from privet.local.channels.coding import Coding
from privet.local.classifier import LocalClassifier
from privet.local.guarantee import LocalGuarantee
from privet.local.response_forest.bit_trees import MAX_DEPTH
from privet.local.response_forest.out_of_bag import NOT_JUDGED, OutOfBag
from privet.local.response_forest.response_growth import Estimates, estimates_from_json, estimates_to_json
from privet.local.response_forest.response_rules import ResponseRules
from privet.model_file import structure_from_json, structure_to_json
from privet.schema import Schema
from privet.tree.counted import CountedForest, gini_importances
from privet.tree.forest import Forest
from privet.tree.rules import RulesMixin
from privet.tree.vote import SummedCounts, Vote

MEAN, MAJORITY = "mean", "majority"
# Files may hold any squares; those of rows stay far below.
_MOST_VARIANCE = 2.0**62


class BitForestClassifier(RulesMixin, LocalClassifier):
    """Trees over the bits of coded records, with estimated class counts in their nodes."""

    n_trees: int
    bootstrap: bool
    vote: str
    cautious: bool
    coding_: Coding
    estimates_: Estimates
    oob_error_: float
    oob_auc_: float
    _vote: Vote

    @property
    def node_sd_(self) -> NDArray[np.float64]:
        """Per node, the standard deviation of its estimated number of rows about the true one of those who answered."""
        check_is_fitted(self)
        return self.estimates_.sd

    @property
    def noise_only_(self) -> NDArray[np.bool_]:
        """Per node, whether its leading class is ahead by no more than two standard deviations."""
        check_is_fitted(self)
        return self.estimates_.noise_only

    @property
    def nodes_(self) -> CountedForest:
        """The forest with estimated class counts, in whole rows, and their variance, in each node the mean of classes.

        Classes differ in their variances, and the noise in one goes with that in another: for intervals see `rules`.
        """
        check_is_fitted(self)
        noise = np.minimum(self.estimates_.class_variance.mean(axis=1), _MOST_VARIANCE)
        counts = np.rint(self.estimates_.unclipped).astype(np.int64)
        return CountedForest(self.forest_, counts, np.rint(noise).astype(np.int64), 1.0)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each attribute's share of the fall in Gini impurity, all its bits together, corrected for noise."""
        of_bits = gini_importances(self.nodes_, n_attributes=self.coding_.n_bits)
        by_attribute: NDArray[np.float64] = np.zeros(self.n_features_in_)
        np.add.at(by_attribute, self.coding_.attribute_of_bit, of_bits)
        return by_attribute

    def rule_table(self, *, merge: bool = False) -> ResponseRules:
        """Return the rules of all nodes as arrays.

        A test of a bit is worded as the values whose codes have that bit. Supports and confidences are estimates, with
        intervals that hold the true number of those who answered 95 times of 100, whatever the channel and the drawing
        of a bootstrap did.
        """
        return ResponseRules.of_bits(self.nodes_, self.coding_, self.estimates_, merge=merge)

    def _set_fitted(
        self, guarantee: LocalGuarantee, coding: Coding, forest: Forest, estimates: Estimates, judged: OutOfBag
    ) -> Self:
        weights = estimates.votes(forest, by_majority=self.vote == MAJORITY, cautious=bool(self.cautious))
        equal = np.full(weights.shape[1], 1.0 / weights.shape[1])
        return self._set_local(
            guarantee, coding_=coding, forest_=forest, estimates_=estimates, oob_error_=judged.error,
            oob_auc_=judged.auc, _vote=SummedCounts.of_nodes(forest, weights, equal, coding.bit_schema.attributes),
        )  # fmt: skip

    def _probabilities(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        return self._vote.probabilities(self.coding_.bits(codes), n_jobs=self.n_jobs)

    def to_document(self) -> dict[str, Any]:
        """Return what the model file holds."""
        coding = {} if self.guarantee_.channel.flips else {"coding": self.coding_.to_json()}
        return {
            "method": self.method,
            "parameters": self._fitted_with,
            "schema": self.schema_.to_json(),
            "structure": structure_to_json(self.forest_),
            "released": {**coding, "nodes": estimates_to_json(self.estimates_, self.forest_)},
            "guarantee": self.guarantee_.to_json(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], schema: Schema) -> Self:
        """Return the model that a document holds, checked in every part."""
        guarantee = cls._guarantee_from(document, schema)
        channel, released = guarantee.channel, document["released"]
        # Forests of earlier versions were not cautious, and have to predict as they did.
        model = cls._unfitted(document["parameters"], channel, cautious=False)
        expected = {"nodes"} if channel.flips else {"nodes", "coding"}
        if not isinstance(released, Mapping) or set(released) != expected:
            raise ModelFileError("this method keeps its nodes and a coding, and nothing else; the file is damaged")
        try:
            check_channel(channel)
            coding = channel.flips.coding if channel.flips else Coding.from_json(released["coding"], schema)
        except (ChannelError, ParameterError) as error:
            raise ModelFileError(f"the model's coding is damaged: {error}") from error
        forest = structure_from_json(document["structure"], coding.bit_schema.attributes)
        if forest.n_trees != model.n_trees or forest.depth > MAX_DEPTH or np.any(forest.cut > 0) or forest.multiway:
            raise ModelFileError("a tree is none that this method grows; the file was changed")
        estimates = estimates_from_json(released["nodes"], forest, channel, bootstrap=model.bootstrap)
        return model._set_fitted(guarantee, coding, forest, estimates, NOT_JUDGED)  # noqa: SLF001 - of its own class


def check_channel(channel: Channel) -> None:
    """Refuse a channel through which no forest can be grown."""
    if channel.record is not None and channel.flips is None:
        raise ParameterError(
            f"the channel's answers are {channel.record.answers_in_words}, not records; use the method "
            f"{channel.record.fitted_by[0]!r}"
        )
    noisy = [column.name for column in channel.columns if column.chances is None]
    if noisy:
        raise ParameterError(
            f"the channel adds noise to {noisy[0]!r}, which a forest on bits cannot undo; "
            "use ReconstructionTreeClassifier, or disturb numbers by RandomizedResponse"
        )
    if channel.flips is not None and channel.label is not None:
        raise ParameterError(
            "the channel flips records and disturbs the label apart from them; let it flip both or one"
        )
