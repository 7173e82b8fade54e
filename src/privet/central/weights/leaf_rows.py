"""Coded rows of this process: the first ones in memory, and what is too much to be held in an unnamed file.

What this module returns is exact and must not leave the room.
"""

import weakref
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.coded_rows import Block, Change, CodedRows, Note, Pass, Sums, label_type
from privet.central.weights.trees import Trees
from privet.checks import n_threads
from privet.counting.engines.parts import Block as Codes
from privet.counting.engines.parts import Count
from privet.counting.rows import Rows
from privet.counting.spill import ROOM, Spilled, SpillFile, n_bytes_of

# A block has at least so many lines, but for the last one, and less than twice as many.
BLOCK_LINES = 2**17
# An array that grows is given an eighth more than it needs: few moves, and little that is never filled.
_SPARE = 8
_NO_COUNTS, _NO_SCORES = np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.float32)


@dataclass(frozen=True)
class LeafRows(CodedRows):
    """Cells, classes, and how many rows each line stands for.

    ``scores`` are what every line's score has before any weight, lines x columns; None where they are all 0. Lines
    ``beyond`` those that are held lie in a file, block after block: cells, classes and scores.
    """

    cells: NDArray[Any]
    labels: NDArray[Any]
    weights: NDArray[np.int64] | None = None
    scores: NDArray[np.float32] | None = None
    beyond: tuple[Spilled, ...] = ()
    _notes: "_Notes" = field(default_factory=lambda: _Notes(), init=False, repr=False, compare=False)

    @classmethod
    def of(cls, rows: Rows, trees: Trees, *, n_labels: int) -> "CodedRows":
        """Go through the rows once and keep one compressed copy, equal rows merged where it pays."""
        return cls.compressed(rows.blocks(), trees, n_labels=n_labels).merged(trees, n_labels)

    @classmethod
    def compressed(cls, blocks: Iterable[Codes], trees: Trees, *, n_labels: int) -> "LeafRows":
        """Go through encoded rows once and keep their cells and classes."""
        filling, narrow = _Filling(), label_type(n_labels)
        filling.add(np.empty((0, trees.n_trees), dtype=trees.narrowest), np.empty(0, dtype=narrow))
        for codes, labels in blocks:
            for start in range(0, len(labels), BLOCK_LINES):
                part = slice(start, start + BLOCK_LINES)
                filling.add(trees.cells(codes[part]), labels[part].astype(narrow))
        return filling.rows()

    @cached_property
    def n_lines(self) -> int:
        """The number of lines."""
        return len(self.labels) + sum(own.likes[1][1][0] for own in self.beyond)

    @cached_property
    def exact_size(self) -> int:
        """The number of rows."""
        return self.n_lines if self.weights is None else int(self.weights.sum())

    @property
    def has_counts(self) -> bool:
        """Whether lines stand for several rows."""
        return self.weights is not None

    @property
    def n_bytes(self) -> int:
        """How many bytes are held."""
        return n_bytes_of(self.cells, self.labels, self.weights, self.scores)

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks, one after another."""
        return (self._block(i) for i in range(self._n_held + len(self.beyond)))

    def summed(self, question: Pass, n_threads: int = 1) -> Sums:
        """Ask all blocks, and return the sums."""
        n_blocks = self._n_held + len(self.beyond)
        n_shares = min(n_threads, n_blocks)

        def share(first: int) -> Sums:
            exact, largest = np.zeros(question.shape, dtype=np.int64), 0.0
            for i in range(first, n_blocks, n_shares):
                largest = larger(largest, question(self._block(i), exact, self._note(i)))
            return Sums(exact, largest)

        with self._notes.lock:  # an engine may run a task twice at once
            if n_shares == 1:
                return share(0)
            with ThreadPoolExecutor(n_shares) as pool:
                return added(pool.map(share, range(n_shares)))

    def derived(self, change: Change) -> "LeafRows":
        """Return other columns of the same rows."""
        filling = _Filling(self.weights)
        for block in self.blocks():
            new = change(block)
            filling.add(new.by_line(change.n_trees), new.labels, new.scores if new.scores.shape[1] else None)
        return filling.rows()

    def every(self, step: int) -> "LeafRows":
        """Return every so manyth line, each counting for the lines that it stands for."""
        if step == 1 and not self.beyond:
            return self
        return self.lines(0, step).counting(step)

    def lines(self, first: int, step: int) -> "LeafRows":
        """Return every so manyth line from ``first`` on, with the scores and counts that they have."""
        found: list[Block] = []
        for block in self.blocks():
            columns = (block.by_line(self.cells.shape[1]), block.labels, block.counts, block.scores)
            # Copies: a view would keep the whole block.
            found.append(Block._make(column[first::step].copy() for column in columns))
            first = (first - len(block.labels)) % step
        return joined(found, self.cells.shape[1])

    def counting(self, times: int) -> "LeafRows":
        """Return the lines, each counting for so many times the rows that it does."""
        counts = np.ones(self.n_lines, dtype=np.int64) if self.weights is None else self.weights
        return self if times == 1 else LeafRows(self.cells, self.labels, counts * times, self.scores)

    def unpacked(self, trees: Trees) -> Rows:
        """Return the rows by codes: of each attribute's cell, the first code that falls into it."""
        return _Unpacked(self, trees)

    @property
    def _n_held(self) -> int:
        # Without any line there is one block, which is empty.
        return -(-len(self.labels) // BLOCK_LINES) or int(not self.beyond)

    def _block(self, number: int) -> Block:
        if number >= self._n_held:
            cells, labels, *known = self.beyond[number - self._n_held].read()
            return Block(cells.reshape(-1), labels, _NO_COUNTS, known[0] if known else _NO_SCORES)
        part = slice(number * BLOCK_LINES, (number + 1) * BLOCK_LINES)
        counts = _NO_COUNTS if self.weights is None else self.weights[part]
        scores = _NO_SCORES if self.scores is None else self.scores[part]
        return Block(self.cells[part].reshape(-1), self.labels[part], counts, scores)

    def _note(self, number: int) -> Note:
        return self._notes.of(number, spilled=number >= self._n_held)

    def __getstate__(self) -> dict[str, Any]:
        """Return all lines, those of the file too: another process cannot read it."""
        whole = self.lines(0, 1) if self.beyond else self
        return {name: getattr(whole, name) for name in ("cells", "labels", "weights", "scores", "beyond")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _notes=_Notes())


def larger(one: float, other: float) -> float:
    """Return the larger number, or what is none."""
    return one if other <= one or one != one else other


def added(parts: Iterable[Sums]) -> Sums:
    """Return the sums of all parts."""
    first, *others = parts
    exact, largest = first
    for each in others:
        exact += each.exact
        largest = larger(largest, each.largest)
    return Sums(exact, largest)


def joined(blocks: Sequence[Block], n_trees: int) -> LeafRows:
    """Return the lines of all blocks, held."""
    _, labels, counts, scores = map(np.concatenate, zip(*blocks, strict=True))
    cells = np.concatenate([block.by_line(n_trees) for block in blocks])  # flat, or by line already
    return LeafRows(cells, labels, counts if counts.size else None, scores if scores.shape[1] else None)


class _Filling:
    """Takes in lines: into memory while there is room, and then into the process's file, a block at a time."""

    def __init__(self, weights: NDArray[np.int64] | None = None) -> None:
        self._weights = weights
        self._held: list[_Growing] = []
        self._waiting: list[tuple[NDArray[Any], ...]] = []
        self._spilled: list[Spilled] = []
        self._taken = 0

    def add(self, *columns: NDArray[Any] | None) -> None:
        """Take cells, classes and scores, if there are any; for as long as they wait they must not change."""
        part = tuple(column for column in columns if column is not None)
        if not self._held:
            self._held = [_Growing(np.empty((0, *column.shape[1:]), column.dtype)) for column in part]
        # Lines that stand for several rows are few, and stay together.
        if self._weights is not None or (not self._spilled and not self._waiting and self._take(part)):
            for held, column in zip(self._held, part, strict=True):
                held.add(column)
            return
        self._waiting.append(part)
        if sum(len(labels) for _, labels, *_ in self._waiting) >= BLOCK_LINES:
            self._write()

    def rows(self) -> LeafRows:
        """Return all lines that were taken in."""
        if self._waiting:
            self._write()
        cells, labels, *scores = (held.whole() for held in self._held)
        rows = LeafRows(cells, labels, self._weights, scores[0] if scores else None, tuple(self._spilled))
        weakref.finalize(rows, ROOM.give_back, self._taken)
        self._taken = 0
        return rows

    def _take(self, part: tuple[NDArray[Any], ...]) -> bool:
        n_bytes = n_bytes_of(*part)
        fits = ROOM.take(n_bytes)
        self._taken += n_bytes if fits else 0
        return fits

    def _write(self) -> None:
        columns = tuple(np.concatenate(own) if len(own) > 1 else own[0] for own in zip(*self._waiting, strict=True))
        self._waiting.clear()
        self._spilled.append(SpillFile.of_process().write(columns))

    def __del__(self) -> None:
        ROOM.give_back(self._taken)


class _Growing:
    """An array that takes in parts. It grows where it lies, so that no row is held twice: a list, joined, would be."""

    def __init__(self, empty: NDArray[Any]) -> None:
        self._array, self._filled = empty.copy(), 0

    def add(self, part: NDArray[Any]) -> None:
        end = self._filled + len(part)
        if end > len(self._array):
            self._resize(max(end, self._filled + self._filled // _SPARE))
        self._array[self._filled : end] = part
        self._filled = end

    def whole(self) -> NDArray[Any]:
        self._resize(self._filled)
        return self._array

    def _resize(self, n: int) -> None:
        self._array.resize((n, *self._array.shape[1:]), refcheck=False)  # no view of it exists yet


class _Notes:
    """What passes left beside each block."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._held: dict[int, _HeldNote | _SpilledNote] = {}

    def of(self, number: int, *, spilled: bool) -> Note:
        if number not in self._held:
            self._held[number] = _SpilledNote() if spilled else _HeldNote()
        return self._held[number]


class _HeldNote:
    name: bytes | None = None
    array: NDArray[Any] | None = None

    def read(self, name: bytes) -> NDArray[Any] | None:
        return self.array if self.name == name else None

    def write(self, name: bytes, array: NDArray[Any]) -> None:
        self.name, self.array = name, array


class _SpilledNote:
    name: bytes | None = None
    place: Spilled | None = None

    def read(self, name: bytes) -> NDArray[Any] | None:
        return self.place.read()[0] if self.place is not None and self.name == name else None

    def write(self, name: bytes, array: NDArray[Any]) -> None:
        like = (array.dtype, array.shape)
        if self.place is not None and self.place.likes == (like,):
            self.place.overwrite(array)
        else:
            self.place = SpillFile.of_process().write((array,))
        self.name = name


@dataclass(frozen=True)
class _Unpacked:
    """Rows by codes, a block at a time."""

    rows: LeafRows
    trees: Trees

    def blocks(self) -> Iterator[Codes]:
        n_values = [axis.n_values for own in self.trees.axes for axis in own]
        narrow = np.uint8 if max(n_values) < 2**8 else np.uint16
        for block in self.rows.blocks():
            cells, repeated = block.by_line(self.trees.n_trees), np.arange(len(block.labels))
            codes = np.empty((len(block.labels), len(n_values)), dtype=narrow)
            for t, own in enumerate(self.trees.axes):
                for axis, places in zip(own, self.trees.cell_places(t), strict=True):
                    codes[:, axis.attribute] = axis.first_codes.astype(narrow)[places][cells[:, t]]
            if block.counts.size:
                repeated = np.repeat(repeated, block.counts)
            yield codes[repeated], block.labels[repeated].astype(np.uint16)

    def exact_size(self) -> int:
        return self.rows.exact_size

    def exact_sum(self, count: Count, n_jobs: int | None = None) -> NDArray[np.int64]:
        return count(self.blocks(), n_threads(n_jobs))

    def require_rereadable(self) -> None:
        """Accept: they can be read again."""
