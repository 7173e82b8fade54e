"""A forest of released leaf weights: its vote, its explanations, its promise, its file."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.central.receipts import asked_epsilon, drawn, in_sequence, is_count, is_seeded
from privet.central.released import ReleasedClassifier
from privet.errors import ModelFileError, ParameterError, PrivetError
from privet.joint.fitting import PublicFit, balance_scale
from privet.joint.link import scores_of
from privet.joint.policy import MARGIN, MOST_WEIGHTS, Policy
from privet.joint.release import MOST_WEIGHT
from privet.joint.released import WEIGHTS, Released
from privet.joint.selection import SENSITIVITY
from privet.joint.shapes import Shape, shape_of, shares_of_shapes
from privet.joint.tilt import deviations
from privet.joint.trees import Trees, checked_trees
from privet.joint.weights import LeafWeights
from privet.model_file import integers
from privet.privacy.accounting import stated_delta
from privet.privacy.events import (
    DiscreteLaplace,
    Event,
    GaussianObjective,
    NoNoise,
    ObjectivePerturbation,
    PermuteAndFlip,
)
from privet.privacy.guarantee import Guarantee
from privet.privacy.ledger import NoReservation, Reservation
from privet.privacy.mechanisms.spread import standard_deviation
from privet.schema import Label, Schema
from privet.schema.encoding import Encoder

if TYPE_CHECKING:
    import pandas as pd

_EXPONENTS = range(-40, 13)


class WeightForestClassifier(ReleasedClassifier):
    """A forest whose leaves carry released weights."""

    delta: float
    released_: Released
    model_: LeafWeights

    @property
    def trees_(self) -> Trees:
        """Which attributes each tree asks for."""
        check_is_fitted(self)
        return self.released_.trees

    @property
    def class_shares_(self) -> NDArray[np.float64]:
        """The released class balance."""
        check_is_fitted(self)
        return self.released_.class_shares(balance_scale(list(in_sequence(self.guarantee_.event))))

    @property
    def noise_std_(self) -> float:
        """The standard deviation of the noise in a leaf's pull, in rows; the mean over trees."""
        stds = self.tree_noise_std_
        return float(stds.mean()) if len(stds) else standard_deviation(in_sequence(self.guarantee_.event)[-1])

    @property
    def tree_noise_std_(self) -> NDArray[np.float64]:
        """The standard deviation of the noise in the pull of a leaf of each tree, in rows."""
        check_is_fitted(self)
        return _tilt_deviations(self.guarantee_.event, self.trees_)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each attribute's share in how much the scores of rows differ, from released weights alone."""
        check_is_fitted(self)
        return shares_of_shapes(self.shapes(), self.n_features_in_)

    def shapes(self, rows: float | None = None) -> list[Shape]:
        """Return what each tree adds to the score of each class, cell by cell, with the noise band.

        Parameters
        ----------
        rows : float, optional
            The band is that of so many rows, spread evenly over a tree's leaves; by default of those that were said or
            counted. 0 shows how far noise moves a weight that no row holds.

        Privacy
        -------
        Only released numbers enter: post-processing, which costs nothing.
        """
        check_is_fitted(self)
        stds, own = self.tree_noise_std_, self.class_shares_ * (1 - self.class_shares_)
        bent = (self.released_.n_rows if rows is None else rows) * float(own.mean())
        return [
            shape_of(
                self.model_, t, self.schema_, noise_std=float(stds[t]), variance=float(variance),
                rows_per_leaf=bent / int(self.trees_.sizes[t]),
            )
            for t, variance in enumerate(self._prior_variances(stds))
        ]  # fmt: skip

    @abstractmethod
    def _policy(self, schema: Schema, epsilon: float, n_rows: int) -> Policy:
        """Return what is decided from public quantities."""

    def _prior_variances(self, noise_std: NDArray[np.float64]) -> NDArray[np.float64]:
        policy = self._policy(self.schema_, math.inf, self.released_.n_rows)
        fits = [drawn(receipt) for receipt in in_sequence(self.guarantee_.event)]
        limits = [fit.curvature for fit in fits if isinstance(fit, ObjectivePerturbation | GaussianObjective)]
        return policy.prior_variances(self.trees_, noise_std, self.class_shares_, limits[0] if limits else math.inf)

    def explain(self, X: Any, class_: Label | None = None) -> "pd.DataFrame":
        """Return what each tree adds to every row's score of a class: one column a tree, after the class's own.

        Parameters
        ----------
        X : table
            As in `predict`.
        class_ : label, optional
            The class whose score is explained; by default the second of two, and of more each row's predicted one.

        Returns
        -------
        pandas.DataFrame
            The sum of a line is the score: of two classes the logarithm of how many times likelier the fitted model
            holds the second, up to its margin; of more, scores are compared with each other.
        """
        import pandas as pd

        check_is_fitted(self)
        codes = self._encoder.encode(X)
        parts = self.model_.contributions(codes)
        chosen = self._explained(codes, class_)
        own = np.take_along_axis(parts, chosen[:, None, None], axis=2)[:, :, 0]
        names = [" x ".join(self.schema_.names[a] for a in own_names) for own_names in self.trees_.attributes]
        return pd.DataFrame(
            np.column_stack([self.model_.offsets[chosen], own]), columns=["(class balance)", *names],
            index=getattr(X, "index", None),
        ) * (2.0 if len(self.classes_) == 2 else 1.0)  # fmt: skip

    def _explained(self, codes: NDArray[Any], class_: Label | None) -> NDArray[np.int64]:
        if class_ is not None and class_ not in self.schema_.classes:
            raise ParameterError(f"class_={class_!r} is none of the classes; choose from {list(self.schema_.classes)}")
        if class_ is not None:
            return np.full(len(codes), self.schema_.classes.index(class_))
        if len(self.classes_) == 2:
            return np.ones(len(codes), dtype=np.int64)
        best: NDArray[np.int64] = np.argmax(self.model_.scores(codes), axis=1)
        return best

    def _probabilities(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        return self.model_.chances(codes)

    def _set_released(
        self, encoder: Encoder, released: Released, event: Event, reservation: Reservation | NoReservation
    ) -> Self:
        """Set all that was fitted on this snapshot and settle it.

        Only what is on record leaves: where settling fails, nobody takes over the snapshot.
        """
        self._set_fitted(encoder, released, self._guarantee(encoder.schema, event))
        reservation.settle(event, self._ledger_note)
        self._say(f"released, with noise of standard deviation {self.noise_std_:.3g} a leaf")
        return self

    def _set_fitted(self, encoder: Encoder, released: Released, guarantee: Guarantee) -> None:
        offsets = scores_of(released.class_shares(balance_scale(list(in_sequence(guarantee.event)))), MARGIN)
        weights = released.weights.astype(np.float64) * 2.0**released.exponent
        self._set_all(
            encoder, _fitted_with=self._plain_parameters(), released_=released, guarantee_=guarantee,
            model_=LeafWeights(released.trees, offsets, weights, MARGIN),
        )  # fmt: skip

    def to_document(self) -> dict[str, Any]:
        """Return what the model file holds."""
        released = self.released_
        return {
            "method": self.method,
            "parameters": self._fitted_with,
            "schema": self.schema_.to_json(),
            "structure": {"trees": [list(own) for own in released.trees.attributes]},
            "released": {
                "rows": released.n_rows,
                "balance": released.balance.tolist(),
                "weights": released.weights.ravel().tolist(),
                "exponent": released.exponent,
            },
            "guarantee": self.guarantee_.to_json(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], schema: Schema) -> Self:
        """Return the model that a document holds, checked in every part."""
        released = _released_from(document["structure"], document["released"], schema)
        guarantee = Guarantee.from_json(document["guarantee"])
        model = cls._unfitted(document["parameters"], schema, guarantee)
        model._check_guarantee(guarantee, schema, released)  # noqa: SLF001 - of its own class
        model._set_fitted(model._encoder_of(schema), released, guarantee)  # noqa: SLF001
        return model

    @classmethod
    def _unfitted(cls, parameters: object, schema: Schema, guarantee: Guarantee) -> Self:
        if not isinstance(parameters, Mapping) or set(parameters) != set(cls.file_parameters):
            raise ModelFileError("the model's parameters are not those of its method; the file is damaged")
        model = cls(
            schema, epsilon=asked_epsilon(guarantee.event), unit=guarantee.unit, max_rows=guarantee.max_rows,
            unsafe_seeded_noise=is_seeded(guarantee.event), **parameters,
        )  # fmt: skip
        try:
            model.check_parameters()
        except PrivetError as error:
            raise ModelFileError("a parameter of the model is out of its range; the file was changed") from error
        return model

    def _is_receipt(self, event: Event, forest: Released, schema: Schema) -> bool:
        """Return whether these are a row count where none is declared, a balance, choices, and a fit of these trees."""
        receipts, max_rows = list(in_sequence(event)), self._unit().max_rows
        if schema.rows is None:
            if not is_count(receipts.pop(0), sensitivity=max_rows):
                return False
        elif forest.n_rows != schema.rows:
            return False
        if not receipts or not is_count(receipts.pop(0), sensitivity=max_rows):
            return False
        trees = forest.trees
        if trees.n_trees == 0:
            return not receipts
        n_kept = sum(map(len, trees.attributes))
        n_choices = n_kept if n_kept < len(schema.attributes) else 0
        choices, fitted = receipts[:n_choices], receipts[n_choices:]
        return (
            len(choices) == n_choices
            and all(_is_choice(choice, max_rows) for choice in choices)
            and len(fitted) == 2
            and _is_fit(fitted[0], trees, len(schema.classes), max_rows)
            and self._is_last(fitted[1], drawn(fitted[0]), forest, event, schema)
            and stated_delta(event) <= self.delta
        )

    def _is_last(self, receipt: Event, fit: Event, forest: Released, event: Event, schema: Schema) -> bool:
        """Return whether the last digits were hidden on the grid, and by the noise, that the rest makes necessary."""
        release = drawn(receipt)
        epsilon = release.epsilon if isinstance(release, DiscreteLaplace) else math.inf
        shares = forest.class_shares(balance_scale(list(in_sequence(event))))
        grid = PublicFit.of(self._policy(schema, math.inf, forest.n_rows), forest.trees, shares, fit, epsilon).grid
        return grid.exponent == forest.exponent and (
            isinstance(release, NoNoise)
            or (isinstance(release, DiscreteLaplace) and release.sensitivity == grid.sensitivity)
        )


def _is_choice(receipt: Event, max_rows: int) -> bool:
    release = drawn(receipt)
    return isinstance(release, NoNoise) or (
        isinstance(release, PermuteAndFlip) and release.sensitivity == SENSITIVITY * max_rows and not release.monotone
    )


def _is_fit(receipt: Event, trees: Trees, n_classes: int, max_rows: int) -> bool:
    release = drawn(receipt)
    if isinstance(release, GaussianObjective):
        return (release.trees, release.classes, max_rows) == (trees.n_trees, n_classes, 1)
    return isinstance(release, NoNoise) or (
        isinstance(release, ObjectivePerturbation) and (release.classes, release.rows) == (n_classes, max_rows)
    )


def _released_from(structure: object, data: object, schema: Schema) -> Released:
    if not isinstance(structure, Mapping) or set(structure) != {"trees"}:
        raise ModelFileError("the structure lacks a part or has one too many; the file is damaged")
    if not isinstance(data, Mapping) or set(data) != {"rows", "balance", "weights", "exponent"}:
        raise ModelFileError("the released numbers are not those of this method; the file is damaged")
    n_classes = len(schema.classes)
    n_columns = 1 if n_classes == 2 else n_classes
    own = checked_trees(structure["trees"], schema.attributes, most_leaves=max(1, MOST_WEIGHTS))
    trees = Trees(own, tuple(a.n_values for a in schema.attributes))
    (n_rows, exponent) = integers([data["rows"], data["exponent"]], "released", limit=2**53)
    if n_rows < 1 or exponent not in _EXPONENTS:
        raise ModelFileError("the released rows or the grid are not what privet writes there; the file is damaged")
    balance = integers(data["balance"], "released.balance", limit=2**53)
    weights = integers(data["weights"], "released.weights", limit=int(MOST_WEIGHT * 2.0 ** -int(exponent)))
    if len(balance) != n_columns or len(weights) != trees.n_leaves * n_columns:
        raise ModelFileError("the released numbers do not fit the trees and classes; the file is damaged")
    return Released(trees, int(n_rows), balance, weights.reshape(-1, n_columns), int(exponent))


def _tilt_deviations(event: Event, trees: Trees) -> NDArray[np.float64]:
    """Return the standard deviation of the noise in the pull of a leaf of each tree."""
    fits = [drawn(r) for r in in_sequence(event) if getattr(drawn(r), "what", "") == WEIGHTS]
    return deviations(fits[0], trees) if fits else np.zeros(0)
