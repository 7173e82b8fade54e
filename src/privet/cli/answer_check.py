"""Whether a file holds what a channel would have answered, or something else that was taken for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.cli import output
from privet.counting.files import file_columns, read_batches
from privet.errors import DataError
from privet.local import Channel
from privet.local.columns import AddedNoise, Clear, ColumnChannel, midpoints_of
from privet.privacy.guarantee import few
from privet.schema import Attribute, Numeric, Schema
from privet.schema.encoding import numbers_of, without_dictionary

# How far from an answer a number may lie, in steps of the noise's grid or widths of an interval: for rounding alone.
_TOLERANCE = 1e-3
# As unlikely a run of chance is no chance.
_NEVER = 1e-6


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


def hint_at_other_rows(path: Path, channel: Channel) -> None:
    """Say on stderr where the numbers of a file do not look like answers through ``channel``."""
    fields = zip(channel.schema.attributes, channel.columns, strict=True)
    asked = {a.name: (c, a) for a, c in fields if isinstance(a, Numeric) and not isinstance(c, Clear)}
    if channel.record is not None or not asked:
        return
    batches = list(read_batches(path, channel.schema, list(asked)))
    columns = {name: [_numbers(batch.column(name), name) for batch in batches] for name in asked}
    say_unlike([name for name, own in columns.items() if own and not looks_answered(np.concatenate(own), *asked[name])])


def hint_at_other_values(values: Any, column: ColumnChannel, attribute: Attribute) -> None:
    """Say on stderr where the values of one field do not look like answers through its channel."""
    if isinstance(attribute, Numeric) and not looks_answered(_numbers(values, attribute.name), column, attribute):
        say_unlike([attribute.name])


def say_unlike(names: Sequence[str]) -> None:
    """Say which fields do not look like answers; nothing about their values."""
    if names:
        output.say(
            f"what is in {few(names)} does not look like answers through this channel; make sure that they are those "
            "which `privet perturb` wrote with it, else what is estimated from them means nothing"
        )


def looks_answered(numbers: NDArray[np.float64], column: ColumnChannel, attribute: Numeric) -> bool:
    """Return whether numbers could be answers through ``column``: where they lie, and that noise takes some far."""
    numbers = numbers[~np.isnan(numbers)]
    if isinstance(column, Clear) or not len(numbers):
        return True
    if not isinstance(column, AddedNoise):
        return _mostly(_are_midpoints(numbers, attribute))
    places = (numbers - attribute.low) / column.step
    if not _mostly(np.abs(places - np.rint(places)) < _TOLERANCE):
        return False
    stays = (numbers >= attribute.low) & (numbers <= attribute.high)
    return not stays.all() or len(numbers) * np.log1p(-_leaves(column)) > np.log(_NEVER)


def _leaves(column: AddedNoise) -> float:
    """Return the chance that noise takes a value out of the range, where that is least likely: in its middle."""
    low, high = column.attribute.low, column.attribute.high
    middle = np.array([low + (high - low) * share for share in (0.499, 0.501)])
    below, _, above = column.mass(middle, np.array([-np.inf, low, high, np.inf]))[:, 0]
    return min(float(below + above), 0.999)


def _are_midpoints(numbers: NDArray[np.float64], attribute: Numeric) -> NDArray[np.bool_]:
    answers = midpoints_of(attribute)
    after = np.clip(np.searchsorted(answers, numbers), 1, max(len(answers) - 1, 1))
    nearest = np.minimum(np.abs(numbers - answers[after - 1]), np.abs(numbers - answers[after % len(answers)]))
    close: NDArray[np.bool_] = nearest < _TOLERANCE * (attribute.high - attribute.low) / len(answers)
    return close


def _mostly(those: NDArray[np.bool_]) -> bool:
    return bool(those.mean() > 1 / 2)


def _numbers(values: Any, name: str) -> NDArray[np.float64]:
    return np.asarray(numbers_of(without_dictionary(values), name), dtype=np.float64)


def _holds_bits(found: Sequence[str], schema: Schema) -> bool:
    """Return whether a file has bits of coded values, ``age:0``, in place of the values."""
    return not set(schema.names) & set(found) and any(f"{name}:0" in found for name in schema.names)
