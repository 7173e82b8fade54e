"""What a channel asks as a plan sees it: one form for sampled questions and for random answers to every field."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from privet.errors import ParameterError
from privet.local.channels.cells import Floats
from privet.local.channels.channel import Channel
from privet.local.channels.randomized_response import MOST_SHARE, RandomAnswer
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.local.channels.sampling.subset_selection import SubsetSelection

# A question that is this much cheaper than the dearest one was meant to be.
_CHEAPER = 1 - 1e-6
_NOTHING_TO_PLAN = (
    "how far off answers through this channel are is not known beforehand, so there is nothing to plan; see `privet "
    "perturb --explain`, or make a channel with FieldSampling or RandomizedResponse"
)


@dataclass(frozen=True)
class QuestionDesign:
    """One question, about values of its fields together with the label, or without it: then there is one class.

    Attributes
    ----------
    fields : tuple of str
        What it is about; the label's column where it is about the label alone, of one value.
    n_values : int
        How many values its fields have together, each taken to be equally frequent in every class.
    class_shares : tuple of float
        How frequent the classes are taken to be, the one of interest first. A cell is a value and a class.
    selection : SubsetSelection
        Which cells are sent.
    of_people : float
        The share of people who are asked it.
    part, most : float
        Its part of the epsilon of all that a person sends, and the most that it may cost.
    size : int, optional
        How many cells are sent at any epsilon; by default as many as are best.
    """

    fields: tuple[str, ...]
    n_values: int
    class_shares: tuple[float, ...]
    selection: SubsetSelection
    of_people: float
    part: float
    most: float = MOST_SHARE
    size: int | None = None

    def at(self, epsilon: float) -> Self:
        """Return the question where all that a person sends costs this epsilon."""
        own = min(self.part * epsilon, self.most)
        return replace(self, selection=SubsetSelection.of_epsilon(self.selection.cells, own, self.size))

    @property
    def keeps_epsilon(self) -> bool:
        """Whether it costs no more where others do."""
        return self.most < MOST_SHARE

    @property
    def has_label(self) -> bool:
        """Whether the label has a part in it."""
        return len(self.class_shares) > 1

    @property
    def value_variance(self) -> float:
        """The variance of a value's share of the class of interest, for one person asked; of one value, the class's."""
        if self.n_values < 2:
            return sum(self.balance_variance)
        in_class = self._in_class / self.class_shares[0]
        return sum(self._variance(self._first * in_class - in_class / self.n_values))

    @property
    def class_variance(self) -> float | None:
        """The variance of the class's share among people with one value, for one person asked."""
        if self.n_values < 2 or not self.has_label:
            return None
        with_value = self._first * self.n_values
        return sum(self._variance(self._in_class * with_value - self.class_shares[0] * with_value))

    @property
    def balance_variance(self) -> tuple[float, float]:
        """The variance of the class's share among all: what the channel adds, and whom one happened to ask."""
        return self._variance(self._in_class)

    def _variance(self, weights: Floats) -> tuple[float, float]:
        shares = np.tile(self.class_shares, self.n_values) / self.n_values
        return variance_of_sum(weights, shares, *self.selection.chances)

    @property
    def _first(self) -> Floats:
        """1 for the cells of the first value: the label comes last."""
        return np.repeat(np.arange(self.n_values) == 0, len(self.class_shares)).astype(np.float64)

    @property
    def _in_class(self) -> Floats:
        """1 for the cells of the class of interest."""
        return np.tile(np.arange(len(self.class_shares)) == 0, self.n_values).astype(np.float64)


def questions_of(channel: Channel, class_shares: Sequence[float]) -> list[QuestionDesign]:
    """Return what a channel asks; one that is not planned for is refused."""
    if isinstance(channel.record, SampledFields):
        return list(_sampled(channel.record, tuple(class_shares)))
    answers = [own for own in channel.fields.values() if isinstance(own, RandomAnswer) and not own.is_certain]
    if not answers or len(answers) < len(channel.fields):
        raise ParameterError(_NOTHING_TO_PLAN)
    return [_random(own, channel, tuple(class_shares)) for own in answers]


def _sampled(record: SampledFields, class_shares: tuple[float, ...]) -> Iterator[QuestionDesign]:
    target = record.schema.target
    dearest = max(question.selection.local_epsilon for question in record.questions)
    for question in record.questions:
        own = question.selection.local_epsilon
        yield QuestionDesign(
            tuple(question.fields or [target]), math.prod(question.shape[:-1]), class_shares, question.selection,
            record.ask / len(record.questions), 1 / record.ask, own if own < dearest * _CHEAPER else MOST_SHARE,
        )  # fmt: skip


def _random(answer: RandomAnswer, channel: Channel, class_shares: tuple[float, ...]) -> QuestionDesign:
    is_label = answer is channel.label
    n_values, shares = (1, class_shares) if is_label else (answer.n_answers, (1.0,))
    selection = SubsetSelection(answer.n_answers, 1, answer.keep)
    part = answer.local_epsilon / channel.local_epsilon
    return QuestionDesign((answer.field,), n_values, shares, selection, 1.0, part, size=1)


def largest_epsilon(questions: Sequence[QuestionDesign]) -> float:
    """Return the largest epsilon of all that a person sends at which every question can be asked."""
    return min(MOST_SHARE / own.part for own in questions if not own.keeps_epsilon)


def variance_of_sum(weights: Floats, shares: Floats, kept: float, other: float) -> tuple[float, float]:
    """Return the variance, for one person asked, of an estimated sum of weights times shares of people in cells.

    Parameters
    ----------
    weights, shares : float arrays
        What each cell counts for, and how frequent it is.
    kept, other : float
        The chance that the true cell is sent, and that a given other one is; everyone sends as many cells.

    Returns
    -------
    (float, float)
        What the channel adds, and what is due to whom one happened to ask.

    Examples
    --------
    A coin of 3/4 hides "yes" or "no", which are equally frequent. Three of sixteen over a half squared, and a quarter:

    >>> import numpy as np
    >>> variance_of_sum(np.array([1.0, 0.0]), np.array([0.5, 0.5]), 0.75, 0.25)
    (0.75, 0.25)
    """
    k = len(weights)
    true, false = kept * (1 - kept), other * (1 - other)
    # As many cells are sent of everyone, so that the covariances of each cell with all cells add up to 0.
    with_true = -true / (k - 1)
    among_others = -(false + with_true) / (k - 2) if k > 2 else 0.0
    rest = weights.sum() - weights
    squares = (weights**2).sum() - weights**2
    sent = true * weights**2 + 2 * with_true * weights * rest + false * squares + among_others * (rest**2 - squares)
    spread = float(shares @ weights**2 - (shares @ weights) ** 2)
    return float(shares @ sent) / (kept - other) ** 2, max(spread, 0.0)
