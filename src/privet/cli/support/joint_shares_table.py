"""Shares of values and classes together, from answers to sampled questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from privet.checks import pluralize
from privet.cli.support import output
from privet.errors import ParameterError
from privet.local import Channel
from privet.local.channels.sampling.sampled_fields import SampledFields

if TYPE_CHECKING:
    import pandas as pd

_UNLIKE = "The answers do not look as if they had come through this channel, so their estimates mean nothing. "
_BAR_WIDTH = 30


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
        unlike = "" if self.looks_answered else _UNLIKE
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
