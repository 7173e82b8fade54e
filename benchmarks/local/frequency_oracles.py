"""Frequency oracles from the papers, plain: what people send, what is estimated from it, and its variance by formula.

k-ary randomized response (Kairouz, Bonawitz, Ramage 2016), optimised unary encoding and optimised local hashing (Wang,
Blocki, Li, Jha 2017), Hadamard response in blocks (Acharya, Sun, Zhang 2019), and privet's subset selection.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard

from privet.local.channels.sampling.subset_selection import SubsetSelection, mean_variance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# So many numbers are drawn at a time.
_BLOCK = 2**24
# A prime below which local hashing's functions are drawn: any two cells meet as often as chance has it.
_PRIME = 2**31 - 1


class Oracle(ABC):
    """What each person sends about a cell, and how the cells' shares are estimated."""

    cells: int

    @classmethod
    @abstractmethod
    def best(cls, cells: int, epsilon: float) -> Self:
        """Return the oracle with the parameters of least variance."""

    @abstractmethod
    def estimated(self, true: Ints, rng: np.random.Generator) -> Floats:
        """Return the estimated share of every cell, from what people in these cells send."""

    @abstractmethod
    def variance(self, shares: Floats) -> float:
        """Return the mean over the cells of the variance that one person adds, where cells have these shares."""


class TwoChances(Oracle):
    """An oracle where a true cell counts with one chance, and any other with another."""

    @property
    @abstractmethod
    def chances(self) -> tuple[float, float]:
        """The chance that a true cell counts, and that a given other one does."""

    @abstractmethod
    def counts(self, true: Ints, rng: np.random.Generator) -> Ints:
        """Return how often every cell counts."""

    def estimated(self, true: Ints, rng: np.random.Generator) -> Floats:
        """Return the estimated share of every cell."""
        kept, other = self.chances
        found: Floats = (self.counts(true, rng) / len(true) - other) / (kept - other)
        return found

    def variance(self, shares: Floats) -> float:  # noqa: ARG002 - it is the same whatever they are
        """Return the mean over the cells of the variance that one person adds."""
        return mean_variance(self.cells, *self.chances)


@dataclass(frozen=True)
class KAryResponse(TwoChances):
    """The true cell, or any other one."""

    cells: int
    epsilon: float

    @classmethod
    def best(cls, cells: int, epsilon: float) -> Self:
        """Return the oracle: it has no parameter to choose."""
        return cls(cells, epsilon)

    @property
    def chances(self) -> tuple[float, float]:
        """The chance of the true cell, and of each other one."""
        all_ = math.exp(self.epsilon) + self.cells - 1
        return math.exp(self.epsilon) / all_, 1 / all_

    def counts(self, true: Ints, rng: np.random.Generator) -> Ints:
        """Return how often every cell is sent."""
        away = rng.integers(1, self.cells, len(true))
        moved = np.where(rng.random(len(true)) < self.chances[0], 0, away)
        return np.bincount((true + moved) % self.cells, minlength=self.cells)


@dataclass(frozen=True)
class UnaryEncoding(TwoChances):
    """A bit for every cell: the true one's is set with chance 1/2, all others seldom."""

    cells: int
    epsilon: float

    @classmethod
    def best(cls, cells: int, epsilon: float) -> Self:
        """Return the oracle with the optimised chances."""
        return cls(cells, epsilon)

    @property
    def chances(self) -> tuple[float, float]:
        """The chance that the true cell's bit is set, and that another one's is."""
        return 1 / 2, 1 / (math.exp(self.epsilon) + 1)

    def counts(self, true: Ints, rng: np.random.Generator) -> Ints:
        """Return how often every bit is set."""
        kept, other = self.chances
        found = np.zeros(self.cells, np.int64)
        for own in in_blocks(true, self.cells):
            bits = rng.random((len(own), self.cells)) < other
            bits[np.arange(len(own)), own] = rng.random(len(own)) < kept
            found += bits.sum(axis=0)
        return found


@dataclass(frozen=True)
class LocalHashing(TwoChances):
    """Each person's own function cuts the cells into a few groups; the true one's group, or any other one, is sent."""

    cells: int
    epsilon: float
    groups: int

    @classmethod
    def best(cls, cells: int, epsilon: float) -> Self:
        """Return the oracle with as many groups as are best: e^epsilon + 1, or a whole number beside it."""
        near = round(math.exp(epsilon) + 1)
        return min((cls(cells, epsilon, max(2, near + step)) for step in (-1, 0, 1)), key=_variance_of)

    @property
    def chances(self) -> tuple[float, float]:
        """The chance that the true cell is in the group sent, and that a given other one is."""
        return math.exp(self.epsilon) / (math.exp(self.epsilon) + self.groups - 1), 1 / self.groups

    def counts(self, true: Ints, rng: np.random.Generator) -> Ints:
        """Return how often every cell is in the group that was sent."""
        found = np.zeros(self.cells, np.int64)
        response = KAryResponse(self.groups, self.epsilon)
        for own in in_blocks(true, self.cells):
            factor, shift = rng.integers(1, _PRIME, (len(own), 1)), rng.integers(0, _PRIME, (len(own), 1))
            group_of = (factor * np.arange(self.cells) + shift) % _PRIME % self.groups
            moved = np.where(rng.random(len(own)) < response.chances[0], 0, rng.integers(1, self.groups, len(own)))
            sent = (group_of[np.arange(len(own)), own] + moved) % self.groups
            found += (group_of == sent[:, None]).sum(axis=0)
        return found


