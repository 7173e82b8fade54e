"""What a forest over coded bits shares with any other model: its vote, its rules, its noise, its file.

Counts are estimated through a channel, and rules have the intervals of these estimates. Classes are not equally sure
there, nor independent of one another and of the support, as counts with added noise are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
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
from privet.local.response_forest.node_estimates import Floats, NodeEstimates
from privet.local.response_forest.response_growth import (
    NOT_JUDGED,
    Estimates,
    OutOfBag,
    estimates_from_json,
    estimates_to_json,
)
from privet.model_file import structure_from_json, structure_to_json
from privet.schema import Schema
from privet.tree.conditions import Codes, Paths, Runs
from privet.tree.counted import CountedForest, gini_importances
from privet.tree.forest import LEAF, Forest
from privet.tree.intervals import DEVIATIONS, stands_out
from privet.tree.rules import RulesMixin, RuleTable
from privet.tree.vote import SummedCounts, Vote

# Chance comes in whole rows: of a class that few rows show, or none, a variance says too little. As Agresti and Coull
# do for shares (1998), an interval takes two rows more of the class and two more of the others to have been drawn.
_MORE_ROWS = 2.0
# What rounding may add to a whole number.
_STEP = 1e-6
MEAN, MAJORITY = "mean", "majority"
# Files may hold any squares; those of rows stay far below.
_MOST_VARIANCE = 2.0**62


@dataclass(frozen=True, eq=False)
class ResponseRules(RuleTable):
    """Rules as arrays; intervals are about the true numbers among those who answered."""

    estimates: NodeEstimates

    @classmethod
    def of_bits(cls, counted: CountedForest, coding: Coding, estimates: NodeEstimates, *, merge: bool) -> Self:
        """Return the rules of all nodes, worded in values and not in their bits."""
        table = RuleTable.of(counted, coding.schema, merge=merge)
        paths = BitPaths(counted.forest, coding)
        # Two children are never taken together but in their parent, so a rule's numbers are those of one node.
        return cls(coding.schema, paths, table.groups, table.tree, table.depth, table.draw_variance, estimates)

    @property
    def stands_out(self) -> NDArray[np.bool_]:
        """Whether noise alone hardly explains the support."""
        return stands_out(self.support, self.estimates.total_variance[self.groups.node])

    @cached_property
    def numbers(self) -> dict[str, NDArray[Any]]:
        """Support and confidence with their intervals, by the names they have in a `Rule`."""
        nodes, known = self.groups.node, self.estimates
        own, total = known.unclipped[nodes, self.predicted], known.totals[nodes]
        of_own, of_both, of_total = self._variances
        far = DEVIATIONS * np.sqrt(of_total)
        low, high = share_intervals(own, total, of_own, of_both, of_total)
        return {
            "support": self.support,
            # Shown counts are whole, and where classes are many their sum is some steps off the estimate.
            "support_low": np.minimum(np.floor(total - far + _STEP), self.support),
            "support_high": np.maximum(np.ceil(total + far - _STEP), self.support),
            "confidence": self.confidence,
            "confidence_low": np.minimum(low, self.confidence),
            "confidence_high": np.maximum(high, self.confidence),
        }

    @property
    def _variances(self) -> tuple[Floats, Floats, Floats]:
        """Of the predicted class's rows, its covariance with all rows, and of these, with some rows more."""
        nodes, known = self.groups.node, self.estimates
        of_own = known.class_variance[nodes, self.predicted]
        of_both, of_total = known.class_covariance[nodes, self.predicted], known.total_variance[nodes]
        more = _MORE_ROWS * np.maximum(known.total_squares[nodes] / np.maximum(known.totals[nodes], 1.0), 1.0)
        is_open = known.bootstrap | (of_own > 0) | (of_total > 0)
        # All rows of a root are known: there a row more of a class is one less of the others.
        more_in_all = np.where(is_open & (self.depth > 0), more, 0.0)
        return of_own + np.where(is_open, more, 0.0), of_both + more_in_all, of_total + 2 * more_in_all


def share_intervals(
    own: Floats, total: Floats, of_own: Floats, of_both: Floats, of_total: Floats
) -> tuple[Floats, Floats]:
    """Return low and high ends for the quotients of two estimates, given their variances and covariances.

    Fieller's interval: a share p is held where own - p total, which is noise alone if p is right, is within its reach.
    That is a quadratic in p. Where the total may be 0 every share is possible.
    """
    z = DEVIATIONS**2
    square, middle = total**2 - z * of_total, own * total - z * of_both
    # The discriminant with own^2 total^2 cancelled by hand: two such numbers would leave nothing but rounding.
    spread = own**2 * of_total - 2 * own * total * of_both + total**2 * of_own
    half = np.sqrt(np.maximum(z * spread + z**2 * (of_both**2 - of_total * of_own), 0.0))
    bounded = (total > 0) & (square > 0)
    safe = np.where(bounded, square, 1.0)
    low, high = (middle - half) / safe, (middle + half) / safe
    bounded &= (low <= 1.0) & (high >= 0.0)  # else no share at all would be held
    return np.where(bounded, np.clip(low, 0.0, 1.0), 0.0), np.where(bounded, np.clip(high, 0.0, 1.0), 1.0)


class BitPaths(Paths):
    """The conditions on the way to the nodes of a forest over coded bits, on the attributes that were coded."""

    def __init__(self, forest: Forest, coding: Coding) -> None:
        super().__init__(forest, coding.schema)
        attribute_of_bit: list[int] = coding.attribute_of_bit.tolist()
        self._bit = self._tested
        self._tested = [bit if bit == LEAF else attribute_of_bit[bit] for bit in self._bit]
        self._values_of_bit = [
            (_neighbours(column == 0), _neighbours(column == 1))
            for code in coding.codes
            for column in code.bits_of_value[: code.attribute.n_codes].T
        ]

    def _answer(self, parent: int, node: int, codes: Codes | None) -> Runs:  # noqa: ARG002 - two children never merge
        """Return the values, and the missing one if any, that the bit tested by ``parent`` sends to ``node``."""
        return self._values_of_bit[self._bit[parent]][node - self._first_child[parent]]


def _neighbours(inside: NDArray[np.bool_]) -> Runs:
    """Return the first and the last of every run of values inside."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    return tuple((int(first), int(stop) - 1) for first, stop in edges.reshape(-1, 2))


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
