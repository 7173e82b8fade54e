"""A linear model of noisy sums: the sums of squares and products with normal noise, then ridge regression.

The textbook's way to a private linear model (sufficient statistics, as Wang 2018 has it), with floats for noise: it is
here for comparison alone.
"""

import math

import numpy as np
from numpy.typing import NDArray

from privet.privacy.mechanisms.objective_perturbation import gaussian_delta

Floats = NDArray[np.float64]
_HALVINGS, _RIDGE = 60, 2.5


def predicted(train: Floats, y: Floats, test: Floats, *, norm: float, epsilon: float, delta: float) -> Floats:
    """Return predictions for ``test``.

    Columns and targets are scaled to 0..1, and the squares of a row of ``train`` add up to at most ``norm``.
    """
    rng = np.random.default_rng()
    Z = np.column_stack([np.ones(len(train)), train, y])
    # The entries of a row's products are at most its squared length apart, in L2.
    sigma = (norm + 2) / _mu_of(epsilon, delta)
    noise = np.triu(rng.normal(0, sigma, (Z.shape[1], Z.shape[1])))
    noisy = Z.T @ Z + noise + np.triu(noise, 1).T
    # The noise's eigenvalues are at most about twice this root.
    ridge = _RIDGE * sigma * math.sqrt(Z.shape[1]) * np.eye(Z.shape[1] - 1)
    weights = np.linalg.solve(noisy[:-1, :-1] + ridge, noisy[:-1, -1])
    found: Floats = np.clip(np.column_stack([np.ones(len(test)), test]) @ weights, 0, 1)
    return found


def _mu_of(epsilon: float, delta: float) -> float:
    """Return the largest sensitivity / sigma that costs (epsilon, delta)."""
    low, high = 1e-9, 100.0
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if gaussian_delta(epsilon, middle) <= delta else (low, middle)
    return low
