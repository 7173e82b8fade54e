"""The table that the speed benchmarks share: 14 numeric attributes and two classes that depend on four of them."""

import numpy as np
from numpy.typing import NDArray

from privet import Numeric, PrivateRDTClassifier, Schema

N_ATTRIBUTES, N_TREES, HEIGHT = 14, 30, 10


def schema_of(
    n_attributes: int = N_ATTRIBUTES, n_classes: int = 2, *, rows: int | None = None, bins: int | None = None
) -> Schema:
    """Return the schema of such a table; classes are whole numbers from 0."""
    attributes = [Numeric(f"x{j}", 0.0, 1.0, bins=bins) for j in range(n_attributes)]
    return Schema(attributes, classes=range(n_classes), rows=rows)


SCHEMA = schema_of()


def numeric_table(
    n_rows: int, seed: int = 7, *, n_attributes: int = N_ATTRIBUTES
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return ``n_rows`` uniform rows and labels of which a tenth is flipped, so that no tree ends early."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_attributes), dtype=np.float32)
    y = (_score(X) > 0.25) ^ (rng.random(n_rows) < 0.1)
    return X, y.astype(np.int64)


def in_classes(X: NDArray[np.float32], n_classes: int) -> NDArray[np.int64]:
    """Return other labels of the same rows: ranges of their score, a tenth redrawn."""
    ranges = np.digitize(_score(X), np.linspace(-0.25, 0.75, n_classes - 1)).astype(np.int64)
    rng = np.random.default_rng(7)
    return np.where(rng.random(len(X)) < 0.1, rng.integers(n_classes, size=len(X)), ranges)


def _score(X: NDArray[np.float32]) -> NDArray[np.float32]:
    score: NDArray[np.float32] = X[:, 0] + X[:, 1] * X[:, 2] - X[:, 3]
    return score


def ours(n_trees: int = N_TREES, height: int = HEIGHT, schema: Schema = SCHEMA) -> PrivateRDTClassifier:
    """Return privet's model, by default of the size that the bars name, on one thread."""
    return PrivateRDTClassifier(schema, epsilon=1.0, n_trees=n_trees, height=height, random_state=7, n_jobs=1)
