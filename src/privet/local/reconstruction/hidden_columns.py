"""Disturbed rows put into true cells, so that a tree can count them.

Reconstruction says how many of some rows lie in each cell, and not which. Numbers are taken in the order of their
answers: the lowest to the first cell, and so on (Agrawal and Srikant 2000, section 4.2). Categories have no order: of
the rows with one answer, those that go to each value are drawn by lot, as many as the channel and the estimate imply.
A row's cell is no estimate of its value.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.answer_matrix import SeenCells, noise_matrix, random_answer_matrix
from privet.local.channels.columns import AddedNoise
from privet.local.channels.random_answer import RandomAnswer
from privet.local.reconstruction import interval_kernels
from privet.local.reconstruction.bayes_iteration import iterate, posterior

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HiddenColumn(ABC):
    """A column that is known by its answers.

    Attributes
    ----------
    position : int
        Of the column in the table.
    answer : int64 array
        Each row's, by number; -1 where there is none.
    order : int64 array
        The rows that have an answer, in the order in which they are given cells.
    chances : float array
        Of each answer (a row) from each true cell (a column).
    start : float array
        The first estimate.
    """

    position: int
    answer: Ints
    order: Ints
    chances: Floats
    start: Floats

    def place(self, group: Ints, n_groups: int, codes: NDArray[Any]) -> None:
        """Reconstruct every group of rows by itself and write their cells to ``codes``; -1 is no group.

        Missing answers keep the code they have.
        """
        counts = np.zeros((n_groups, len(self.chances)), dtype=np.int64)
        interval_kernels.count_answers(group, self.answer, counts)
        some = counts.any(axis=1)
        shares = np.repeat(self.start[None, :], n_groups, axis=0)
        shares[some] = iterate(self.chances, counts[some].astype(np.float64), self.start).shares
        self._assign(group, counts, shares, codes)

    def only(self, chosen: NDArray[np.bool_]) -> Self:
        """Return the column of some rows, in the same order."""
        order = (np.cumsum(chosen) - 1)[self.order[chosen[self.order]]]
        return replace(self, answer=self.answer[chosen], order=order)

    @abstractmethod
    def _assign(self, group: Ints, counts: Ints, shares: Floats, codes: NDArray[Any]) -> None:
        """Give the rows of each group cells, as many as its ``shares`` say."""


class HiddenNumber(HiddenColumn):
    """A number under added noise."""

    @classmethod
    def of(cls, position: int, numbers: Floats, column: AddedNoise, shuffled: Ints) -> "HiddenNumber":
        """Return the column of these answers, for the cells of the channel's attribute; NaN is none.

        Answers lie on the channel's grid, so many are equal. The rows come ``shuffled``: chance puts equal answers in
        order, and not their place in the table.
        """
        matrix, low = noise_matrix(column, column.attribute), column.bounds[0]
        n_places = round((column.bounds[1] - low) / column.step) + 1
        place = SeenCells(low - column.step / 2, column.step, n_places).of(numbers)
        order = np.empty(np.count_nonzero(place >= 0), dtype=np.int64)
        interval_kernels.order_by_place(shuffled, place, n_places, order)
        seen = np.append(matrix.seen.of(low + column.step * np.arange(n_places, dtype=np.float64)), -1)
        return cls(position, seen[place], order, matrix.chances, matrix.start)

    def _assign(self, group: Ints, counts: Ints, shares: Floats, codes: NDArray[Any]) -> None:
        upto = whole_sums(shares, counts.sum(axis=1))
        interval_kernels.assign_in_order(self.order, group, upto, self.position, codes)


class HiddenCategory(HiddenColumn):
    """A category, or the cell of a number, under randomized response."""

    @classmethod
    def of(cls, position: int, answer: NDArray[Any], column: RandomAnswer, shuffled: Ints) -> "HiddenCategory":
        """Return the column of these answers' codes; those that the channel does not cover are none."""
        chances = random_answer_matrix(column)
        covered = np.where(answer < column.n_answers, answer.astype(np.int64), -1)
        start = np.full(column.n_answers, 1.0 / column.n_answers)
        return cls(position, covered, shuffled[covered[shuffled] >= 0], chances, start)

    def _assign(self, group: Ints, counts: Ints, shares: Floats, codes: NDArray[Any]) -> None:
        n_answers = len(self.chances)
        upto = np.concatenate(
            [whole_sums(posterior(self.chances, own), given) for own, given in zip(shares, counts, strict=True)]
        )
        by_answer = np.where(group >= 0, group * n_answers + self.answer, -1)
        interval_kernels.assign_in_order(self.order, by_answer, upto, self.position, codes)


def whole_sums(shares: Floats, sizes: Ints) -> Ints:
    """Return how many of each line's rows lie in its cells up to each, in whole rows; the last has them all."""
    upto = np.rint(np.cumsum(shares, axis=1) * sizes[:, None]).astype(np.int64)
    upto[:, -1] = sizes
    return np.minimum(upto, sizes[:, None])
