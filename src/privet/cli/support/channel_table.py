"""A channel as a table: what happens to each field, each measure on its own scale."""

from typing import TYPE_CHECKING, Any

from privet.cli.support import output

if TYPE_CHECKING:
    from privet.local.guarantee import LocalGuarantee

_FIRST_NUMBER = 3


def print_channel(guarantee: "LocalGuarantee") -> None:
    """Print one line a field."""
    from privet.report.page.local import all_fields

    cells = [_cells(told) for told in all_fields(guarantee.to_json())]
    headings = ["field", "what happens", "how strongly", "95 % width", "of the range", "local epsilon"]
    filled = [j for j in range(len(headings)) if any(row[j] for row in cells)]  # noise alone has widths
    shown = [[row[j] for j in filled] for row in cells]
    right = [place for place, j in enumerate(filled) if j >= _FIRST_NUMBER]
    output.print_table([headings[j] for j in filled], shown, right=right)


def _cells(told: dict[str, Any]) -> tuple[str, ...]:
    from privet.report.page.formats import number
    from privet.report.page.local import channel_name, strength

    width, share = told.get("width_at_95%"), told.get("privacy_at_95%")
    return (
        told["field"],
        channel_name(told["channel"]),
        strength(told),
        "" if width is None else number(width),
        "" if share is None else f"{100 * share:.0f} %",
        _epsilon(told),
    )


def _epsilon(told: dict[str, Any]) -> str:
    if told["channel"] == "clear":
        return ""
    from privet.report.page.formats import epsilon_up

    epsilon = told.get("local_epsilon")
    return "none" if epsilon is None else epsilon_up(epsilon)
