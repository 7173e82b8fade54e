"""Whether a report can have come through the channel, its one line in the export, and reports handed over as texts."""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.checks import is_number, is_whole
from privet.errors import DataError, PrivetError
from privet.files.documents import read_json
from privet.local.channels.answer_checks import refuse_impossible
from privet.schema import Attribute, Numeric
from privet.service.collect.store import AnswerStore, Stored
from privet.service.collect.tokens import is_report_id, is_token, token_hash, use_mark
from privet.service.requests import Refusal

if TYPE_CHECKING:
    from privet.local import Channel
    from privet.service.collect.folder import CollectFolder

_REFUSED = "the answers did not come through this channel; fetch the page again and send what it shows"
_LONGEST = 10_000
_MOST_WHOLE = 2**53
_TEXT_KEYS = {"report_id", "answers"}
_NO_TEXT = "{!r} is no text of the offline page; hand over what it shows, as it is"
_NO_LINK = (
    "{!r} names no link, and each report needs one; pass --token, or enter the link in the offline page before the "
    "text is made"
)
_NOT_TAKEN = "{!r}: {}"


class Reports:
    """Reports through one channel."""

    def __init__(self, channel: "Channel") -> None:
        self._channel = channel
        self._forms = forms_of(channel)
        self.columns = list(self._forms)

    def canonical(self, answers: object) -> str:
        """Return the report as one text to keep, or raise a Refusal where the channel could not have answered so."""
        if not isinstance(answers, Mapping) or set(answers) != set(self.columns):
            raise Refusal(422, "refused", "the report needs every column of the channel and no other; " + _REFUSED)
        if not all(has_form(answers[name]) for name, has_form in self._forms.items()):
            raise Refusal(422, "refused", _REFUSED)
        kept = [_as_double(answers[name]) for name in self.columns]
        try:
            self._check({name: [value] for name, value in zip(self.columns, kept, strict=True)})
        except (PrivetError, ValueError, TypeError, OverflowError):
            # Neither the value nor the field is told: the page shows both to their owner.
            raise Refusal(422, "refused", _REFUSED) from None
        return json.dumps(kept, ensure_ascii=False, allow_nan=False)

    def csv_lines(self, kept: Iterable[str]) -> Iterator[str]:
        """Yield the header and a line for each report that was kept."""
        yield _line(self.columns)
        for text in kept:
            yield _line(["" if value is None else value for value in json.loads(text)])

    def _check(self, columns: dict[str, list[Any]]) -> None:
        import pandas as pd

        columns.pop(self._channel.schema.target, None)  # its form is all that is known of it
        refuse_impossible(self._channel, pd.DataFrame(columns))


def forms_of(channel: "Channel") -> dict[str, Callable[[object], bool]]:
    """Return the columns of the answers, the label last where it has one, and what each may hold in JSON.

    A value of another type may be read as the same answer by itself, but not in a column with those of others: one
    report would keep all of them from being read.
    """
    record, schema = channel.record, channel.schema
    label: dict[str, Callable[[object], bool]] = {schema.target: partial(_is_one_of, schema.classes)}
    if record is None:
        return {own.name: partial(_is_value_of, own) for own in schema.attributes} | label
    forms = {name: _FORMS[kind] for name, kind in record.columns.items()}
    return forms | label if record.gives_label else forms


def _is_value_of(attribute: Attribute, value: object) -> bool:
    if value is None:
        return not attribute.never_missing
    if isinstance(attribute, Numeric):
        return is_number(value) and -sys.float_info.max <= value <= sys.float_info.max  # so neither NaN nor beyond
    return _is_one_of(attribute.categories, value)


def _is_one_of(labels: Sequence[object], value: object) -> bool:
    return value in labels and isinstance(value, bool) == isinstance(labels[0], bool)  # to Python, True is 1


def _as_double(value: object) -> object:
    """Return a whole number that is too large for a column of them as JavaScript meant it."""
    return float(value) if is_whole(value) and abs(value) > _MOST_WHOLE else value


def _is_index(value: object) -> bool:
    return is_whole(value) and 0 <= value <= _MOST_WHOLE


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST


# By the type of a column, as a record's channel names it.
_FORMS: dict[str, Callable[[object], bool]] = {"int64": _is_index, "uint8": _is_index, "string": _is_text}


def _line(cells: Iterable[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def add_report(folder: "CollectFolder", store: AnswerStore, path: Path, token: str | None = None) -> bool:
    """Store the report in a file, under its own token or this one; return whether it is new.

    A file that is added again counts once. Whole batches of what waits are released.
    """
    if not folder.settings.open:
        raise DataError("the collection is closed; open it again on the collector's page first")
    report = _read(path)
    used = report.get("token") or token
    if not isinstance(used, str) or not is_token(used):
        raise DataError(_NO_LINK.format(str(path)))
    try:
        kept = Reports(folder.channel).canonical(report["answers"])
    except Refusal as refusal:
        raise DataError(_NOT_TAKEN.format(str(path), refusal.message)) from None
    stored = store.put(token_hash(used), use_mark(used, report["report_id"]), kept)
    if stored is Stored.UNKNOWN:
        raise DataError(_NOT_TAKEN.format(str(path), "its link was not given out; give the person one of yours"))
    if stored is Stored.USED:
        raise DataError(_NOT_TAKEN.format(str(path), "its link was used for another report; each link is for one"))
    store.release(folder.settings.batch)
    return stored is Stored.NEW


def _read(path: Path) -> dict[str, Any]:
    try:
        report = read_json(path)
    except (OSError, ValueError):
        raise DataError(_NO_TEXT.format(str(path))) from None
    if not isinstance(report, dict) or set(report) - {"token"} != _TEXT_KEYS or not is_report_id(report["report_id"]):
        raise DataError(_NO_TEXT.format(str(path)))
    return report
