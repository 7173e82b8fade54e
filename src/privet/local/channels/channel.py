"""The channel of a whole table: all that respondents and collector share.

It is one JSON document that can be published: the schema, a channel for every field, and one for the label or the whole
record where those are disturbed.
"""

import json
import math
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TextIO

from privet.errors import ChannelError, ParameterError, SchemaError
from privet.files.documents import read_json
from privet.files.whole_file import whole_file
from privet.local.channels.field_channel import Clear, FieldChannel
from privet.local.channels.secret import CLEAR, WAVES, fingerprint_of
from privet.privacy.guarantee import rounded_up
from privet.schema import Attribute, Categorical, Date, Numeric, Schema

if TYPE_CHECKING:
    from privet.local.channels.record_channel import RecordChannel
    from privet.local.channels.record_complement import Complement

_FORMAT, _VERSION = "privet-channel", 1
_KEYS = {"format", "version", "schema", "fields", "label", "record", "leaks"}
# To how many digits an epsilon is stated: a channel stays this much below what was asked for, which need not show.
DIGITS = 10
# What a whole record is called among the fields that draw answers; no field can have an empty name.
RECORD = ""
_BOTH = "a record that is asked about or flipped as a whole cannot be disturbed field by field too; choose one"
NO_METHOD = (
    "no method can fit answers through this channel: a field has too many values to be reconstructed; merge its rare "
    "values in the schema"
)


