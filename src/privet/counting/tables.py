"""What greedy growth looks at: for nodes of one level, how often each code of each attribute goes with each class.

What this module returns is exact and must not leave the room before a mechanism has chosen or added noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.counting.rows import Rows
from privet.schema import Schema
from privet.tree import kernels
from privet.tree.forest import Forest

# Numbers held at once; at 8 bytes each, 256 megabytes. More nodes than fit are counted in further passes.
_MAX_NUMBERS = 2**25


@dataclass(frozen=True)
class TableLayout:
    """Where an attribute's counts stand in a node's table."""

    n_codes: NDArray[np.int64]
    n_classes: int

    @classmethod
    def of(cls, schema: Schema) -> "TableLayout":
        """Return the layout for the attributes and classes of ``schema``."""
        return cls(np.array([a.n_values + 1 for a in schema.attributes]), len(schema.classes))

    @cached_property
    def offsets(self) -> NDArray[np.uint64]:
        """Where each attribute starts."""
        return ((np.cumsum(self.n_codes) - self.n_codes) * self.n_classes).astype(np.uint64)

    @property
    def size(self) -> int:
        """How many numbers a node has."""
        return int(self.n_codes.sum()) * self.n_classes

    def of_attribute(self, tables: NDArray[np.int64], attribute: int) -> NDArray[np.int64]:
        """Return one attribute's counts: nodes x codes x classes."""
        start = int(self.offsets[attribute])
        stop = start + int(self.n_codes[attribute]) * self.n_classes
        return tables[:, start:stop].reshape(len(tables), int(self.n_codes[attribute]), self.n_classes)

    def classes(self, tables: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return nodes x classes: every attribute tells them, since each row has one code of it."""
        counts: NDArray[np.int64] = self.of_attribute(tables, 0).sum(axis=1)
        return counts


def exact_tables(
    forest: Forest, nodes: NDArray[np.int64], rows: Rows, layout: TableLayout
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield some of ``nodes``, leaves of ``forest``, with their tables, until all have been seen.

    One pass over the rows serves all nodes whose tables fit in memory together.
    """
    at_once = max(1, _MAX_NUMBERS // layout.size)
    for start in range(0, len(nodes), at_once):
        own = nodes[start : start + at_once]
        yield own, _one_pass(forest, own, rows, layout)


def _one_pass(forest: Forest, nodes: NDArray[np.int64], rows: Rows, layout: TableLayout) -> NDArray[np.int64]:
    slots = np.full(forest.n_nodes, -1, dtype=np.int64)
    slots[nodes] = np.arange(len(nodes))
    tables = np.zeros((len(nodes), layout.size), dtype=np.int64)
    roots = np.arange(forest.n_trees)
    for codes, labels in rows.blocks():
        kernels.count_tables(
            forest.words, roots, forest.depth, forest.multiway, codes.reshape(-1), codes.shape[1], labels,
            slots, layout.offsets, layout.n_classes, tables,
        )  # fmt: skip
    return tables
