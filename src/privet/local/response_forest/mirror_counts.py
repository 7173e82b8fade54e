"""Counts of records and of their mirror images, and what they tell of the true records (Szűcs 2013, eq. 2).

A disturbed record is the true one, or all its bits are flipped. So the rows of a path stand for theta / (2 theta - 1)
true ones each, and the rows whose mirror image takes the path for -(1 - theta) / (2 theta - 1) each. Where the label is
flipped with the bits, a mirror image has the other class.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.local.response_forest import bit_kernels
from privet.local.response_forest.bit_trees import Bag, GrownTree, Growth
from privet.local.response_forest.node_estimates import Floats, NodeEstimates

_WORD = 64


@dataclass(frozen=True, eq=False)
class MirrorCounts(NodeEstimates):
    """Whole counts of rows and of mirror images in every node, one column a class.

    ``keep`` is the probability theta that a record was given as it is; ``flips_label`` whether the label is flipped
    too.
    """

    kept: NDArray[np.int64]
    mirrored: NDArray[np.int64]
    keep: float
    flips_label: bool = False

    @property
    def unclipped(self) -> Floats:
        """Unbiased estimates of each class's rows; some lie below 0."""
        plus, minus = weights_of(self.keep)
        return plus * self.kept - minus * self.mirrored

    @cached_property
    def clipped(self) -> Floats:
        """Estimates between none and all of the rows that may be true ones."""
        return np.clip(self.unclipped, 0.0, self.kept + self.mirrored)

    @property
    def n_drawn(self) -> float:
        """How many rows a tree was grown on: a root has them all."""
        return float(self.kept[: self.n_trees].sum(axis=1).max(initial=0))

    @cached_property
    def class_squares(self) -> Floats:
        """Sums over rows of the square of what they count for a class.

        Below a root no row is in a node together with its mirror image. A root has both of every row: of one class, so
        that the row is known, or where labels are flipped of two.
        """
        plus, minus = weights_of(self.keep)
        squares: Floats = plus**2 * self.kept + minus**2 * self.mirrored
        if not self.flips_label:
            squares[: self.n_trees] = self.unclipped[: self.n_trees]
        return squares

    @property
    def class_products(self) -> Floats:
        """Sums over rows of what they count for a class times what they count in all; that is 1 in a root."""
        products = self.class_squares.copy()
        products[: self.n_trees] = self.unclipped[: self.n_trees]
        return products

    def difference_squares(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
        """Return sums of squares of what rows count for one class less for another, two classes a node."""
        nodes = np.arange(len(self.kept))
        squares: Floats = self.class_squares[nodes, first] + self.class_squares[nodes, second]
        if self.flips_label:  # a row counts for one class in a root, and its mirror image against the other
            squares[: self.n_trees] = sum(weights_of(self.keep)) ** 2 * self.kept[: self.n_trees].sum(axis=1)
        return squares


@dataclass(frozen=True, eq=False)
class MirrorRows:
    """Records in bits with their classes, packed for the kernel, and the same for their mirror images."""

    words: NDArray[np.uint64]
    labels: NDArray[np.int64]
    n_bits: int
    n_classes: int
    keep: float
    flips_label: bool

    @classmethod
    def of(
        cls, bits: NDArray[np.uint8], labels: NDArray[np.int64], *, n_classes: int, keep: float, flips_label: bool
    ) -> "MirrorRows":
        """Pack rows of bits."""
        return cls(packed(bits), labels, bits.shape[1], n_classes, keep, flips_label)

    def grow(self, growth: Growth, bag: Bag) -> GrownTree:
        """Return a tree grown on ``bag``, with the counts of rows and mirror images of its nodes."""
        words, key, times = self._in_bag(bag)
        plus, minus = weights_of(self.keep)
        tree = GrownTree.within(int(bag.times.sum()), growth.min_leaf, [(2 * self.n_classes, np.int64)])
        n_nodes = bit_kernels.grow_on_mirrors(
            words, key, times, self.n_bits, growth.n_tried, plus, minus, growth.min_rows, growth.min_leaf,
            growth.max_depth, bag.draw, tree.bit, tree.left, tree.numbers[0],
        )  # fmt: skip
        return tree.cropped(n_nodes)

    def _in_bag(self, bag: Bag) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
        words, labels = self.words[bag.rows], self.labels[bag.rows].astype(np.uint32)
        times = bag.times.astype(np.uint32)
        if self.keep == 1:  # nothing is flipped, so mirror images count for nothing
            return words, labels, times
        mirror_labels = 1 - labels if self.flips_label else labels
        return (
            np.concatenate([words, words ^ self._flip]),
            np.concatenate([labels, mirror_labels + np.uint32(self.n_classes)]),
            np.concatenate([times, times]),
        )

    @cached_property
    def _flip(self) -> NDArray[np.uint64]:
        return packed(np.ones((1, self.n_bits), dtype=np.uint8))


def weights_of(keep: float) -> tuple[float, float]:
    """Return how many true rows a row and, to be taken off, a mirror image stand for."""
    if not 0.5 < keep <= 1:
        raise ParameterError(f"keep={keep!r} must be above 1/2 and at most 1: at 1/2 an answer says nothing")
    return keep / (2 * keep - 1), (1 - keep) / (2 * keep - 1)


def packed(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return rows of bits as words of 64, the first bit the lowest."""
    n_words = -(-bits.shape[1] // _WORD)
    padded = np.zeros((len(bits), n_words * _WORD), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)
