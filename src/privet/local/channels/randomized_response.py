"""Randomized response to a field with few values, the label too. Its local epsilon is argued in columns.md."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_number, is_whole
from privet.errors import DataError, ParameterError
from privet.local.channels.cells import FieldValues, Floats, Ints
from privet.local.channels.channel import Channel
from privet.local.channels.distributions import TOTAL_WEIGHT, DiscreteDistribution, log_ratio
from privet.local.channels.field_channel import AnswerTests, Declared, Draw, FieldChannel, Impossible, Mass, SeenAnswers
from privet.local.channels.intervals import are_midpoints
from privet.local.channels.secret import Secret
from privet.local.channels.transformers import ChannelTransformer, check_epsilon, check_one_of
from privet.local.measures.posterior import BestGuess, of_answer
from privet.schema import Attribute, Categorical, Numeric, Schema
from privet.schema.attribute import labels_of

if TYPE_CHECKING:
    from privet.local.measures.posterior import Prior

# Of 65,535 answers one may be 65,534 of 2^48 short of the others by rounding: smaller shares would be exceeded.
LEAST_SHARE, MOST_SHARE = 1e-9, 30.0
# A k x k matrix of more would not fit in memory.
MOST_ANSWERS = 4_096
DEFAULT_CELLS = 4


@dataclass(frozen=True)
class RandomAnswer(FieldChannel):
    """A field with few values: the true one with chance ``keep``, else any other, all equally likely.

    ``field`` is the attribute, or the label's column; ``n_answers`` how many answers there are. A missing value is one
    of them where ``covers_missing`` says so; else it stays missing, for all to see.
    """

    field: str
    n_answers: int
    keep: float
    covers_missing: bool = False
    kinds: ClassVar[dict[str, str]] = {"randomized_response": "random answer"}

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

    @property
    def name(self) -> str:
        """The field."""
        return self.field

    def domain(self, declared: Declared) -> Attribute | Declared:
        """Return the declared attribute: the channel knows answers by their number only."""
        return declared

    def fits(self, attribute: Attribute) -> bool:
        """Return whether there are as many answers as values; a value beyond them would be given as it is."""
        covers = attribute.n_values + self.covers_missing == self.n_answers
        return covers and not (self.covers_missing and attribute.never_missing)

    @property
    def local_epsilon(self) -> float:
        """The logarithm of how much likelier an answer can be for one value than for another."""
        # Next to 1/n_answers rounding may leave the true answer's weight a little below the others.
        least = min(self._kept, self._other)
        return math.inf if least == 0 else log_ratio(abs(self._kept - self._other) / least)

    @property
    def is_certain(self) -> bool:
        """Whether every answer is sure to be the true one."""
        return self.keep == 1

    @property
    def hides_missing(self) -> bool:
        """Whether a missing value is an answer like any other."""
        return self.covers_missing

    @property
    def has_own_cells(self) -> bool:
        """Whether answers are about the schema's cells."""
        return True

    @property
    def draws_from(self) -> int:
        """How many codes the answer is drawn from."""
        return self.n_answers

    @property
    def chances(self) -> tuple[float, float]:
        """The chance of the true answer, and of each other one."""
        return self._kept / TOTAL_WEIGHT, self._other / TOTAL_WEIGHT

    @property
    def can_be_reconstructed(self) -> bool:
        """Whether the matrix of its chances fits in memory."""
        return self.n_answers <= MOST_ANSWERS

    @property
    def can_be_inverted(self) -> bool:
        """Whether the matrix has an inverse."""
        return True

    @cached_property
    def distribution(self) -> DiscreteDistribution:
        """How far the answer is from the true value, in the circle of all answers."""
        return DiscreteDistribution.of_weights(0, [self._kept, *([self._other] * (self.n_answers - 1))])

    @cached_property
    def matrix(self) -> Floats:
        """The chance of each answer (a row) for each value (a column)."""
        kept, other = self.chances
        chances: Floats = np.where(np.eye(self.n_answers, dtype=bool), kept, other)
        return chances

    def answer_for(self, codes: Ints, words: NDArray[np.uint64]) -> Ints:
        """Return the answers' codes for people with values at ``codes``; what is not among the answers stays."""
        answers = (codes + self.distribution.draw(words)) % self.n_answers
        return np.where((codes >= 0) & (codes < self.n_answers), answers, codes)

    def answer(self, values: FieldValues, draw: Draw) -> NDArray[Any]:
        """Return the answers of people with these values, as the schema's categories or cells' midpoints."""
        attribute, codes = values.attribute, values.codes
        unknown = codes == attribute.missing_code
        may_show = unknown.any() and not self.covers_missing and isinstance(attribute, Categorical)
        if may_show and (unknown & values.is_given).any():
            raise DataError(
                f"column {self.field!r} has values that are not among its categories, and would show as missing; "
                "add them to the schema, leave them empty, or cover missing values"
            )
        return np.array([*labels_of(attribute), None], dtype=object)[self.answer_for(codes, draw(codes))]

    def see(self, values: FieldValues, cells: Attribute, mass: Mass = "interval") -> SeenAnswers:  # noqa: ARG002
        """Return answers by their codes; those that the channel does not cover are none."""
        if not self.can_be_reconstructed:
            raise ParameterError(
                f"{self.field!r} has more than {MOST_ANSWERS:,} answers, too many to reconstruct; merge its rare values"
            )
        start = np.full(self.n_answers, 1.0 / self.n_answers)
        return SeenAnswers(self._covered(values.codes), self.matrix, start)

    def impossible(self, values: FieldValues) -> Impossible:
        """Yield values that are none of the categories, or the middle of no cell."""
        attribute = values.attribute
        if isinstance(attribute, Categorical):
            known = ~values.is_given | (values.codes < attribute.n_values)
            yield ~known, f"hold a value in {self.field!r} that is none of its categories"
        else:
            strange = ~are_midpoints(values.numbers, attribute)
            yield strange, f"hold a number in {self.field!r} that is the middle of no interval"

    def tests(self, values: FieldValues) -> AnswerTests:
        """Return the chances of every answer."""
        least, most = (np.full(self.n_answers, end) for end in (min(self.chances), max(self.chances)))
        return AnswerTests(self.field, self._covered(values.codes), ((np.arange(self.n_answers), least, most),))

    def describe(self) -> dict[str, Any]:
        """Return the chance of the true answer, and the local epsilon."""
        epsilon = None if math.isinf(self.local_epsilon) else self.local_epsilon
        return {"channel": self.kind, "keep": self.keep, "local_epsilon": epsilon}

    def prior(self, values: FieldValues) -> "Prior | None":
        """Return how frequent the answers' values are among themselves; a missing value that shows is none of them."""
        counts = np.bincount(values.codes, minlength=self.n_answers)[: self.n_answers]
        return counts / counts.sum() if counts.sum() else None

    def measures(self, prior: "Prior | None") -> dict[str, Any]:
        """Return what is left to be unsure of, and how often a guess is right."""
        shares = prior if isinstance(prior, np.ndarray) else np.full(self.n_answers, 1 / self.n_answers)
        return {"posterior_entropy": of_answer(self.matrix, shares), "best_guess": BestGuess.of(self.matrix, shares)}

    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""
        return {
            "field": self.field,
            "channel": self.kind,
            "answers": self.n_answers,
            "keep": self.keep,
            "covers_missing": self.covers_missing,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], attribute: Attribute) -> Self:
        """Read the channel back."""
        return cls(attribute.name, data["answers"], data["keep"], data["covers_missing"])

    def _covered(self, codes: Ints) -> Ints:
        return np.where(codes < self.n_answers, codes.astype(np.int64), -1)

    @cached_property
    def _other(self) -> int:
        """The weight of each answer that is not the true one."""
        return math.ceil((1 - Fraction(self.keep)) * TOTAL_WEIGHT / (self.n_answers - 1))

    @property
    def _kept(self) -> int:
        return TOTAL_WEIGHT - (self.n_answers - 1) * self._other


