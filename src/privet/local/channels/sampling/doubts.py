"""Whether answers to sampled questions look as if people's own coins had picked and answered them; answer_checks.md."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from privet.local.channels.answer_checks import ChanceTest, log_chance, named_by, repeats
from privet.local.channels.sampling.question import Question
from privet.local.channels.sampling.sent_cells import SentCells

PICKED = "which questions were picked"


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
