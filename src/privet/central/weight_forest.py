"""A forest of released leaf weights: its vote, its explanations, its guarantee, its file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.central.receipts import after_trial, in_parallel, in_sequence
from privet.central.released_classifier import FitCall, ReleasedClassifier, ReleasedModel
from privet.central.weight_file import are_receipts, releases_from_json, releases_to_json
from privet.central.weights.combining import Scales, combined, combined_scales, noise_after_each
from privet.central.weights.fitting import scales_of
from privet.central.weights.histograms import Histogram
from privet.central.weights.importance import Effect, effects_of_trees, mean_curvature, shares_of_effects
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.link import scores_of
from privet.central.weights.monotone import monotone
from privet.central.weights.order import Directions
from privet.central.weights.parts import RowShares, Split, effects_in, evenly, first_axes, over_codes
from privet.central.weights.policy import MARGIN
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.shapes import Shape, shapes_of
from privet.central.weights.trees import Trees
from privet.checks import class_position
from privet.errors import ModelFileError, ParameterError
from privet.privacy.accounting import stated_delta
from privet.privacy.events import Event, Parallel
from privet.privacy.guarantee import Guarantee
from privet.privacy.ledger import NoReservation, Reservation
from privet.privacy.mechanisms.deviation import laplace_deviation, standard_deviation
from privet.schema import Label, Schema
from privet.schema.encoding import Encoder

if TYPE_CHECKING:
    import pandas as pd


class WeightForest(ReleasedModel):
    """A forest whose leaves carry released weights."""

    delta: float
    # What each fit released: one, or one for each batch or party, and all of them together.
    releases_: tuple[ReleasedWeights, ...]
    released_: ReleasedWeights
    leaf_weights_: LeafWeights
    # The noise in the counts of each fit, and in their sums.
    _scales_of_each: list[Scales]
    _scales: Scales
    _fitted_directions: Directions = MappingProxyType({})
    # With a leaf for missing values in every attribute: what predictions and exports use.
    _weights_with_missing: LeafWeights

    @property
    def trees_(self) -> Trees:
        """Which attributes each tree asks for."""
        check_is_fitted(self)
        return self.released_.trees

    @property
    def class_shares_(self) -> NDArray[np.float64]:
        """Each class's share of the rows, from the released class counts.

        A file of an earlier privet may hold the difference of two classes instead, and no counts; its shares are then
        as right as the declared number of rows.
        """
        check_is_fitted(self)
        return self.released_.class_shares(self._balance_scale)

    def _class_balance(self) -> NDArray[np.float64]:
        return self.class_shares_

    @property
    def n_rows_(self) -> int:
        """About how many rows there were: declared or bought, and within what the released class counts allow."""
        check_is_fitted(self)
        return self.released_.about_rows(self._balance_scale)

    @property
    def class_count_std_(self) -> float:
        """The standard deviation of the noise in the rows of each class."""
        return laplace_deviation(self._balance_scale) if self._balance_scale else 0.0

    @property
    def _balance_scale(self) -> float:
        return self._scales.balance

    @property
    def _histograms(self) -> dict[int, Histogram] | None:
        """The released histogram of each kept attribute, or None where they were not paid for."""
        return self.released_.histograms(self._scales.cells, self.n_rows_)

    @property
    def cell_shares_(self) -> dict[str, NDArray[np.float64]] | None:
        """Each cell's released share of the rows, by attribute; None where it was not released.

        Missing values come last, unless the attribute is never missing.
        """
        check_is_fitted(self)
        histograms = self._histograms
        return None if histograms is None else {self.schema_.names[a]: own.shares for a, own in histograms.items()}

    @property
    def noise_std_(self) -> float:
        """The standard deviation of the noise in a leaf's pull, in rows; the mean over trees."""
        stds = self.tree_noise_std_
        return (
            float(stds.mean())
            if len(stds)
            else standard_deviation(in_sequence(self._each_event(self.guarantee_.event)[0])[-1])
        )

    @property
    def tree_noise_std_(self) -> NDArray[np.float64]:
        """The standard deviation of the noise in the pull of a leaf of each tree, in rows."""
        check_is_fitted(self)
        return self.released_.noise_std

    @property
    def noise_growth_(self) -> NDArray[np.float64]:
        """The standard deviation of the noise in the pull of a leaf after each fit to rows of its own, in rows.

        It is what it would be if all rows had equal parts in the weights: a fit to few rows counts for less than them.
        """
        check_is_fitted(self)
        return noise_after_each(self.releases_, self._scales_of_each)

    @property
    def least_noise_(self) -> float:
        """The least noise that a fit alone has: about that of one fit to all rows."""
        check_is_fitted(self)
        each = zip(self.releases_, self._scales_of_each, strict=True)
        fitted = [(own, scale) for own, scale in each if own.trees.n_trees or not self.trees_.n_trees]
        return min(float(noise_after_each([own], [scale])[0]) for own, scale in fitted)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each attribute's share in the size of effects less what noise would show; all 0 where nothing is left.

        A cell counts by its released share of the rows. Where rows times epsilon are too few to release shares, they
        are guessed from the weights, and importances are rough; see `told_apart_`.
        """
        return self._importances()[0].copy()

    @property
    def told_apart_(self) -> NDArray[np.bool_]:
        """Which attributes do more than noise alone would, however rows lie; one in eight that do nothing passes."""
        return self._importances()[1].copy()

    def _importances(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        return shares_of_effects(self.effects_, self.n_features_in_)

    @property
    def effects_(self) -> list[Effect]:
        """The size of every effect less what noise would show, and whether it stands out; in the order of `shapes`."""
        check_is_fitted(self)
        # Kept: it takes the solution of equations, and threads that solve at once wait for each other.
        kept: Any = self.__dict__.get("_effects_of")
        if kept is None or kept[0] is not self.released_:
            effects = effects_of_trees(
                self.leaf_weights_, self.schema_, self.released_, rows=self._held(self.n_rows_)[0],
                histograms=self._histograms,
            )  # fmt: skip
            kept = self._effects_of = (self.released_, effects)
        return list(kept[1])

    def _held(self, rows: float) -> tuple[float, RowShares]:
        """Return rows times the mean curvature of their loss, what they weigh against prior and noise, and where."""
        if self.released_.cells is None:
            return rows * float((self.class_shares_ * (1 - self.class_shares_)).mean()), self._row_shares
        mean, curved = mean_curvature(self.leaf_weights_, self._row_shares)
        return rows * mean, curved

    @property
    def _row_shares(self) -> RowShares:
        """How rows lie over the codes of each attribute, as released and for sure; else evenly."""
        axes, histograms = first_axes(self.trees_), self._histograms
        if histograms is None:
            return {a: evenly(axis) for a, axis in axes.items()}
        return {
            a: over_codes(axes[a], own.surest_shares(has_missing=axes[a].own_missing)) for a, own in histograms.items()
        }

    def shapes(self, rows: float | None = None) -> list[Shape]:
        """Return what attributes add to the score of each class: each one alone, then what several do together.

        A tree of several attributes is split into what each of them does and what is left, and the parts of all trees
        are added up. With where all rows start, as in `explain`, the shapes add up to the score.

        Parameters
        ----------
        rows : float, optional
            The noise is that of so many rows; by default of those that were said or counted. They lie as their released
            shares say, else evenly over leaves. 0 shows how far noise moves what no row holds.

        Privacy
        -------
        Only released numbers enter: post-processing, which costs nothing.
        """
        check_is_fitted(self)
        effective, held = self._held(self.n_rows_ if rows is None else rows)
        shapes = shapes_of(
            self.leaf_weights_, self.schema_, self.released_, self._row_shares, held, rows=effective,
            are_released=self.released_.cells is not None,
        )  # fmt: skip
        asked: dict[tuple[int, ...], int] = {(a,): way for a, way in self._fitted_directions.items()}
        return [replace(own, direction=asked.get(own.attributes, 0)) for own in shapes]

    @property
    def explained_names_(self) -> list[str]:
        """What the columns of `explain` are called: where all rows start, then every effect."""
        names = self.schema_.names
        return ["(start)", *(" x ".join(names[a] for a in own) for own in effects_in(self.trees_))]

    def _explained(self, X: Any, class_: int | None) -> "pd.DataFrame":
        """Return what attributes add to every row's score of a class; by default of each row's predicted one."""
        import pandas as pd

        weights, codes = self._read(X)
        split = Split.of(weights, self._row_shares)
        parts = split.contributions(codes)
        chosen = weights.explained(codes, class_)
        own = np.take_along_axis(parts, chosen[:, None, None], axis=2)[:, :, 0]
        values = np.column_stack([split.start[chosen], own]) * (2.0 if weights.weights.shape[1] == 1 else 1.0)
        return pd.DataFrame(values, columns=self.explained_names_, index=getattr(X, "index", None))

    def _read(self, X: Any) -> tuple[LeafWeights, NDArray[Any]]:
        """Return the weights that score the rows of ``X``, and the rows' codes."""
        return self._weights_with_missing, self._encoder.encode_new(X)

    def _set_released(
        self,
        encoder: Encoder,
        releases: Sequence[ReleasedWeights],
        event: Event,
        reservation: Reservation | NoReservation,
        call: FitCall,
    ) -> Self:
        """Set all that was fitted on this snapshot and settle the last of its releases.

        Only what is on record leaves: where settling fails, nobody takes over the snapshot.
        """
        self._set_fitted(encoder, releases, self._guarantee(encoder.schema, after_trial(call.searched, event)))
        self._settle(after_trial(call.searched, in_parallel(event)[-1]), reservation, call)
        self._say(f"released, with noise of standard deviation {self.noise_std_:.3g} a leaf")
        return self

    def _set_fitted(self, encoder: Encoder, releases: Sequence[ReleasedWeights], guarantee: Guarantee) -> None:
        each = list(map(scales_of, self._each_event(guarantee.event), releases))
        one = len(releases) == 1
        released, scales = (releases[0], each[0]) if one else self._joined(releases, each, encoder.schema)
        directions = self._directions(encoder.schema)
        released = monotone(released, directions, scales)
        offsets = scores_of(released.class_shares(scales.balance), MARGIN)
        step = np.float64(2.0**released.exponent)
        trees, weights = released.with_missing_leaves()
        self._set_all(
            encoder, _fitted_with=self._plain_parameters(), _fitted_directions=directions,
            releases_=tuple(releases), released_=released, guarantee_=guarantee, _scales=scales, _scales_of_each=each,
            leaf_weights_=LeafWeights(released.trees, offsets, released.weights * step, MARGIN),
            _weights_with_missing=LeafWeights(trees, offsets, weights * step, MARGIN),
        )  # fmt: skip

    def _directions(self, schema: Schema) -> Directions:  # noqa: ARG002 - the recommended forest asks for some
        """Return which attributes may move the chance of the second class one way only."""
        return {}

    def _joined(
        self, releases: Sequence[ReleasedWeights], scales: Sequence[Scales], schema: Schema
    ) -> tuple[ReleasedWeights, Scales]:
        """Return what several fits come to together, and the noise in its counts."""
        return combined(releases, scales, schema), combined_scales(releases, scales)

    def _each_event(self, event: Event) -> tuple[Event, ...]:
        """Return the receipts of each fit."""
        return in_parallel(event)

    def _each_schema(self, schema: Schema) -> Iterable[Schema]:
        """Return the schema of each fit."""
        return repeat(schema)

    def to_document(self) -> dict[str, Any]:
        """Return what the model file holds."""
        return {
            "method": self.method,
            "parameters": self._fitted_with,
            "schema": self.schema_.to_json(),
            **releases_to_json(self.releases_, self._each_schema(self.schema_)),
            "guarantee": self.guarantee_.to_json(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], schema: Schema) -> Self:
        """Return the model that a document holds, checked in every part."""
        guarantee = Guarantee.from_json(document["guarantee"])
        model = cls._unfitted(document["parameters"], schema, guarantee)
        try:
            model._directions(schema)  # noqa: SLF001 - of its own class
        except ParameterError as error:
            raise ModelFileError("a parameter does not go with the schema; the file was changed") from error
        releases = releases_from_json(document, model._each_schema(schema))  # noqa: SLF001 - of its own class
        model._check_guarantee(guarantee, schema, releases)  # noqa: SLF001
        model._set_fitted(model._encoder_of(schema), releases, guarantee)  # noqa: SLF001
        return model

    def _is_receipt(self, event: Event, forest: Sequence[ReleasedWeights], schema: Schema) -> bool:
        parts = self._each_event(event)
        return (
            len(parts) == len(forest)
            and not (isinstance(event, Parallel) and len(forest) == 1)
            and stated_delta(event) <= self.delta
            and all(map(self._is_one_fit, count(), parts, forest, self._each_schema(schema)))
        )

    def _is_one_fit(self, batch: int, event: Event, released: ReleasedWeights, schema: Schema) -> bool:
        bought = self._buys_rows(batch, schema)
        is_known = bought or released.n_rows == schema.rows
        return is_known and are_receipts(event, released, schema, self._unit().max_rows, buys_rows=bought)

    def _buys_rows(self, batch: int, schema: Schema) -> bool:  # noqa: ARG002 - batches differ
        """Return whether a fit bought its number of rows; else it is the schema's."""
        return schema.rows is None


class WeightForestClassifier(WeightForest, ReleasedClassifier):
    """A classifier whose leaves carry released weights."""

    def explain(self, X: Any, class_: Label | None = None) -> "pd.DataFrame":
        """Return what attributes add to every row's score of a class: each one alone, and what several do together.

        Parameters
        ----------
        X : table
            As in `predict`.
        class_ : label, optional
            The class whose score is explained; by default the second of two, and of more each row's predicted one.

        Returns
        -------
        pandas.DataFrame
            The first column is where all rows start; then one for each attribute, and one such as "age x job" for what
            they do together beyond that. The sum of a line is the score, the larger the likelier; of two classes a
            score of -4, -2, 0, 2, 4 is a chance of 4.6, 22, 50, 78, 95 %.
        """
        check_is_fitted(self)
        return self._explained(X, None if class_ is None else class_position(self.schema_.classes, class_))

    def _probabilities(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        return self._weights_with_missing.chances(codes)
