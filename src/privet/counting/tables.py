"""The tables of greedy growth: for each node of a level, how often each code of each attribute occurs with each class.

What this module returns is exact: a mechanism must choose by it, or add noise to it, before anything is released.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from privet.counting.engines.parts import Block
from privet.counting.rows import Rows
from privet.schema import Schema
from privet.tree import kernels
from privet.tree.forest import Forest

# Numbers in memory at once; at 8 bytes each, 256 megabytes. Nodes that do not fit are counted in further passes.
_MAX_NUMBERS = 2**25


@dataclass(frozen=True)
class TableLayout:
    """The position of each attribute's counts in a node's table."""

    n_codes: NDArray[np.int64]
    n_classes: int

    @classmethod
    def of(cls, schema: Schema) -> "TableLayout":
        """Return the layout for the attributes and classes of ``schema``."""
        return cls(np.array([a.n_codes for a in schema.attributes]), schema.n_classes)

    @cached_property
    def offsets(self) -> NDArray[np.uint64]:
        """The position at which each attribute starts."""
        return ((np.cumsum(self.n_codes) - self.n_codes) * self.n_classes).astype(np.uint64)

    @property
    def size(self) -> int:
        """How many numbers a node's table holds."""
        return int(self.n_codes.sum()) * self.n_classes

    def of_attribute(self, tables: NDArray[np.int64], attribute: int) -> NDArray[np.int64]:
        """Return one attribute's counts: nodes x codes x classes."""
        start = int(self.offsets[attribute])
        stop = start + int(self.n_codes[attribute]) * self.n_classes
        return tables[:, start:stop].reshape(len(tables), int(self.n_codes[attribute]), self.n_classes)

    def classes(self, tables: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return nodes x classes. Any attribute gives them, since each row has one code of it."""
        counts: NDArray[np.int64] = self.of_attribute(tables, 0).sum(axis=1)
        return counts


def exact_tables(
    forest: Forest, nodes: NDArray[np.int64], rows: Rows, layout: TableLayout
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield groups of ``nodes``, which are leaves of ``forest``, with their tables.

    One pass over the rows counts as many nodes as fit in memory.
    """
    at_once = max(1, _MAX_NUMBERS // layout.size)
    for start in range(0, len(nodes), at_once):
        own = nodes[start : start + at_once]
        yield own, rows.exact_sum(TableCount.of(forest, own, layout))


@dataclass(frozen=True)
class TableCount:
    """Counts the tables of some nodes. It holds the structure of the trees and the layout of the tables."""

    words: NDArray[np.uint64]
    slots: NDArray[np.int64]
    n_trees: int
    depth: int
    multiway: bool
    layout: TableLayout

    @classmethod
    def of(cls, forest: Forest, nodes: NDArray[np.int64], layout: TableLayout) -> Self:
        """Return the count for ``nodes``."""
        slots = np.full(forest.n_nodes, -1, dtype=np.int64)
        slots[nodes] = np.arange(len(nodes))
        return cls(forest.words, slots, forest.n_trees, forest.depth, forest.multiway, layout)

    def __call__(self, blocks: Iterable[Block], n_threads: int = 1) -> NDArray[np.int64]:  # noqa: ARG002
        """Return nodes x numbers."""
        tables = np.zeros((int(self.slots.max(initial=-1)) + 1, self.layout.size), dtype=np.int64)
        roots = np.arange(self.n_trees)
        for codes, labels in blocks:
            kernels.count_tables(
                self.words, roots, self.depth, self.multiway, codes.reshape(-1), codes.shape[1], labels,
                self.slots, self.layout.offsets, self.layout.n_classes, tables,
            )  # fmt: skip
        return tables


@dataclass(frozen=True)
class TargetCount:
    """Counts how many rows have each code of each attribute, and adds up the steps of their targets."""

    n_codes: tuple[int, ...]

    @classmethod
    def of(cls, schema: Schema) -> Self:
        """Return the count for the attributes of ``schema``."""
        return cls(tuple(attribute.n_codes for attribute in schema.attributes))

    def __call__(self, blocks: Iterable[Block], n_threads: int = 1) -> NDArray[np.int64]:  # noqa: ARG002
        """Return rows and steps, all codes of one attribute after another."""
        found = np.zeros((sum(self.n_codes), 2), dtype=np.int64)
        for codes, steps in blocks:
            starts = np.cumsum([0, *self.n_codes])
            for a, (low, high) in enumerate(pairwise(starts)):
                own = codes[:, a]
                found[low:high, 0] += np.bincount(own, minlength=high - low)
                # Floats hold whole numbers of a block exactly.
                found[low:high, 1] += np.bincount(own, steps, minlength=high - low).astype(np.int64)
        return found


def exact_target_tables(rows: Rows, schema: Schema, steps: int) -> list[NDArray[np.int64]]:
    """Return tables of every attribute, codes x 2, as if each row were of one of two classes, in one pass.

    A target is so much of the second class as it is of its range, and the rest of the first.
    """
    count = TargetCount.of(schema)
    found = rows.exact_sum(count)
    return np.split(in_whole_rows(found, steps), np.cumsum(count.n_codes)[:-1])


def in_whole_rows(exact: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """Return rows and the steps of their targets as rows of two classes, rounded to whole ones.

    One row more moves one of the two by exactly 1, whatever its target: the second is the sum of shares rounded, which
    rises by 0 or 1 where the sum rises by 0 to 1, and the first is what rows are left.
    """
    second = (exact[..., 1] + steps // 2) // steps
    return np.stack([exact[..., 0] - second, second], axis=-1)
