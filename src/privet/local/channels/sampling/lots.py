"""Lots drawn without replacement, exactly uniform: partial Fisher-Yates on bounded integers by rejection.

A 64-bit word decides as many draws as fit below 2^48 together. Words at the end of the range, where some outcomes
would have one word more than others, are rejected and the next word is taken; the same in respondent.js.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.cells import Ints

_WORDS = 2**64
# The most outcomes that one word decides: a word is then rejected at most once in 65,536 times.
_MOST_OUTCOMES = 2**48
# As many numbers are shuffled at a time.
_BLOCK = 2**22


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
        return np.concatenate([np.empty((0, self.drawn), np.int64), *map(self._shuffled, _blocks(steps, self.lots))])

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


def _blocks(steps: Ints, lots: int) -> Iterator[Ints]:
    rows = max(_BLOCK // lots, 1)
    for first in range(0, len(steps), rows):
        yield steps[first : first + rows]
