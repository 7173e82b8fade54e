"""What every forest of released class counts shares: its vote, its noise, its promise, its file."""

import sys
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.errors import ModelFileError, SchemaError
from privet.estimator import PrivateClassifier, public_facts
from privet.model_file import counts_from_json, counts_to_json, structure_from_json, structure_to_json
from privet.privacy.events import DiscreteLaplace, Event, NoNoise, Parallel, Seeded, Sequential
from privet.privacy.guarantee import Guarantee
from privet.privacy.ledger import NoReservation, Reservation
from privet.privacy.mechanisms.spread import standard_deviation
from privet.privacy.unit import Unit
from privet.schema import Label, Schema
from privet.schema.encoding import Encoder
from privet.tree.forest import Forest
from privet.tree.importance import gini_importances
from privet.tree.rules import RuleTable, chosen_rules
from privet.tree.vote import SummedCounts

if TYPE_CHECKING:
    import pandas as pd

MAX_TREES = 10_000
MAX_HEIGHT = 64
MAX_BATCHES = 10_000


class CountForestClassifier(PrivateClassifier):
    """A forest whose leaves carry released class counts, in one batch or several over disjoint rows."""

    method: ClassVar[str]
    forest_: Forest
    noisy_counts_: NDArray[np.int64]
    _vote: SummedCounts

    @property
    def height_(self) -> int:
        """The number of tests on the longest path."""
        check_is_fitted(self)
        return self.forest_.depth

    @property
    def noise_growth_(self) -> NDArray[np.float64]:
        """The standard deviation of the noise in a released count after each batch."""
        check_is_fitted(self)
        deviations = [standard_deviation(_leaf_receipt(batch)) for batch in self._batches]
        growth: NDArray[np.float64] = np.sqrt(np.cumsum(np.square(deviations)))
        return growth

    @property
    def noise_std_(self) -> float:
        """The standard deviation of the noise in a released count."""
        return float(self.noise_growth_[-1])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each attribute's share of the fall in Gini impurity, from released counts alone and corrected for noise."""
        check_is_fitted(self)
        return gini_importances(
            self.forest_,
            self.noisy_counts_,
            noise_variance=self.noise_std_**2,
            n_attributes=self.n_features_in_,
        )

    def rules(
        self,
        min_support: float = 0,
        min_confidence: float = 0.0,
        class_: Label | None = None,
        merge: bool = False,
        leaves_only: bool = False,
    ) -> "pd.DataFrame":
        """Return what the trees say below their roots, one rule a line, those with the most rows behind them first.

        Parameters
        ----------
        min_support : float
            Leave out rules of fewer released rows; by default those that noise has made negative.
        min_confidence : float
            Leave out rules whose predicted class has a smaller released share, from 0 to 1.
        class_ : label, optional
            Only rules that predict this class.
        merge : bool
            Take sibling leaves that predict the same class together: ``education in {Bachelors, Masters}``.
        leaves_only : bool
            Only rules that run to the end of a path.

        Returns
        -------
        pandas.DataFrame
            With the columns rule, prediction, support and confidence, each with the ends of an interval that holds the
            exact number 95 times of 100 (for a rule fixed beforehand, not for the best of many), tree, node, depth,
            is_leaf, and released counts, one column a class.

        Privacy
        -------
        Only released numbers enter: post-processing, which costs nothing.
        """
        check_is_fitted(self)
        table = RuleTable.of(
            self.forest_, self.noisy_counts_, self.schema_, noise_variance=self.noise_std_**2, merge=bool(merge)
        )
        return chosen_rules(table, min_support, min_confidence, class_, leaves_only=bool(leaves_only)).to_frame()

    @property
    def _batches(self) -> tuple[Event, ...]:
        return _batches_of(self.guarantee_.event)

    def _set_released(
        self,
        encoder: Encoder,
        forest: Forest,
        noisy_counts: NDArray[np.int64],
        batches: Sequence[Event],
        reservation: Reservation | NoReservation,
    ) -> Self:
        released = copy(self)
        guarantee = _guarantee(encoder.schema, batches, self._unit())
        released._set_fitted(encoder, forest, noisy_counts, guarantee)  # noqa: SLF001 - of its own class
        # Only what is on record leaves: where settling fails, the model stays as it was.
        reservation.settle(batches[-1], released._ledger_note)  # noqa: SLF001
        self.__dict__.update(released.__dict__)
        self._say(f"released, with noise of standard deviation {self.noise_std_:.3g} a count")
        return self

    def _add_released(
        self, noisy_counts: NDArray[np.int64], receipt: Event, reservation: Reservation | NoReservation
    ) -> Self:
        counts, batches = self.noisy_counts_ + noisy_counts, [*self._batches, receipt]
        return self._set_released(self._encoder, self.forest_, counts, batches, reservation)

    def _set_fitted(
        self, encoder: Encoder, forest: Forest, noisy_counts: NDArray[np.int64], guarantee: Guarantee
    ) -> None:
        vote = SummedCounts.of(forest, noisy_counts)
        self._set_all(encoder, forest_=forest, noisy_counts_=noisy_counts, guarantee_=guarantee, _vote=vote)

    def _probabilities(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        return self._vote.probabilities(codes, n_jobs=self.n_jobs)

    def to_document(self) -> dict[str, Any]:
        """Return what the model file holds."""
        return {
            "method": self.method,
            "schema": self.schema_.to_json(),
            "structure": structure_to_json(self.forest_),
            "released": {"counts": counts_to_json(self.noisy_counts_)},
            "guarantee": self.guarantee_.to_json(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], schema: Schema) -> Self:
        """Return the model that a document holds, checked in every part."""
        forest = structure_from_json(document["structure"], schema.attributes)
        if forest.n_trees > MAX_TREES or forest.depth > MAX_HEIGHT:
            raise ModelFileError("the trees are more or taller than privet grows them; the file is damaged")
        released = document["released"]
        if not isinstance(released, Mapping) or set(released) != {"counts"}:
            raise ModelFileError("this method releases counts and nothing else; the file is damaged")
        counts = counts_from_json(released["counts"], n_leaves=len(forest.leaves), n_classes=len(schema.classes))
        if forest.n_trees * int(np.abs(counts).sum(axis=1).max(initial=0)) >= 2**62:
            raise ModelFileError("the released counts are too large to be added up; the file is damaged")
        guarantee = Guarantee.from_json(document["guarantee"])
        _check_guarantee(guarantee, schema, n_trees=forest.n_trees)
        unit = Unit(guarantee.unit, guarantee.max_rows)
        model = cls(
            schema, epsilon=guarantee.epsilon, n_trees=forest.n_trees, height=max(1, forest.depth),
            unit=unit.name, max_rows=unit.max_rows,
        )  # fmt: skip
        model._set_fitted(_encoder_of(schema, unit), forest, counts, guarantee)
        return model

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"privet: {message}", file=sys.stderr)


