"""Speed and memory: all bars and growth curves in one run.

A group is printed when it has been measured, and all of it at the end. ``--full`` adds what takes minutes, gigabytes or
an install. ``--page`` also writes the page, its pictures and the README's. The exit status is 0 whether or not the bars
hold: timings on a busy machine are not a test.
"""

import argparse
import inspect
import sys
from collections.abc import Callable

from benchmarks.speed import (
    curve,
    fit,
    forest,
    greedy,
    growth,
    harness,
    local,
    machine,
    masks,
    memory,
    noise,
    page,
    peers,
    predict,
    response_forest,
    start,
)
from benchmarks.speed.results import Group, Results

Measure = Callable[[harness.Options], list[harness.Bar]]

_GROUPS: dict[str, tuple[str | None, Measure]] = {
    "Starting": (start.__doc__, start.measure),
    "Predicting": (predict.__doc__, predict.measure),
    "Fitting Private-RDT": (fit.__doc__, fit.measure),
    "Fitting greedy trees": (greedy.__doc__, greedy.measure),
    "Fitting the recommended forest": (forest.__doc__, forest.measure),
    "Trees from disturbed records": (local.__doc__, local.measure),
    "Random response forests": (response_forest.__doc__, response_forest.measure),
    "Secure sum": (masks.__doc__, masks.measure),
    "A peer's forest": (peers.__doc__, peers.measure),
    "Noise": (noise.__doc__, noise.measure),
    "Files larger than memory": (memory.__doc__, memory.measure),
}


def measured(options: harness.Options, *, with_growth: bool = True) -> Results:
    """Measure all of it."""
    groups = []
    for title, (about, measure) in _GROUPS.items():
        _say(f"{title} ...")
        bars = measure(options)
        _say(harness.table(bar.cells() for bar in bars))
        groups.append(Group(title, inspect.cleandoc(about or ""), tuple(bars)))
    _say("Growth ...")
    curves = growth.measure(options) if with_growth else []
    flags = "".join(f" --{name}" for name in ("quick", "full") if getattr(options, name))
    return Results(machine.described(), f"python -m benchmarks.speed.run{flags}", tuple(groups), tuple(curves))


def printed(results: Results) -> str:
    """Return both tables and how much of them holds."""
    parts = [harness.table([harness.HEADER, *(bar.cells() for bar in results.bars)]), harness.tally(results.bars)]
    if results.curves:
        holding = sum(each.verdict == harness.HOLDS for each in results.curves)
        parts += ["", harness.table([curve.HEADER, *(each.cells() for each in results.curves)])]
        parts += [f"{holding} of {len(results.curves)} exponents hold"]
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    harness.add_options(parser)
    parser.add_argument("--page", action="store_true", help="also write the page of results and its pictures")
    parser.add_argument("--no-growth", action="store_true", help="bars only")
    given = parser.parse_args()
    results = measured(harness.Options(quick=given.quick, full=given.full), with_growth=not given.no_growth)
    print(printed(results))
    if given.page:
        results.save()
        page.render(results)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
