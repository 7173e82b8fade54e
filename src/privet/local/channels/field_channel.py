"""What happens to one field before it leaves its owner: the protocol that every kind of channel follows.

A kind is a frozen dataclass in a file of its own, registered in kinds.py under the names that its JSON has. It is
public: it says how a person's value and 64 random bits become the answer, and so how likely every answer is for every
value. Nothing about anybody is in it. Respondents, collectors and reports call these methods; none asks for the kind.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from privet.errors import ChannelError
from privet.local.channels.cells import FieldValues, Floats, Ints
from privet.local.measures.posterior import Histogram, PosteriorEntropy
from privet.schema import Attribute, Categorical, Numeric
from privet.schema.table import as_arrow

if TYPE_CHECKING:
    from privet.local.measures.posterior import Prior

Mass: TypeAlias = Literal["interval", "midpoint"]
Declared = TypeVar("Declared", bound=Attribute | None)
# Takes the codes of people's values and returns 64 random bits for each of them.
Draw: TypeAlias = Callable[[Ints], NDArray[np.uint64]]
# Which rows hold what no answer can be, and that in words.
Impossible: TypeAlias = Iterator[tuple[NDArray[np.bool_], str]]

CLEAR_KIND = "clear"
CONFIDENCES = (0.5, 0.95, 0.999)


@dataclass(frozen=True, eq=False)
class SeenAnswers:
    """Answers by number, and how likely each is from every true cell.

    Attributes
    ----------
    answer : int64 array
        Each row's, by number; -1 where there is none.
    chances : float array
        Of each answer (a row) from each true cell (a column).
    start : float array
        The first estimate of the true cells' shares.
    edges : float array or None
        The cells that numbers are seen in; None for codes.
    place, answer_of_place : int64 arrays or None
        Where answers have an order: each row's place in it, -1 for none, and the answer that each place belongs to.
    """

    answer: Ints
    chances: Floats
    start: Floats
    edges: Floats | None = None
    place: Ints | None = None
    answer_of_place: Ints | None = None


@dataclass(frozen=True, eq=False)
class AnswerTests:
    """One field's answers by number, -1 where there is none, and what honest ones look like.

    A test puts answers into groups, and says how likely each is at least and at most, whatever the value; the first has
    every answer by itself, the last has the fewest groups.
    """

    name: str
    answer: Ints
    tests: tuple[tuple[Ints, Floats, Floats], ...]


class FieldChannel(ABC):
    """What happens to one field. The defaults are those of a kind that draws nothing and hides nothing."""

    # The kind's names in JSON, and what each is called in a table.
    kinds: ClassVar[dict[str, str]]

    # What it is.

    @property
    def kind(self) -> str:
        """The kind's name in JSON."""
        return next(iter(self.kinds))

    @property
    @abstractmethod
    def name(self) -> str:
        """The field: an attribute, or the label's column."""

    @abstractmethod
    def domain(self, declared: Declared) -> Attribute | Declared:
        """Return the attribute that the field is answered as; ``declared`` where the channel has none of its own."""

    @abstractmethod
    def fits(self, attribute: Attribute) -> bool:
        """Return whether the channel is about this domain."""

    def in_cells(self, attribute: Attribute) -> "FieldChannel":  # noqa: ARG002 - for kinds with an attribute
        """Return the channel for a collector who chooses cells of his own."""
        return self

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""

    @classmethod
    @abstractmethod
    def from_json(cls, data: dict[str, Any], attribute: Attribute) -> Self:
        """Read the channel of ``attribute`` back; the caller compares what is written again."""

    # What it promises, and what can be made of its answers.

    @property
    def local_epsilon(self) -> float:
        """The logarithm of how much likelier an answer can be for one value than for another; infinite for no bound."""
        return math.inf

    @property
    def is_clear(self) -> bool:
        """Whether the field is given as it is."""
        return False

    @property
    def is_certain(self) -> bool:
        """Whether every answer is sure to be the true one."""
        return False

    @property
    def hides_missing(self) -> bool:
        """Whether a missing value is an answer like any other."""
        return False

    @property
    def reads_numbers(self) -> bool:
        """Whether the answer depends on more of a number than its cell."""
        return False

    @property
    def has_own_cells(self) -> bool:
        """Whether answers are about the schema's cells, so that the collector cannot choose others."""
        return False

    @property
    def draws_from(self) -> int:
        """How many codes the answer is drawn from; 0 where none is drawn."""
        return 0

    @property
    def chances(self) -> tuple[float, float] | None:
        """The chance of the true code, and of each other one; None where answers are no codes."""
        return 1.0, 0.0

    @property
    def noise_variance(self) -> float:
        """The variance of what is added to a number."""
        return 0.0

    @property
    def can_be_reconstructed(self) -> bool:
        """Whether the matrix of its chances fits in memory."""
        return True

    @property
    def can_be_inverted(self) -> bool:
        """Whether that matrix is square, so that its inverse gives an unbiased estimate."""
        return False

    # The respondent's side.

    @abstractmethod
    def answer(self, values: FieldValues, draw: Draw) -> NDArray[Any]:
        """Return the answers of people with these values."""

    # The collector's side.

    def see(self, values: FieldValues, cells: Attribute, mass: Mass = "interval") -> SeenAnswers | None:  # noqa: ARG002
        """Return answers as a reconstruction of ``cells`` needs them; None where an answer is the cell itself."""
        return None

    @abstractmethod
    def impossible(self, values: FieldValues) -> Impossible:
        """Yield the rows that hold no possible answer, with the reason; no reason holds a value."""

    def tests(self, values: FieldValues) -> AnswerTests | None:  # noqa: ARG002 - for kinds that draw
        """Return what honest answers look like; None where chance has no part in them."""
        return None

    # What is said about it.

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return what the channel does, each measure under a name of its own; those that do not apply are absent."""

    def prior(self, values: FieldValues) -> "Prior | None":  # noqa: ARG002 - for kinds with measures
        """Return how clear values are spread, on the scale of `measures`; None where that is not known."""
        return None

    def measures(self, prior: "Prior | None") -> dict[str, Any]:  # noqa: ARG002 - for kinds with measures
        """Return the measures that apply, by the names of `FieldMeasures`; no ``prior`` stands for evenly."""
        return {}


@dataclass(frozen=True)
class Clear(FieldChannel):
    """The field is given as it is."""

    attribute: Attribute
    kinds: ClassVar[dict[str, str]] = {CLEAR_KIND: "given as it is"}

    @property
    def name(self) -> str:
        """The field."""
        return self.attribute.name

    @property
    def is_clear(self) -> bool:
        """Whether the field is given as it is."""
        return True

    def domain(self, declared: Declared) -> Attribute | Declared:  # noqa: ARG002 - it has its own
        """Return the field's attribute."""
        return self.attribute

    def fits(self, attribute: Attribute) -> bool:
        """Return whether the channel is about this domain."""
        return self.attribute == attribute

    def in_cells(self, attribute: Attribute) -> "Clear":
        """Return the channel over other cells."""
        return Clear(attribute)

    def answer(self, values: FieldValues, draw: Draw) -> NDArray[Any]:  # noqa: ARG002 - nothing is drawn
        """Return the values as they were given."""
        return as_objects(values.column, self.name)

    def impossible(self, values: FieldValues) -> Impossible:  # noqa: ARG002
        """Yield nothing: any value can be given."""
        return iter(())

    def describe(self) -> dict[str, Any]:
        """Return the kind, which is all there is to say."""
        return {"channel": self.kind}

    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""
        return {"field": self.name, "channel": self.kind}

    @classmethod
    def from_json(cls, data: dict[str, Any], attribute: Attribute) -> Self:  # noqa: ARG003 - the kind says it all
        """Read the channel back."""
        return cls(attribute)


