"""Subset selection (Ye and Barg 2018): of k cells, some are sent, the true one mostly among them.

One cell sent is k-ary randomized response. The lottery is in integers, so its epsilon is exact; sampled_fields.md has
the argument.

Lots are drawn without replacement, exactly uniform: partial Fisher-Yates on bounded integers by rejection. A word of
64 bits decides as many draws as fit below 2^48 together. Words at the end of the range, where some outcomes would have
one word more than others, are rejected and the next word is taken; the same in respondent.js.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_number, is_whole
from privet.errors import ParameterError
from privet.local.channels.cells import Ints
from privet.local.channels.distributions import TOTAL_WEIGHT, log_ratio
from privet.local.channels.randomized_response import LEAST_SHARE, MOST_SHARE

_WORDS = 2**64
# The most outcomes that one word decides: a word is then rejected at most once in 65,536 times.
_MOST_OUTCOMES = 2**48
# As many numbers are shuffled, or cells of answers made, at a time.
_BLOCK = 2**22
# A question about more would send too much.
MOST_CELLS = 2**16
# Returns so many 64-bit words for each person, a line a person: more of them begin with the same words.
Words = Callable[[int], NDArray[np.uint64]]


@dataclass(frozen=True)
class Lots:
    """``drawn`` of ``lots`` numbers 0, 1, ... in the order in which they are drawn."""

    lots: int
    drawn: int

    def draw(self, words: Callable[[int], NDArray[np.uint64]]) -> Ints:
        """Return each person's lots, a line a person; ``words`` returns so many words of each of them."""
        steps, rejected = self._steps(words(len(self._groups)))
        n_words = len(self._groups)
        while rejected.any():
            n_words += 1
            steps[rejected], rejected[rejected] = self._late_steps(words(n_words)[rejected])
        return np.concatenate([np.empty((0, self.drawn), np.int64), *map(self._shuffled, in_blocks(steps, self.lots))])

    def _steps(self, words: NDArray[np.uint64]) -> tuple[Ints, NDArray[np.bool_]]:
        """Return how far each draw reaches beyond the lots drawn before, and whose words were rejected."""
        steps = np.empty((len(words), self.drawn), np.int64)
        rejected = np.zeros(len(words), dtype=bool)
        place = 0
        for word, group in zip(words.T, self._groups, strict=True):
            outcomes = int(np.prod(group, dtype=object))
            rejected |= word > np.uint64(_WORDS - _WORDS % outcomes - 1)
            left = word % np.uint64(outcomes)
            for bound in group:
                steps[:, place] = left % np.uint64(bound)
                left //= np.uint64(bound)
                place += 1
        return steps, rejected

    def _late_steps(self, words: NDArray[np.uint64]) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the steps of the few whose words were rejected; who needs still more words is marked."""
        steps, rejected = np.zeros((len(words), self.drawn), np.int64), np.zeros(len(words), dtype=bool)
        for i, own in enumerate(words.tolist()):
            found = steps_of(self._groups, own)
            rejected[i] = found is None
            steps[i] = found or 0
        return steps, rejected

    def _shuffled(self, steps: Ints) -> Ints:
        places = np.tile(np.arange(self.lots), (len(steps), 1))
        rows = np.arange(len(steps))
        for j in range(self.drawn):
            chosen = places[rows, j + steps[:, j]]
            places[rows, j + steps[:, j]] = places[:, j]
            places[:, j] = chosen
        return places[:, : self.drawn]

    @cached_property
    def _groups(self) -> list[list[int]]:
        """The bounds of the draws that one word decides, for word after word."""
        groups: list[list[int]] = []
        outcomes = 1
        for bound in range(self.lots, self.lots - self.drawn, -1):
            if not groups or outcomes * bound > _MOST_OUTCOMES:
                groups.append([])
                outcomes = 1
            groups[-1].append(bound)
            outcomes *= bound
        return groups


def steps_of(groups: Sequence[Sequence[int]], words: Sequence[int]) -> list[int] | None:
    """Return one person's steps, word by word; None where too many words are rejected."""
    steps, own = [], iter(words)
    for group in groups:
        outcomes = int(np.prod(group, dtype=object))
        left = next((word for word in own if word < _WORDS - _WORDS % outcomes), None)
        if left is None:
            return None
        for bound in group:
            steps.append(left % bound)
            left //= bound
    return steps


