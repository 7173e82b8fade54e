"""How noisy an estimate from answers to one question is. planning.md has the argument."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def variance_of_sum(weights: Floats, shares: Floats, kept: float, other: float) -> tuple[float, float]:
    """Return the variance, for one person asked, of an estimated sum of weights times shares of people in cells.

    Parameters
    ----------
    weights, shares : float arrays
        What each cell counts for, and how frequent it is.
    kept, other : float
        The chance that the true cell is sent, and that a given other one is; everyone sends as many cells.

    Returns
    -------
    (float, float)
        What the channel adds, and what is due to whom one happened to ask.

    Examples
    --------
    A coin of 3/4 hides "yes" or "no", which are equally frequent. Three of sixteen over a half squared, and a quarter:

    >>> import numpy as np
    >>> variance_of_sum(np.array([1.0, 0.0]), np.array([0.5, 0.5]), 0.75, 0.25)
    (0.75, 0.25)
    """
    k = len(weights)
    true, false = kept * (1 - kept), other * (1 - other)
    # As many cells are sent of everyone, so that the covariances of each cell with all cells add up to 0.
    with_true = -true / (k - 1)
    among_others = -(false + with_true) / (k - 2) if k > 2 else 0.0
    rest = weights.sum() - weights
    squares = (weights**2).sum() - weights**2
    sent = true * weights**2 + 2 * with_true * weights * rest + false * squares + among_others * (rest**2 - squares)
    spread = float(shares @ weights**2 - (shares @ weights) ** 2)
    return float(shares @ sent) / (kept - other) ** 2, max(spread, 0.0)
