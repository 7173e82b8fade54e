"""From answers to estimated trees: on rows and their mirror images, or on answers that were drawn one by one."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.channel import Channel
from privet.local.channels.coding import Coding
from privet.local.response_forest.bit_trees import Growth, grown_on_bags, joined
from privet.local.response_forest.inverse_counts import GRID, AnswerCodes, AnsweredRows, chances_of
from privet.local.response_forest.mirror_counts import MirrorRows
from privet.local.response_forest.out_of_bag import NOT_JUDGED, OutOfBag, out_of_bag
from privet.local.response_forest.response_forest_file import (
    Estimates,
    inverse_estimates,
    is_mirrored,
    mirror_estimates,
)
from privet.tree.forest import Forest


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
        self, codes: NDArray[Any], labels: NDArray[np.int64], coins: np.random.Generator
    ) -> tuple[Forest, Estimates, OutOfBag]:
        """Return a forest, what is estimated of its nodes, and its out-of-bag error.

        ``codes`` are bits where whole records were flipped or not, else the codes of answers.
        """
        grow = self._on_mirrors if is_mirrored(self.channel) else self._on_answers
        return grow(codes, labels, coins)

    @property
    def _n_classes(self) -> int:
        return len(self.channel.schema.classes)

    def _on_mirrors(
        self, codes: NDArray[Any], labels: NDArray[np.int64], coins: np.random.Generator
    ) -> tuple[Forest, Estimates, OutOfBag]:
        record, n_classes = self.channel.record, self._n_classes
        bits = self.coding.bits(codes) if record is None else (codes > 0).astype(np.uint8)
        keep, flips = (1.0, False) if record is None else (record.keep, record.flips_label)
        rows = MirrorRows.of(bits, labels, n_classes=n_classes, keep=keep, flips_label=flips)
        trees, bags = grown_on_bags(partial(rows.grow, self.growth), len(labels), self.growth, coins, self.n_jobs)
        forest, (counts,) = joined(trees, self.coding)
        kept, mirrored, bootstrap = counts[:, :n_classes], counts[:, n_classes:], self.growth.bootstrap
        estimates = mirror_estimates(kept, mirrored, self.channel, forest.n_trees, bootstrap=bootstrap)
        if not bootstrap:
            return forest, estimates, NOT_JUDGED
        votes = estimates.votes(forest, by_majority=self.by_majority, cautious=self.cautious)
        judged = out_of_bag(forest, votes, bits, labels, bags, keep=keep, flips_label=flips, n_jobs=self.n_jobs)
        return forest, estimates, judged

    def _on_answers(
        self, codes: NDArray[Any], labels: NDArray[np.int64], coins: np.random.Generator
    ) -> tuple[Forest, Estimates, OutOfBag]:
        answers, label = AnswerCodes.of(self.coding, self.channel), chances_of(self.channel.label)
        rows = AnsweredRows(codes, labels, answers, label, self._n_classes)
        trees, _ = grown_on_bags(partial(rows.grow, self.growth), len(labels), self.growth, coins, self.n_jobs)
        forest, numbers = joined(trees, self.coding)
        sums, squares = (np.rint(number * GRID).astype(np.int64) for number in numbers)
        bootstrap = self.growth.bootstrap
        return forest, inverse_estimates(sums, squares, self.channel, forest.n_trees, bootstrap=bootstrap), NOT_JUDGED
