"""The recommended forest for a number with declared bounds. The argument is in private_forest_regressor.md."""

from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from privet.central.recommended_forest import RecommendedForest
from privet.central.released_classifier import FitCall
from privet.counting.engines.predicting import Predicting
from privet.counting.sources import engine_of
from privet.errors import DataError, ParameterError, SchemaError
from privet.schema import Schema, infer_schema
from privet.schema.schema import BOUNDS_NEEDED

if TYPE_CHECKING:
    import pandas as pd


class PrivateForestRegressor(RegressorMixin, RecommendedForest):  # type: ignore[misc]
    """The forest of `PrivateForestClassifier` for a target that is a number with declared bounds.

    A row whose target is 30 % up its range counts as 30 % of a row at the upper bound and 70 % of one at the lower: one
    row in all. The forest fits the chance of the upper bound, so a prediction is a mean and lies within the bounds.

    Parameters
    ----------
    schema : Schema, path or "infer"
        What is public about the table; its target has bounds: ``target=Numeric("price", 0, 500_000)``. A target beyond
        them is clipped.
    epsilon, delta, n_attributes, n_bins, group_size, prior_variance, balance_share, selection_share, monotonic_cst
        As in `PrivateForestClassifier`.
    unit, max_rows, ledger, random_state, n_jobs, verbose, unsafe_seeded_noise
        As in `PrivateForestClassifier`.

    Attributes
    ----------
    target_mean_ : float
        The mean of the target, as released.
    guarantee_, trees_, released_, n_rows_, feature_importances_, cell_shares_, told_apart_, leaf_weights_
        As in `PrivateForestClassifier`; weights add up to a score, which `predict` turns into a number in the bounds.
    noise_std_, tree_noise_std_, releases_, noise_growth_, schema_, n_features_in_, feature_names_in_
        As in `PrivateForestClassifier`.

    Notes
    -----
    Narrow bounds help most: noise is a share of the range. Bounds must be publicly known, not read off the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import Numeric, PrivateForestRegressor, Schema
    >>> schema = Schema([Numeric("age", 16, 100)], target=Numeric("income", 0, 100_000), rows=10_000)
    >>> rng = np.random.default_rng(7)
    >>> X = rng.uniform(16, 100, (10_000, 1))
    >>> model = PrivateForestRegressor(schema, epsilon=1.0).fit(X, 400 * X[:, 0] + rng.normal(0, 5000, 10_000))
    >>> bool(25_000 < model.predict([[80.0]])[0] < 39_000)
    True
    """

    method = "private-forest-regressor"
    _read_of_target = "the target's bounds"

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        max_sample_weight: float | None = None,
        executor: Executor | None = None,
    ) -> Self:
        """Fit to the rows of ``X`` and their targets ``y``, or to files or batches.

        Parameters
        ----------
        X : table, path or batches
            As in `PrivateForestClassifier`.
        y : array of numbers
            Clipped to the target's bounds, and rounded to 4096 steps of its range; left out where ``X`` holds them.
        sample_weight : array, optional
            Leaves out rows of a table in memory: 1 keeps a row, 0 does not. Other weights need ``max_sample_weight``.
        max_sample_weight : float, optional
            The largest weight that a row may have, declared beforehand; larger ones count as it. A row is then kept
            with a chance of its weight over this maximum, by a secret coin: a high maximum leaves few rows.
        executor : concurrent.futures.Executor, optional
            Counts the rows in parts: processes, or a cluster's workers. What is released is the same.
        """
        return self._run(FitCall(X, y, sample_weight, max_sample_weight, executor, batch=self._part_check()))

    def partial_fit(self, X: Any, y: Any = None, *, executor: Executor | None = None) -> Self:
        """Add a batch of new rows: a release of its own, with fresh noise, joined to what is there.

        A row may be in one batch only. The cost of the model is then that of the most expensive batch.
        """
        return self._add_batch(X, y, executor)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the mean that the model expects of the target for every row of ``X``; it lies within the bounds.

        Of a dask DataFrame it is a dask Series, and of a Spark DataFrame the frame with a column ``prediction``.
        """
        check_is_fitted(self)
        if (engine := engine_of(X)) is not None:
            return self._predicting().of_frame(X, engine)  # type: ignore[no-any-return]
        codes = self._encoder.encode_new(X)
        return self._in_bounds(self._weights_with_missing.chances(codes)[:, 1])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R2 on rows of one's own: an exact number about them, which nothing protects."""
        from sklearn.metrics import r2_score

        predicted = self.predict(X)
        try:
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        except (ValueError, TypeError):  # scikit-learn's sentences may quote values and the number of rows
            raise DataError(
                "y and sample_weight do not fit the rows to score; pass one number, and one weight if any, per row"
            ) from None

    def explain(self, X: Any) -> "pd.DataFrame":
        """Return what attributes add to every row's score: each one alone, and what several do together.

        Effects add up on the scale of the score, not on that of the target: the target's bounds bend it. The sum of a
        line is the score; a score of -4, -2, 0, 2, 4 is a mean 4.6, 22, 50, 78, 95 % up the range.

        Returns
        -------
        pandas.DataFrame
            The first column is where all rows start; then one for each attribute, and one such as "age x job" for what
            they do together beyond that.
        """
        check_is_fitted(self)
        return self._explained(X, 1)

    def epsilon_needed(self, *_: Any, **__: Any) -> float:
        """Refuse: other methods have it, and it says how good a classifier is."""
        raise ParameterError(
            "epsilon_needed says how good a classifier is, by accuracy or votes; plan() says the noise of a regressor"
        )

    @property
    def target_mean_(self) -> float:
        """The mean of the target, from the released sum and number of rows."""
        return float(self._in_bounds(self.class_shares_[1:])[0])

    def _in_bounds(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how much of the range as numbers of it."""
        number = self._encoder.schema.number
        low, high = (0.0, 1.0) if number is None else (number.low, number.high)
        numbers: NDArray[np.float64] = low * (1 - shares) + high * shares
        return numbers

    def _predicting(self) -> Predicting:
        model = self._snapshot()
        model.ledger = None
        return Predicting(model.predict, self.schema_.names, np.empty(0, dtype=np.float64), of_classes=True)

    def _check_target(self, schema: Schema) -> None:
        if schema.number is None:
            raise SchemaError(BOUNDS_NEEDED)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def _inferred_schema(self, X: Any, labels: Any) -> Schema:
        return infer_schema(X, labels, target="target", unit=self._unit().column, is_number=True)