def _guarantee(schema: Schema, batches: Sequence[Event], unit: Unit) -> Guarantee:
    several = len(batches) > 1
    return Guarantee.from_event(
        Parallel(tuple(batches), because=unit.one_batch_each) if several else batches[0],
        public=[*public_facts(schema), "the method and its parameters"],
        leaks=schema.leaks,
        assumptions=[unit.one_batch_each] if several else [],
        unit=unit,
    )


def _encoder_of(schema: Schema, unit: Unit) -> Encoder:
    try:
        return Encoder(schema, unit.column)
    except SchemaError as error:
        raise ModelFileError("the unit's column is one of the schema's; the file was changed") from error


def _check_guarantee(guarantee: Guarantee, schema: Schema, *, n_trees: int) -> None:
    """Refuse a guarantee that a fit of these trees over this schema would not have written."""
    batches, unit = _batches_of(guarantee.event), Unit(guarantee.unit, guarantee.max_rows)
    expected = replace(_guarantee(schema, batches, unit), versions=guarantee.versions)
    known = all(_is_batch(batch, n_trees, unit.max_rows) for batch in batches)
    if len(batches) > MAX_BATCHES or guarantee != expected or not known:
        raise ModelFileError("the guarantee is not that of this schema and these trees; the file was changed")


def _is_batch(batch: Event, n_trees: int, max_rows: int) -> bool:
    """Return whether ``batch`` is a receipt of leaf counts, or one of a row count and one of leaf counts."""
    *rows, leaves = batch.parts if isinstance(batch, Sequential) else (batch,)
    return (
        len(rows) == isinstance(batch, Sequential)
        and all(_is_count(receipt, sensitivity=max_rows) for receipt in rows)
        and _is_count(leaves, sensitivity=n_trees * max_rows)
    )


def _is_count(receipt: Event, *, sensitivity: int) -> bool:
    drawn = receipt.part if isinstance(receipt, Seeded) else receipt
    return isinstance(drawn, NoNoise) or (isinstance(drawn, DiscreteLaplace) and drawn.sensitivity == sensitivity)


def _batches_of(event: Event) -> tuple[Event, ...]:
    return event.parts if isinstance(event, Parallel) else (event,)


def _leaf_receipt(batch: Event) -> Event:
    """Return the receipt of a batch's leaf counts; a row count may stand before it."""
    return batch.parts[-1] if isinstance(batch, Sequential) else batch
