"""What every forest of released class counts shares: its vote, its noise, its promise, its file."""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.errors import ModelFileError, ParameterError
from privet.estimator import PrivateClassifier, public_facts
from privet.model_file import counts_from_json, counts_to_json, structure_from_json, structure_to_json
from privet.privacy.events import Event, Parallel, Sequential
from privet.privacy.guarantee import NOT_PRIVATE, Guarantee
from privet.privacy.mechanisms.rational import check_epsilon
from privet.privacy.mechanisms.spread import standard_deviation
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.tree.forest import Forest
from privet.tree.importance import gini_importances
from privet.tree.vote import SummedCounts

MAX_TREES = 10_000
MAX_HEIGHT = 64
_ONE_BATCH_A_ROW = "no row is in more than one batch"


class CountForestClassifier(PrivateClassifier):
    """A forest whose leaves carry released class counts, in one batch or several over disjoint rows."""

    forest_: Forest
    noisy_counts_: NDArray[np.int64]

    @property
    def height_(self) -> int:
        """The number of tests on the longest path."""
        check_is_fitted(self)
        return self.forest_.depth

    @property
    def noise_growth_(self) -> NDArray[np.float64]:
        """The standard deviation of the noise in a released count after each batch."""
        check_is_fitted(self)
        deviations = [standard_deviation(_leaf_receipt(batch)) for batch in _batches(self.guarantee_)]
        growth: NDArray[np.float64] = np.sqrt(np.cumsum(np.square(deviations)))
        return growth

    @property
    def noise_std_(self) -> float:
        """The standard deviation of the noise in a released count."""
        return float(self.noise_growth_[-1])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each attribute's share of the fall in Gini impurity, from released counts alone and corrected for noise."""
        return gini_importances(
            self.forest_,
            self.noisy_counts_,
            noise_variance=self.noise_std_**2,
            n_attributes=self.n_features_in_,
        )

    def _set_released(
        self,
        encoder: Encoder,
        forest: Forest,
        noisy_counts: NDArray[np.int64],
        batches: Sequence[Event],
        *,
        secure_noise: bool,
    ) -> Self:
        several = len(batches) > 1
        guarantee = Guarantee.from_event(
            Parallel(tuple(batches), because=_ONE_BATCH_A_ROW) if several else batches[0],
            public=[*public_facts(encoder.schema), "the method and its parameters"],
            leaks=encoder.schema.leaks,
            assumptions=[_ONE_BATCH_A_ROW] if several else [],
            secure_noise=secure_noise,
        )
        self._set_fitted(encoder, forest, noisy_counts, guarantee)
        self._say(f"released, with noise of standard deviation {self.noise_std_:.3g} a count")
        return self

    def _add_released(self, noisy_counts: NDArray[np.int64], receipt: Event, *, secure_noise: bool) -> Self:
        # A promise that seeded noise has spoilt stays spoilt.
        was_seeded = self.guarantee_.mode == NOT_PRIVATE and self.noise_std_ > 0
        return self._set_released(
            self._encoder,
            self.forest_,
            self.noisy_counts_ + noisy_counts,
            [*_batches(self.guarantee_), receipt],
            secure_noise=secure_noise and not was_seeded,
        )

    def _set_fitted(
        self, encoder: Encoder, forest: Forest, noisy_counts: NDArray[np.int64], guarantee: Guarantee
    ) -> None:
        self._set_encoder(encoder)
        self.forest_ = forest
        self.noisy_counts_ = noisy_counts
        self.guarantee_ = guarantee
        self._vote = SummedCounts.of(forest, noisy_counts)

    def _probabilities(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        return self._vote.probabilities(codes, n_jobs=self.n_jobs)

    def to_document(self) -> dict[str, Any]:
        """Return what the model file holds."""
        epsilon = float(self.epsilon)
        return {
            "method": type(self).__name__,
            "parameters": {"epsilon": "inf" if math.isinf(epsilon) else epsilon},
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
        epsilon = _epsilon_from_json(document["parameters"])
        model = cls(schema, epsilon=epsilon, n_trees=forest.n_trees, height=max(1, forest.depth))
        model._set_fitted(Encoder(schema), forest, counts, Guarantee.from_json(document["guarantee"]))
        return model

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"privet: {message}", file=sys.stderr)


def _batches(guarantee: Guarantee) -> tuple[Event, ...]:
    return guarantee.event.parts if isinstance(guarantee.event, Parallel) else (guarantee.event,)


def _leaf_receipt(batch: Event) -> Event:
    return batch.parts[-1] if isinstance(batch, Sequential) else batch


def _epsilon_from_json(data: object) -> float:
    if not isinstance(data, Mapping) or set(data) != {"epsilon"}:
        raise ModelFileError("the parameters are not those of this method; the file is damaged")
    try:
        return check_epsilon(math.inf if data["epsilon"] == "inf" else data["epsilon"])
    except ParameterError as error:
        raise ModelFileError(f"the parameters are out of range: {error}") from error
