"""What happens to a record as a whole: the protocol that every kind follows.

A kind is a frozen dataclass in a file of its own, registered in kinds.py under the name that its JSON has. Respondents,
collectors and reports call these methods; none asks for the kind.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.cells import Floats, Ints
from privet.local.channels.field_channel import Impossible
from privet.schema import Attribute, Schema

if TYPE_CHECKING:
    from privet.local.channels.record_complement import Complement

# Takes what is told of each person, and returns so many random 64-bit words of each: a line a person.
DrawMany = Callable[[Sequence[str], int], NDArray[np.uint64]]


class RecordChannel(ABC):
    """What happens to a record. The defaults are those of a kind without a local epsilon."""

    # The kind's name in JSON, and what it is called in a table.
    kind: ClassVar[str]
    words: ClassVar[str]
    # What its answers are called.
    answers_in_words: ClassVar[str]
    # The methods that fit its answers, the best first.
    fitted_by: ClassVar[tuple[str, ...]]
    # Whether the label has a column of its own in the answers.
    gives_label: ClassVar[bool] = True
    # The name of the wave, where people are asked again and pay again.
    wave: str | None = None

    @property
    def local_epsilon(self) -> float:
        """The logarithm of how much likelier an answer can be for one record than for another; infinite for none."""
        return math.inf

    @property
    def is_certain(self) -> bool:
        """Whether every record is sure to be given as it is."""
        return False

    @property
    @abstractmethod
    def hides_label(self) -> bool:
        """Whether the label is disturbed with the record."""

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, str]:
        """The columns of the answers, the label's apart, and the Arrow type of each."""

    @property
    def flips(self) -> "Complement | None":
        """The channel itself, where records are coded in bits and flipped."""
        return None

    # What a guarantee says of it.

    @property
    def leaks(self) -> tuple[str, ...]:
        """What was read from clear rows."""
        return ()

    @property
    @abstractmethod
    def neighbours(self) -> str:
        """Two records that an answer must not tell apart."""

    @property
    def reason(self) -> str:
        """Why no epsilon bounds it; empty where one does."""
        return ""

    @property
    def together(self) -> str:
        """What the epsilon is the sum of, to follow its number."""
        return ""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What nobody can check, beside what every guarantee assumes."""
        return ()

    @abstractmethod
    def describe(self) -> list[dict[str, Any]]:
        """Return every field, or question, with what happens to it."""

    def example(self) -> str:
        """Return a made-up record and what would be sent of it, in words; empty where a table of codes says it."""
        return ""

    # What it does.

    @abstractmethod
    def answer(
        self, codes: Ints, labels: Ints | None, persons: Sequence[str], draw: DrawMany
    ) -> dict[str, NDArray[Any]]:
        """Return the columns of answers of encoded records, with the labels' where they are given."""

    @abstractmethod
    def impossible(self, table: Any) -> Impossible:
        """Yield the rows that no record is answered by."""

    @abstractmethod
    def doubts(self, table: Any) -> tuple[str, ...]:
        """Return a doubt where answers are all but impossible."""

    @abstractmethod
    def values_in(self, table: Any) -> list[tuple[Attribute, Floats]]:
        """Return each attribute with the estimated counts of its values and, last, of missing ones: at least 0."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""

    @classmethod
    @abstractmethod
    def from_json(cls, data: object, schema: Schema) -> Self:
        """Read the channel back; what `to_json` could not have written is an error."""
