"""A channel as a table of its fields, and how private it is: a table for each measure, never one for all."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.cli.support import output
from privet.local.channels.channel import NO_METHOD

if TYPE_CHECKING:
    from privet.local import Channel
    from privet.local.guarantee import LocalGuarantee
    from privet.local.measures.measures import Measures

_FIRST_NUMBER = 3
_TITLES = {
    "local_epsilon": "Local epsilon: how much likelier an answer can be for one value than for another, proven",
    "interval": "Interval: the width about an answer that holds the value with so much confidence",
    "posterior_entropy": "Posterior entropy: how wide, or how many, equally likely values leave one as unsure",
    "best_guess": "Best guess: how often the value is guessed rightly",
    "filtering": "Filtering: how far off an attacker is on average, in percent of the range",
    "binary_anonymity": "Binary anonymity: how well a record and its mirror image are mixed up, 1 at most",
}


def print_channel(guarantee: "LocalGuarantee") -> None:
    """Print one line a field."""
    from privet.report.page.local import all_fields

    cells = [_cells(field) for field in all_fields(guarantee.to_json())]
    headings = ["field", "what happens", "how strongly", "95 % width", "of the range", "local epsilon"]
    filled = [j for j in range(len(headings)) if any(row[j] for row in cells)]  # noise alone has widths
    shown = [[row[j] for j in filled] for row in cells]
    right = [place for place, j in enumerate(filled) if j >= _FIRST_NUMBER]
    output.print_table([headings[j] for j in filled], shown, right=right)


def _cells(field: dict[str, Any]) -> tuple[str, ...]:
    from privet.report.page.formats import number
    from privet.report.page.local import channel_name, strength

    width, share = field.get("width_at_95%"), field.get("privacy_at_95%")
    return (
        field["field"],
        channel_name(field["channel"]),
        strength(field),
        "" if width is None else number(width),
        "" if share is None else f"{100 * share:.0f} %",
        _field_epsilon(field),
    )


def _field_epsilon(field: dict[str, Any]) -> str:
    if field["channel"] == "clear":
        return ""
    from privet.report.page.formats import epsilon_up

    epsilon = field.get("local_epsilon")
    return "none" if epsilon is None else epsilon_up(epsilon)


def print_measures(channel: "Channel", rows: Path | None, person: str | None, *, as_json: bool) -> None:
    """Print every measure of a channel; ``rows`` are clear ones, on which attacks are tried."""
    from privet.local.guarantee import LocalGuarantee
    from privet.local.measures.measures import EVENLY, OWNERS_ONLY, measure

    guarantee = LocalGuarantee(channel)
    with output.working("measuring"):
        found = measure(channel, None if rows is None else _table(rows, channel, person), person=person)
    if as_json:
        clear = {"given_clear": list(guarantee.as_they_are)}
        output.print_json({**clear, **found.to_json(), "fitted_by": channel.fitted_by, "leaks": list(guarantee.leaks)})
        return
    if guarantee.as_they_are:
        output.print_text(f"Given as they are, which hides nothing: {', '.join(guarantee.as_they_are)}.")
    output.print_text(OWNERS_ONLY if found.from_rows else EVENLY)
    if guarantee.leaks:
        output.print_text(f"Read from clear rows, and covered by no promise: {', '.join(guarantee.leaks)}.")
    output.print_text()
    print_channel(guarantee)
    output.print_text()
    fitting = " or ".join(f"--method {name}" for name in channel.fitted_by)
    output.print_text(f"Answers can be fitted by {fitting}." if fitting else f"Careful: {NO_METHOD}.")
    if channel.record is not None and found.local_epsilon is not None:
        _print_price(channel)
        return
    for name, sentence in found.not_promised.items():
        _print_measure(name, found, sentence)
    if found.local_epsilon is None:
        output.print_text()
        output.print_text(_no_epsilon(found))


def _print_price(channel: "Channel") -> None:
    """Print what an answer costs in odds, and an example of one."""
    from privet.local.guarantee import price_in_words
    from privet.local.measures.measures import NOT_PROMISED

    output.print_text()
    output.print_text(price_in_words(channel))
    if channel.record is not None and channel.record.example():
        output.print_text(channel.record.example())
    output.print_text(f"Not promised: {NOT_PROMISED['local_epsilon']}.")


def _table(path: Path, channel: "Channel", person: str | None) -> Any:
    from privet.cli.support.disturbed_rows import whole_table
    from privet.counting.files import file_columns

    beside = [channel.schema.target] if channel.schema.target in file_columns(path) else []
    return whole_table(path, channel.schema, [*beside, *([person] if person is not None else [])])


def _print_measure(name: str, found: "Measures", sentence: str) -> None:
    output.print_text()
    output.print_text(_TITLES[name], style="bold")
    if found.record is not None:
        output.print_table(["", ""], _of_record(found.record.to_json()), right=[1])
    else:
        headings, cells = _of_fields(name, found)
        output.print_table(headings, cells, right=range(1, len(headings)))
    output.print_text(f"Not promised: {sentence}.")


def _of_fields(name: str, found: "Measures") -> tuple[list[str], list[list[str]]]:
    """Return the headings and lines of one measure, of the fields that have it."""
    from privet.report.page.formats import number

    given = [(part, part.to_json()[name]) for part in found.fields if part.to_json()[name] is not None]
    if name == "local_epsilon":
        return ["field", "local epsilon"], _epsilons(
            [(part.field, value) for part, value in given], found.local_epsilon
        )
    if name == "interval":
        shown = [f"at {100 * each['confidence']:g} %" for each in given[0][1]]
        return ["field", *shown], [[part.field, *map(_width, value)] for part, value in given]
    if name == "posterior_entropy":
        lines = [[part.field, *(number(value[key]) for key in ("after", "before", "out_of"))] for part, value in given]
        return ["field", "with the answer", "without", "range or number of values"], lines
    names = {"answer": "by the answer", "best": "by the likeliest value", "linear": "by the best linear estimate",
             "spectral": "by the spectral filter", "naive": "without any answer"}  # fmt: skip
    return ["field", *(names[key] for key in given[0][1])], [
        [part.field, *map(output.percent, value.values())] for part, value in given
    ]


def _width(interval: dict[str, float]) -> str:
    from privet.report.page.formats import number

    return f"{number(interval['width'])} ({100 * interval['share']:.0f} %)"


def _epsilons(given: list[tuple[str, float]], together: float | None) -> list[list[str]]:
    from privet.report.page.formats import epsilon_up

    lines = [[field, epsilon_up(epsilon)] for field, epsilon in given]
    return lines if together is None or len(given) == 1 else [*lines, ["all together", epsilon_up(together)]]


def _of_record(record: dict[str, Any]) -> list[list[str]]:
    lines = [["by the coding's frequencies, the mean of all fields", f"{record['binary_anonymity']:.3f}"]]
    if record["told_apart"] is not None:
        lines += [
            ["of the whole rows given", f"{record['binary_anonymity_of_rows']:.3f}"],
            ["told rightly whether flipped, by who knows how frequent rows are", output.percent(record["told_apart"])],
            ["the same, without that knowledge", output.percent(record["keep"])],
        ]
    return lines


def _no_epsilon(found: "Measures") -> str:
    loose = [part.field for part in found.fields if part.channel != "clear" and part.local_epsilon is None]
    why = f"not every field has one ({', '.join(loose)})" if loose else "flipping all bits or none has none"
    return f"A record as a whole has no local epsilon: {why}."
