"""The kinds of field channels and of whole records, by the names that their JSON has. A new kind is registered here."""

from collections.abc import Mapping

from privet.errors import ChannelError, PrivetError
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.field_channel import Clear, FieldChannel
from privet.local.channels.intervals import IntervalMembership
from privet.local.channels.randomized_response import RandomAnswer
from privet.local.channels.record_channel import RecordChannel
from privet.local.channels.record_complement import Complement
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.schema import Attribute, Schema

_ALL: tuple[type[FieldChannel], ...] = (Clear, AddedNoise, IntervalMembership, RandomAnswer)
RECORDS: dict[str, type[RecordChannel]] = {kind.kind: kind for kind in (Complement, SampledFields)}
KINDS: dict[str, type[FieldChannel]] = {name: kind for kind in _ALL for name in kind.kinds}


def field_from_json(data: object, attribute: Attribute) -> FieldChannel:
    """Read the channel of one field back; what `to_json` could not have written is an error."""
    name = attribute.name
    if not isinstance(data, Mapping) or data.get("field") != name:
        raise ChannelError(f"the channel says nothing about the field {name!r}; the file is damaged")
    try:
        channel = KINDS[data["channel"]].from_json(dict(data), attribute)
    except (PrivetError, TypeError, KeyError) as error:
        raise ChannelError(f"the channel of {name!r} is damaged; fetch the file again") from error
    if channel.to_json() != data or not channel.fits(attribute):
        raise ChannelError(
            f"the channel of {name!r} does not fit its domain, or is not as privet writes it; the file was changed"
        )
    return channel


def record_from_json(data: object, schema: Schema) -> RecordChannel:
    """Read the channel of whole records back; what `to_json` could not have written is an error."""
    kind = data.get("channel") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in RECORDS:
        raise ChannelError("the channel of the record is damaged; fetch the file again")
    return RECORDS[kind].from_json(data, schema)