@dataclass(frozen=True)
class Channel:
    """How a table is disturbed.

    Attributes
    ----------
    schema : Schema
        What is public about the table.
    columns : tuple of FieldChannel
        One for each attribute, in order; `Clear` where it is given as it is.
    label : FieldChannel, optional
        Where the label is disturbed too.
    record : RecordChannel, optional
        Where records are answered as a whole: flipped or not, or by a few questions; the columns are then clear.
    leaks : tuple of str
        What the channel was made from that was read from clear rows. No promise covers it.
    """

    schema: Schema
    columns: tuple[FieldChannel, ...]
    label: FieldChannel | None = None
    record: "RecordChannel | None" = None
    leaks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_askable(self.schema)
        domains = [*self.schema.attributes, *([] if self.label is None else [self.label_attribute])]
        channels = [*self.columns, *([] if self.label is None else [self.label])]
        for attribute, channel in zip(domains, channels, strict=True):
            if channel.name != attribute.name or not channel.fits(attribute):
                raise ChannelError(
                    f"the channel of {attribute.name!r} is about another field or domain; make it from the schema"
                )
        if self.label is not None and (not self.label.draws_from or self.label.hides_missing):
            raise ChannelError(
                f"the label {self.schema.target!r} can only be answered by one of its classes at random, never by a "
                "missing value; make its channel so, or leave it clear"
            )
        if self.record is not None and (self.label is not None or self.disturbed_fields):
            raise ChannelError(_BOTH)

    @classmethod
    def of(cls, schema: Schema, columns: Sequence[FieldChannel], **others: Any) -> Self:
        """Return the channel with these columns disturbed and all others clear."""
        by_name = {column.name: column for column in columns}
        unknown = [name for name in by_name if name not in schema.names]
        if unknown:
            raise ChannelError(f"the schema has no attribute {unknown[0]!r} to disturb; correct its name")
        # A column may have cells of its own; the schema then has the same.
        own = _with_attributes(
            schema, [by_name[a.name].domain(a) if a.name in by_name else a for a in schema.attributes]
        )
        return cls(own, tuple(by_name.get(a.name, Clear(a)) for a in own.attributes), **others)

    @classmethod
    def clear(cls, schema: Schema) -> Self:
        """Return the channel that disturbs nothing."""
        return cls.of(schema, [])

    def __or__(self, other: "Channel") -> "Channel":
        """Return both channels in one; they disturb different fields of the same schema."""
        if self.record is not None or other.record is not None:
            raise ChannelError(_BOTH)
        if self.schema.names != other.schema.names or self.schema.classes != other.schema.classes:
            raise ChannelError("the two channels are of different schemas; make both from the same one")
        twice = [name for name in self.fields if name in other.fields]
        if twice:
            raise ChannelError(f"both channels disturb {twice[0]!r}; leave it out of one")
        columns = [c for c in (*self.columns, *other.columns) if not c.is_clear]
        leaks = tuple(dict.fromkeys([*self.leaks, *other.leaks]))
        return Channel.of(self._in_cells_of(other), columns, label=self.label or other.label, leaks=leaks)

    @property
    def disturbed(self) -> tuple[str, ...]:
        """The attributes that are not given as they are."""
        return self.schema.names if self.record is not None else self.disturbed_fields

    @property
    def disturbed_fields(self) -> tuple[str, ...]:
        """The attributes that are disturbed by themselves."""
        return tuple(column.name for column in self.columns if not column.is_clear)

    @property
    def hides_nothing(self) -> bool:
        """Whether every answer is certain to be the true one."""
        return all(field.is_certain for field in self.fields.values())

    @property
    def label_attribute(self) -> Categorical:
        """The label's domain, as an attribute."""
        return Categorical(self.schema.target, self.schema.classes)

    @property
    def flips(self) -> "Complement | None":
        """The channel of records that are flipped as a whole; None where they are not."""
        return None if self.record is None else self.record.flips

    @property
    def is_clear(self) -> bool:
        """Whether nothing is disturbed."""
        return not self.disturbed and self.label is None

    @property
    def local_epsilon(self) -> float:
        """The sum of the disturbed fields' local epsilons; infinite where one of them has none."""
        epsilons = [field.local_epsilon for field in self.fields.values()]
        return math.fsum(epsilons) if epsilons else math.inf

    @property
    def fitted_by(self) -> list[str]:
        """The methods that can fit answers through it, the best first; none where none can."""
        if self.record is not None:
            return list(self.record.fitted_by)
        if not all(column.can_be_reconstructed for column in self.columns):
            return []
        if any(column.chances is None for column in self.columns):
            return ["reconstruction-tree"]
        both = ["reconstruction-tree", "random-response-forest"]
        return both if self.label is None else both[::-1]

    def total_epsilon(self, clear: Collection[str] = ()) -> float:
        """Return the epsilon of a person's whole answer: rounded up as promises state it, the same in respondent.js.

        It is infinite where a field has no local epsilon, is always kept, or is given as it is; not for the fields
        ``clear``, which need not be hidden according to their owner.
        """
        if self.record is not None:
            return _stated(self.record.local_epsilon)
        fields = {column.name: column for column in self.columns}
        fields[self.schema.target] = Clear(self.label_attribute) if self.label is None else self.label
        total = math.fsum(field.local_epsilon for name, field in fields.items() if name not in clear)
        return _stated(total)

    @property
    def fields(self) -> dict[str, Any]:
        """What draws an answer of its own, by name: disturbed attributes, the label, or the record as a whole."""
        if self.record is not None:
            return {RECORD: self.record}
        columns = {column.name: column for column in self.columns if not column.is_clear}
        return {**columns, self.schema.target: self.label} if self.label is not None else columns

    @cached_property
    def fingerprints(self) -> dict[str, str]:
        """A fingerprint of each field's channel and its domain: no two different ones are equal."""
        domains = {a["name"]: a for a in self.schema.to_json()["attributes"]}
        domains |= {self.schema.target: list(self.schema.classes), RECORD: self.schema.to_json()}
        return {name: fingerprint_of([field.to_json(), domains[name]]) for name, field in self.fields.items()}

    @property
    def pins(self) -> dict[str, str]:
        """What a secret remembers of every field: its channel's fingerprint, or the record's, or `CLEAR`."""
        if self.record is None:
            return {**dict.fromkeys([*self.schema.names, self.schema.target], CLEAR), **self.fingerprints}
        hidden = [*self.schema.names, *([self.schema.target] if self.record.hides_label else [])]
        mark = self.fingerprints[RECORD] if self.record.wave is None else WAVES
        return {self.schema.target: CLEAR, **dict.fromkeys([RECORD, *hidden], mark)}

    @property
    def wave_costs(self) -> dict[str, float]:
        """What a secret remembers of a wave: what it costs each person, by the channel's fingerprint."""
        in_wave = self.record is not None and self.record.wave is not None
        return {self.fingerprints[RECORD]: self.total_epsilon()} if in_wave else {}

    def with_schema(self, schema: Schema) -> "Channel":
        """Return the channel over the same fields in other cells, for a collector who chooses his own."""
        attributes = {a.name: a for a in schema.attributes}
        columns = tuple(column.in_cells(attributes[column.name]) for column in self.columns)
        return replace(self, schema=schema, columns=columns)

    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "schema": self.schema.to_json(),
            "fields": [column.to_json() for column in self.columns],
            "label": None if self.label is None else self.label.to_json(),
            "record": None if self.record is None else self.record.to_json(),
            "leaks": list(self.leaks),
        }

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read a channel back; what `to_json` could not have written is an error."""
        # Their transformers make channels, so the kinds are read after this module.
        from privet.local.channels.kinds import field_from_json, record_from_json

        if not isinstance(data, Mapping) or set(data) != _KEYS or data["format"] != _FORMAT:
            raise ChannelError("this is no description of a channel; pass the file that `privet perturb` wrote")
        if data["version"] != _VERSION:
            raise ChannelError("the channel is of a later version than this privet reads; update privet")
        schema = _schema(data["schema"])
        fields, leaks = data["fields"], data["leaks"]
        if not isinstance(fields, list) or len(fields) != len(schema.attributes) or not isinstance(leaks, list):
            raise ChannelError("the channel's fields are not those of its schema; the file is damaged")
        classes = Categorical(schema.target, schema.classes)
        label = None if data["label"] is None else field_from_json(data["label"], classes)
        channel = cls(
            schema,
            tuple(field_from_json(part, a) for part, a in zip(fields, schema.attributes, strict=True)),
            label,
            None if data["record"] is None else record_from_json(data["record"], schema),
            tuple(map(str, leaks)),
        )
        if channel.to_json() != data:
            raise ChannelError("the channel is not as privet writes it; the file was changed")
        return channel

    def write(self, file: TextIO) -> None:
        """Write the channel to an open file as JSON."""
        json.dump(self.to_json(), file, ensure_ascii=False, indent=1, allow_nan=False)
        file.write("\n")

    def save(self, path: str | Path) -> None:
        """Write the channel to ``path`` as JSON, whole or not at all."""
        with whole_file(path) as file:
            self.write(file)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a channel from a JSON file."""
        if not isinstance(path, (str, os.PathLike)):
            raise ParameterError("a channel is loaded from the path of a file; pass that")
        try:
            data = read_json(path)
        except OSError as error:
            raise ChannelError(f"cannot read the channel {str(path)!r}: {error.strerror}; check the path") from error
        except ValueError:
            raise ChannelError(f"{str(path)!r} is no JSON document; pass the channel's description") from None
        return cls.from_json(data)

    def _in_cells_of(self, other: "Channel") -> Schema:
        """Return the schema with the cells in which ``other`` has its fields answered."""
        both = zip(self.schema.attributes, other.schema.attributes, strict=True)
        return _with_attributes(self.schema, [new if new.name in other.disturbed else own for own, new in both])


