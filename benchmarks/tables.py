"""The table that the speed benchmarks share: 14 numeric attributes and two classes that depend on four of them."""

import numpy as np
from numpy.typing import NDArray

from privet import Numeric, PrivateRDTClassifier, Schema

N_ATTRIBUTES, N_TREES, HEIGHT = 14, 30, 10
SCHEMA = Schema([Numeric(f"x{j}", 0.0, 1.0) for j in range(N_ATTRIBUTES)], classes=[0, 1])


def numeric_table(n_rows: int, seed: int = 7) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return ``n_rows`` uniform rows and labels of which a tenth is flipped, so that no tree ends early."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, N_ATTRIBUTES), dtype=np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] - X[:, 3]
    y = (score > 0.25) ^ (rng.random(n_rows) < 0.1)
    return X, y.astype(np.int64)


def ours(n_trees: int = N_TREES) -> PrivateRDTClassifier:
    """Return privet's model of the size that the bars name, on one thread."""
    return PrivateRDTClassifier(SCHEMA, epsilon=1.0, n_trees=n_trees, height=HEIGHT, random_state=7, n_jobs=1)
