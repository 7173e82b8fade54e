"""What every forest of released class counts shares: its vote, its rules, its guarantee, its file."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.central.receipts import after_trial
from privet.central.released_classifier import FitCall, ReleasedClassifier
from privet.errors import ModelFileError
from privet.model_file import counts_from_json, counts_to_json, structure_from_json, structure_to_json
from privet.privacy.events import Event
from privet.privacy.guarantee import Guarantee
from privet.privacy.ledger import NoReservation, Reservation
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.tree.counted import CountedForest, balance_of, gini_importances
from privet.tree.forest import Forest
from privet.tree.rules import RulesMixin
from privet.tree.vote import Vote

MAX_TREES = 10_000
MAX_HEIGHT = 64


class CountForestClassifier(RulesMixin, ReleasedClassifier):
    """A forest whose nodes carry released class counts."""

    # Whether counts are released of all nodes, or of leaves alone and added up above them.
    counts_every_node: ClassVar[bool] = False
    forest_: Forest
    noisy_counts_: NDArray[np.int64]
    nodes_: CountedForest
    _grown: Forest
    _vote: Vote

    @property
    def height_(self) -> int:
        """The number of tests on the longest path."""
        check_is_fitted(self)
        return self.forest_.depth

    @property
    def noise_std_(self) -> float:
        """The standard deviation of the noise in a released count."""
        check_is_fitted(self)
        return float(np.sqrt(self.nodes_.draw_variance))

    @property
    def noise_growth_(self) -> NDArray[np.float64]:
        """The standard deviation of the noise in a released count after each batch; there is one batch."""
        return np.array([self.noise_std_])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each attribute's share of the fall in Gini impurity, from released counts alone and corrected for noise."""
        check_is_fitted(self)
        return gini_importances(self.nodes_, n_attributes=self.n_features_in_)

    @abstractmethod
    def _vote_of(self, nodes: CountedForest, schema: Schema) -> Vote:
        """Return how the trees decide."""

    @abstractmethod
    def _counted(self, forest: Forest, noisy_counts: NDArray[np.int64], event: Event, schema: Schema) -> CountedForest:
        """Return the forest with what ``event`` says of its noise."""

    def _set_released(
        self,
        encoder: Encoder,
        forest: Forest,
        noisy_counts: NDArray[np.int64],
        event: Event,
        reservation: Reservation | NoReservation,
        call: FitCall,
        *,
        newest: Event | None = None,
    ) -> Self:
        """Set all that was fitted on this snapshot and settle it; ``newest`` is what is settled, by default all.

        Only what is on record leaves: where settling fails, nobody takes over the snapshot.
        """
        event = after_trial(call.searched, event)
        self._set_fitted(encoder, forest, noisy_counts, self._guarantee(encoder.schema, event))
        self._settle(newest or event, reservation, call)
        self._say(f"released, with noise of standard deviation {self.noise_std_:.3g} a count")
        return self

    def _set_fitted(
        self, encoder: Encoder, forest: Forest, noisy_counts: NDArray[np.int64], guarantee: Guarantee
    ) -> None:
        nodes = self._counted(forest, noisy_counts, guarantee.event, encoder.schema)
        # The file holds what was released; pruning it is post-processing.
        self._set_all(
            encoder, _fitted_with=self._plain_parameters(), _grown=forest, forest_=nodes.forest,
            noisy_counts_=noisy_counts, nodes_=nodes, guarantee_=guarantee, _vote=self._vote_of(nodes, encoder.schema),
        )  # fmt: skip

    def _class_balance(self) -> NDArray[np.float64]:
        return balance_of(self.nodes_)

    def _probabilities(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        return self._vote.probabilities(codes, n_jobs=self.n_jobs)

    def to_document(self) -> dict[str, Any]:
        """Return what the model file holds."""
        return {
            "method": self.method,
            "parameters": self._fitted_with,
            "schema": self.schema_.to_json(),
            "structure": structure_to_json(self._grown),
            "released": {"counts": counts_to_json(self.noisy_counts_)},
            "guarantee": self.guarantee_.to_json(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], schema: Schema) -> Self:
        """Return the model that a document holds, checked in every part."""
        forest = structure_from_json(document["structure"], schema.attributes)
        if forest.n_trees > MAX_TREES or forest.depth > MAX_HEIGHT:
            raise ModelFileError("the trees are more or taller than privet grows them; the file is damaged")
        counts = cls._read_counts(document["released"], forest, n_classes=len(schema.classes))
        guarantee = Guarantee.from_json(document["guarantee"])
        model = cls._unfitted(document["parameters"], schema, guarantee, **cls._shape_parameters(forest))
        return model._restored(schema, forest, counts, guarantee)  # noqa: SLF001 - of its own class

    def _restored(self, schema: Schema, forest: Forest, noisy_counts: NDArray[np.int64], guarantee: Guarantee) -> Self:
        self._check_guarantee(guarantee, schema, forest)
        self._set_fitted(self._encoder_of(schema), forest, noisy_counts, guarantee)
        return self

    @classmethod
    def _read_counts(cls, released: object, forest: Forest, *, n_classes: int) -> NDArray[np.int64]:
        if not isinstance(released, Mapping) or set(released) != {"counts"}:
            raise ModelFileError("this method releases counts and nothing else; the file is damaged")
        n_counted = forest.n_nodes if cls.counts_every_node else len(forest.leaves)
        counts = counts_from_json(released["counts"], n_leaves=n_counted, n_classes=n_classes)
        if forest.n_trees * int(np.abs(counts).sum(axis=1).max(initial=0)) >= 2**62:
            raise ModelFileError("the released counts are too large to be added up; the file is damaged")
        return counts

    @classmethod
    def _shape_parameters(cls, forest: Forest) -> dict[str, Any]:
        """Return the constructor's parameters that the trees themselves tell."""
        return {"n_trees": forest.n_trees, "height": max(1, forest.depth)}
