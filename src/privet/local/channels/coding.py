"""Records in bits: what a random response forest is grown on, and what a flipped record consists of.

Which value has which code depends on how frequent values are. That must be public, or estimated from records that were
disguised before anyone saw them; taken from clear rows it is a leak, which the coding carries with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.errors import ChannelError, ParameterError, SchemaError
from privet.local.channels.attribute_code import AttributeCode
from privet.local.channels.number_checks import is_number
from privet.local.channels.value_shares import Facts, facts_from_answers, facts_from_rows, quartered
from privet.local.measures.anonymity import coding_anonymity
from privet.schema import Attribute, Categorical, Label, Numeric, Schema

if TYPE_CHECKING:
    from privet.local.channels.channel import Channel

# Of each attribute, how frequent its values are: by category, or by the number of the cell; None stands for missing.
Frequencies: TypeAlias = Mapping[str, Mapping[Label | None, float]]
_QUARTILE_BITS = 2
_EQUAL_CELLS = 4


@dataclass(frozen=True)
class Coding:
    """What every attribute's values are in bits.

    Attributes
    ----------
    schema : Schema
        With the cells that are coded.
    codes : tuple of AttributeCode
        One for each attribute, in order.
    leaks : tuple of str
        What was read from clear rows.

    Notes
    -----
    A missing value has a code of its own where the frequencies give it a share. Elsewhere it is coded as the most
    frequent value.
    """

    schema: Schema
    codes: tuple[AttributeCode, ...]
    leaks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.n_bits:
            raise ParameterError("every attribute has one value only, so there is no bit to code; declare more values")
        try:
            _ = self.bit_schema
        except SchemaError as error:
            raise ParameterError(f"the attributes cannot be coded: {error}") from error

    @classmethod
    def of(
        cls,
        schema: Schema,
        frequencies: Frequencies | None = None,
        quartiles: Mapping[str, Sequence[float]] | None = None,
        *,
        leaks: Sequence[str] = (),
    ) -> Self:
        """Return the coding for what is publicly known.

        Parameters
        ----------
        schema : Schema
        frequencies : mapping, optional
            Of each attribute, how frequent its values are; the number of a cell stands for it, None for a missing
            value. An attribute that is left out has equally frequent values and none missing.
        quartiles : mapping, optional
            Of each numeric attribute, the three values between its quarters. An attribute that is left out has the
            cells that it declares, or else four equally wide ones.
        leaks : sequence of str
            Which of these facts were read from clear rows.
        """
        frequencies, quartiles = frequencies or {}, quartiles or {}
        _check_names(schema, [*frequencies, *quartiles])
        attributes = [_cells(attribute, quartiles.get(attribute.name)) for attribute in schema.attributes]
        codes = tuple(
            AttributeCode.of(a, _shares(a, frequencies.get(a.name)), n_bits=_QUARTILE_BITS * (a.name in quartiles))
            for a in attributes
        )
        return cls(schema.with_attributes(attributes), codes, tuple(leaks))

    @classmethod
    def from_rows(cls, table: Any, schema: Schema) -> Self:
        """Return the coding for frequencies and quartiles read from clear rows, which are thereby leaked.

        Numbers whose cells the schema declares keep them; a missing value has a code where one occurs.
        """
        facts = facts_from_rows(table, schema)
        frequencies = [f"frequencies of {name!r}" for name in schema.names]
        return cls._of_facts(schema, facts, [*frequencies, *(f"quartiles of {name!r}" for name in facts.quartiles)])

    @classmethod
    def from_answers(cls, table: Any, channel: "Channel", *, recut: bool = True) -> Self:
        """Return the coding for frequencies and quartiles estimated from disguised answers; no leak.

        Without ``recut`` numbers keep the cells that they were answered in, as a coding of those same answers must.
        """
        return cls._of_facts(channel.schema, facts_from_answers(table, channel, recut=recut), channel.leaks)

    @classmethod
    def _of_facts(cls, schema: Schema, facts: Facts, leaks: Sequence[str]) -> Self:
        return cls.of(schema, facts.frequencies, facts.quartiles, leaks=leaks)

    @property
    def n_bits(self) -> int:
        """How many bits a record has."""
        return sum(code.n_bits for code in self.codes)

    @cached_property
    def bit_names(self) -> tuple[str, ...]:
        """The names of the bits' columns."""
        return tuple(name for code in self.codes for name in code.names)

    @cached_property
    def attribute_of_bit(self) -> NDArray[np.int64]:
        """Which attribute each bit belongs to."""
        return np.repeat(np.arange(len(self.codes)), [code.n_bits for code in self.codes])

    @cached_property
    def bit_schema(self) -> Schema:
        """The schema of a table of bits: two cells a bit, cut between 0 and 1; a missing bit counts as 1."""
        return self.schema.with_attributes(Numeric(name, 0, 1, bins=2) for name in self.bit_names)

    def bits(self, codes: NDArray[Any]) -> NDArray[np.uint8]:
        """Return encoded rows of `schema` as bits: one line a row, one column a bit."""
        bits = np.empty((len(codes), self.n_bits), dtype=np.uint8)
        start = 0
        for j, code in enumerate(self.codes):
            bits[:, start : start + code.n_bits] = code.bits_of_value[codes[:, j]]
            start += code.n_bits
        return bits

    def anonymity(self, theta: float) -> float:
        """Return the binary anonymity, the mean over the attributes."""
        return coding_anonymity(self, theta)

    def describe(self, theta: float | None = None) -> str:
        """Return a table of every value's code and frequency, and the value that the flipped code stands for.

        ``theta`` is the probability of keeping at which each attribute's binary anonymity is given; by default both
        ends, 1/2 and 1.
        """
        return "\n\n".join("\n".join(_description(code, theta)) for code in self.codes)

    def to_json(self) -> dict[str, Any]:
        """Return the coding as plain JSON values; its schema, with the cells, is written elsewhere."""
        return {"fields": [code.to_json() for code in self.codes], "leaks": list(self.leaks)}

    @classmethod
    def from_json(cls, data: object, schema: Schema) -> Self:
        """Read the coding of ``schema`` back; what `to_json` could not have written is an error."""
        if not isinstance(data, Mapping) or set(data) != {"fields", "leaks"}:
            raise ChannelError("the coding lacks a part or has one too many; the file is damaged")
        fields, leaks = data["fields"], data["leaks"]
        if not isinstance(fields, list) or len(fields) != len(schema.attributes):
            raise ChannelError("the coding's fields are not those of the schema; the file is damaged")
        if not isinstance(leaks, list) or not all(isinstance(leak, str) for leak in leaks):
            raise ChannelError("the coding's leaks are not a list of texts; the file is damaged")
        codes = tuple(AttributeCode.from_json(part, a) for part, a in zip(fields, schema.attributes, strict=True))
        return cls(schema, codes, tuple(leaks))


