"""Classes and attributes: how many rows each class has, as released, and which attributes matter."""

from collections.abc import Collection
from typing import Any

from privet.privacy.unit import ROW
from privet.report.page import wording
from privet.report.page.counts import NOT_TOLD_APART
from privet.report.page.formats import bar, number, percent, table, text
from privet.report.page.odds import percent_down, percent_up

_MOST_BARS = 40
_NOT_KNOWN = "not known"


def balance_section(facts: dict[str, Any], *, totals: str, importances: str, silent: str) -> str:
    """Return how many rows each class has, as released, and which attributes matter.

    ``totals`` says where the rows come from, ``importances`` what a share is of, and ``silent`` why some have none.
    """
    balance = sorted(facts["class_balance"], key=lambda each: -each["rows"])
    largest, has_intervals = max(balance[0]["rows"], 1.0), balance[0]["low"] is not None
    classes = [
        (text(each["class"]), bar(each["rows"] / largest), number(round(each["rows"])), *_intervals(each))
        for each in balance[:_MOST_BARS]
    ]
    held = " Intervals hold 95 times of 100." if has_intervals else ""
    told = f"{totals}{held}{_rows_of_each(facts['guarantee'])}"
    headings = ["class", "", "rows", "noise interval", "share", "noise interval"][: len(classes[0])]
    drawn = table(headings, classes, kind="bars", label="Class balance", numbers=range(2, len(headings)))
    return (
        f"<h2>Classes and attributes</h2>\n<h3>Class balance, as released</h3>\n<p>{told}</p>\n{drawn}"
        f"{_left_out(len(balance))}<h3>What matters</h3>\n"
        f"{importance_bars(facts['importances'], importances, silent, facts.get('not_told_apart', ()))}"
    )


def _intervals(each: dict[str, Any]) -> list[str]:
    """Return the interval of a class's rows, its share where the model states one, and the interval of that."""
    rows = [_NOT_KNOWN if each["low"] is None else interval(each["low"], each["high"])]
    if "share" not in each:
        return rows
    bounds = each["share_low"], each["share_high"]
    shares = _NOT_KNOWN if bounds[0] is None else f"{percent_down(bounds[0])} to {percent_up(bounds[1])}"
    return [*rows, percent(each["share"]), shares]


def interval(low: float, high: float) -> str:
    """Return two numbers of rows as an interval."""
    return f"{number(round(low))} to {number(round(high))}"


def _rows_of_each(guarantee: dict[str, Any]) -> str:
    if guarantee["unit"] == ROW:
        return ""
    return f" Of the rows of {text(wording.one(guarantee))} at most {guarantee['max_rows']:,} were counted."


def importance_bars(importances: dict[str, float], told: str, silent: str, doubtful: Collection[str] = ()) -> str:
    """Return how much each attribute matters; ``told`` says what a share is of, ``silent`` why some have none.

    Those in ``doubtful`` may owe their share to noise.
    """
    ranked = [(name, share) for name, share in importances.items() if share > 0]
    if not ranked:
        return "<p>No attribute stands out from the noise.</p>\n"
    largest = ranked[0][1]
    mark = f" <span class='soft'>{NOT_TOLD_APART}</span>"
    cells = [
        (text(name) + (mark if name in doubtful else ""), bar(share / largest), percent(share))
        for name, share in ranked[:_MOST_BARS]
    ]
    n_silent = len(importances) - len(ranked)
    rest = f"<p class='soft'>{n_silent} more: {silent}.</p>\n" if n_silent else ""
    drawn = table(["attribute", "", "share"], cells, kind="bars", label="Importances", numbers=[2])
    return f"<p>{told}</p>\n{drawn}{_left_out(len(ranked))}{rest}"


def _left_out(n_ranked: int) -> str:
    n_left = n_ranked - _MOST_BARS
    return f"<p class='soft'>{n_left:,} with less are left out here; --json has them.</p>\n" if n_left > 0 else ""
