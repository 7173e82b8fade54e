"""One question of many: a person's own coin picks an attribute or two, answered together with the label.

The pick does not depend on the record, and everything else is never sent, so a person's whole epsilon goes to what was
asked. sampled_fields.md has the argument.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_whole
from privet.errors import ChannelError, DataError, ParameterError, PrivetError
from privet.local.channels.answer_checks import refuse
from privet.local.channels.cells import Floats, Ints
from privet.local.channels.field_channel import Impossible
from privet.local.channels.record_channel import DrawMany, RecordChannel
from privet.local.channels.sampling.question import Question, Support
from privet.local.channels.sampling.sent_cells import SentCells, doubts_about_questions
from privet.local.channels.sampling.subset_selection import Lots, in_blocks
from privet.local.channels.secret import Secret
from privet.schema import Attribute, Schema
from privet.schema.labels import is_writable

# The message that a pick is drawn from; an answer's is a list, which it cannot imitate.
_PICK = '"pick"'
_KEY_BYTES = 32
# So many cells are named in an example.
_SHOWN = 5
_WORST = "the channel of the record is damaged; fetch the file again"


@dataclass(frozen=True)
class SampledFields(RecordChannel):
    """Of the ``questions`` each person answers ``ask``, which their own coin picks."""

    schema: Schema
    questions: tuple[Question, ...]
    ask: int = 1
    wave: str | None = None
    kind: ClassVar[str] = "sampled_fields"
    words: ClassVar[str] = "asked of some, with the label"
    answers_in_words: ClassVar[str] = "answers to questions"
    fitted_by: ClassVar[tuple[str, ...]] = ("sampled-forest",)
    gives_label: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not is_whole(self.ask) or not 1 <= self.ask <= len(self.questions):
            raise ParameterError(
                f"ask={self.ask!r} must be a whole number from 1 to the number of questions, {len(self.questions)}"
            )
        if self.wave is not None and not (isinstance(self.wave, str) and self.wave and is_writable(self.wave)):
            raise ParameterError(f"wave={self.wave!r} must be a name, or be left out")
        own, n_classes = {a.name: a for a in self.schema.attributes}, len(self.schema.classes)
        for question in self.questions:
            if question.n_classes != n_classes or any(own.get(a.name) != a for a in question.attributes):
                raise ParameterError(
                    "a question is about another schema's attributes or classes; make it from this one"
                )
        asked = [tuple(question.fields) for question in self.questions]
        order = {name: place for place, name in enumerate(own)}
        for fields in asked:
            if len(fields) > 2 or list(fields) != sorted(set(fields), key=order.__getitem__):
                raise ParameterError("a question is about at most two attributes, in the schema's order; correct it")
        if len(set(asked)) < len(asked):
            raise ParameterError("two questions are about the same attributes; leave one of them out")

    @property
    def local_epsilon(self) -> float:
        """The sum of the dearest questions' epsilons, as many as a person is asked."""
        return math.fsum(sorted((q.selection.local_epsilon for q in self.questions), reverse=True)[: self.ask])

    @property
    def hides_label(self) -> bool:
        """Whether the label is disturbed: it has a part in every question."""
        return True

    @property
    def columns(self) -> Mapping[str, str]:
        """The columns of questions, by number, and of the cells sent, as text."""
        types = {"question": "int64", "answer": "string"}
        return {f"{what}_{i}": own for i in range(1, self.ask + 1) for what, own in types.items()}

    @property
    def neighbours(self) -> str:
        """Any two records."""
        return "any two records, whatever they differ in, the label with them"

    @property
    def together(self) -> str:
        """How many questions of how many the epsilon is for."""
        number = "one question" if self.ask == 1 else f"the sum over {self.ask} questions"
        return f", for {number} of {len(self.questions)}, picked by the person's own coin"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """That a changed record, and every other wave, costs as much again."""
        again = "who answered again after their record had changed paid again"
        return (again,) if self.wave is None else (again, "what was answered in other waves adds up with this one")

    def describe(self) -> list[dict[str, Any]]:
        """Return every question with its cells, its chance and its epsilon."""
        return [
            {
                "field": question.title,
                "channel": self.kind,
                "cells": question.selection.cells,
                "sent": question.selection.size,
                "keep": question.selection.keep,
                "local_epsilon": question.selection.local_epsilon,
            }
            for question in self.questions
        ]

    def example(self) -> str:
        """Return a made-up record's first question, and what would be sent of it by one throw of the coin."""
        question, classes = self.questions[0], self.schema.classes
        true = question.selection.cells // 2
        secret = Secret.of_key(bytes(_KEY_BYTES))
        sent = question.selection.draw(np.array([true]), lambda n: secret.many_words("example", ["1"], n))[0].tolist()
        shown = "; ".join(question.in_words(cell, classes) for cell in sent[:_SHOWN])
        more = f"; and {len(sent) - _SHOWN} more" if len(sent) > _SHOWN else ""
        return (
            f"For example, someone with {question.in_words(true, classes)}, whose coin picks this question, might "
            f"send: {shown}{more}. One of these may be true, or none."
        )

    def values_in(self, table: Any) -> list[tuple[Attribute, Floats]]:
        """Return each attribute with the estimated counts of its values, over all questions that it has a part in."""
        found = {a.name: np.zeros(a.n_values + 1) for a in self.schema.attributes}
        for question, support in zip(self.questions, self.supports(table), strict=True):
            cells = support.estimated_counts.reshape(question.shape)
            for j, attribute in enumerate(question.attributes):
                counts = cells.sum(axis=tuple(k for k in range(cells.ndim) if k != j))
                found[attribute.name][: len(counts)] += counts
        return [(a, np.maximum(found[a.name], 0.0)) for a in self.schema.attributes]

    def picked(self, persons: Sequence[str], draw: DrawMany) -> Ints:
        """Return the questions that each person is asked, by number in increasing order: a line a person."""
        told = [f"{person},{_PICK}" for person in persons]
        return np.sort(Lots(len(self.questions), self.ask).draw(lambda n: draw(told, n)), axis=1)

    def answer(
        self, codes: Ints, labels: Ints | None, persons: Sequence[str], draw: DrawMany
    ) -> dict[str, NDArray[Any]]:
        """Return the columns of answers of encoded records with these labels."""
        if labels is None:
            raise DataError(
                f"every question is about the label too; add the column {self.schema.target!r} to the table"
            )
        picked = self.picked(persons, draw)
        columns: dict[str, NDArray[Any]] = {}
        for i, asked in enumerate(picked.T, start=1):
            columns |= {f"question_{i}": asked, f"answer_{i}": self._answers(asked, codes, labels, persons, draw)}
        return columns

    def _answers(self, asked: Ints, codes: Ints, labels: Ints, persons: Sequence[str], draw: DrawMany) -> NDArray[Any]:
        answers = np.empty(len(asked), dtype=object)
        places = {name: j for j, name in enumerate(self.schema.names)}
        for number, question in enumerate(self.questions):
            fields = [places[name] for name in question.fields]
            for rows in in_blocks(np.flatnonzero(asked == number), question.selection.cells):
                cells = question.cells_of(codes[rows][:, fields], labels[rows])
                told = [f"{persons[i]},[{number},{c}]" for i, c in zip(rows.tolist(), cells.tolist(), strict=True)]
                sent = question.selection.draw(cells, lambda n, told=told: draw(told, n))  # type: ignore[misc]
                answers[rows] = as_text(sent, question.selection.cells)
        return answers

    def supports(self, table: Any, weights: Any = None) -> list[Support]:
        """Return what was sent about every question; the table's rows are answers, with ``weights`` where given."""
        sent = SentCells.of_each(table, self.ask)
        refuse(self._impossible(sent))
        own = None if weights is None else np.asarray(weights, dtype=np.float64)
        return [self._support(number, sent, own) for number in range(len(self.questions))]

    def _support(self, number: int, sent: Sequence[SentCells], weights: Floats | None) -> Support:
        question = self.questions[number]
        counts = [own.counts(number, question.selection.cells, weights) for own in sent]
        asked = [own.asked(number, weights) for own in sent]
        return Support(sum(asked), np.sum(counts, axis=0), question.chances)

    def impossible(self, table: Any) -> Impossible:
        """Yield the rows that no person can have answered."""
        yield from self._impossible(SentCells.of_each(table, self.ask))

    def _impossible(self, sent: Sequence[SentCells]) -> Impossible:
        sizes = np.array([question.selection.size for question in self.questions])
        cells = np.array([question.selection.cells for question in self.questions])
        for own in sent:
            yield from own.impossible(sizes, cells)
        for before, own in pairwise(sent):
            yield own.question <= before.question, "hold questions that are not in increasing order"

    def doubts(self, table: Any) -> tuple[str, ...]:
        """Return what is asked too often or too seldom, sent too often or too seldom, or repeated too often."""
        return doubts_about_questions(self.questions, SentCells.of_each(table, self.ask))

    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""
        wave = {} if self.wave is None else {"wave": self.wave}
        questions = [question.to_json() for question in self.questions]
        return {"channel": self.kind, "ask": self.ask, "questions": questions, **wave}

    @classmethod
    def from_json(cls, data: object, schema: Schema) -> Self:
        """Read the channel back; what `to_json` could not have written is an error."""
        if not isinstance(data, Mapping) or not isinstance(data.get("questions"), list):
            raise ChannelError(_WORST)
        try:
            questions = tuple(Question.from_json(part, schema) for part in data["questions"])
            record = cls(schema, questions, data["ask"], data.get("wave"))
        except (PrivetError, TypeError, KeyError) as error:
            raise ChannelError(_WORST) from error
        if record.to_json() != data:
            raise ChannelError("the channel of the record does not fit its schema; the file was changed")
        return record


def as_text(sent: Ints, cells: int) -> list[str]:
    """Return lines of cells as text: whole numbers separated by one blank."""
    names = [str(cell) for cell in range(cells)]
    return [" ".join([names[cell] for cell in line]) for line in sent.tolist()]
