"""The page of one run, and the same as a table for other programs."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.load.draw_time import n_timed
from benchmarks.speed.page import markdown_table

_ABOUT = """\
Each step runs in a fresh process on generated rows. Rows per second are by the clock, on a machine that others may use,
with rows per second of one core's work beside them; memory is the most that the process held, interpreter and libraries
included. `make load` runs it on your machine with fewer rows, fits and draws, `make load-full` with all of them, and
rewrites this page."""
_ROWS = """\
## Rows

Ten attributes, two classes, batches of 65,536 rows made when they are asked for. `private-rdt` (10 trees of height 10)
adds up counts and forgets the batch. `private-forest` (8 trees, up to three more in a second stage) fits its
weights by going through coded rows again and again: a byte a row for each tree, one for the label and four for its
steps. It holds 24 MB of them, and what is beyond lies in an unnamed temporary file. The memory of both is flat."""
_FITS = """\
## Fits

All methods by turns on 300 rows in one process. Held after a tenth of the fits, and at the end."""
_THREADS = """\
## Threads

All threads ask one model at the same moment, each for chances, classes, logarithms of chances and importances of 2,000
rows of its own, 20 times; a wrong answer is one that differs in any bit from what a single thread gets. Held after a
first round, and after a second."""
_DRAWS = """\
## The time of a draw

How many random words of 32 bits a single draw uses, for small noise and for large, and how that goes together with the
size of the noise; and the same for the processor time of {batches:,} batches of a thousand draws, where a correlation
above {chance:.2f} is no chance. On a quiet machine more may be seen than on a busy one."""
_CHOICE = """\
A choice among ten candidates by permute-and-flip depends on the *scores*, which are exact: words used, by how many
steps the best is ahead of all others (epsilon 0.2, sensitivity 1)."""


def text_of(results: dict[str, Any]) -> str:
    """Return the page as Markdown; steps that were not run are left out."""
    rows, fits = _of(results, "many_rows"), _of(results, "many_fits")
    threads, draws = _of(results, "many_threads"), _of(results, "draw_time")
    parts = ["# Load", _ABOUT, _machine(results), _ROWS, _rows_table(rows), _FITS, _fits_table(fits)]
    parts += [_THREADS, *map(_threads_table, threads), *map(_draws_part, draws)]
    return "\n\n".join(part for part in parts if part) + "\n"


def render(results: dict[str, Any], folder: Path) -> None:
    """Write the page and the table."""
    (folder / "README.md").write_text(text_of(results), encoding="utf-8")
    with (folder / "load.csv").open("w", encoding="utf-8", newline="") as file:
        lines = [("step", "measure", "value"), *(line for step in results for line in _flat(step, results[step]))]
        csv.writer(file, lineterminator="\n").writerows(lines)


def _of(results: dict[str, Any], module: str) -> list[dict[str, Any]]:
    return [found for step, found in results.items() if step.partition(" ")[0] == module]


def _flat(step: str, value: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield step, name, f"{value:.6g}" if isinstance(value, float) else str(value)
        return
    for key, part in items:
        yield from _flat(step, part, f"{name} {key}".strip())


def _machine(results: dict[str, Any]) -> str:
    return (
        "Measured on " + ", ".join(f"{name} {value}" for name, value in results["machine"].items()) + "."
        if ("machine" in results)
        else ""
    )


def _rows_table(rows: list[dict[str, Any]]) -> str:
    header = (
        "method", "rows", "fit: rows a second (a CPU second)", "peak of fit", "predict: rows a second (a CPU second)",
        "peak of all", "peak against 1e6", "predicted right",
    )  # fmt: skip
    first = {found["method"]: found for found in reversed(rows)}
    return markdown_table(
        header,
        [
            (
                found["method"], f"{found['rows']:,}", _speed(found, "fit"), f"{found['fit_mb']:,.0f} MB",
                _speed(found, "predict"), f"{found['predict_mb']:,.0f} MB",
                f"{found['fit_mb'] / first[found['method']]['fit_mb']:.2f} x fit, "
                f"{found['predict_mb'] / first[found['method']]['predict_mb']:.2f} x all", f"{found['accuracy']:.1%}",
            )
            for found in rows
        ],
    )  # fmt: skip


def _speed(found: dict[str, Any], what: str) -> str:
    return f"{found['rows'] / found[what]['wall']:,.0f} ({found['rows'] / found[what]['cpu']:,.0f})"


def _fits_table(fits: list[dict[str, Any]]) -> str:
    header = ("fits", "fits a second", "memory", "open files", "threads", "objects")
    return markdown_table(
        header, [(f"{f['fits']:,}", f"{f['fits'] / f['seconds']:.0f}", *_held(f["early"], f["late"])) for f in fits]
    )


def _held(early: dict[str, Any], late: dict[str, Any]) -> tuple[str, ...]:
    memory = f"{early['memory_mb']:.1f} to {late['memory_mb']:.1f} MB"
    return memory, *(f"{early[name]:,} to {late[name]:,}" for name in ("files", "threads", "objects"))


def _threads_table(found: dict[str, Any]) -> str:
    header = (
        f"one model, {found['threads']} threads", "rounds of questions", "wrong", "rows a second", "memory",
        "open files", "threads", "objects",
    )  # fmt: skip
    lines = [
        (m["method"], f"{m['calls']:,}", f"{m['wrong']}", f"{m['rows_per_second']:,.0f}", *_held(m["early"], m["late"]))
        for m in found["models"]
    ]
    ledger = (
        f"{found['threads']} threads that fit and pay from one ledger at the same moment: {found['recorded']} fits on "
        f"record, epsilon {found['spent']:g} spent of {found['threads']} times 0.1."
    )
    return f"{markdown_table(header, lines)}\n\n{ledger}"


def _draws_part(found: dict[str, Any]) -> str:
    n_batches = n_timed(found["draws"])
    # Three standard deviations of the correlation of what has nothing to do with each other.
    about = _DRAWS.format(batches=n_batches, chance=3 / math.sqrt(n_batches))
    return f"{about}\n\n{_draws_table(found)}"


def _draws_table(found: dict[str, Any]) -> str:
    header = (
        "noise", "words, mean", "below its scale", "above 3 scales", "correlation of words and size",
        "correlation of time and size, 1,000 draws",
    )  # fmt: skip
    lines = [
        (
            name, f"{law['words']:.1f}", f"{law['words_below_scale']:.1f}", f"{law['words_above_three_scales']:.1f}",
            f"{law['correlation']:.2f}", f"{law['time_correlation']:.2f}",
        )
        for name, law in found["laws"].items()
    ]  # fmt: skip
    choice = [(lead, f"{words:.1f}") for lead, words in found["choice"].items()]
    return f"{markdown_table(header, lines)}\n\n{_CHOICE}\n\n{markdown_table(('ahead by', 'words, mean'), choice)}"
