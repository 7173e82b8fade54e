"""Records in bits: what a random response forest is grown on, and what a flipped record consists of.

Which value has which code depends on how frequent values are. That must be public, or estimated from records that were
disturbed before anyone saw them; taken from clear rows it is a leak, which the coding carries with it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_number
from privet.errors import ChannelError, DataError, ParameterError, SchemaError
from privet.local.channels.attribute_code import AttributeCode
from privet.local.channels.cells import FieldValues, Floats
from privet.local.measures.anonymity import coding_anonymity
from privet.schema import Attribute, Categorical, Label, Numeric, Schema
from privet.schema.table import columns_of

if TYPE_CHECKING:
    from privet.local.channels.channel import Channel
    from privet.local.channels.field_channel import FieldChannel

# Of each attribute, how frequent its values are: by category, or by the number of the cell; None stands for missing.
Frequencies: TypeAlias = Mapping[str, Mapping[Label | None, float]]
_QUARTILE_BITS = 2
_EQUAL_CELLS = 4
_QUARTERS = np.array([0.25, 0.5, 0.75])


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
    frequent value; so is one that is never missing and that a row to be predicted lacks.
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
        columns = _columns(table, schema)
        found = [_of_clear(FieldValues(a, column)) for a, column in zip(schema.attributes, columns, strict=True)]
        frequencies = [f"frequencies of {name!r}" for name in schema.names]
        quartiles = [f"quartiles of {one.attribute.name!r}" for one in found if one.quartiles is not None]
        return cls._of_counts(schema, found, [*frequencies, *quartiles])

    @classmethod
    def from_answers(cls, table: Any, channel: "Channel", *, recut: bool = True) -> Self:
        """Return the coding for frequencies and quartiles estimated from disturbed answers; no leak.

        Without ``recut`` numbers keep the cells that they were answered in, as a coding of those same answers must.
        """
        if channel.record is not None:
            found = [_ValueCounts(attribute, counts) for attribute, counts in channel.record.values_in(table)]
        else:
            fields = zip(channel.schema.attributes, channel.columns, _columns(table, channel.schema), strict=True)
            found = [_of_answers(FieldValues(a, column), own) for a, own, column in fields]
        return cls._of_counts(channel.schema, [_at_quartiles(one) if recut else one for one in found], channel.leaks)

    @classmethod
    def _of_counts(cls, schema: Schema, found: "Sequence[_ValueCounts]", leaks: Sequence[str]) -> Self:
        quartiles = {one.attribute.name: one.quartiles for one in found if one.quartiles is not None}
        return cls.of(schema, {one.attribute.name: one.by_value for one in found}, quartiles, leaks=leaks)

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

    def split(self, bits: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Yield each attribute's codes of rows of bits, as whole numbers."""
        start = 0
        for code in self.codes:
            yield bits[:, start : start + code.n_bits] @ (1 << np.arange(code.n_bits - 1, -1, -1))
            start += code.n_bits

    def anonymity(self, theta: float) -> float:
        """Return the binary anonymity, the mean over the attributes."""
        return coding_anonymity(self, theta)

    def describe(self, theta: float | None = None) -> str:
        """Return a table of every value's code and frequency, and the value that the flipped code stands for.

        ``theta`` is the probability of keeping at which each attribute's binary anonymity is given; by default both
        ends, 1/2 and 1.
        """
        return "\n\n".join(code.describe(theta) for code in self.codes)

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


def _values_of(attribute: Attribute) -> Sequence[Label]:
    """Return the values of an attribute: its categories, or the numbers of its cells."""
    return attribute.categories if isinstance(attribute, Categorical) else range(attribute.n_values)


