"""How values are spread, from disturbed answers: of one column as reconstructed, or by class from sampled questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pyarrow as pa

from privet.checks import pluralize
from privet.cli.support import output
from privet.cli.support.channel_request import meant
from privet.cli.support.disturbed_rows import refuse_other_answers
from privet.cli.support.option_values import label_of
from privet.counting.files import read_batches
from privet.errors import DataError, ParameterError
from privet.local import Channel
from privet.local.channels.field_channel import FieldChannel
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.local.reconstruction.reconstruct import Reconstruction, reconstruct
from privet.schema import Attribute, Label, Numeric
from privet.schema.encoding import Encoder, numbers_of, without_dictionary

if TYPE_CHECKING:
    import pandas as pd

_CELLS = 20
_UNLIKE = (
    "The answers do not look as if they had come through this channel: of a million honest collections at most one "
    "looks so, and what is estimated from them means nothing."
)
_BAR_WIDTH = 30
_UNLIKE_QUESTIONS = (
    "The answers do not look as if they had come through this channel, so their estimates mean nothing. "
)


@dataclass(frozen=True, eq=False)
class ReconstructionTable:
    """A reconstruction of one column, of everybody or of one class, and the answers that it is made from."""

    channel: Channel
    column: str
    label: Label | None
    found: Reconstruction
    answers: Any

    @classmethod
    def of(cls, path: Path, channel_file: Path, column: str, class_: str | None, bins: int | None) -> Self:
        """Reconstruct a column of the answers in a file."""
        channel = Channel.load(channel_file)
        disturbed, attribute = _field(channel, column)
        label = _label(channel, class_)
        refuse_other_answers(path, channel)
        answers = _values(path, channel, column, label)
        cells = _CELLS if bins is None and isinstance(attribute, Numeric) and attribute.is_open else bins
        method: Literal["iterate", "invert"] = "invert" if disturbed.can_be_inverted else "iterate"
        found = reconstruct(answers, disturbed, cells, attribute=attribute, method=method)
        return cls(channel, column, label, found, answers)

    def clear_values(self, path: Path) -> Any:
        """Return the same column of clear rows, of the same class."""
        return _values(path, self.channel, self.column, self.label)

    @property
    def headings(self) -> list[str]:
        """Of the table."""
        cells = "interval" if self.found.edges is not None else "value"
        return [cells, "disturbed", "reconstructed", ""]

    def lines(self) -> list[tuple[str, ...]]:
        """Return the table's lines, one a cell; a bar is drawn in a terminal."""
        bars = self.found.estimate / max(float(self.found.estimate.max()), 1e-9)
        cells: list[tuple[str, ...]] = [
            (name, output.percent(seen), self._reconstructed(j), output.bar(bars[j], _BAR_WIDTH))
            for j, (name, seen) in enumerate(zip(self._names, self._seen, strict=True))
        ]
        (below, above), edges = self._outside, self.found.edges
        if edges is None or below + above == 0:
            return cells
        before, after = f"below {_plain(edges[0])}", f"above {_plain(edges[-1])}"
        return [(before, output.percent(below), "", ""), *cells, (after, output.percent(above), "", "")]

    @property
    def sentence(self) -> str:
        """What the table rests on."""
        of_class = "" if self.label is None else f" of people with the label {self.label!r}"
        missing = f", {self.found.n_missing:,} more were missing" if self.found.n_missing else ""
        source = f"From {pluralize(self.found.n_values, 'answer')}{of_class}{missing}."
        if not self.found.looks_answered:
            source = f"{_UNLIKE} {source}"
        if self.found.standard_errors is not None:
            return f"{source} Estimates by the inverse of the channel, set to 0 where below, ± one standard error."
        if not self.found.n_steps:
            return f"{source} Nothing had to be reconstructed."
        end = "" if self.found.converged else "; it had not come to rest, and fewer --bins may help"
        return f"{source} {self.found.n_steps:,} steps of the iteration{end}."

    def to_json(self) -> dict[str, Any]:
        """Return the table as plain JSON values."""
        below, above = self._outside
        return {
            "column": self.column,
            "class": self.label,
            "answers": self.found.n_values,
            "missing": self.found.n_missing,
            "steps": self.found.n_steps,
            "converged": self.found.converged,
            "looks_answered": self.found.looks_answered,
            "cells": [self._cell(j) for j in range(len(self.found.estimate))],
            "disturbed_below": below,
            "disturbed_above": above,
        }

    def _cell(self, j: int) -> dict[str, Any]:
        edges, errors = self.found.edges, self.found.standard_errors
        is_cell = edges is not None and j < len(edges) - 1
        where = {"from": float(edges[j]), "to": float(edges[j + 1])} if is_cell else {"value": self.found.categories[j]}  # type: ignore[index]
        cell = {**where, "disturbed": float(self._seen[j]), "reconstructed": float(self.found.estimate[j])}
        return cell if errors is None else {**cell, "standard_error": float(errors[j])}

    def _reconstructed(self, j: int) -> str:
        share, errors = output.percent(self.found.estimate[j]), self.found.standard_errors
        return share if errors is None else f"{share} ± {100 * errors[j]:.1f}"

    @cached_property
    def _names(self) -> list[str]:
        edges = self.found.edges
        labels = ["(missing)" if label is None else str(label) for label in self.found.categories]
        if edges is None:
            return labels
        cells = [f"{_plain(low)} to {_plain(high)}" for low, high in pairwise(edges.tolist())]
        return [*cells, *labels[len(cells) :]]

    @cached_property
    def _seen(self) -> Any:
        """The share of answers in each cell of the estimate."""
        edges = self.found.edges
        if edges is None or len(self.found.observed) == len(self.found.estimate):
            return self.found.observed / self.found.n_values
        return np.histogram(self._numbers, edges)[0] / self.found.n_values

    @cached_property
    def _outside(self) -> tuple[float, float]:
        """The shares of answers beyond the range, where noise took them."""
        edges = self.found.edges
        if edges is None or not _field(self.channel, self.column)[0].noise_variance:
            return 0.0, 0.0
        n_values = self.found.n_values
        return float((self._numbers < edges[0]).sum() / n_values), float((self._numbers > edges[-1]).sum() / n_values)

    @cached_property
    def _numbers(self) -> Any:
        numbers = np.asarray(numbers_of(self.answers, self.column), dtype=np.float64)
        return numbers[~np.isnan(numbers)]


