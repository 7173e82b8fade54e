"""A forest of one-attribute trees from answers to one question of many. See sampled_forest.md."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.trees import Trees
from privet.checks import Constraint, Flag, class_position
from privet.errors import DataError, ModelFileError, ParameterError
from privet.local.channels.channel import Channel
from privet.local.channels.sampling.question import Support
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.local.classifier import LocalClassifier
from privet.local.guarantee import LocalGuarantee
from privet.local.sampled_forest.answers import checked_weights, read_answers, supports_from_json, supports_to_json
from privet.local.sampled_forest.calibration import Calibrated, calibrate
from privet.local.sampled_forest.class_tables import ClassTable, class_balance, class_tables, label_tables
from privet.local.sampled_forest.joint_shares import JointShares
from privet.local.sampled_forest.redundancy import measured_redundancy
from privet.local.sampled_forest.value_weights import ValueWeights, value_weights
from privet.schema import Label, Numeric, Schema
from privet.tree.counted import CountedForest
from privet.tree.forest import LEAF, Forest
from privet.tree.rules import RulesMixin

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
# Weights are whole numbers of 2 to this power.
_EXPONENT = -20
_NEEDS_SAMPLED = (
    "this method fits answers to one question of many; make the channel with FieldSampling, or choose another method"
)


class SampledForestClassifier(RulesMixin, LocalClassifier):
    """A tree of one attribute each, with weights from class tables that are estimated from what people sent.

    Every person answered one question, or a few, about an attribute together with the label. Predict for clear rows:
    the model goes to the person.

    Parameters
    ----------
    schema : Schema or path, optional
        May be left out: the channel has its own.
    channel : Channel or path
        Through which the answers came, made by `FieldSampling`.
    cautious : bool
        Whether to keep the class balance alone where the model does not expect to be right clearly more often.
    random_state : None
        Nothing is drawn.
    n_jobs : int, optional
        Not used.
    verbose : int
        Whether to say on stderr what is being done.
    person : str, optional
        The column of the answers that tells people apart, where they kept one; who is in it twice is refused.

    Attributes
    ----------
    class_shares_ : float array
        Each class's share of the people, as estimated; ``class_share_error_`` is its standard error.
    expected_accuracy_ : float
        How often the model expects to be right, from its own estimates; measured on test rows it may differ.
    tables_ : list of ClassTable
        The estimated class table of every attribute, None where nobody was asked about it.
    guarantee_ : LocalGuarantee
        What the channel promises to those who answered.
    """

    method: ClassVar[str] = "sampled-forest"
    constraints: ClassVar[Mapping[str, Constraint]] = {"cautious": Flag()}
    file_parameters: ClassVar[tuple[str, ...]] = ("cautious",)
    supports_: list[Support]
    tables_: list[ClassTable | None]
    class_shares_: Floats
    class_share_error_: float
    expected_accuracy_: float
    released_: ReleasedWeights
    leaf_weights_: LeafWeights
    _weights_with_missing: LeafWeights

    def __init__(
        self, schema: Schema | str | Path | None = None, *, channel: Channel | str | Path | None = None,
        cautious: bool = True, random_state: Any = None, n_jobs: int | None = None, verbose: int = 0,
        person: str | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.channel = channel
        self.cautious = cautious
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.person = person

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to answers.

        Parameters
        ----------
        X : table or path
            The answers: columns ``question_1``, ``answer_1``, and so on.
        y : None
            The label is within the answers.
        sample_weight : array, optional
            Survey weights of the people who answered, above 0.
        """
        return self._take_over(self._snapshot()._fit(X, y, sample_weight))  # noqa: SLF001 - of its own class

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self.check_parameters()
        if y is not None:
            raise ParameterError("leave y out: the label is within the answers")
        channel = self._channel(X, None) if self.channel is not None else None
        record = None if channel is None else channel.record
        if channel is None or not isinstance(record, SampledFields):
            raise ParameterError(_NEEDS_SAMPLED)
        table = read_answers(X, list(record.columns), self.person)
        guarantee = self._guarantee_of(channel, table, np.empty(0, dtype=np.int64))
        supports = record.supports(table, checked_weights(sample_weight, len(table)))
        if not any(own.n > 0 for own in supports):
            raise DataError("there are no answers; nothing can be learnt from none")
        return self._set_supports(guarantee, record, supports)

    def _set_supports(self, guarantee: LocalGuarantee, record: SampledFields, supports: list[Support]) -> Self:
        """Compute the model from what was sent: post-processing, which costs nothing."""
        tables, schema = class_tables(record, supports), record.schema
        balance, error = class_balance([own for own in [*tables, *label_tables(record, supports)] if own is not None])
        asked = [a for a, own in enumerate(tables) if own is not None]
        attributes = [_weights_of(tables[a], schema, a, balance) for a in asked]
        by_name = {schema.names[a]: own for a, own in zip(asked, attributes, strict=True)}
        redundancy = measured_redundancy(record, supports, by_name, balance)
        added = calibrate(attributes, balance, error, redundancy, cautious=bool(self.cautious))
        released = _released(schema, asked, attributes, added, supports, balance)
        trees, with_missing = released.with_missing_leaves()
        unit = np.float64(2.0**_EXPONENT)
        return self._set_local(
            guarantee, supports_=supports, tables_=tables, class_shares_=balance, class_share_error_=error,
            expected_accuracy_=added.expected_accuracy, released_=released, forest_=_forest(schema, asked),
            leaf_weights_=LeafWeights(released.trees, added.offsets, released.weights * unit, 0.0),
            _weights_with_missing=LeafWeights(trees, added.offsets, with_missing * unit, 0.0),
            _asked=asked, _told=np.array([own.information(balance) for own in attributes]) * (added.counts_for > 0),
        )  # fmt: skip

    @property
    def feature_importances_(self) -> Floats:
        """Each attribute's share in what all tell of the class, noise taken off; all 0 where the balance is kept."""
        check_is_fitted(self)
        found = np.zeros(self.n_features_in_)
        found[self._asked] = self._told
        return found / found.sum() if found.sum() > 0 else found

    @property
    def nodes_(self) -> CountedForest:
        """The trees with estimated class counts of those asked, in whole people, and the variance of each."""
        check_is_fitted(self)
        attributes, order = self.schema_.attributes, self._asked
        counts = [self._table_of(a).counts.sum(axis=0)[None] for a in order]
        noise = [np.array([self._table_of(a).noise * len(self._table_of(a).counts)]) for a in order]
        for a in order:
            own = self._table_of(a)
            short = attributes[a].n_codes - len(own.counts)  # a child for missing values that never occur
            counts.append(np.pad(own.counts, ((0, short), (0, 0))))
            noise.append(np.full(len(own.counts) + short, own.noise))
        whole = np.rint(np.concatenate(counts)).astype(np.int64)
        return CountedForest(self.forest_, whole, np.rint(np.concatenate(noise)).astype(np.int64), 1.0)

    @property
    def explained_names_(self) -> list[str]:
        """What the columns of `explain` are called: where all rows start, then every attribute that was asked about."""
        return ["(start)", *(self.schema_.names[a] for a in self._asked)]

    def explain(self, X: Any, class_: Label | None = None) -> "pd.DataFrame":
        """Return what attributes add to every row's score of a class, by default the second of two or the predicted.

        The first column is where all rows start; the sum of a line is the score, the larger the likelier.
        """
        import pandas as pd

        check_is_fitted(self)
        weights, codes = self._weights_with_missing, self._encoder.encode_new(X)
        cells = weights.trees.cells(codes).astype(np.int64) + weights.trees.cell_starts
        chosen = weights.explained(codes, None if class_ is None else class_position(self.schema_.classes, class_))
        values = np.column_stack([weights.offsets[chosen], weights.of_cells[cells, chosen[:, None]]])
        values *= 2.0 if len(self.classes_) == 2 else 1.0
        return pd.DataFrame(values, columns=self.explained_names_, index=getattr(X, "index", None))

    def shares(self, *names: str) -> "pd.DataFrame":
        """Return estimated shares of the people by the attributes named and by class, with 95 % intervals.

        No name tells the classes alone. Two attributes must have been asked for together.
        """
        check_is_fitted(self)
        record = self.guarantee_.channel.record
        assert isinstance(record, SampledFields)  # noqa: S101 - as fit has checked
        return JointShares.of(record, self.supports_, names).to_frame()

    def _table_of(self, attribute: int) -> ClassTable:
        own = self.tables_[attribute]
        assert own is not None  # noqa: S101 - only those that were asked are
        return own

    def _probabilities(self, codes: NDArray[Any]) -> Floats:
        return self._weights_with_missing.chances(codes)

    def to_document(self) -> dict[str, Any]:
        """Return what the model file holds: how often which cell was sent. Everything else is computed from it."""
        return {
            "method": self.method,
            "parameters": self._fitted_with,
            "schema": self.schema_.to_json(),
            "structure": {"questions": len(self.supports_)},
            "released": {"supports": supports_to_json(self.supports_)},
            "guarantee": self.guarantee_.to_json(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], schema: Schema) -> Self:
        """Return the model that a document holds, checked in every part."""
        guarantee = cls._guarantee_from(document, schema)
        record, released = guarantee.channel.record, document["released"]
        if not isinstance(record, SampledFields):
            raise ModelFileError("the channel is not one that this method fits; the file was changed")
        if document["structure"] != {"questions": len(record.questions)}:
            raise ModelFileError("the questions are not those of the channel; the file was changed")
        if not isinstance(released, Mapping) or set(released) != {"supports"}:
            raise ModelFileError("this method keeps how often cells were sent, and nothing else; the file is damaged")
        model = cls._unfitted(document["parameters"], guarantee.channel)
        return model._set_supports(guarantee, record, supports_from_json(released["supports"], record))  # noqa: SLF001


