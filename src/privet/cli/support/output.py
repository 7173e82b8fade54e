"""Where output goes: results on stdout, messages and progress on stderr, plain unless in a terminal."""

import json
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

EXIT_OK = 0
EXIT_BUG = 1
EXIT_USAGE = 2
EXIT_DATA = 3
EXIT_BUDGET = 4
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141


def say(sentence: str) -> None:
    """Put one line on stderr."""
    print(f"privet: {one_line(sentence)}", file=sys.stderr)


def print_json(data: object) -> None:
    """Put one JSON object on stdout; an infinite number is the word "inf"."""
    print(json.dumps(_json_value(data), allow_nan=False))


def print_text(text: str = "", style: str | None = None) -> None:
    """Put a line on stdout: wrapped and styled in a terminal, as it is elsewhere."""
    if sys.stdout.isatty():
        console(stderr=False).print(printable(text), style=style)
    else:
        print(printable(text))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """Put a table on stdout, the columns ``right`` aligned to the right."""
    cells = [[printable(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        console(stderr=False).print(_rich_table(headings, cells, right))
        return
    lines = [list(headings), *cells] if any(headings) else cells
    widths = [max((len(line[j]) for line in lines), default=0) for j in range(len(headings))]
    for line in lines:
        padded = [c.rjust(w) if j in right else c.ljust(w) for j, (c, w) in enumerate(zip(line, widths, strict=True))]
        print("  ".join(padded).rstrip())


def answer(data: Any, *lines: str, as_json: bool) -> None:
    """Print one JSON object, or the lines that say the same."""
    if as_json:
        print_json(data)
        return
    for line in lines:
        print_text(line)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Turn a spinner on stderr while the work lasts, where a terminal is there to show it."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.text import Text

    with console(stderr=True).status(Text(f"{what} ...")):
        yield


def percent(share: float) -> str:
    """Return a share in words: 0.914 is "91.4 %"."""
    return f"{100 * share:.1f} %"


# Scores that are not written with three decimals.
_FORMATS = {
    "accuracy": percent,
    "balanced accuracy": percent,
    "mean absolute error": "{:,.4g}".format,
    "root mean squared error": "{:,.4g}".format,
}


def score_text(score: str, value: float) -> str:
    """Return a score as text; nothing where the rows do not tell it."""
    return "" if math.isnan(value) else _FORMATS.get(score, "{:.3f}".format)(value)


def share_text(share: float) -> str:
    """Return a share in percent; nothing where there is none."""
    return "" if math.isnan(share) else percent(share)


def amount(value: float) -> str:
    """Return an epsilon to twelve digits, rounded up: 1.0 is "1", and so is the sum of its shares."""
    from privet.privacy.guarantee import rounded_up

    return rounded_up(value)


def left_over(value: float) -> str:
    """Return what is left of a budget."""
    from privet.privacy.guarantee import left_over

    return left_over(value)


def bar(share: float, width: int) -> str:
    """Return a bar for a terminal, and nothing elsewhere."""
    return "█" * round(share * width) if sys.stdout.isatty() else ""


def one_line(text: str) -> str:
    """Return ``text`` on one line and printable."""
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """Return ``text`` with control characters spelled out: a column's name must not drive the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def console(*, stderr: bool) -> "Console":
    """Return a terminal that prints every word as it is."""
    from rich.console import Console

    # No markup: a column may be called "[bold]".
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def _rich_table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_header=any(headings), show_edge=False)
    for j, heading in enumerate(headings):
        table.add_column(heading, justify="right" if j in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in value]
    return "inf" if isinstance(value, float) and math.isinf(value) else value