def _plain(number: float) -> str:
    """Return a number to six digits, with separators and without a power of ten."""
    return f"{float(f'{number:.6g}'):,.10g}"


def _field(channel: Channel, column: str) -> tuple[FieldChannel, Attribute]:
    """Return the channel of a field, and its domain."""
    schema = channel.schema
    if channel.record is not None:
        raise ParameterError(
            f"the channel's answers are {channel.record.answers_in_words}, so no column can be reconstructed by "
            f"itself; fit a {channel.record.fitted_by[0]}"
        )
    if column == schema.target and channel.label is not None:
        return channel.label, channel.label_attribute
    if column not in schema.names:
        raise ParameterError(f"the channel has no field {column!r}; {meant(column, schema.names)}")
    place = schema.names.index(column)
    return channel.columns[place], schema.attributes[place]


def _label(channel: Channel, text: str | None) -> Label | None:
    if text is None:
        return None
    if channel.label is not None:
        raise ParameterError("the label was disturbed too, so a class's people cannot be picked; leave out --class")
    label = label_of(channel.schema, text)
    if label not in channel.schema.classes:
        known = ", ".join(map(str, channel.schema.classes))
        raise ParameterError(f"--class {text!r} is none of the schema's classes; choose from {known}")
    return label


def _values(path: Path, channel: Channel, column: str, label: Label | None) -> Any:
    """Return a column of a file, of the rows with ``label`` where one is given."""
    schema = channel.schema
    names = [column] if label is None else [column, schema.target]
    parts = []
    for batch in read_batches(path, schema, names):
        values = without_dictionary(batch.column(column))
        if label is not None:
            codes = Encoder(schema).encode_labels(batch.column(schema.target))
            values = values.filter(pa.array(codes == schema.classes.index(label)))
        parts.append(values)
    if not any(map(len, parts)):
        raise DataError(f"{str(path)!r} has no rows{'' if label is None else ' of this class'}; nothing can be told")
    return pa.chunked_array(parts)


@dataclass(frozen=True, eq=False)
class JointSharesTable:
    """A line a cell of the fields and the label."""

    frame: "pd.DataFrame"
    n_answers: int
    weighted: bool
    looks_answered: bool

    @classmethod
    def of(
        cls, path: Path, record: SampledFields, names: Sequence[str], weights: str | None, given: Mapping[str, Any]
    ) -> Self:
        """Estimate the shares from the answers in a file; of ``given`` options none applies."""
        from privet.local.sampled_forest.answers import read_answers
        from privet.local.sampled_forest.joint_shares import joint_shares

        for option, value in given.items():
            if value is not None:
                raise ParameterError(f"{option} is not for answers to sampled questions; leave it out")
        columns = [*record.columns, *([] if weights is None else [weights])]
        table = read_answers(path, columns)
        fields = [name for name in names if name != record.schema.target]
        found = joint_shares(table, record, fields, None if weights is None else table[weights])
        return cls(found.to_frame(), len(table), weights is not None, not record.doubts(table))

    def show(self, *, as_json: bool) -> None:
        """Print the table, or one JSON object."""
        if as_json:
            output.print_json(self.to_json())
            return
        *names, share, _, _ = self.frame.columns
        top = max(float(self.frame[share].max()), 1e-9)
        lines = [
            (
                *("(missing)" if own is None else str(own) for own in line[: len(names)]),
                output.percent(line[-3]),
                f"{output.percent(line[-2])} to {output.percent(line[-1])}",
                output.bar(max(line[-3], 0.0) / top, _BAR_WIDTH),
            )
            for line in self.frame.itertuples(index=False)
        ]
        output.print_table([*names, share, "95 % interval", ""], lines, right=[len(names), len(names) + 1])
        output.print_text()
        output.print_text(self.sentence)

    @property
    def sentence(self) -> str:
        """What the table rests on."""
        weighted = ", weighted" if self.weighted else ""
        unlike = "" if self.looks_answered else _UNLIKE_QUESTIONS
        return f"{unlike}From {pluralize(self.n_answers, 'answer')}{weighted}. Shares without bias may lie below 0."

    def to_json(self) -> dict[str, Any]:
        """Return the table as plain JSON values."""
        return {
            "answers": self.n_answers,
            "weighted": self.weighted,
            "looks_answered": self.looks_answered,
            "cells": self.frame.to_dict("records"),
        }


def sampled_fields(channel_file: Path) -> SampledFields | None:
    """Return the questions that people answered through this channel; None where every field was disturbed."""
    record = Channel.load(channel_file).record
    return record if isinstance(record, SampledFields) else None
