"""The respondent's side: a clear table in, the answers that may leave out."""

import hashlib
import math
import warnings
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_number
from privet.errors import ParameterError, PrivacyLeakWarning
from privet.local.channels.cells import FieldValues
from privet.local.channels.channel import RECORD, Channel
from privet.local.channels.field_channel import Draw, as_objects
from privet.local.channels.secret import Secret, fingerprint_of, persons_in_json
from privet.privacy.guarantee import few
from privet.schema.encoding import Encoder, numbers_of
from privet.schema.persons import distinct_names
from privet.schema.table import column_names, column_of, columns_of, without_column

Columns = dict[str, NDArray[Any]]


def perturb(
    table: Any,
    channel: Channel,
    secret: Secret,
    *,
    person: str | None = None,
    max_epsilon: float | None = None,
    clear: Collection[str] = (),
) -> Any:
    """Return the answers that a table's people give through ``channel``; a table of the same make.

    Parameters
    ----------
    table : pandas, polars, Arrow or NumPy table
        Clear rows, one a person. A label's column is disturbed where the channel says so and else copied; an index is
        left behind.
    channel : Channel
        What happens to which field.
    secret : Secret
        Fixes every answer once; it stays with the people whose rows these are.
    person : str, optional
        The column that says whose row it is; it decides the answers and is left out of the result. Without one a
        person is known by their place in this table: if anything in it changes, everybody is answered again.
    max_epsilon : float, optional
        The owner's own limit: a channel that costs more is refused, and so is one that gives a field as it is. Without
        one, a channel that always keeps a field is warned of; ``inf`` says that this is meant. The limit covers all
        waves that were answered with this secret.
    clear : collection of str
        With a limit, the fields that may be given as they are.
    """
    _check_channel(channel)
    if max_epsilon is not None:
        refuse_beyond(max_epsilon, channel, clear)
    elif channel_keeps := kept_fields(channel):
        warnings.warn(
            f"the channel always keeps {few(channel_keeps)}: these answers are the clear values; set max_epsilon to "
            "refuse such channels",
            PrivacyLeakWarning, stacklevel=2,
        )  # fmt: skip
    return like(table, Respondents(channel, secret, person, max_epsilon=max_epsilon).answer(table))


def refuse_beyond(max_epsilon: float, channel: Channel, clear: Collection[str] = ()) -> None:
    """Refuse a channel that costs its respondents more than their own limit; nothing is answered."""
    _check_channel(channel)
    if not is_number(max_epsilon) or not max_epsilon > 0:
        raise ParameterError(f"max_epsilon={max_epsilon!r} must be a number above 0; smaller hides more")
    if isinstance(clear, str):
        raise ParameterError(f"clear must be a list of names; write [{clear!r}]")
    costs = channel.total_epsilon(clear)
    if costs <= max_epsilon:
        return
    if math.isfinite(costs):
        raise ParameterError(
            f"the channel costs epsilon = {costs!r}, more than the limit of {max_epsilon!r}; ask for one that hides "
            "more"
        )
    loose = [name or "the record as a whole" for name in unbounded_fields(channel) if name not in clear]
    raise ParameterError(
        f"the channel gives {few(loose)} without any bound, where the limit is epsilon = {max_epsilon!r}; ask for a "
        "channel that hides more, or name what need not be hidden as clear"
    )


def _check_channel(channel: object) -> None:
    if not isinstance(channel, Channel):
        raise ParameterError("channel must be a Channel; load a published one with Channel.load(path)")


def unbounded_fields(channel: Channel) -> list[str]:
    """Return the fields that no local epsilon bounds, the label first: given as they are, always kept, or loosely."""
    target = channel.schema.target
    if channel.record is not None:
        return [*([] if channel.record.hides_label else [target]), RECORD]
    names = [target, *channel.schema.names]
    return [name for name in names if name not in channel.fields or math.isinf(channel.fields[name].local_epsilon)]


def kept_fields(channel: Channel) -> list[str]:
    """Return the fields that go through the channel and come out as they were, whatever is drawn."""
    names = {RECORD: "whole records"}
    return [names.get(name, name) for name, field in channel.fields.items() if field.is_certain]