@dataclass(frozen=True)
class NumberChannel(FieldChannel):
    """What the kinds share that answer about a number with a number near it."""

    attribute: Numeric

    @property
    def name(self) -> str:
        """The field."""
        return self.attribute.name

    def domain(self, declared: Declared) -> Attribute | Declared:  # noqa: ARG002 - it has its own
        """Return the field's attribute, in the cells that are answered."""
        return self.attribute

    def fits(self, attribute: Attribute) -> bool:
        """Return whether the channel is about this domain."""
        return self.attribute == attribute

    def in_cells(self, attribute: Attribute) -> "NumberChannel":
        """Return the channel over other cells."""
        return replace(self, attribute=number_in(attribute))

    @abstractmethod
    def width(self, confidence: float) -> float:
        """Return the width of the interval about an answer that holds the value with this confidence."""

    @abstractmethod
    def entropy_after(self, prior: Histogram) -> float:
        """Return the entropy of a value, in bits, that is left when its answer is known."""

    def describe(self) -> dict[str, Any]:
        """Return the widths of intervals, as they are and as a share of the range, and the local epsilon."""
        widths = {f"width_at_{c:.1%}".replace(".0", ""): self.width(c) for c in CONFIDENCES}
        share = {"privacy_at_95%": self.width(0.95) / (self.attribute.high - self.attribute.low)}
        epsilon = None if math.isinf(self.local_epsilon) else self.local_epsilon
        return {"channel": self.kind, **widths, **share, "local_epsilon": epsilon}

    def prior(self, values: FieldValues) -> "Prior | None":
        """Return the histogram of the numbers that are there."""
        present = values.numbers[~np.isnan(values.numbers)]
        return Histogram.of(present, self.attribute.low, self.attribute.high) if len(present) else None

    def measures(self, prior: "Prior | None") -> dict[str, Any]:
        """Return the widths of intervals, and what is left to be unsure of."""
        low, high = self.attribute.low, self.attribute.high
        spread = prior if isinstance(prior, Histogram) else Histogram.flat(low, high)
        left = PosteriorEntropy(2 ** self.entropy_after(spread), 2**spread.entropy, high - low)
        return {"widths": {c: self.width(c) for c in CONFIDENCES}, "posterior_entropy": left}


def number_in(attribute: Attribute) -> Numeric:
    """Return the attribute of a number; categories are refused."""
    if isinstance(attribute, Categorical):
        raise ChannelError(f"{attribute.name!r} has categories, to which no number can be added")
    return attribute


def as_objects(column: Any, name: str) -> NDArray[Any]:
    """Return a column as it was given, null as None."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column
    return np.array([*as_arrow(column, name).to_pylist(), None], dtype=object)[:-1]
