"""Whether a report can have come through the channel, and its one line in the export."""

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from privet.errors import PrivetError
from privet.local.channels.answer_checks import refuse_impossible
from privet.service.requests import Refusal

if TYPE_CHECKING:
    from privet.local import Channel

_REFUSED = "the answers did not come through this channel; fetch the page again and send what it shows"
_LONGEST = 10_000


class Reports:
    """Reports through one channel."""

    def __init__(self, channel: "Channel") -> None:
        self._channel = channel
        self.columns = answer_columns(channel)

    def canonical(self, answers: object) -> str:
        """Return the report as one text to keep, or raise a Refusal where the channel could not have answered so."""
        if not isinstance(answers, Mapping) or set(answers) != set(self.columns):
            raise Refusal(422, "refused", "the report needs every column of the channel and no other; " + _REFUSED)
        if not all(_is_plain(value) for value in answers.values()):
            raise Refusal(422, "refused", _REFUSED)
        try:
            self._check({name: [answers[name]] for name in self.columns})
        except (PrivetError, ValueError, TypeError, OverflowError):
            # Neither the value nor the field is told: the page shows both to their owner.
            raise Refusal(422, "refused", _REFUSED) from None
        return json.dumps([answers[name] for name in self.columns], ensure_ascii=False, allow_nan=False)

    def csv_lines(self, kept: Iterable[str]) -> Iterator[str]:
        """Yield the header and a line for each report that was kept."""
        yield _line(self.columns)
        for text in kept:
            yield _line(["" if value is None else value for value in json.loads(text)])

    def _check(self, columns: dict[str, list[Any]]) -> None:
        import pandas as pd

        target = self._channel.schema.target
        label = columns.pop(target, None)
        refuse_impossible(self._channel, pd.DataFrame(columns))
        if label is not None and label[0] not in self._channel.schema.classes:
            raise ValueError


def answer_columns(channel: "Channel") -> list[str]:
    """Return the columns of the answers through a channel, the label last where it has a column of its own."""
    record, target = channel.record, channel.schema.target
    if record is None:
        return [*channel.schema.names, target]
    return [*record.columns, target] if record.gives_label else list(record.columns)


def _is_plain(value: object) -> bool:
    if isinstance(value, (int, float)):
        return -sys.float_info.max <= value <= sys.float_info.max  # so neither NaN nor a whole number beyond
    return value is None or (isinstance(value, str) and len(value) <= _LONGEST)


def _line(cells: Iterable[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()
