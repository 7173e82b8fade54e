"""Coded rows that stay with the workers of an engine: questions go there, and sums come back.

A worker codes a part once and keeps it; where it is lost, it is read and coded again. Both lead to the same lines, so
a worker that dies changes nothing. The caller holds weights, and of the rows no more than evenly spaced lines.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from privet.central.weights.coded_rows import Change, CodedRows, Pass, Sums
from privet.central.weights.leaf_rows import LeafRows, joined, larger
from privet.central.weights.trees import Trees
from privet.counting.engines.parts import Delivery, Partition, PartitionedRows, Parts, one_each, require
from privet.counting.rows import Rows
from privet.schema.encoding import Encoder


def coded(rows: Rows, trees: Trees, *, n_labels: int) -> CodedRows:
    """Return the rows as ``trees`` see them, coded where they are; equal rows are merged where it pays."""
    if isinstance(rows, PartitionedRows):
        return PartRows.of(rows, trees, n_labels=n_labels).merged(trees, n_labels)
    return LeafRows.of(rows, trees, n_labels=n_labels)


@dataclass(frozen=True)
class CodedPart:
    """What a worker keeps of a part."""

    id: str
    rows: LeafRows

    def __repr__(self) -> str:
        return f"CodedPart(id={self.id!r})"  # engines log their arguments

    def __sizeof__(self) -> int:
        """Return what an engine has to move where another worker is to have it."""
        return self.rows.n_lines * max(1, self.rows.n_bytes // max(1, len(self.rows.labels)))


@dataclass(frozen=True)
class Code:
    """The task that codes a part."""

    encoder: Encoder
    trees: Trees
    n_labels: int

    def __call__(self, partition: Partition) -> CodedPart:
        """Read and code the part."""
        blocks = partition.blocks(self.encoder)
        return CodedPart(partition.id, LeafRows.compressed(blocks, self.trees, n_labels=self.n_labels))


@dataclass(frozen=True)
class Derive:
    """The task that makes other columns of a coded part."""

    change: Change

    def __call__(self, part: CodedPart) -> CodedPart:
        """Return the changed part."""
        return CodedPart(part.id, part.rows.derived(self.change))


@dataclass(frozen=True)
class Ask:
    """The task that asks a coded part a question; without one, how many rows it has."""

    question: Pass | None

    def __call__(self, part: CodedPart) -> Delivery:
        """Return the sums."""
        found = None if self.question is None else part.rows.summed(self.question)
        return Delivery(part.id, found, part.rows.exact_size)


@dataclass(frozen=True)
class Pick:
    """The task that returns every so manyth line of all rows; of each part, which is the first."""

    firsts: Mapping[str, int]
    step: int

    def __call__(self, part: CodedPart) -> Delivery:
        """Return the lines that are in this part."""
        return Delivery(part.id, part.rows.lines(self.firsts[part.id], self.step), part.rows.exact_size)


@dataclass(frozen=True)
class PartRows(CodedRows):
    """Coded rows with the workers of an engine; ``sizes`` are the rows of each part, in the order of the table."""

    rows: PartitionedRows
    parts: Parts
    empty: LeafRows
    sizes: dict[str, int]

    has_counts = False

    @classmethod
    def of(cls, rows: PartitionedRows, trees: Trees, *, n_labels: int) -> "PartRows":
        """Let the workers code their parts, and ask how many rows each has."""
        # A fresh copy: what was looked up in the trees need not travel.
        parts = rows.parts.keep(Code(rows.encoder, Trees(trees.axes, trees.n_later), n_labels))
        empty = LeafRows.compressed((), trees, n_labels=n_labels)
        ids, deliveries = parts.deliver(Ask(None))
        found = {delivery.partition: delivery.n_rows for delivery in one_each(ids, deliveries)}
        rows.check_sizes(found)
        return cls(rows, parts, empty, {own: found[own] for own in ids})

    @cached_property
    def n_lines(self) -> int:
        """The number of lines."""
        return sum(self.sizes.values())

    @property
    def exact_size(self) -> int:
        """The number of rows."""
        return self.n_lines

    def summed(self, question: Pass, n_threads: int = 1) -> Sums:  # noqa: ARG002 - a part is asked on one thread
        """Ask all parts, each once, and return the sums."""
        exact, largest = np.zeros(question.shape, dtype=np.int64), 0.0
        for delivery in self._deliveries(Ask(question)):
            found = delivery.exact
            require(
                isinstance(found, Sums)
                and isinstance(found.exact, np.ndarray)
                and (found.exact.dtype, found.exact.shape) == (exact.dtype, exact.shape)
                and question.is_sound(found.exact, delivery.n_rows)
            )
            exact += found.exact
            largest = larger(largest, found.largest)
        return Sums(exact, largest)

    def derived(self, change: Change) -> "PartRows":
        """Let the workers make other columns of their parts."""
        return replace(self, parts=self.parts.keep(Derive(change)), empty=self.empty.derived(change))

    def every(self, step: int) -> LeafRows:
        """Fetch every so manyth line, in the order of the table."""
        starts = np.cumsum([0, *self.sizes.values()])[:-1]
        firsts = {own: int(-start % step) for own, start in zip(self.sizes, starts, strict=True)}
        found = {delivery.partition: delivery.exact for delivery in self._deliveries(Pick(firsts, step))}
        lines = [self.empty, *(found[own] for own in self.sizes)]
        require(all(isinstance(own, LeafRows) and own.cells.shape[1] == self.empty.cells.shape[1] for own in lines))
        blocks = [block for own in lines for block in own.blocks()]
        return joined(blocks, self.empty.cells.shape[1]).counting(step)

    def unpacked(self, trees: Trees) -> Rows:  # noqa: ARG002 - workers read the parts again
        """Return the rows that were coded."""
        return self.rows

    def _deliveries(self, task: Any) -> Iterator[Delivery]:
        for delivery in one_each(*self.parts.deliver(task)):
            self.rows.check_sizes({delivery.partition: delivery.n_rows})
            yield delivery
