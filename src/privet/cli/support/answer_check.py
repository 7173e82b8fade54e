"""Whether a file holds what a channel would have answered, or something else that was taken for it."""

from collections.abc import Sequence
from pathlib import Path

from privet.counting.files import file_columns
from privet.errors import DataError
from privet.local import Channel
from privet.privacy.guarantee import few
from privet.schema import Schema


def refuse_other_answers(path: Path, channel: Channel) -> None:
    """Refuse a file whose columns show that it came through another channel."""
    found, schema = file_columns(path), channel.schema
    if channel.record is None and _holds_bits(found, schema):
        raise DataError(
            f"{str(path)!r} holds records in bits: these answers came through another channel; pass the one that was "
            "written beside them with --channel"
        )
    if channel.record is not None and not set(channel.record.coding.bit_names) & set(found):
        raise DataError(
            f"{str(path)!r} holds no records in bits, as this channel answers them: these rows came through another "
            "channel, or none; pass the file that was written beside this one"
        )


def refuse_bits(path: Path, schema: Schema) -> None:
    """Refuse to predict rows that are answers in bits."""
    if _holds_bits(file_columns(path), schema):
        raise DataError(
            f"{str(path)!r} holds answers, records in bits: predict needs clear rows, with the columns "
            f"{few(schema.names)}"
        )


def _holds_bits(found: Sequence[str], schema: Schema) -> bool:
    """Return whether a file has bits of coded values, ``age:0``, in place of the values."""
    return not set(schema.names) & set(found) and any(f"{name}:0" in found for name in schema.names)
