"""One tree with the class counts of its leaves, for budgets that are too small to fit weights.

A row is in one leaf and of one class, so all counts together are one release. The class balance and the weights follow
from them.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.link import scores_of
from privet.central.weights.policy import MARGIN
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.selection import merged
from privet.central.weights.trees import Trees
from privet.privacy.events import Event
from privet.privacy.mechanisms.deviation import laplace_deviation
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip
from privet.rng import NoiseSource

# Weights are whole numbers of 2 to this power.
_EXPONENT = -20
# A leaf has so many scales of noise in rows added, and costs a candidate so many scales of its choice's noise.
_ADDED, _COST_OF_LEAF = 2.0, 0.3


def choose_accurate(
    exact_tables: Sequence[NDArray[np.int64]],
    codings: Sequence[Sequence[NDArray[np.int64]]],
    *,
    epsilon: float,
    rows: int,
    what: str,
    noise: NoiseSource,
) -> tuple[tuple[int, int], Event]:
    """Choose an attribute and one of its codings, by how many rows are of the most frequent class in their cell.

    Parameters
    ----------
    exact_tables : one array an attribute, codes x classes
    codings : for each attribute several arrays
        The cell of each code. More cells cost a candidate more: noise will hide what each of them says.
    epsilon : float
        What the choice costs.
    rows : int
        How many rows one unit of privacy may have.

    Privacy
    -------
    One row more raises one count of one cell by 1, so it raises a score by 0 or 1 and lowers none: scores are monotone.
    What cells cost is public.
    """
    candidates = [(a, i) for a, ways in enumerate(codings) for i in range(len(ways))]
    cost = _COST_OF_LEAF * rows / epsilon
    scores = []
    for a, i in candidates:
        exact_counts = merged(exact_tables[a], codings[a][i])
        scores.append(int(exact_counts.max(axis=1).sum()) - round(cost * len(exact_counts)))
    index, receipt = permute_and_flip(
        np.array(scores, dtype=np.int64), epsilon=epsilon, sensitivity=rows, monotone=True, what=what, noise=noise
    )
    return candidates[index], receipt


def release_leaves(
    trees: Trees, exact_table: NDArray[np.int64], *, epsilon: float, rows: int, what: str, noise: NoiseSource
) -> tuple[NDArray[np.int64], Event]:
    """Return noisy class counts of the only tree's leaves, leaves x classes, and their receipt.

    Privacy
    -------
    A row moves one count by 1, so the L1 sensitivity is ``rows``.
    """
    ((axis,),) = trees.axes
    exact = merged(exact_table, axis.nearest[axis.cell_of])
    return discrete_laplace(exact, epsilon=epsilon, sensitivity=rows, what=what, noise=noise)


def weights_of_counts(trees: Trees, n_rows: int, noisy: NDArray[np.int64], scale: float) -> ReleasedWeights:
    """Return the tree with the weights that give its leaves their shares of the classes.

    Rows are added to every leaf, spread as the classes are: a leaf that has no more than noise says what the balance
    says.
    """
    balance = noisy.sum(axis=0)
    added = _ADDED * max(1.0, scale)
    released = ReleasedWeights.balance_only(trees, n_rows, balance)
    shares = released.class_shares(scale * math.sqrt(trees.n_leaves))
    counts = np.maximum(noisy, 0) + added * shares
    weights = scores_of(counts / counts.sum(axis=1, keepdims=True), MARGIN) - scores_of(shares, MARGIN)
    if released.weights.shape[1] == 1:
        weights = weights[:, 1:] - weights[:, :1]
    held = float((shares * (1 - shares)).mean())  # what one row holds against noise, and so each that is added
    return replace(
        released, weights=np.rint(weights * 2.0**-_EXPONENT).astype(np.int64), exponent=_EXPONENT,
        variances=np.array([1 / (added * held)]),
        noise_std=np.array([pull_deviation(laplace_deviation(scale) if scale else 0.0)]),
    )  # fmt: skip


def pull_deviation(count_deviation: float) -> float:
    """Return the deviation of a leaf's pull between two classes: noise in both of their counts moves it."""
    return math.sqrt(2) * count_deviation