def _shares(attribute: Attribute, frequencies: Mapping[Label | None, float] | None) -> list[float]:
    """Return how frequent each value is, and a missing one where it has a share."""
    if frequencies is None:
        return [1.0] * attribute.n_values
    values = _values_of(attribute)
    unknown = [value for value in frequencies if value is not None and value not in values]
    if unknown:
        raise ParameterError(f"the frequencies of {attribute.name!r} name a value that it does not have; correct them")
    if not all(is_number(share) for share in frequencies.values()):
        raise ParameterError(f"the frequencies of {attribute.name!r} must be numbers; write them without quotes")
    missing = frequencies.get(None, 0.0)
    if missing > 0 and attribute.never_missing:
        raise ParameterError(
            f"the frequencies of {attribute.name!r} have a share of missing values, but the schema declares it "
            "never_missing; correct one of the two"
        )
    shares = [*(frequencies.get(value, 0.0) for value in values), *([missing] if missing > 0 else [])]
    if not all(0 <= share < np.inf for share in shares) or not sum(shares) > 0:
        raise ParameterError(f"the frequencies of {attribute.name!r} must be shares of at least 0, not all 0")
    return [float(share) for share in shares]


@dataclass(frozen=True)
class _ValueCounts:
    """How many rows each value of an attribute has and, in the last entry, how many are missing.

    ``quartiles`` are those at which the attribute was cut, None where it has its own cells.
    """

    attribute: Attribute
    counts: Floats
    quartiles: list[float] | None = None

    @property
    def by_value(self) -> dict[Label | None, float]:
        values: list[Label | None] = [*_values_of(self.attribute), None]
        return dict(zip(values, self.counts.tolist(), strict=True))


def quartered(attribute: Numeric, quartiles: list[float]) -> Numeric:
    """Return a number's attribute in quarters; equal quartiles make fewer cells.

    A quarter holds its upper border; a cell of a schema holds its lower one, which is the next number.
    """
    above = np.unique(np.nextafter(np.asarray(quartiles, dtype=np.float64), np.inf))
    inside = above[(above > attribute.low) & (above < attribute.high)]
    return replace(attribute, bins=None, edges=tuple(inside.tolist()))


def _columns(table: Any, schema: Schema) -> list[Any]:
    columns = columns_of(table, schema.names, label=schema.target)
    if not len(columns[0]):
        raise DataError("the table has no rows, so it does not show how frequent values are; pass some rows")
    return columns


def _of_clear(values: FieldValues) -> _ValueCounts:
    attribute = values.attribute
    if isinstance(attribute, Categorical) or not attribute.is_open:
        return _ValueCounts(attribute, _counted(values))
    known = np.clip(values.numbers[~np.isnan(values.numbers)], attribute.low, attribute.high)
    quartiles = np.quantile(known, _QUARTERS).tolist() if len(known) else [attribute.high] * 3
    cells = quartered(attribute, quartiles)
    return _ValueCounts(cells, _counted(FieldValues(cells, values.numbers)), quartiles)


def _of_answers(values: FieldValues, channel: "FieldChannel") -> _ValueCounts:
    """Return the true values' counts, estimated from answers."""
    if channel.is_clear:
        return _of_clear(values)
    if channel.chances is not None:
        return _ValueCounts(values.attribute, inverted(_counted(values), channel.draws_from, channel.chances))
    from privet.local.reconstruction.reconstruct import reconstruct

    found = reconstruct(values.column, channel)
    return _ValueCounts(found.attribute, np.append(found.expected_counts, found.n_missing))


def inverted(counts: Floats, n_answers: int, chances: tuple[float, float]) -> Floats:
    """Return the estimated counts of true values, at least 0; those that are no answers stay."""
    kept, other = chances
    answers = counts[:n_answers]
    true = np.maximum((answers - other * answers.sum()) / (kept - other), 0.0)
    return np.append(true, counts[n_answers:])


def _counted(values: FieldValues) -> Floats:
    return np.bincount(values.codes, minlength=values.attribute.n_values + 1).astype(np.float64)


def _at_quartiles(found: _ValueCounts) -> _ValueCounts:
    """Return numbers that are known by cell, cut at their quartiles; values are taken as evenly spread in a cell."""
    attribute, total = found.attribute, found.counts[:-1].sum()
    if isinstance(attribute, Categorical) or found.quartiles is not None or not total:
        return found
    edges = attribute.borders
    upto = np.append(0.0, np.cumsum(found.counts[:-1])) / total
    quartiles = np.interp(_QUARTERS, upto, edges).tolist()
    cells = quartered(attribute, quartiles)
    borders = np.interp(cells.borders, edges, upto)
    return _ValueCounts(cells, np.append(np.diff(borders) * total, found.counts[-1]), quartiles)
