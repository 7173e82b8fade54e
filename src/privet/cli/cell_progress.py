"""Progress of a paper's experiments: cells measured of how many, the time gone and the time left."""

import sys
import time
from typing import TYPE_CHECKING, Self

from privet.cli import output

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# Where there is no terminal, a line is due after this share of an experiment's cells.
_SHARE = 0.1


class CellProgress:
    """A bar an experiment on stderr in a terminal, and lines elsewhere."""

    def __init__(self, paper: str) -> None:
        self._paper = paper
        self._bar = _bar() if sys.stderr.isatty() else None
        self._tasks: dict[str, TaskID] = {}
        self._begun: dict[str, tuple[int, float]] = {}
        self._told: dict[str, int] = {}

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def watch(self, experiment: str, done: int, total: int) -> None:
        """Note how many of an experiment's cells have been measured; the first time, before it begins."""
        if self._bar is not None:
            if experiment not in self._tasks:
                words = f"{self._paper}, {experiment}"
                self._tasks[experiment] = self._bar.add_task(words, total=total, completed=done)
            self._bar.update(self._tasks[experiment], completed=done)
            return
        first = experiment not in self._begun
        self._begun.setdefault(experiment, (done, time.monotonic()))
        if first or done == total or done - self._told[experiment] >= _SHARE * total:
            self._told[experiment] = done
            output.say(f"{self._paper}, {experiment}: {done} of {total} cells{self._times(experiment, done, total)}")

    def _times(self, experiment: str, done: int, total: int) -> str:
        before, began = self._begun[experiment]
        if done == before:
            return ""
        gone = time.monotonic() - began
        left = gone * (total - done) / (done - before)
        return f", {_clock(gone)} gone" + (f", about {_clock(left)} left" if done < total else "")


def _clock(seconds: float) -> str:
    """Return a time in words: 75 is "1:15"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _bar() -> "Progress":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn("cells,"),
        TimeElapsedColumn(), TextColumn("gone,"), TimeRemainingColumn(), TextColumn("left"),
    )  # fmt: skip
    return Progress(*columns, console=output.console(stderr=True))
