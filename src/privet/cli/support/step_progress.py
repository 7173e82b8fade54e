"""Progress of work in parts, each of many steps: how many are done of how many, the time gone and the time left."""

import sys
import time
from typing import TYPE_CHECKING, Self

from privet.cli.support import output

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# Where there is no terminal, a line is due after this share of a part's steps, and not before so many seconds.
_SHARE, _SECONDS = 0.1, 10.0


class StepProgress:
    """A bar a part on stderr in a terminal, and lines elsewhere.

    Parameters
    ----------
    name : str
        Of the whole work.
    steps : str
        What is counted.
    """

    def __init__(self, name: str, steps: str) -> None:
        self._name, self._steps = name, steps
        self._bar = _bar(steps) if sys.stderr.isatty() else None
        self._tasks: dict[str, TaskID] = {}
        self._begun: dict[str, tuple[int, float]] = {}
        self._told: dict[str, tuple[int, float]] = {}

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def watch(self, part: str, done: int, total: int) -> None:
        """Note how many steps of a part are done; the first time, before or as it begins."""
        if self._bar is not None:
            if part not in self._tasks:
                words = f"{self._name}, {part}"
                self._tasks[part] = self._bar.add_task(words, total=total, completed=done)
            self._bar.update(self._tasks[part], completed=done)
            return
        self._begun.setdefault(part, (done, time.monotonic()))
        if done == total or self._is_due(part, done, total):
            self._told[part] = done, time.monotonic()
            output.say(f"{self._name}, {part}: {done} of {total} {self._steps}{self._times(part, done, total)}")

    def _is_due(self, part: str, done: int, total: int) -> bool:
        if part not in self._told:
            return True
        told, when = self._told[part]
        return done - told >= _SHARE * total and time.monotonic() - when >= _SECONDS

    def _times(self, part: str, done: int, total: int) -> str:
        before, began = self._begun[part]
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


def _bar(steps: str) -> "Progress":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn(f"{steps},"),
        TimeElapsedColumn(), TextColumn("gone,"), TimeRemainingColumn(), TextColumn("left"),
    )  # fmt: skip
    return Progress(*columns, console=output.console(stderr=True))
