"""The files of ``privet perturb``, the answers of a file's people, and whether a file holds such answers."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from privet.cli.support.files import check_output
from privet.cli.support.row_output import STDOUT, check_destination
from privet.counting.files import file_columns, read_batches, table_of
from privet.errors import DataError, ParameterError
from privet.local import Channel, Secret
from privet.local.channels.perturb import Respondents
from privet.privacy.guarantee import few
from privet.schema import Numeric, Schema
from privet.schema.encoding import without_dictionary
from privet.schema.labels import arrow_type_of
from privet.schema.persons import Persons
from privet.schema.table import check_present

_WITHOUT_ONE = (
    "a secret is needed: it fixes each person's answers, so that asking twice tells no more; name a file with "
    "--secret, which is made if it is not there"
)


@dataclass(frozen=True)
class DisturbedFiles:
    """What is read and written; the channel is not written where it was given."""

    rows: Path
    secret: Path
    answers: Path
    channel: Path | None

    @classmethod
    def chosen(
        cls,
        rows: Path | None,
        secret: Path | None,
        answers: Path | None,
        described: Path | None,
        published: Path | None,
    ) -> "DisturbedFiles":
        """Return the files that were named, and names for the others; the channel is ``described`` or ``published``."""
        if rows is None:
            raise ParameterError("name the table of clear rows: .csv, .csv.gz or .parquet; --explain alone needs none")
        if secret is None:
            raise ParameterError(_WITHOUT_ONE)
        if published is not None and described is not None:
            raise ParameterError("--channel-output does not go with --channel, which is there already; leave it out")
        stem = _stem(rows)
        ending = rows.name.removeprefix(stem).replace(".pq", ".parquet") or ".csv"
        answers = answers or rows.with_name(f"{stem}.disturbed{ending}")
        beside = rows if answers == STDOUT else answers
        described = described or beside.with_name(f"{_stem(beside).removesuffix('.disturbed')}.channel.json")
        return cls(rows, secret, answers, None if published is not None else described)

    @property
    def to_stdout(self) -> bool:
        """Whether the answers go to stdout, from where nothing can be taken back."""
        return self.answers == STDOUT

    def check(self, *, force: bool, inputs: Sequence[Path]) -> None:
        """Refuse files that cannot or should not be written, before any row is read."""
        read = (*inputs, self.secret)
        check_destination(self.answers, what="answers", force=force, inputs=read)
        if self.channel is not None:
            check_output(self.channel, force=force, inputs=read)
        written = [path.resolve() for path in (self.answers, self.secret, self.channel) if path is not None]
        if len(set(written)) < len(written):
            raise ParameterError("answers, channel and secret are three files; give each its own name")


@dataclass
class DisturbedRows:
    """What the people of a file answer through a channel; nothing is read before it is gone through.

    ``person`` is the column that tells people apart; it is left out of the answers unless ``keep_person``.
    """

    rows: Path
    channel: Channel
    secret: Secret
    person: str | None = None
    keep_person: bool = False
    max_epsilon: float | None = None
    has_answered: bool = field(default=False, init=False)
    _seen: list[Any] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.keep_person and self.person is None:
            raise ParameterError("--keep-id keeps the column that --id names; name it")
        if self.person is not None and self.person == self.channel.schema.target:
            raise ParameterError(f"--id {self.person!r} is the label's column; name one that only tells people apart")

    @property
    def names(self) -> list[str]:
        """The columns of the answers."""
        kept = [self.person] if self.keep_person and self.person is not None else []
        record = self.channel.record
        gives_label = self.has_label and (record is None or record.gives_label)
        return [*kept, *self._fields, *([self.channel.schema.target] if gives_label else [])]

    @property
    def left_out(self) -> list[str]:
        """The file's columns that are in no answer."""
        return [name for name in self._found if name not in (*self._read, self.person)]

    @cached_property
    def has_label(self) -> bool:
        """Whether the file has the label's column."""
        return self.channel.schema.target in self._found

    def batches(self, watch: Callable[[float], None] | None = None) -> Iterator[Any]:
        """Yield the answers to one batch of rows after the other."""
        names = [*self._read, *([self.person] if self.person is not None else [])]  # a file that is not there ends here
        check_present(self._found, names)  # before the secret remembers a column that is not there
        respondents = Respondents(
            self.channel, self.secret, self.person, table=self._digest(), max_epsilon=self.max_epsilon
        )
        self._seen.clear()
        for batch in read_batches(self.rows, self.channel.schema, names, watch=watch):
            self._note_persons(batch)
            answers = self._joined(batch, respondents.answer(batch))
            self.has_answered = True
            yield answers
        self._refuse_persons_seen_twice()

    def check_persons(self) -> None:
        """Refuse a file that holds a person twice before anyone is answered: it is read once more."""
        if self.person is None:
            return
        self._seen.clear()
        for batch in read_batches(self.rows, self.channel.schema, [self.person]):
            self._note_persons(batch)
        self._refuse_persons_seen_twice()

    def _digest(self) -> str | None:
        """Return the file's digest, where people are known by their place in it."""
        if self.person is not None:
            return None
        file_columns(self.rows)  # which words what is wrong with a file that cannot be read
        with self.rows.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def nothing(self) -> Any:
        """Return a batch without rows."""
        types = self._types
        return pa.RecordBatch.from_arrays(
            [pa.array([], types.get(name, pa.large_string())) for name in self.names], names=self.names
        )

    @cached_property
    def _found(self) -> list[str]:
        return file_columns(self.rows)

    @property
    def _read(self) -> list[str]:
        schema = self.channel.schema
        return [*schema.names, *([schema.target] if self.has_label else [])]

    @property
    def _fields(self) -> list[str]:
        record = self.channel.record
        return list(self.channel.schema.names if record is None else record.columns)

    def _joined(self, batch: Any, answers: dict[str, Any]) -> Any:
        columns = [self._column(batch, answers, name) for name in self.names]
        return pa.RecordBatch.from_arrays(columns, names=self.names)

    def _column(self, batch: Any, answers: dict[str, Any], name: str) -> Any:
        if name == self.person or name in self._given_clear:
            return without_dictionary(batch.column(name))
        # Types are fixed by the channel: guessed, they might differ from batch to batch.
        return pa.array(answers[name], self._types[name], from_pandas=True)

    @cached_property
    def _given_clear(self) -> set[str]:
        channel = self.channel
        if channel.record is not None:
            return set() if channel.record.hides_label else {channel.schema.target}
        clear = {column.name for column in channel.columns if column.is_clear}
        return clear if channel.label is not None else {*clear, channel.schema.target}

    @cached_property
    def _types(self) -> dict[str, Any]:
        schema, record = self.channel.schema, self.channel.record
        label = {schema.target: arrow_type_of(schema.classes)}
        if record is not None:
            return {**{name: pa.type_for_alias(alias) for name, alias in record.columns.items()}, **label}
        types = {
            a.name: pa.float64() if isinstance(a, Numeric) else arrow_type_of(a.categories) for a in schema.attributes
        }
        return {**types, **label}

    def _note_persons(self, batch: Any) -> None:
        if self.person is not None:
            # Eight bytes a person: their names would not fit in memory of a fixed size. Two alike by chance are a
            # matter of one in a million for six million people.
            persons = Persons(self.person)
            persons.number_rows(batch.column(self.person))
            self._seen.append(np.array([hash(name) for name in persons.common_forms], dtype=np.int64))

    def _refuse_persons_seen_twice(self) -> None:
        persons = np.concatenate([np.empty(0, np.int64), *self._seen])
        if len(np.unique(persons)) < len(persons):
            raise DataError(
                f"column {self.person!r} holds the same person twice; give each row its own name, or each person one "
                "row"
            )


def whole_table(path: Path, schema: Schema, beside: Sequence[str] = ()) -> Any:
    """Return the attributes of all rows in one table, and the columns ``beside`` them."""
    batches = list(read_batches(path, schema, [*schema.names, *beside]))
    if not batches:
        raise DataError(f"{str(path)!r} has no rows; nothing can be read from it")
    return table_of(batches)


def refuse_other_answers(path: Path, channel: Channel) -> None:
    """Refuse a file whose columns show that it came through another channel."""
    found, schema = file_columns(path), channel.schema
    if channel.record is None and _holds_bits(found, schema):
        raise DataError(
            f"{str(path)!r} holds records in bits: these answers came through another channel; pass the one that was "
            "written beside them with --channel"
        )
    if channel.record is not None and not set(channel.record.columns) & set(found):
        raise DataError(
            f"{str(path)!r} holds no {channel.record.answers_in_words}, as this channel answers them: these rows came "
            "through another channel, or none; pass the file that was written beside this one"
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


def _stem(table: Path) -> str:
    name = table.name.removesuffix(".gz")
    return next((name.removesuffix(end) for end in (".csv", ".parquet", ".pq") if name.endswith(end)), name)