def _weights_of(table: ClassTable | None, schema: Schema, attribute: int, balance: Floats) -> ValueWeights:
    assert table is not None  # noqa: S101 - only those that were asked are
    own = schema.attributes[attribute]
    ordered = isinstance(own, Numeric)
    return value_weights(table, balance, ordered=ordered, has_missing=not own.never_missing)


def _released(
    schema: Schema, asked: Sequence[int], attributes: Sequence[ValueWeights], added: Calibrated,
    supports: Sequence[Support], balance: Floats,
) -> ReleasedWeights:  # fmt: skip
    """Return the weights as whole numbers, a tree an attribute; of two classes one column, the second's lead."""
    weights = np.concatenate([f * own.weights for f, own in zip(added.counts_for, attributes, strict=True)])
    weights -= weights.mean(axis=1, keepdims=True)
    columns = weights[:, 1:] - weights[:, :1] if weights.shape[1] == 2 else weights
    n = math.floor(sum(own.n for own in supports))
    trees = Trees.of([(a,) for a in asked], schema)
    none = np.zeros(len(asked))
    return ReleasedWeights(
        trees, n, np.rint(balance * n).astype(np.int64), np.rint(columns * 2.0**-_EXPONENT).astype(np.int64),
        _EXPONENT, none, none,
    )  # fmt: skip


def _forest(schema: Schema, asked: Sequence[int]) -> Forest:
    """Return the trees as nodes: each asks for one attribute, with a child for each value."""
    leaves = sum(schema.attributes[a].n_codes for a in asked)
    attribute = np.array([*asked, *[LEAF] * leaves], dtype=np.int32)
    return Forest.from_nodes(attribute, np.full_like(attribute, -1), len(asked), schema.attributes)