def _check_names(schema: Schema, names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in schema.names]
    if unknown:
        raise ParameterError(f"the schema has no attribute {unknown[0]!r}; leave it out of frequencies and quartiles")


def _cells(attribute: Attribute, quartiles: Sequence[float] | None) -> Attribute:
    """Return the attribute with the cells that are coded."""
    if isinstance(attribute, Categorical):
        if quartiles is not None:
            raise ParameterError(f"{attribute.name!r} has categories and no quartiles; give its frequencies")
        return attribute
    if quartiles is None:
        return replace(attribute, bins=_EQUAL_CELLS) if attribute.is_open else attribute
    numbers = all(is_number(quartile) for quartile in quartiles)
    cuts = np.asarray(quartiles if numbers else [], dtype=np.float64)
    if cuts.shape != (3,) or not np.all(np.isfinite(cuts)) or np.any(np.diff(cuts) < 0):
        raise ParameterError(f"{attribute.name!r} has three quartiles, in increasing order; correct them")
    return quartered(attribute, cuts.tolist())


def _shares(attribute: Attribute, frequencies: Mapping[Label | None, float] | None) -> list[float]:
    """Return how frequent each value is, and a missing one where it has a share."""
    if frequencies is None:
        return [1.0] * attribute.n_values
    values = attribute.categories if isinstance(attribute, Categorical) else range(attribute.n_values)
    unknown = [value for value in frequencies if value is not None and value not in values]
    if unknown:
        raise ParameterError(f"the frequencies of {attribute.name!r} name a value that it does not have; correct them")
    if not all(is_number(share) for share in frequencies.values()):
        raise ParameterError(f"the frequencies of {attribute.name!r} must be numbers; write them without quotes")
    missing = frequencies.get(None, 0.0)
    shares = [*(frequencies.get(value, 0.0) for value in values), *([missing] if missing > 0 else [])]
    if not all(0 <= share < np.inf for share in shares) or not sum(shares) > 0:
        raise ParameterError(f"the frequencies of {attribute.name!r} must be shares of at least 0, not all 0")
    return [float(share) for share in shares]


def _description(code: AttributeCode, theta: float | None) -> list[str]:
    names = [*_value_names(code.attribute), "(missing)"][: len(code.codes)]
    name_of = dict(zip(code.codes, names, strict=True))
    order = np.argsort(-np.array(code.shares), kind="stable")
    lines = [
        (names[i], _binary(code.codes[i], code.n_bits), name_of.get(code.mirror(code.codes[i]), "(none)"),
         f"{code.shares[i]:.4f}")
        for i in order
    ]  # fmt: skip
    table = [("value", "code", "pair", "frequency"), *lines]
    widths = [max(len(line[j]) for line in table) for j in range(4)]
    at = (0.5, 1.0) if theta is None else (theta,)
    anonymity = ", ".join(f"{code.anonymity(t):.3f} at theta {t:g}" for t in at)
    rows = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table]
    return [f"{code.attribute.name!r}: {code.n_bits} bits, binary anonymity {anonymity}", *rows]


def _value_names(attribute: Attribute) -> list[str]:
    """Return what stands for each value in a text; control characters are spelled out."""
    if isinstance(attribute, Categorical):
        return [repr(category) for category in attribute.categories]
    cuts = [_shortest(cut) for cut in attribute.cuts.tolist()]
    ends = [*(f"{number:.6g}" for number, _ in cuts), f"{attribute.high:.6g}"]
    starts = [f"{attribute.low:.6g}", *(f"above {number:.6g}" if above else f"{number:.6g}" for number, above in cuts)]
    return [f"{start} to {end}" for start, end in zip(starts, ends, strict=True)]


def _shortest(cut: float) -> tuple[float, bool]:
    """Return a cut, or where it is the next number after a shorter one, as quartiles are, that and True."""
    before = float(np.nextafter(cut, -np.inf))
    return (before, True) if len(repr(before)) < len(repr(cut)) else (cut, False)


def _binary(code: int, n_bits: int) -> str:
    return format(code, f"0{n_bits}b") if n_bits else ""