def in_blocks(rows: Ints, numbers_each: int) -> Iterator[Ints]:
    """Yield rows of so many numbers each, a few at a time."""
    size = max(_BLOCK // numbers_each, 1)
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


@dataclass(frozen=True)
class SubsetSelection:
    """Of ``cells`` cells ``size`` are sent, the true one among them with chance ``keep``; the others are uniform."""

    cells: int
    size: int
    keep: float

    def __post_init__(self) -> None:
        if not (is_whole(self.cells) and is_whole(self.size) and 1 <= self.size < self.cells <= MOST_CELLS):
            raise ParameterError(
                f"size={self.size!r} must be a whole number from 1, below the number of cells, and that at most "
                f"{MOST_CELLS:,}, not {self.cells!r}; change size, or ask about fewer values at a time"
            )
        if not (is_number(self.keep) and 0 < self.keep < 1 and self._kept * self.cells > self.size * TOTAL_WEIGHT):
            raise ParameterError(
                f"the true one of {self.cells} cells must be among the {self.size} sent with a chance above "
                f"{self.size}/{self.cells} and below 1; change keep={self.keep!r}"
            )
        object.__setattr__(self, "keep", float(self.keep))

    @classmethod
    def of_epsilon(cls, cells: int, epsilon: float, size: int | None = None) -> Self:
        """Return the selection of this local epsilon, never exceeded; the size is the one of least variance."""
        if not LEAST_SHARE <= epsilon <= MOST_SHARE:
            raise ParameterError(
                f"the epsilon of a question, {epsilon:g}, must be from {LEAST_SHARE:g}, which tells nothing, to "
                f"{MOST_SHARE:g}, which hides nothing; change epsilon"
            )
        size = best_size(cells, epsilon) if size is None else size
        # What rounding upwards adds to it again, and what a double next to 1 cannot tell.
        less = epsilon * (1 - 1e-11) - 1e-15 - 4e-16 * (1 + size / max(cells - size, 1) * math.exp(epsilon))
        return cls(cells, size, size / (size + (cells - size) * math.exp(-less)))

    @property
    def local_epsilon(self) -> float:
        """The logarithm of how much likelier a set of cells is with the true one in it than without."""
        most, least = self._kept * (self.cells - self.size), (TOTAL_WEIGHT - self._kept) * self.size
        return log_ratio(float(Fraction(most - least, least)))

    @property
    def chances(self) -> tuple[float, float]:
        """The chance that the true cell is sent, and that a given other one is."""
        kept = Fraction(self._kept, TOTAL_WEIGHT)
        return float(kept), float((self.size - kept) / (self.cells - 1))

    def draw(self, true: Ints, words: Words) -> Ints:
        """Return the sent cells, in increasing order, of people with these true cells: a line a person.

        As many others as are sent are drawn one by one, uniformly; the true cell, where it is sent, takes the place of
        the last.
        """
        others = self._lots.draw(lambda n: words(1 + n)[:, 1:])
        sent = others + (others >= true[:, None])
        is_kept = words(1)[:, 0] < np.uint64(self._kept)
        sent[:, -1] = np.where(is_kept, true, sent[:, -1])
        return np.sort(sent, axis=1)

    @cached_property
    def _lots(self) -> Lots:
        return Lots(self.cells - 1, self.size)

    @cached_property
    def _kept(self) -> int:
        return int(Fraction(self.keep) * TOTAL_WEIGHT)


def best_size(cells: int, epsilon: float) -> int:
    """Return how many cells are sent where the mean variance of the estimated counts is least."""
    near = cells / (math.exp(epsilon) + 1)
    sizes = {min(max(math.floor(near) + step, 1), cells - 1) for step in (0, 1)}
    return min(sorted(sizes), key=lambda size: mean_variance(cells, *_chances(cells, size, epsilon)))


def mean_variance(cells: int, kept: float, other: float) -> float:
    """Return the mean over ``cells`` of the variance of an estimated count, per person, whatever the true counts are.

    A cell that is the true one is counted with chance ``kept``, and any other with chance ``other``.
    """
    true, false = kept * (1 - kept), other * (1 - other)
    return (true + (cells - 1) * false) / (cells * (kept - other) ** 2)


def _chances(cells: int, size: int, epsilon: float) -> tuple[float, float]:
    kept = size / (size + (cells - size) * math.exp(-epsilon))
    return kept, (size - kept) / (cells - 1)