class Respondents:
    """People who answer through one channel, a table or a batch of one at a time.

    Without a column ``person`` they are known by their place in a table with the name ``table``, such as a
    digest of its file; without one, each table or batch goes by its own. ``max_epsilon`` is their limit for all waves
    together.
    """

    def __init__(
        self, channel: Channel, secret: Secret, person: str | None = None, *, table: str | None = None,
        max_epsilon: float | None = None,
    ) -> None:  # fmt: skip
        _check_channel(channel)
        if not isinstance(secret, Secret):
            raise ParameterError("secret must be a Secret; make one with Secret() or, to ask again, Secret(path)")
        if person is not None and not isinstance(person, str):
            raise ParameterError(f"person={person!r} must be the name of a column; write it as text")
        if person is not None and person in channel.schema.names:
            raise ParameterError(
                f"person={person!r} is a field of the schema; name a column that only tells people apart"
            )
        secret.pin(channel.pins, channel.wave_costs, math.inf if max_epsilon is None else max_epsilon)
        if person is not None:
            secret.pin_people(f"column {person}")
        self._channel, self._secret, self._person, self._table = channel, secret, person, table
        self._encoder = Encoder(channel.schema, person)
        self._n_answered = 0

    def answer(self, table: Any) -> Columns:
        """Return the columns that may leave, by name: attributes, and the label where the table has it."""
        schema = self._channel.schema
        has_label = schema.target in (column_names(table) or [])
        attributes = without_column(table, schema.target) if has_label else table
        codes = self._encoder.encode(attributes).astype(np.int64)
        columns = columns_of(attributes, schema.names, unit=self._person)
        record = self._channel.record
        labels = self._label_codes(column_of(table, schema.target)) if has_label and record is not None else None
        # Where the label is a part of the question, it is a part of what tells tables apart.
        asked = codes if labels is None or record is None or record.gives_label else np.column_stack([codes, labels])
        persons = self._persons(table, asked, columns)
        if record is not None:
            return record.answer(codes, labels, persons, self._draw_many)
        answers = {
            a.name: channel.answer(FieldValues(a, columns[j], codes[:, j]), self._draw(a.name, persons))
            for j, (a, channel) in enumerate(zip(schema.attributes, self._channel.columns, strict=True))
        }
        return {**answers, schema.target: self._label(table, persons)} if has_label else answers

    def _persons(self, table: Any, codes: NDArray[np.int64], columns: Sequence[Any]) -> list[str]:
        if self._person is None:
            # The first rows of two tables are different people, who must not share their noise.
            this = self._table or self._digest(codes, columns)
            self._secret.pin_people(f"place in {this}{self._unnamed(table)}")
            first, self._n_answered = self._n_answered, self._n_answered + len(codes)
            return persons_in_json(f"row {i} of {this}" for i in range(first, first + len(codes)))
        return persons_in_json(distinct_names(column_of(table, self._person), self._person))

    def _unnamed(self, table: Any) -> str:
        """Return what stands for the columns' names where a table has none: the whole channel, by position."""
        return "" if column_names(table) else f" through {fingerprint_of(self._channel.to_json())}"

    def _digest(self, codes: NDArray[np.int64], columns: Sequence[Any]) -> str:
        digest = hashlib.sha256(codes.tobytes())
        for channel, column in zip(self._channel.columns, columns, strict=True):
            if channel.reads_numbers:  # a code is the cell only
                digest.update(np.asarray(numbers_of(column, channel.name), dtype=np.float64).tobytes())
        return digest.hexdigest()

    def _label(self, table: Any, persons: Sequence[str]) -> NDArray[Any]:
        target, label = self._channel.schema.target, self._channel.label
        column = column_of(table, target)
        if label is None:
            return as_objects(column, target)
        values = FieldValues(self._channel.label_attribute, column, self._label_codes(column))
        return label.answer(values, self._draw(target, persons))

    def _label_codes(self, column: Any) -> NDArray[np.int64]:
        return self._encoder.encode_labels(column).astype(np.int64)

    def _draw(self, field: str, persons: Sequence[str]) -> Draw:
        """Return what draws 64 bits for each person's value of a field; a field that draws nothing never calls it."""
        return lambda codes: self._secret.words(self._channel.fingerprints[field], persons, codes)

    def _draw_many(self, told: Sequence[str], n_words: int) -> NDArray[np.uint64]:
        return self._secret.many_words(self._channel.fingerprints[RECORD], told, n_words)


def like(table: Any, columns: Columns) -> Any:
    """Return ``columns`` as a table of the make of ``table``."""
    make = type(table).__module__.partition(".")[0]
    plain = {name: _narrowed(column) for name, column in columns.items()}
    if make == "pyarrow":
        import pyarrow as pa

        return pa.table({name: pa.array(column, from_pandas=True) for name, column in plain.items()})
    if make == "polars":
        import polars as pl

        values = {name: column.tolist() if column.dtype == object else column for name, column in plain.items()}
        return pl.DataFrame({name: pl.Series(own, nan_to_null=True, strict=False) for name, own in values.items()})
    if make == "pandas":
        import pandas as pd

        return pd.DataFrame(plain)  # an index can hold anything, and is not asked for
    return np.column_stack(list(plain.values()))


def _narrowed(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column of objects as text, numbers or bools where all of its values, public ones, are of one kind."""
    if column.dtype != object or any(value is None for value in column):
        return column
    narrow = np.array(column.tolist())
    return narrow if narrow.dtype.kind in "ifb" else column
