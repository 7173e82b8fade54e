"""A whole record in bits: given as it is, or with every bit flipped (Szűcs 2013)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_number
from privet.errors import ChannelError, DataError, ParameterError, PrivetError, SchemaError
from privet.local.channels.answer_checks import NEVER, RECORDS, log_chance
from privet.local.channels.cells import Floats, Ints
from privet.local.channels.channel import Channel
from privet.local.channels.coding import Coding, Frequencies
from privet.local.channels.distributions import TOTAL_WEIGHT, DiscreteDistribution
from privet.local.channels.field_channel import Impossible
from privet.local.channels.record_channel import DrawMany, RecordChannel
from privet.local.channels.secret import Secret
from privet.local.channels.transformers import ChannelTransformer
from privet.schema import Attribute, Schema
from privet.schema.encoding import Encoder, numbers_of, without_dictionary
from privet.schema.table import as_arrow, columns_of


@dataclass(frozen=True)
class Complement(RecordChannel):
    """Bits of a record, kept with chance ``keep`` and else all flipped, the label with them where ``flips_label``."""

    coding: Coding
    keep: float
    flips_label: bool = False
    kind: ClassVar[str] = "record_complement"
    words: ClassVar[str] = "bits, all flipped or none"
    answers_in_words: ClassVar[str] = "records in bits"
    fitted_by: ClassVar[tuple[str, ...]] = ("random-response-forest",)

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

    @property
    def is_certain(self) -> bool:
        """Whether every record is sure to be given as it is."""
        return self.keep == 1

    @property
    def hides_label(self) -> bool:
        """Whether the label is flipped with the record."""
        return self.flips_label

    @property
    def columns(self) -> Mapping[str, str]:
        """The columns of bits."""
        return dict.fromkeys(self.coding.bit_names, "uint8")

    @property
    def flips(self) -> "Complement | None":
        """The channel itself."""
        return self

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the coding was read from."""
        return self.coding.leaks

    @property
    def neighbours(self) -> str:
        """A record and its mirror image."""
        return "a record and the one with every bit flipped"

    @property
    def reason(self) -> str:
        """Why no epsilon bounds it."""
        return (
            "a record was given as it is or with every bit flipped, so whoever sees it knows it is one of two, "
            "and mostly which; that is deniability, and no epsilon bounds it"
        )

    def describe(self) -> list[dict[str, Any]]:
        """Return every field with the chance that the record is kept."""
        return [{"field": name, "channel": self.kind, "keep": self.keep} for name in self.coding.schema.names]

    def answer(
        self, codes: Ints, labels: Ints | None, persons: Sequence[str], draw: DrawMany
    ) -> dict[str, NDArray[Any]]:
        """Return the bits' columns of encoded records, and the labels' where there are any.

        A record is one value: its bits, and the label where that is flipped with them, decide the draw.
        """
        bits = self.coding.bits(codes)
        if labels is None and self.flips_label:
            raise DataError(
                f"the channel flips the label too; add the column {self.coding.schema.target!r} to the table"
            )
        whole = np.column_stack([bits, labels]) if labels is not None and self.flips_label else bits
        told = [f'{person},"{"".join(map(str, row))}"' for person, row in zip(persons, whole.tolist(), strict=True)]
        flipped = self.distribution.draw(draw(told, 1)[:, 0]).astype(bool)
        answers: dict[str, NDArray[Any]] = dict(zip(self.coding.bit_names, (bits ^ flipped[:, None]).T, strict=True))
        if labels is None:
            return answers
        schema, given = self.coding.schema, labels ^ flipped if self.flips_label else labels
        return {**answers, schema.target: np.array(schema.classes, dtype=object)[given]}

    def impossible(self, table: Any) -> Impossible:
        """Yield the rows of bits that no record is coded in."""
        bits = self._bits(table)
        kept, flipped = self._readings(np.nan_to_num(bits).astype(np.int64) & 1)
        possible = ((bits == 0) | (bits == 1)).all(axis=1) & (kept | flipped)
        yield ~possible, "hold bits that no record is coded in"

    def doubts(self, table: Any) -> tuple[str, ...]:
        """Return a doubt where bits, or records with one possible reading, are flipped too often or too seldom."""
        bits = self._bits(table).astype(np.int64)
        kept, flipped = self._readings(bits)
        sure, n = kept ^ flipped, len(bits)
        lost = 1 - self.keep
        least, most = np.full(bits.shape[1], lost), np.full(bits.shape[1], self.keep)
        chances = [log_chance(bits.sum(axis=0), n, least, most)] if n else []
        if sure.any():
            counts = np.array([np.count_nonzero(sure & flipped)])
            chances.append(log_chance(counts, int(sure.sum()), np.array([lost]), np.array([lost])))
        limit = math.log(NEVER / (2 * bits.shape[1] + 2))
        return (RECORDS,) if min(chances, default=0.0) < limit else ()

    def values_in(self, table: Any) -> list[tuple[Attribute, Floats]]:
        """Return each attribute with the estimated counts of its values and, last, of missing ones: at least 0."""
        bits = Encoder(self.coding.bit_schema).encode(table) > 0
        return [(code.attribute, own) for code, own in zip(self.coding.codes, self.value_counts(bits), strict=True)]

    def value_counts(self, bits: NDArray[np.bool_]) -> list[Floats]:
        """Return of each attribute the estimated counts of its values and, last, of missing ones: at least 0."""
        found = []
        for code, own in zip(self.coding.codes, self.coding.split(bits.astype(np.int64)), strict=True):
            counts = np.bincount(own, minlength=2**code.n_bits)
            # Rows stand for a code and, flipped, for its mirror image.
            true = (self.keep * counts - (1 - self.keep) * counts[::-1]) / (2 * self.keep - 1)
            values = np.maximum(true[list(code.codes)], 0.0)
            found.append(np.append(values, [0.0] * (code.attribute.n_values + 1 - len(values))))
        return found

    def _bits(self, table: Any) -> Floats:
        names = self.coding.bit_names
        columns = columns_of(table, names, label=self.coding.schema.target)
        plain = [without_dictionary(as_arrow(column, name)) for column, name in zip(columns, names, strict=True)]
        numbers = [numbers_of(column, name) for column, name in zip(plain, names, strict=True)]
        return np.column_stack([np.asarray(number, dtype=np.float64) for number in numbers])

    def _readings(self, bits: Ints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which rows are a record's code as they are, and which with all bits flipped."""
        kept, flipped = np.ones(len(bits), dtype=bool), np.ones(len(bits), dtype=bool)
        for code, own in zip(self.coding.codes, self.coding.split(bits), strict=True):
            kept &= np.isin(own, code.codes)
            flipped &= np.isin(code.mirror(0) - own, code.codes)
        return kept, flipped

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
        if not isinstance(data, Mapping):
            raise ChannelError("the channel of the record is damaged; fetch the file again")
        try:
            complement = cls(Coding.from_json(data["coding"], schema), data["keep"], data["flips_label"])
        except (PrivetError, TypeError, KeyError) as error:
            raise ChannelError("the channel of the record is damaged; fetch the file again") from error
        if complement.to_json() != data or (complement.flips_label and len(schema.classes) != 2):
            raise ChannelError("the channel of the record does not fit its schema; the file was changed")
        return complement


class RecordComplement(ChannelTransformer):
    """Code records in bits, and flip all bits of a record at once with chance ``1 - theta`` (Szűcs 2013).

    Parameters
    ----------
    schema : Schema
        What is public about the table.
    theta : float
        The chance that a record is given as it is; above 1/2.
    label : bool
        Whether the label, one of two classes, is flipped with the record.
    frequencies, quartiles : mappings, optional
        Public facts that decide the codes, as in `Coding.of`.
    coding : Coding, optional
        Instead of them: a coding, such as one estimated from an earlier, disturbed wave by `Coding.from_answers`, or
        one read from clear rows by `Coding.from_rows`, a leak that the channel then carries.
    person, secret
        As for `UniformNoise`.

    Notes
    -----
    This is plausible deniability between a record and its mirror image, and no local differential privacy.
    """

    columns = None

    def __init__(
        self, schema: Schema, *, theta: float = 0.8, label: bool = False, frequencies: Frequencies | None = None,
        quartiles: Mapping[str, Sequence[float]] | None = None, coding: Coding | None = None,
        person: str | None = None, secret: Secret | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.theta = theta
        self.label = label
        self.frequencies = frequencies
        self.quartiles = quartiles
        self.coding = coding
        self.person = person
        self.secret = secret

    @property
    def channel(self) -> Channel:
        """The channel that the parameters describe."""
        self._chosen()
        if not isinstance(self.coding, Coding | None):
            raise ParameterError("coding must be a Coding, such as one made by Coding.of; or leave it out")
        if self.coding is not None and self.coding.schema.never_missing != self.schema.never_missing:
            raise ParameterError(
                "the coding is of another schema: what is never missing differs; make it from this one"
            )
        coding = self.coding or Coding.of(self.schema, self.frequencies, self.quartiles)
        if self.label and len(self.schema.classes) != 2:
            raise SchemaError("a label can be flipped only where there are two classes; leave it clear")
        record = Complement(coding, self.theta, bool(self.label))
        return Channel.of(coding.schema, [], record=record, leaks=coding.leaks)

    def transform(self, X: Any) -> Any:
        """Return the bits of the people in ``X``, one column a bit; those who answered before answer the same again."""
        return super().transform(X)
