"""Disturbed rows put into true cells, so that a tree can count them.

Reconstruction says how many of some rows lie in each cell, and not which. Numbers are taken in the order of their
answers: the lowest to the first cell, and so on (Agrawal and Srikant 2000, section 4.2). Categories have no order: of
the rows with one answer, those that go to each value are drawn by lot, as many as the channel and the estimate imply.
A row's cell is no estimate of its value.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.cells import FieldValues, Floats, Ints
from privet.local.channels.channel import Channel
from privet.local.channels.field_channel import SeenAnswers
from privet.local.reconstruction import interval_kernels
from privet.local.reconstruction.bayes_iteration import iterate, posterior


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
    """A number whose answers have an order."""

    @classmethod
    def of(cls, position: int, seen: SeenAnswers, shuffled: Ints) -> Self:
        """Return the column of these answers.

        Answers lie on the channel's grid, so many are equal. The rows come ``shuffled``: chance puts equal answers in
        order, and not their place in the table.
        """
        if seen.place is None or seen.answer_of_place is None:
            raise AssertionError("only answers with an order are put into cells by it")
        order = np.empty(np.count_nonzero(seen.place >= 0), dtype=np.int64)
        interval_kernels.order_by_place(shuffled, seen.place, len(seen.answer_of_place) - 1, order)
        return cls(position, seen.answer_of_place[seen.place], order, seen.chances, seen.start)

    def _assign(self, group: Ints, counts: Ints, shares: Floats, codes: NDArray[Any]) -> None:
        upto = whole_sums(shares, counts.sum(axis=1))
        interval_kernels.assign_in_order(self.order, group, upto, self.position, codes)


class HiddenCategory(HiddenColumn):
    """A category, or the cell of a number, under randomized response."""

    @classmethod
    def of(cls, position: int, seen: SeenAnswers, shuffled: Ints) -> Self:
        """Return the column of these answers' codes."""
        return cls(position, seen.answer, shuffled[seen.answer[shuffled] >= 0], seen.chances, seen.start)

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


def hidden_columns(
    channel: Channel, columns: Sequence[Any], codes: NDArray[Any], rng: np.random.Generator
) -> list[HiddenColumn]:
    """Return the columns of answers whose true cells have to be found."""
    shuffled = rng.permutation(len(codes))
    hidden: list[HiddenColumn] = []
    for j, (own, attribute) in enumerate(zip(channel.columns, channel.schema.attributes, strict=True)):
        seen = own.see(FieldValues(attribute, columns[j], codes[:, j]), attribute)
        if seen is not None:
            kind = HiddenCategory if seen.place is None else HiddenNumber
            hidden.append(kind.of(j, seen, shuffled))
    return hidden
