"""Times two callables side by side and says whether the bar between them holds.

Time is the process's CPU time (``time.process_time``), summed over its threads: on a shared machine it leaves out the
waits for other people's programs, and a thread more would not make anything look faster. Both sides are called once
untimed (compilation, caches), then by turns, equally often, so that a slow spell of the machine meets both. The best
call counts: whatever disturbs a call only makes it longer.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

HOLDS, FAILS, NO_BAR = "holds", "DOES NOT HOLD", "no bar"
HEADER = ("bar", "ours", "theirs", "measured", "target", "holds")


@dataclass(frozen=True)
class Options:
    """What to run: ``quick`` shortens the longest comparison, ``full`` adds those that take minutes or an install."""

    quick: bool = False
    full: bool = False


@dataclass(frozen=True)
class Bar:
    """One measured line: a result, and what it should be.

    ``result`` is None where nothing was measured, ``target`` where no bar was set. ``unit`` is that of ``result``, "x"
    for times faster.
    """

    name: str
    result: float | None
    target: float | None
    unit: str = "x"
    at_least: bool = True
    ours: str = ""
    theirs: str = ""
    note: str = ""

    @property
    def margin(self) -> float | None:
        """How many times better than its target the result is; None without one of them."""
        if self.result is None or self.target is None:
            return None
        return self.result / self.target if self.at_least else self.target / self.result

    @property
    def verdict(self) -> str:
        """Return "holds", "DOES NOT HOLD", "no bar", or why there is no result."""
        if self.result is None:
            return self.note
        if self.margin is None:
            return NO_BAR
        return HOLDS if self.margin >= 1 else FAILS

    def cells(self) -> tuple[str, ...]:
        """Return the line's columns."""
        sign = ">=" if self.at_least else "<="
        result = "" if self.result is None else f"{self.result:.3g} {self.unit}"
        target = "" if self.target is None else f"{sign} {self.target:.3g} {self.unit}"
        note = f" ({self.note})" if self.note and self.result is not None else ""
        return self.name, self.ours, self.theirs, result, target, self.verdict + note


def cpu_seconds(call: Callable[[], object], *, calls: int = 1) -> float:
    """Return the CPU seconds that one call takes, as the mean of ``calls`` in a row."""
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


def side_by_side(
    ours: Callable[[], object], theirs: Callable[[], object], *, repeats: int, calls: tuple[int, int] = (1, 1)
) -> tuple[float, float]:
    """Return the best CPU seconds of both, called by turns; each has been warmed up by the caller."""
    turns = [(cpu_seconds(ours, calls=calls[0]), cpu_seconds(theirs, calls=calls[1])) for _ in range(repeats)]
    return min(mine for mine, _ in turns), min(other for _, other in turns)


def faster(name: str, times: tuple[float, float], target: float | None, note: str = "") -> Bar:
    """Return the line that says how many times faster ours is."""
    mine, other = times
    return Bar(name, other / mine, target, ours=seconds(mine), theirs=seconds(other), note=note)


def not_run(name: str, target: float | None, why: str, *, unit: str = "x", at_least: bool = True) -> Bar:
    """Return the line of a bar that was not measured."""
    return Bar(name, None, target, unit=unit, at_least=at_least, note=why)


def seconds(value: float) -> str:
    """Return a time in a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return ``rows`` in columns as wide as they need."""
    cells = [list(row) for row in rows]
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells)


def tally(bars: Sequence[Bar]) -> str:
    """Say how many of the bars that were measured hold."""
    judged = [bar for bar in bars if bar.margin is not None]
    return f"{sum(bar.verdict == HOLDS for bar in judged)} of {len(judged)} bars hold"


def main(measure: Callable[[Options], list[Bar]], description: str | None) -> None:
    """Run one script alone: read the options, measure, print."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    add_options(parser)
    given = parser.parse_args()
    bars = measure(Options(quick=given.quick, full=given.full))
    print(table([HEADER, *(bar.cells() for bar in bars)]), tally(bars), sep="\n")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what all scripts take."""
    parser.add_argument("--quick", action="store_true", help="shorten the longest comparison; the line says so")
    parser.add_argument("--full", action="store_true", help="also what takes minutes, gigabytes or an install")
