"""Show the share of the gap that a forest closes, or two side by side: ``python -m benchmarks.utility.compare A [B]``.

A and B are files of `run`. Where a file has several methods, one is named after two colons: ``tuning.jsonl::private
forest, n_bins=8``. Guessing and what is possible without privacy come from the same splits, by default those for
tuning. Only tables, splits and epsilons that both have are looked at, so that a run can be watched.

A difference has a star where it is more than twice its standard error over the splits. Means over tables have their
standard errors over tables in brackets.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.utility.methods import CEILING, MAJORITY
from benchmarks.utility.run import RESULTS
from benchmarks.utility.splits import GROUPS, TABLES
from benchmarks.utility.store import Results, Store
from benchmarks.utility.summary import Place, Summary

BOUNDS = RESULTS / "tuning_bounds.jsonl"
_CLEAR = (MAJORITY, *CEILING)


class Comparison(NamedTuple):
    """The fits of one or two sides on the tables and splits that all have, under the names of the sides."""

    summary: Summary
    sides: tuple[str, ...]
    tables: list[str]
    epsilons: list[float]

    def share(self, side: str, table: str, epsilon: float) -> float:
        """Return the share of the gap that a side closes on a table."""
        return self.summary.gap_closed(Place(side, table, epsilon))

    def gained(self, table: str, epsilon: float) -> tuple[float, float]:
        """Return how much more of the gap the last side closes than the first, and its standard error over splits."""
        first, last = self.sides[0], self.sides[-1]
        lead = self.summary.lead(Place(last, table, epsilon), first)
        gap = self.summary.ceiling(table) - self.summary.majority(table)
        return lead.ahead / gap, lead.error / gap


def fits_of(side: str) -> Results:
    """Return the fits of one method with a price, from ``FILE`` or ``FILE::METHOD``."""
    path, _, method = side.partition("::")
    found = {cell: scores for cell, scores in Store(Path(path)).scores().items() if cell.epsilon is not None}
    names = sorted({cell.method for cell in found})
    if not method and len(names) != 1:
        raise ValueError(f"{path} has {len(names)} methods; name one after two colons: {'; '.join(names)}")
    chosen = method or names[0]
    if chosen not in names:
        raise ValueError(f"{path} has no fits of {chosen!r}; it has {'; '.join(names)}")
    return {cell: scores for cell, scores in found.items() if cell.method == chosen}


def compared(sides: Sequence[Results], bounds: Results) -> Comparison:
    """Bring the fits of sides and of what bounds them to the same tables, splits and epsilons."""
    names = tuple("AB"[: len(sides)])
    prices = [{cell.epsilon for cell in own if cell.epsilon is not None} for own in sides]
    epsilons = sorted(set.intersection(*prices))
    # A split counts where every side has it at every epsilon, and every bound.
    kinds = [{(c.table, c.repeat) for c in own if c.epsilon == epsilon} for own in sides for epsilon in epsilons]
    kinds += [{(c.table, c.repeat) for c in bounds if c.method == method} for method in _CLEAR]
    splits = set.intersection(*kinds)
    fits = {c._replace(method=name): s for name, own in zip(names, sides, strict=True) for c, s in own.items()}
    fits |= {c: s for c, s in bounds.items() if c.method in _CLEAR}
    kept = {cell: scores for cell, scores in fits.items() if (cell.table, cell.repeat) in splits}
    return Comparison(Summary(kept), names, [t for t in TABLES if any(t == own for own, _ in splits)], epsilons)


def lines(comparison: Comparison) -> list[str]:
    """Return the lines to print: a table each, then the means by group and of all."""
    both = len(comparison.sides) > 1
    blocks = [*comparison.sides, *(["B - A"] if both else [])]
    prices = "".join(f"{epsilon:>8g} " for epsilon in comparison.epsilons)
    width = len(prices)
    said = [
        f"{'':42}" + "".join(f" |{block:^{width}}" for block in blocks),
        f"{'share of the gap, %':24}{'splits  from    to':>18}" + f" |{prices}" * len(blocks),
    ]
    said += [_table_line(comparison, table) for table in comparison.tables]
    groups = {**{f"mean, {title}": list(names) for title, names in GROUPS.items()}, "mean, all": list(TABLES)}
    for title, names in groups.items():
        own = [table for table in names if table in comparison.tables]
        said += _mean_lines(comparison, title, own) if own else []
    return said


def _table_line(comparison: Comparison, table: str) -> str:
    summary = comparison.summary
    first = Place(comparison.sides[0], table, comparison.epsilons[0])
    bounds = f"{summary.repeats(first):6d} {100 * summary.majority(table):5.1f} {100 * summary.ceiling(table):5.1f}"
    said = f"{table:24}{bounds}"
    for side in comparison.sides:
        said += " |" + "".join(f"{100 * comparison.share(side, table, e):8.1f} " for e in comparison.epsilons)
    if len(comparison.sides) > 1:
        gains = [comparison.gained(table, epsilon) for epsilon in comparison.epsilons]
        said += " |" + "".join(f"{100 * gain:+8.1f}{'*' if abs(gain) > 2 * error else ' '}" for gain, error in gains)
    return said


def _mean_lines(comparison: Comparison, title: str, tables: Sequence[str]) -> list[str]:
    columns = [
        [[comparison.share(side, table, e) for table in tables] for e in comparison.epsilons]
        for side in comparison.sides
    ]
    if len(comparison.sides) > 1:
        columns.append([[comparison.gained(table, e)[0] for table in tables] for e in comparison.epsilons])
    forms = ["8.1f"] * len(comparison.sides) + ["+8.1f"]
    means, errors = f"{f'{title} ({len(tables)})':42}"[:42], " " * 42
    for block, form in zip(columns, forms, strict=False):
        means += " |" + "".join(f"{100 * np.mean(own):{form}} " for own in block)
        errors += " |" + "".join(f"{_error(own):>8} " for own in block)
    return [means, errors]


def _error(shares: Sequence[float]) -> str:
    return f"({100 * np.std(shares, ddof=1) / math.sqrt(len(shares)):.1f})" if len(shares) > 1 else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("first", metavar="A", help="FILE or FILE::METHOD")
    parser.add_argument("second", metavar="B", nargs="?", help="the same; B - A is shown")
    parser.add_argument("--bounds", type=Path, default=BOUNDS, metavar="FILE", help="the methods without privacy")
    given = parser.parse_args()
    try:
        sides = [fits_of(side) for side in (given.first, given.second) if side is not None]
    except ValueError as error:
        sys.exit(str(error))
    comparison = compared(sides, Store(given.bounds).scores())
    if not comparison.tables:
        sys.exit("no split has fits of every side and of the methods without privacy")
    print("\n".join(lines(comparison)))


if __name__ == "__main__":
    main()
