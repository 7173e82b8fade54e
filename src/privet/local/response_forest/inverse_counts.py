"""Sums over answers that were drawn attribute by attribute, and what they tell of the true records.

A row counts in a node with a product of factors, one for each attribute on the path, that is 1 or 0 on average as the
true record is in the node or not. So the sum over all rows is an unbiased count, and the sum of squares tells its
variance.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.local.channels.channel import Channel
from privet.local.channels.coding import Coding
from privet.local.channels.field_channel import FieldChannel
from privet.local.response_forest import inverse_kernels
from privet.local.response_forest.bit_trees import Bag, GrownTree, Growth
from privet.local.response_forest.node_estimates import Floats, NodeEstimates

# Sums and squares are kept in steps of so small a part of a row: whole numbers, alike on every machine.
GRID = 2**10
# Rows that count less than this in a node are thinned out.
THIN = 0.1


@dataclass(frozen=True, eq=False)
class InverseCounts(NodeEstimates):
    """Sums of rows' products in every node and the sums of their squares, one column an answered label.

    ``n_rows`` is how many rows a tree was grown on; ``label`` the chances of a right label and of each wrong one.
    """

    sums: Floats
    squares: Floats
    n_rows: float
    label: tuple[float, float] = (1.0, 0.0)

    @cached_property
    def unclipped(self) -> Floats:
        """Unbiased estimates of each class's rows; some lie below 0."""
        return by_true_class(self.sums, self.label)

    @cached_property
    def clipped(self) -> Floats:
        """Estimates between none and all of the rows."""
        return np.clip(self.unclipped, 0.0, self.n_rows)

    @property
    def n_drawn(self) -> float:
        """How many rows a tree was grown on."""
        return self.n_rows

    @property
    def class_squares(self) -> Floats:
        """Sums over rows of the square of what they count for a class: the label's weight times the product."""
        right, wrong = label_weights(self.label)
        squares: Floats = right**2 * self.squares + wrong**2 * self._of_other_labels
        return squares

    @property
    def class_products(self) -> Floats:
        """Sums over rows of what they count for a class times their product: a label's weights add up to 1."""
        right, wrong = label_weights(self.label)
        products: Floats = right * self.squares + wrong * self._of_other_labels
        return products

    def difference_squares(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
        """Return sums of squares of what rows count for one class less for another, two classes a node.

        Other labels count as much for the one as for the other.
        """
        nodes = np.arange(len(self.squares))
        chance_right, chance_wrong = self.label
        squares = self.squares[nodes, first] + self.squares[nodes, second]
        differences: Floats = squares / (chance_right - chance_wrong) ** 2
        return differences

    @property
    def _of_other_labels(self) -> Floats:
        squares: Floats = self.squares.sum(axis=1, keepdims=True) - self.squares
        return squares


@dataclass(frozen=True, eq=False)
class AnswerCodes:
    """What the kernel knows of every attribute: codes of answers, how many there are, how often they are true."""

    start: NDArray[np.int64]
    patterns: NDArray[np.int64]
    n_answers: NDArray[np.int64]
    kept: Floats
    other: Floats
    bit_attribute: NDArray[np.int64]
    bit_mask: NDArray[np.int64]

    @classmethod
    def of(cls, coding: Coding, channel: Channel) -> Self:
        """Return the answers of ``channel``, coded as ``coding`` says."""
        chances = [chances_of(column) for column in channel.columns]
        return cls(
            start=np.cumsum([0, *(len(code.code_of_value) for code in coding.codes)], dtype=np.int64),
            patterns=np.concatenate([code.code_of_value for code in coding.codes]),
            n_answers=np.array([column.draws_from for column in channel.columns], dtype=np.int64),
            kept=np.array([kept for kept, _ in chances]),
            other=np.array([other for _, other in chances]),
            bit_attribute=coding.attribute_of_bit,
            bit_mask=np.concatenate([1 << np.arange(code.n_bits - 1, -1, -1) for code in coding.codes]),
        )


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """Encoded answers and answered labels."""

    codes: NDArray[Any]
    labels: NDArray[np.int64]
    answers: AnswerCodes
    label: tuple[float, float]
    n_classes: int

    def grow(self, growth: Growth, bag: Bag) -> GrownTree:
        """Return a tree grown on ``bag``, with the sums and squares of its nodes."""
        known, (right, wrong) = self.answers, label_weights(self.label)
        columns: list[tuple[int, type]] = [(self.n_classes, np.float64), (self.n_classes, np.float64)]
        tree = GrownTree.within(int(bag.times.sum()), growth.min_leaf, columns)
        n_nodes = inverse_kernels.grow_on_answers(
            self.codes[bag.rows], self.labels[bag.rows], bag.times, known.start, known.patterns, known.n_answers,
            known.kept, known.other, known.bit_attribute, known.bit_mask, right, wrong, THIN, growth.n_tried,
            growth.min_rows, growth.min_leaf, growth.max_depth, bag.draw, tree.bit, tree.left, *tree.numbers,
        )  # fmt: skip
        return tree.cropped(n_nodes)


def chances_of(field: FieldChannel | None) -> tuple[float, float]:
    """Return the chance of the true answer and that of each other one; a field without a channel is given as it is."""
    if field is None:
        return 1.0, 0.0
    if field.chances is None:
        raise ParameterError(f"the answers to {field.name!r} are no codes; use ReconstructionTreeClassifier")
    return field.chances


def by_true_class(counts: NDArray[Any], label: tuple[float, float]) -> Floats:
    """Return unbiased estimates by true class, given counts by answered label in the last axis."""
    right, wrong = label_weights(label)
    estimates: Floats = right * counts + wrong * (counts.sum(axis=-1, keepdims=True) - counts)
    return estimates


def label_weights(label: tuple[float, float]) -> tuple[float, float]:
    """Return what an answered label counts for its own class and for every other."""
    kept, other = label
    return (1 - other) / (kept - other), -other / (kept - other)
