"""The kinds of field channels, by the names that their JSON has. A new kind is registered here."""

from collections.abc import Mapping

from privet.errors import ChannelError, PrivetError
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.field_channel import Clear, FieldChannel
from privet.local.channels.intervals import IntervalMembership
from privet.local.channels.randomized_response import RandomAnswer
from privet.schema import Attribute

_ALL: tuple[type[FieldChannel], ...] = (Clear, AddedNoise, IntervalMembership, RandomAnswer)
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