def check_askable(schema: Schema) -> None:
    """Refuse fields of a kind that respondent.js and the fits of answers do not know."""
    schema.require_classes()
    for attribute in schema.attributes:
        if isinstance(attribute, Date):
            raise ChannelError(
                f"attribute {attribute.name!r} is a date, which disturbed answers do not know; ask for a number, "
                "such as the year"
            )
        if isinstance(attribute, Numeric) and (attribute.whole or attribute.is_log):
            kind = "declared whole" if attribute.whole else "on a log scale"
            raise ChannelError(
                f"attribute {attribute.name!r} is {kind}, which disturbed answers do not know; ask by "
                "schema.for_answers(), in which it is an ordinary number"
            )
        if isinstance(attribute, Categorical) and attribute.ordered:
            raise ChannelError(
                f"attribute {attribute.name!r} is declared ordered, which disturbed answers do not know; ask by "
                "schema.for_answers(), in which its categories have no order"
            )
    if schema.assumptions:
        raise ChannelError(
            "the schema says who accepted its domains, which the document of a channel does not; ask by "
            "schema.for_answers(), in which they are marked as read from the rows"
        )


def _with_attributes(schema: Schema, attributes: Sequence[Attribute]) -> Schema:
    """Return the schema with these attributes; it is checked again only where one of them is new."""
    same = all(own is given for own, given in zip(schema.attributes, attributes, strict=True))
    return schema if same else schema.with_attributes(attributes)


def _stated(epsilon: float) -> float:
    return epsilon if epsilon in (0.0, math.inf) else float(rounded_up(epsilon, DIGITS))


def _schema(data: object) -> Schema:
    try:
        return Schema.from_json(data)
    except SchemaError as error:
        raise ChannelError(f"the channel's schema is damaged: {error}") from error
