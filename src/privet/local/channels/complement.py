"""A whole record in bits: given as it is, or with every bit flipped (Szűcs 2013)."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from privet.errors import ChannelError, ParameterError, PrivetError
from privet.local.channels.discrete_distribution import TOTAL_WEIGHT, DiscreteDistribution
from privet.local.channels.number_checks import is_number
from privet.schema import Schema

if TYPE_CHECKING:
    from privet.local.channels.coding import Coding


@dataclass(frozen=True)
class Complement:
    """Bits of a record, kept with chance ``keep`` and else all flipped, the label with them where ``flips_label``."""

    coding: "Coding"
    keep: float
    flips_label: bool = False
    kind: ClassVar[str] = "record_complement"

    def __post_init__(self) -> None:
        if not (is_number(self.keep) and isinstance(self.flips_label, bool) and 0.5 < self.keep <= 1):
            raise ParameterError(
                f"the chance of keeping a record, {self.keep!r}, must be above 1/2 and at most 1: at 1/2 an answer "
                "says nothing, and below it the flipped record would be the true one"
            )
        object.__setattr__(self, "keep", float(self.keep))

    @cached_property
    def distribution(self) -> DiscreteDistribution:
        """Whether the bits are flipped: 0 or 1."""
        kept = int(Fraction(self.keep) * TOTAL_WEIGHT)
        return DiscreteDistribution.of_weights(0, [kept, TOTAL_WEIGHT - kept])

    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""
        return {
            "channel": self.kind,
            "keep": self.keep,
            "flips_label": self.flips_label,
            "coding": self.coding.to_json(),
        }

    @classmethod
    def from_json(cls, data: object, schema: Schema) -> Self:
        """Read the channel back; what `to_json` could not have written is an error."""
        from privet.local.channels.coding import Coding

        if not isinstance(data, Mapping):
            raise ChannelError("the channel of the record is damaged; fetch the file again")
        try:
            complement = cls(Coding.from_json(data["coding"], schema), data["keep"], data["flips_label"])
        except (PrivetError, TypeError, KeyError) as error:
            raise ChannelError("the channel of the record is damaged; fetch the file again") from error
        if complement.to_json() != data or (complement.flips_label and len(schema.classes) != 2):
            raise ChannelError("the channel of the record does not fit its schema; the file was changed")
        return complement
