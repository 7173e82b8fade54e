"""Naive Bayes on noisy counts: what a table's attributes tell one by one, for a comparison.

One table of class counts and one per attribute, value by class, each released with exact discrete Laplace noise at an
equal share of epsilon: a row adds one to each of k + 1 tables, so all of them together are epsilon-DP. Numbers are cut
into public cells of equal width, and a missing value has a cell of its own.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.utility.splits import BINS
from privet import Schema
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.schema.encoding import Encoder


class NoisyNaiveBayes:
    """Naive Bayes from noisy counts, with every count below ``least`` raised to it."""

    def __init__(self, schema: Schema, *, epsilon: float, bins: int = BINS, least: float = 1.0) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.bins = bins
        self.least = least

    def fit(self, X: Any, y: Any) -> Self:
        """Count, add noise, and take logarithms of shares."""
        schema = self.schema.with_bins(self.bins)
        self.encoder_ = Encoder(schema)
        self.classes_ = np.asarray(schema.classes)
        codes, labels = self.encoder_.encode(X), self.encoder_.encode_labels(y).astype(np.intp)
        share = self.epsilon / (len(schema.attributes) + 1)
        exact_priors = np.bincount(labels, minlength=len(schema.classes))
        self.log_priors_ = np.log(self._shares(exact_priors, share))
        self.log_shares_ = [
            np.log(self._shares(_counts(codes[:, j], labels, (attribute.n_values + 1, len(schema.classes))), share))
            for j, attribute in enumerate(schema.attributes)
        ]
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of every row."""
        codes = self.encoder_.encode(X)
        log_odds = self.log_priors_ + sum(own[codes[:, j]] for j, own in enumerate(self.log_shares_))
        odds = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
        probabilities: NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
        return probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every row."""
        predicted: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return predicted

    def _shares(self, exact_counts: NDArray[np.intp], epsilon: float) -> NDArray[np.float64]:
        """Return each class's shares of the values, or the classes' own shares, from counts with noise."""
        noisy_counts, _ = discrete_laplace(exact_counts, epsilon=epsilon, sensitivity=1)
        raised = np.maximum(noisy_counts, self.least)
        shares: NDArray[np.float64] = raised / raised.sum(axis=0)
        return shares


def _counts(codes: NDArray[Any], labels: NDArray[np.intp], shape: tuple[int, int]) -> NDArray[np.intp]:
    """Return how often each value and class meet."""
    cells = codes.astype(np.intp) * shape[1] + labels
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
