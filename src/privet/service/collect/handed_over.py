"""Texts that people handed over from the offline page: each is one report, taken as the server takes it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.errors import DataError
from privet.files.documents import read_json
from privet.service.collect.reports import Reports
from privet.service.collect.store import AnswerStore, Stored
from privet.service.collect.tokens import is_report_id, is_token, token_hash, use_mark
from privet.service.requests import Refusal

if TYPE_CHECKING:
    from privet.service.collect.folder import CollectFolder

_KEYS = {"report_id", "answers"}
_NO_TEXT = "{!r} is no text of the offline page; hand over what it shows, as it is"
_NO_LINK = (
    "{!r} names no link, and each report needs one; pass --token, or enter the link in the offline page before the "
    "text is made"
)
_REFUSED = "{!r}: {}"


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
        raise DataError(_REFUSED.format(str(path), refusal.message)) from None
    stored = store.put(token_hash(used), use_mark(used, report["report_id"]), kept)
    if stored is Stored.UNKNOWN:
        raise DataError(_REFUSED.format(str(path), "its link was not given out; give the person one of yours"))
    if stored is Stored.USED:
        raise DataError(_REFUSED.format(str(path), "its link was used for another report; each link is for one"))
    store.release(folder.settings.batch)
    return stored is Stored.NEW


def _read(path: Path) -> dict[str, Any]:
    try:
        report = read_json(path)
    except (OSError, ValueError):
        raise DataError(_NO_TEXT.format(str(path))) from None
    if not isinstance(report, dict) or set(report) - {"token"} != _KEYS or not is_report_id(report["report_id"]):
        raise DataError(_NO_TEXT.format(str(path)))
    return report