class RandomizedResponse(ChannelTransformer):
    """Give the true answer with chance ``keep``, else any other; numbers are cut into cells first.

    Parameters
    ----------
    schema : Schema
        What is public about the table.
    epsilon : float, optional
        The local epsilon of all disturbed fields of a record together, in equal shares.
    keep : float, optional
        Instead of ``epsilon``: the chance of the true answer, above 1 over the number of answers.
    bins : int
        The cells of a number that declares none.
    label : bool
        Whether the label is disturbed too.
    covers_missing : bool
        Whether a missing value is an answer like any other, where there can be one. Otherwise it stays missing, for all
        to see.
    columns, person, secret
        As for `UniformNoise`; by default all columns.
    """

    def __init__(
        self, schema: Schema, *, epsilon: float | None = None, keep: float | None = None, bins: int = DEFAULT_CELLS,
        label: bool = False, covers_missing: bool = False, columns: Sequence[str] | None = None,
        person: str | None = None, secret: Secret | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.epsilon = epsilon
        self.keep = keep
        self.bins = bins
        self.label = label
        self.covers_missing = covers_missing
        self.columns = columns
        self.person = person
        self.secret = secret

    @property
    def channel(self) -> Channel:
        """The channel that the parameters describe."""
        check_one_of(epsilon=self.epsilon, keep=self.keep)
        cells = {a.name: in_cells(a, self.bins) for a in self._chosen()}
        schema = self.schema.with_attributes(cells.get(a.name, a) for a in self.schema.attributes)
        n_fields = len(cells) + bool(self.label)
        covers = {name: bool(self.covers_missing) and not a.never_missing for name, a in cells.items()}
        columns = [
            self._answer(name, a.n_values + covers[name], n_fields, covers_missing=covers[name])
            for name, a in cells.items()
        ]
        label = self._answer(schema.target, len(schema.classes), n_fields) if self.label else None
        return Channel.of(schema, columns, label=label)

    def _answer(self, field: str, n_answers: int, n_fields: int, *, covers_missing: bool = False) -> RandomAnswer:
        if self.epsilon is None:
            return RandomAnswer(field, n_answers, self.keep, covers_missing)  # type: ignore[arg-type]
        check_epsilon(self.epsilon)
        return RandomAnswer.of_epsilon(field, n_answers, self.epsilon / n_fields, covers_missing=covers_missing)


def in_cells(attribute: Attribute, n_bins: int) -> Attribute:
    """Return a number that declares no cells in ``n_bins`` of them; any other attribute as it is."""
    return replace(attribute, bins=n_bins) if isinstance(attribute, Numeric) and attribute.is_open else attribute
