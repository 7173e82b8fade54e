"""Randomized response to one field. The argument for its local epsilon is in columns.md."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_whole
from privet.errors import ChannelError, ParameterError, PrivetError
from privet.local.channels.discrete_distribution import TOTAL_WEIGHT, DiscreteDistribution, log_ratio
from privet.local.channels.number_checks import is_number

# Of 65,535 answers one may be 65,534 of 2^48 short of the others by rounding: smaller shares would be exceeded.
LEAST_SHARE, MOST_SHARE = 1e-9, 30.0


@dataclass(frozen=True)
class RandomAnswer:
    """A field with few values: the true one with chance ``keep``, else any other, all equally likely.

    ``field`` is the attribute, or the label's column; ``n_answers`` how many answers there are. A missing value is one
    of them where ``covers_missing`` says so; else it stays missing, for all to see.
    """

    field: str
    n_answers: int
    keep: float
    covers_missing: bool = False
    kind: ClassVar[str] = "randomized_response"

    def __post_init__(self) -> None:
        if not is_whole(self.n_answers) or not isinstance(self.covers_missing, bool):
            raise ParameterError("n_answers must be a whole number, and covers_missing true or false; correct them")
        if self.n_answers < 2:
            raise ParameterError(f"{self.field!r} has one possible answer, which hides nothing; leave it clear")
        if not (is_number(self.keep) and 1 / self.n_answers < self.keep <= 1):
            raise ParameterError(
                f"{self.field!r} has {self.n_answers} possible answers, so the true one must be kept with a chance "
                f"above 1/{self.n_answers} and at most 1; change keep={self.keep!r}"
            )
        object.__setattr__(self, "keep", float(self.keep))

    @classmethod
    def of_epsilon(cls, field: str, n_answers: int, epsilon: float, *, covers_missing: bool = False) -> Self:
        """Return the channel of this local epsilon, rounded so that it is never exceeded."""
        if not LEAST_SHARE <= epsilon <= MOST_SHARE:
            raise ParameterError(
                f"the share of epsilon for {field!r}, {epsilon:g}, must be from {LEAST_SHARE:g}, which tells nothing, "
                f"to {MOST_SHARE:g}, which hides nothing; change epsilon"
            )
        # What rounding upwards adds to it again, and what a double next to 1 cannot tell: 1 - keep is about e^-epsilon.
        less = epsilon * (1 - 1e-11) - 1e-15 - 4e-16 * math.exp(epsilon)
        return cls(field, n_answers, 1 / (1 + (n_answers - 1) * math.exp(-less)), covers_missing)

    @cached_property
    def distribution(self) -> DiscreteDistribution:
        """How far the answer is from the true value, in the circle of all answers."""
        return DiscreteDistribution.of_weights(0, [self._kept, *([self._other] * (self.n_answers - 1))])

    @property
    def local_epsilon(self) -> float:
        """The logarithm of how much likelier an answer can be for one value than for another."""
        # Next to 1/n_answers rounding may leave the true answer's weight a little below the others.
        least = min(self._kept, self._other)
        return math.inf if least == 0 else log_ratio(abs(self._kept - self._other) / least)

    @property
    def chances(self) -> tuple[float, float]:
        """The chance of the true answer, and of each other one."""
        return self._kept / TOTAL_WEIGHT, self._other / TOTAL_WEIGHT

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The chance of each answer (a row) for each value (a column)."""
        kept, other = self.chances
        chances: NDArray[np.float64] = np.where(np.eye(self.n_answers, dtype=bool), kept, other)
        return chances

    def answers(self, codes: NDArray[np.int64], words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the answers' codes for people with values at ``codes``; what is not among the answers stays."""
        answers = (codes + self.distribution.draw(words)) % self.n_answers
        return np.where((codes >= 0) & (codes < self.n_answers), answers, codes)

    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""
        return {
            "field": self.field,
            "channel": self.kind,
            "answers": self.n_answers,
            "keep": self.keep,
            "covers_missing": self.covers_missing,
        }

    @cached_property
    def _other(self) -> int:
        """The weight of each answer that is not the true one."""
        return math.ceil((1 - Fraction(self.keep)) * TOTAL_WEIGHT / (self.n_answers - 1))

    @property
    def _kept(self) -> int:
        return TOTAL_WEIGHT - (self.n_answers - 1) * self._other


def answer_from_json(data: object, field: str, n_values: int) -> RandomAnswer:
    """Read a randomized response to ``field``, which has ``n_values`` values besides a missing one."""
    if not isinstance(data, Mapping) or data.get("field") != field:
        raise ChannelError(f"the channel says nothing about the field {field!r}; the file is damaged")
    try:
        answer = RandomAnswer(field, data["answers"], data["keep"], data["covers_missing"])
    except (PrivetError, TypeError, KeyError) as error:
        raise ChannelError(f"the channel of {field!r} is damaged; fetch the file again") from error
    if answer.to_json() != data or answer.n_answers != n_values + answer.covers_missing:
        raise ChannelError(f"the channel of {field!r} does not fit its domain; the file was changed")
    return answer
