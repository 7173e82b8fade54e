"""Answers about sampled fields as they are read from a table: which question, and which cells were sent.

Whether they look as if people's own coins had picked and answered them is argued in answer_checks.md.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.answer_checks import ChanceTest, log_chance, named_by, repeats
from privet.local.channels.cells import Floats, Ints
from privet.local.channels.field_channel import Impossible
from privet.local.channels.sampling.question import Question
from privet.schema.encoding import without_dictionary
from privet.schema.table import as_arrow, column_names, column_of, columns_of

_WHOLE = r"^(0|[1-9][0-9]{0,8})$"
_CELLS = r"^(0|[1-9][0-9]{0,8})( (0|[1-9][0-9]{0,8}))*$"
PICKED = "which questions were picked"


@dataclass(frozen=True, eq=False)
class SentCells:
    """One question a person and the cells that were sent: ``row`` and ``cell`` have an entry for each of these.

    ``question`` is -1, and a row has no cell, where the table holds none that can be read.
    """

    question: Ints
    row: Ints
    cell: Ints

    @classmethod
    def of_each(cls, table: Any, n_asked: int) -> list[Self]:
        """Return the first, second, ... question and answer of every row."""
        return [cls.read(table, i) for i in range(1, n_asked + 1)]

    @classmethod
    def read(cls, table: Any, i: int) -> Self:
        """Return the ``i``-th question of every row and its answer; a table without names has them in order."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = [f"question_{i}", f"answer_{i}"]
        questions, answers = (_text(column, name) for column, name in zip(_pair(table, i), names, strict=True))
        whole = pc.if_else(pc.match_substring_regex(questions, _WHOLE), questions, pa.scalar("-1"))
        question = pc.cast(pc.fill_null(whole, "-1"), pa.int64()).to_numpy()
        readable = pc.fill_null(pc.match_substring_regex(answers, _CELLS), False)
        parts = pc.split_pattern(pc.if_else(readable, answers, pa.scalar(None, pa.string())), " ")
        cell = pc.cast(pc.list_flatten(parts), pa.int64()).to_numpy()
        return cls(question, pc.list_parent_indices(parts).to_numpy(), cell)

    def impossible(self, sizes: Ints, cells: Ints) -> Impossible:
        """Yield the rows that hold no question of so many cells, or not as many cells of it as are sent."""
        unknown = (self.question < 0) | (self.question >= len(sizes))
        yield unknown, "hold a number in their questions that is none of the channel's"
        question = np.where(unknown, 0, self.question)
        sent = np.bincount(self.row, minlength=len(question))
        yield sent != sizes[question], "do not hold as many cells as their question is answered with"
        strange = self.cell >= cells[question[self.row]]
        yield self._rows_with(strange), "hold a cell that their question does not have"
        same_row = self.row[1:] == self.row[:-1]
        falls = np.zeros(len(self.row), dtype=bool)
        falls[1:] = same_row & (self.cell[1:] <= self.cell[:-1])
        yield self._rows_with(falls), "hold cells that are not in increasing order"

    def asked(self, number: int, weights: Floats | None = None) -> float:
        """Return how many were asked the question with this number, or the sum of their weights."""
        own = self.question == number
        return int(np.count_nonzero(own)) if weights is None else float(weights[own].sum())

    def cells_of(self, number: int, size: int) -> Ints:
        """Return the cells sent in answer to a question by ``size`` of them: a line a person who was asked it."""
        sent: Ints = self.cell[self.question[self.row] == number].reshape(-1, size)
        return sent

    def counts(self, number: int, cells: int, weights: Floats | None = None) -> NDArray[Any]:
        """Return how often each cell was sent in answer to the question with this number."""
        own = self.question[self.row] == number
        rows = None if weights is None else weights[self.row[own]]
        return np.bincount(self.cell[own], weights=rows, minlength=cells)

    def _rows_with(self, strange: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.bincount(self.row[strange], minlength=len(self.question)) > 0


def _pair(table: Any, i: int) -> list[Any]:
    if column_names(table) is None:
        return columns_of(table, range(table.shape[1]))[2 * i - 2 : 2 * i]  # type: ignore[arg-type]
    return [column_of(table, f"{what}_{i}") for what in ("question", "answer")]


def _text(column: Any, name: str) -> Any:
    """Return a column as text: answers of one cell each may have been read as numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = without_dictionary(as_arrow(column, name))
    if pa.types.is_floating(plain.type):
        whole = pc.if_else(pc.equal(pc.floor(plain), plain), plain, pa.scalar(None, plain.type))
        plain = pc.cast(whole, pa.int64(), safe=False)
    return pc.cast(plain, pa.string())


def doubts_about_questions(questions: Sequence[Question], sent: Sequence[SentCells]) -> tuple[str, ...]:
    """Return what is all but impossible: the questions that were picked, or the answers to some."""
    if not len(sent[0].question):
        return ()
    tests = [_of_picks(len(questions), sent)]
    for number, question in enumerate(questions):
        tests += _of_question(number, question, sent)
    return named_by(tests)


def _of_picks(n_questions: int, sent: Sequence[SentCells]) -> ChanceTest:
    """Test how often each question was asked: the coin picks all alike."""
    counts = np.sum([np.bincount(own.question, minlength=n_questions) for own in sent], axis=0)
    chance = np.full(n_questions, len(sent) / n_questions)
    least = log_chance(counts, len(sent[0].question), chance, chance) if len(sent) < n_questions else 0.0
    return (PICKED,), least, 2 * n_questions


def _of_question(number: int, question: Question, sent: Sequence[SentCells]) -> Iterator[ChanceTest]:
    """Test how often each cell of a question was sent, and how often the same answer came."""
    cells, (kept, other) = question.selection.cells, question.chances
    n = sum(own.asked(number) for own in sent)
    if not n:
        return
    name = question.title
    counts = np.sum([own.counts(number, cells) for own in sent], axis=0)
    yield (name,), log_chance(counts, int(n), np.full(cells, other), np.full(cells, kept)), 2 * cells
    size = question.selection.size
    answers = np.concatenate([own.cells_of(number, size) for own in sent])
    times = np.unique(answers, axis=0, return_counts=True)[1]
    # The likeliest answer is one with the true cell in it, and all of these are equally likely.
    yield from repeats(name, times, math.log(kept) - math.log(math.comb(cells - 1, size - 1)))
