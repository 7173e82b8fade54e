"""From answers to estimated trees: on rows and their mirror images, or on answers that were drawn one by one.

The rows that a bootstrap left out, disturbed as they may be, say how often the forest errs.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.checks import n_threads
from privet.errors import ModelFileError
from privet.local.channels.channel import Channel
from privet.local.channels.coding import Coding
from privet.local.response_forest.bit_trees import Bag, Growth, grow_on_bags, joined
from privet.local.response_forest.inverse_counts import GRID, AnswerCodes, AnsweredRows, InverseCounts, chances_of
from privet.local.response_forest.mirror_counts import MirrorCounts, MirrorRows, weights_of
from privet.model_file import counts_from_json, counts_to_json
from privet.tree import kernels
from privet.tree.forest import Forest

Estimates = MirrorCounts | InverseCounts
_MOST_ROWS = 2.0**53
Floats = NDArray[np.float64]


def mirror_estimates(
    kept: NDArray[np.int64], mirrored: NDArray[np.int64], channel: Channel, n_trees: int, *, bootstrap: bool
) -> MirrorCounts:
    """Return the estimates that counts of rows and of mirror images give through ``channel``; a clear one keeps all."""
    keep, flips = (1.0, False) if channel.flips is None else (channel.flips.keep, channel.flips.flips_label)
    return MirrorCounts(n_trees, bootstrap, kept, mirrored, keep, flips)


def inverse_estimates(
    sums: NDArray[np.int64], squares: NDArray[np.int64], channel: Channel, n_trees: int, *, bootstrap: bool
) -> InverseCounts:
    """Return the estimates that sums and squares, in steps of a grid, give through ``channel``."""
    n_rows = float(sums[:n_trees].sum(axis=1).max()) / GRID
    return InverseCounts(n_trees, bootstrap, sums / GRID, squares / GRID, n_rows, chances_of(channel.label))


def is_mirrored(channel: Channel) -> bool:
    """Return whether the nodes of a forest count rows and mirror images; clear rows are a case of it."""
    return channel.flips is not None or channel.is_clear


def estimates_to_json(estimates: Estimates, forest: Forest) -> dict[str, Any]:
    """Return the nodes' numbers as plain JSON values; counts of inner nodes are sums of leaves and left out."""
    if isinstance(estimates, MirrorCounts):
        leaves = forest.leaves
        return {"kept": counts_to_json(estimates.kept[leaves]), "mirrored": counts_to_json(estimates.mirrored[leaves])}
    numbers = {"sums": estimates.sums, "squares": estimates.squares}
    return {name: counts_to_json(np.rint(number * GRID).astype(np.int64)) for name, number in numbers.items()}


def estimates_from_json(data: object, forest: Forest, channel: Channel, *, bootstrap: bool) -> Estimates:
    """Read the nodes' numbers back."""
    names = ("kept", "mirrored") if is_mirrored(channel) else ("sums", "squares")
    if not isinstance(data, Mapping) or set(data) != set(names):
        raise ModelFileError("the nodes' numbers are not those of this channel; the file is damaged")
    n_counted = len(forest.leaves) if is_mirrored(channel) else forest.n_nodes
    n_classes = len(channel.schema.classes)
    first, second = (counts_from_json(data[name], n_leaves=n_counted, n_classes=n_classes) for name in names)
    if second.min(initial=0) < 0 or float(np.abs(first).sum(dtype=np.float64)) >= _MOST_ROWS:
        raise ModelFileError("the nodes' numbers are not those of rows; the file is damaged")
    if not is_mirrored(channel):
        return inverse_estimates(first, second, channel, forest.n_trees, bootstrap=bootstrap)
    if first.min(initial=0) < 0 or (channel.flips is None and second.any()):
        raise ModelFileError("the nodes' counts are not those of rows; the file is damaged")
    kept, mirrored = forest.sums_of_leaves(first), forest.sums_of_leaves(second)
    return mirror_estimates(kept, mirrored, channel, forest.n_trees, bootstrap=bootstrap)


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


@dataclass(frozen=True, eq=False)
class ResponseGrowth:
    """How a forest is grown: the coding, the channel, when nodes are split, how trees vote, on how many threads."""

    coding: Coding
    channel: Channel
    growth: Growth
    by_majority: bool
    cautious: bool
    n_jobs: int | None

    def grow(
        self, codes: NDArray[Any], labels: NDArray[np.int64], public_rng: np.random.Generator
    ) -> tuple[Forest, Estimates, OutOfBag]:
        """Return a forest, what is estimated of its nodes, and its out-of-bag error.

        ``codes`` are bits where whole records were flipped or not, else the codes of answers.
        """
        grow = self._on_mirrors if is_mirrored(self.channel) else self._on_answers
        return grow(codes, labels, public_rng)

    @property
    def _n_classes(self) -> int:
        return len(self.channel.schema.classes)

    def _on_mirrors(
        self, codes: NDArray[Any], labels: NDArray[np.int64], public_rng: np.random.Generator
    ) -> tuple[Forest, Estimates, OutOfBag]:
        record, n_classes = self.channel.flips, self._n_classes
        bits = self.coding.bits(codes) if record is None else (codes > 0).astype(np.uint8)
        keep, flips = (1.0, False) if record is None else (record.keep, record.flips_label)
        rows = MirrorRows.of(bits, labels, n_classes=n_classes, keep=keep, flips_label=flips)
        trees, bags = grow_on_bags(partial(rows.grow, self.growth), len(labels), self.growth, public_rng, self.n_jobs)
        forest, (counts,) = joined(trees, self.coding)
        kept, mirrored, bootstrap = counts[:, :n_classes], counts[:, n_classes:], self.growth.bootstrap
        estimates = mirror_estimates(kept, mirrored, self.channel, forest.n_trees, bootstrap=bootstrap)
        if not bootstrap:
            return forest, estimates, NOT_JUDGED
        votes = estimates.votes(forest, by_majority=self.by_majority, cautious=self.cautious)
        judged = out_of_bag(forest, votes, bits, labels, bags, keep=keep, flips_label=flips, n_jobs=self.n_jobs)
        return forest, estimates, judged

    def _on_answers(
        self, codes: NDArray[Any], labels: NDArray[np.int64], public_rng: np.random.Generator
    ) -> tuple[Forest, Estimates, OutOfBag]:
        answers, label = AnswerCodes.of(self.coding, self.channel), chances_of(self.channel.label)
        rows = AnsweredRows(codes, labels, answers, label, self._n_classes)
        trees, _ = grow_on_bags(partial(rows.grow, self.growth), len(labels), self.growth, public_rng, self.n_jobs)
        forest, numbers = joined(trees, self.coding)
        sums, squares = (np.rint(number * GRID).astype(np.int64) for number in numbers)
        bootstrap = self.growth.bootstrap
        return forest, inverse_estimates(sums, squares, self.channel, forest.n_trees, bootstrap=bootstrap), NOT_JUDGED
