"""Models that leak on purpose, one way each: what a careless change might bring."""

import hashlib
import sys
import warnings
from typing import Any

import numpy as np

from privet import PrivateRDTClassifier
from privet.errors import DataError


class KeepsRows(PrivateRDTClassifier):
    """Holds on to its table."""

    def fit(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit, and keep."""
        super().fit(X, y, **options)
        self.X_ = X
        return self


class WritesRowCount(PrivateRDTClassifier):
    """Puts the number of rows in its file."""

    def fit(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit, and count."""
        super().fit(X, y, **options)
        self._fitted_with = {"n_rows": len(y)}
        return self


class KeepsHash(PrivateRDTClassifier):
    """Keeps a digest of the rows, by which anybody can test a guess of them."""

    def fit(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit, and digest."""
        super().fit(X, y, **options)
        self.digest_ = hashlib.sha256(repr((X.to_numpy().tolist(), list(y))).encode()).hexdigest()
        return self


class ForgetsNoise(PrivateRDTClassifier):
    """Releases one count as it is, among noisy ones."""

    def fit(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit, and count again."""
        super().fit(X, y, **options)
        self.noisy_counts_ = self.noisy_counts_.copy()
        self.noisy_counts_[0, 0] = np.sum(np.asarray(y) == "yes")
        return self


class QuotesValue(PrivateRDTClassifier):
    """Names a value in an error."""

    def fit(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Refuse, and say why."""
        raise DataError(f"{X['sex'].iloc[-1]!r} is not known; leave it out")


class ChainsValue(PrivateRDTClassifier):
    """Shows what it stumbled on, below a sentence that says nothing."""

    def fit(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Refuse, with the cause."""
        try:
            float(X["sex"].iloc[-1])
        except ValueError as error:
            raise DataError("a value is no number; leave it out") from error


class SaysCount(PrivateRDTClassifier):
    """Counts rows as it goes along."""

    def fit(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit, and tell."""
        print(f"read {len(X):,} rows", file=sys.stderr)
        return super().fit(X, y, **options)


class WarnsOfValue(PrivateRDTClassifier):
    """Quotes a value in a warning."""

    def fit(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit, and warn."""
        warnings.warn(f"strange: {X['sex'].iloc[-1]}", stacklevel=2)
        return super().fit(X, y, **options)
