"""The out-of-bag error of a forest, and its area under the ROC curve, from rows that may be disturbed.

Every row is judged by the trees that were not grown on it. A disturbed row is judged together with its mirror image,
and both count as they do in the trees: the sum is an unbiased estimate of what clear rows would give.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.checks import n_threads
from privet.local.response_forest.bit_trees import Bag
from privet.local.response_forest.mirror_counts import weights_of
from privet.tree import kernels
from privet.tree.forest import Forest

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OutOfBag:
    """The estimated share of wrong predictions and, for two classes, the area under the ROC curve.

    Noise may take an estimate outside 0 to 1; it is given as it is. NaN where no row is out of some bag.
    """

    error: float
    auc: float


NOT_JUDGED = OutOfBag(float("nan"), float("nan"))


def out_of_bag(
    forest: Forest,
    weights: NDArray[np.int64],
    bits: NDArray[np.uint8],
    labels: NDArray[np.int64],
    bags: Sequence[Bag],
    *,
    keep: float,
    flips_label: bool,
    n_jobs: int | None,
) -> OutOfBag:
    """Judge rows of bits by the trees that did not see them; ``weights`` has each node's votes for the classes."""
    plus, minus = weights_of(keep)
    readings = [(plus, bits, labels)]
    if minus:
        readings.append((-minus, 1 - bits, 1 - labels if flips_label else labels))
    judged = [(weight, *_judge(forest, weights, rows, own, bags, n_jobs)) for weight, rows, own in readings]
    votes = np.concatenate([own for _, own, _ in judged])
    if not len(votes):
        return NOT_JUDGED
    truth = np.concatenate([own for _, _, own in judged])
    counts = np.concatenate([np.full(len(own), weight) for weight, own, _ in judged])
    error = float(counts @ (votes.argmax(axis=1) != truth) / counts.sum())
    shares = votes[:, 1] / votes.sum(axis=1)
    return OutOfBag(error, signed_auc(shares, truth == 1, counts) if votes.shape[1] == 2 else np.nan)


def _judge(
    forest: Forest, weights: NDArray[np.int64], bits: NDArray[np.uint8], labels: NDArray[np.int64], bags: Sequence[Bag],
    n_jobs: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """Return the votes for rows that were out of at least one bag, and their classes."""
    parts = np.array_split(np.arange(len(bags)), min(n_threads(n_jobs), len(bags)))
    with ThreadPoolExecutor(len(parts)) as pool:
        votes = np.sum(list(pool.map(lambda trees: _votes(forest, weights, bits, bags, trees), parts)), axis=0)
    has_votes = votes.any(axis=1)
    return votes[has_votes], labels[has_votes]


def _votes(
    forest: Forest, weights: NDArray[np.int64], bits: NDArray[np.uint8], bags: Sequence[Bag], trees: NDArray[np.int64]
) -> NDArray[np.int64]:
    votes = np.zeros((len(bits), weights.shape[1]), dtype=np.int64)
    for root in trees.tolist():
        outside = np.ones(len(bits), dtype=bool)
        outside[bags[root].rows] = False
        records = bits[outside]
        leaves = np.empty(len(records), dtype=np.uint32)
        kernels.route(
            forest.words, root, forest.depth, forest.multiway, records.reshape(-1), bits.shape[1], 0, len(records),
            leaves,
        )  # fmt: skip
        votes[outside] += weights[leaves]
    return votes


def signed_auc(scores: Floats, positive: NDArray[np.bool_], counts: Floats) -> float:
    """Return the area under the ROC curve of rows that count ``counts`` times each, some of them less than 0 times."""
    places = np.unique(scores, return_inverse=True)[1]
    hits = np.bincount(places, weights=np.where(positive, counts, 0.0))
    misses = np.bincount(places, weights=np.where(positive, 0.0, counts), minlength=len(hits))
    if not (hits.sum() > 0 and misses.sum() > 0):
        return float("nan")
    below = np.cumsum(misses) - misses / 2  # of equal scores one half
    return float(hits @ below / (hits.sum() * misses.sum()))
