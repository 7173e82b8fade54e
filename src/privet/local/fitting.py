"""Which methods can fit answers through a channel."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privet.local.channels.channel import Channel

NO_METHOD = (
    "no method can fit answers through this channel: a field has too many values to be reconstructed; merge its rare "
    "values in the schema"
)


def fitting_methods(channel: "Channel") -> list[str]:
    """Return the methods that can fit answers through ``channel``, the best first; none where none can."""
    if channel.record is not None:
        return list(channel.record.fitted_by)
    if not all(column.can_be_reconstructed for column in channel.columns):
        return []
    if any(column.chances is None for column in channel.columns):
        return ["reconstruction-tree"]
    both = ["reconstruction-tree", "random-response-forest"]
    return both if channel.label is None else both[::-1]
