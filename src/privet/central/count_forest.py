"""What every forest of released class counts shares: its vote, its noise, its promise, its file."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.errors import ModelFileError
from privet.estimator import PrivateClassifier, public_facts
from privet.model_file import counts_from_json, counts_to_json, structure_from_json, structure_to_json
from privet.privacy.events import DiscreteLaplace, Event, NoNoise, Parallel, Seeded, Sequential
from privet.privacy.guarantee import Guarantee
from privet.privacy.mechanisms.spread import standard_deviation
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.tree.forest import Forest
from privet.tree.importance import gini_importances
from privet.tree.vote import SummedCounts

MAX_TREES = 10_000
MAX_HEIGHT = 64
MAX_BATCHES = 10_000
_ONE_BATCH_A_ROW = "no row is in more than one batch"


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

    @property
    def _batches(self) -> tuple[Event, ...]:
        return _batches_of(self.guarantee_.event)

    def _set_released(
        self,
        encoder: Encoder,
        forest: Forest,
        noisy_counts: NDArray[np.int64],
        batches: Sequence[Event],
    ) -> Self:
        self._set_fitted(encoder, forest, noisy_counts, _guarantee(encoder.schema, batches))
        self._say(f"released, with noise of standard deviation {self.noise_std_:.3g} a count")
        return self

    def _add_released(self, noisy_counts: NDArray[np.int64], receipt: Event) -> Self:
        counts, batches = self.noisy_counts_ + noisy_counts, [*self._batches, receipt]
        return self._set_released(self._encoder, self.forest_, counts, batches)

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
        model = cls(schema, epsilon=guarantee.epsilon, n_trees=forest.n_trees, height=max(1, forest.depth))
        model._set_fitted(Encoder(schema), forest, counts, guarantee)
        return model

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"privet: {message}", file=sys.stderr)


def _guarantee(schema: Schema, batches: Sequence[Event]) -> Guarantee:
    several = len(batches) > 1
    return Guarantee.from_event(
        Parallel(tuple(batches), because=_ONE_BATCH_A_ROW) if several else batches[0],
        public=[*public_facts(schema), "the method and its parameters"],
        leaks=schema.leaks,
        assumptions=[_ONE_BATCH_A_ROW] if several else [],
    )


def _check_guarantee(guarantee: Guarantee, schema: Schema, *, n_trees: int) -> None:
    """Refuse a guarantee that a fit of these trees over this schema would not have written."""
    batches = _batches_of(guarantee.event)
    expected = replace(_guarantee(schema, batches), versions=guarantee.versions)
    if len(batches) > MAX_BATCHES or guarantee != expected or not all(_is_batch(batch, n_trees) for batch in batches):
        raise ModelFileError("the guarantee is not that of this schema and these trees; the file was changed")


def _is_batch(batch: Event, n_trees: int) -> bool:
    """Return whether ``batch`` is a receipt of leaf counts, or one of a row count and one of leaf counts."""
    if not isinstance(batch, Sequential):
        return _is_count(batch, sensitivity=n_trees)
    rows, *leaves = batch.parts
    return len(leaves) == 1 and _is_count(rows, sensitivity=1) and _is_count(leaves[0], sensitivity=n_trees)


def _is_count(receipt: Event, *, sensitivity: int) -> bool:
    drawn = receipt.part if isinstance(receipt, Seeded) else receipt
    return isinstance(drawn, NoNoise) or (isinstance(drawn, DiscreteLaplace) and drawn.sensitivity == sensitivity)


def _batches_of(event: Event) -> tuple[Event, ...]:
    return event.parts if isinstance(event, Parallel) else (event,)


def _leaf_receipt(batch: Event) -> Event:
    """Return the receipt of a batch's leaf counts; a row count may stand before it."""
    return batch.parts[-1] if isinstance(batch, Sequential) else batch