@dataclass(frozen=True)
class HadamardResponse(Oracle):
    """A column of a Hadamard matrix where the true cell's row has a 1 is sent, or any other column.

    The cells are dealt into ``blocks`` matrices. Row 0, which is all ones, stands for none.
    """

    cells: int
    epsilon: float
    blocks: int

    @classmethod
    def best(cls, cells: int, epsilon: float) -> Self:
        """Return the oracle with as many blocks as are best where all cells are equally frequent."""
        numbers = [2**i for i in range(cells.bit_length() + 1)]
        return min((cls(cells, epsilon, blocks) for blocks in numbers), key=_variance_of)

    @property
    def width(self) -> int:
        """The order of a block's matrix."""
        return 1 << (-(-self.cells // self.blocks)).bit_length()

    @property
    def column(self) -> float:
        """The chance of a given column where the true row has no 1."""
        return 2 / (self.width * (2 * self.blocks + math.exp(self.epsilon) - 1))

    @property
    def chances(self) -> tuple[float, float, float]:
        """The chance that the columns of a cell are sent by people in it, in its block, and elsewhere."""
        half, factor = self.width / 2 * self.column, math.exp(self.epsilon)
        return factor * half, (factor + 1) / 2 * half, half

    def estimated(self, true: Ints, rng: np.random.Generator) -> Floats:
        """Return the estimated share of every cell: that of its block first."""
        seen = self._sent(true, rng) / len(true)
        own, near, far = self.chances
        of_block = (seen.sum(axis=1) - 2 * far) / (own - far)
        in_ones = seen @ (hadamard(self.width) > 0)
        shares = (in_ones - far - of_block[:, None] * (near - far)) / (own - near)
        found: Floats = shares[self._block(np.arange(self.cells)), self._row(np.arange(self.cells))]
        return found

    def variance(self, shares: Floats) -> float:
        """Return the mean over the cells of the variance that one person adds."""
        own, near, far = self.chances
        # What a report adds to a cell's estimate: in its columns, in its block's others, and elsewhere.
        of_block, less = 1 / (own - far), (near - far) / (own - near)
        inside = (1 - far) / (own - near) - less * (1 - 2 * far) * of_block
        beside = -far / (own - near) - less * (1 - 2 * far) * of_block
        away = -far / (own - near) + less * 2 * far * of_block
        spread = [
            inside**2 * one + beside**2 * two + away**2 * (1 - one - two) - mean**2
            for one, two, mean in ((own, far, 1.0), (near, near, 0.0), (far, far, 0.0))
        ]
        in_block = np.bincount(self._block(np.arange(self.cells)), shares, self.blocks)
        beside_me = float((in_block[self._block(np.arange(self.cells))] - shares).sum())
        return (spread[0] + beside_me * spread[1] + (self.cells - 1 - beside_me) * spread[2]) / self.cells

    def _sent(self, true: Ints, rng: np.random.Generator) -> Floats:
        """Return how often every column of every block is sent."""
        row, column = self._row(true), rng.integers(0, self.width, len(true))
        in_own = rng.random(len(true))
        own, _, far = self.chances
        has_one = np.bitwise_count(row & column) % 2 == 0
        # The lowest bit of the row turns a column with a 1 into one without, and back.
        other = column ^ (row & -row)
        column = np.where(has_one == (in_own < own), column, other)
        away = in_own >= own + far
        block = np.where(away, self._block(true) + rng.integers(1, max(self.blocks, 2), len(true)), self._block(true))
        column = np.where(away, rng.integers(0, self.width, len(true)), column)
        places = block % self.blocks * self.width + column
        return np.bincount(places, minlength=self.blocks * self.width).reshape(self.blocks, self.width).astype(float)

    def _block(self, cells: Ints) -> Ints:
        return cells % self.blocks

    def _row(self, cells: Ints) -> Ints:
        return cells // self.blocks + 1


@dataclass(frozen=True)
class Subsets(TwoChances):
    """privet's subset selection, drawn from words of a generator as it is from a secret's."""

    cells: int
    selection: SubsetSelection

    @classmethod
    def best(cls, cells: int, epsilon: float) -> Self:
        """Return the oracle with the best size."""
        return cls(cells, SubsetSelection.of_epsilon(cells, epsilon))

    @property
    def chances(self) -> tuple[float, float]:
        """The chance that the true cell is sent, and that a given other one is."""
        return self.selection.chances

    def counts(self, true: Ints, rng: np.random.Generator) -> Ints:
        """Return how often every cell is sent."""
        found = np.zeros(self.cells, np.int64)
        for own in in_blocks(true, self.cells):
            sent = self.selection.draw(own, Words(rng, len(own)))
            found += np.bincount(sent.ravel(), minlength=self.cells)
        return found


class Words:
    """Random 64-bit words of some people, drawn when they are asked for: who asks for more has the same first ones."""

    def __init__(self, rng: np.random.Generator, n_people: int) -> None:
        self._rng, self._words = rng, np.empty((n_people, 0), np.uint64)

    def __call__(self, n_words: int) -> NDArray[np.uint64]:
        """Return the first ``n_words`` words of each person."""
        n_people, known = self._words.shape
        if n_words > known:
            more = self._rng.integers(0, 2**64, (n_people, n_words - known), dtype=np.uint64)
            self._words = np.hstack([self._words, more])
        return self._words[:, :n_words]


def in_blocks(true: Ints, cells: int) -> list[Ints]:
    """Return the people in blocks of which each has a number for every cell in memory."""
    return np.array_split(true, max(len(true) * cells // _BLOCK, 1))


def _variance_of(oracle: Oracle) -> float:
    return oracle.variance(np.full(oracle.cells, 1 / oracle.cells))


RIVALS: dict[str, type[Oracle]] = {
    "k-ary response": KAryResponse,
    "unary encoding": UnaryEncoding,
    "local hashing": LocalHashing,
    "Hadamard response": HadamardResponse,
}
