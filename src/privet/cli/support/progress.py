"""Progress on stderr: the share of a file that has been read, the rows that are done, or the steps of each part."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

from privet.cli.support import output

if TYPE_CHECKING:
    import rich.progress

# Seconds between two lines about a file where there is no terminal.
_BETWEEN_LINES = 2.0
# Steps may take hours: their next line waits for this share of a part's steps and for this many seconds.
_STEP_SHARE, _BETWEEN_STEP_LINES = 0.1, 10.0


class Progress:
    """A bar in a terminal; elsewhere lines if they are asked for, and otherwise nothing.

    Parameters
    ----------
    what : str
        The work, as a line about it begins.
    steps : str
        What `step` counts; its bars stay on the screen.
    shown : bool
        Whether a terminal may show a bar.
    lines : bool
        Whether to write lines where there is no bar.
    """

    def __init__(self, what: str, *, steps: str = "", shown: bool = True, lines: bool = False) -> None:
        self._what, self._steps = what, steps
        self._bar = _bar(transient=not steps) if shown and sys.stderr.isatty() else None
        self._lines = lines and self._bar is None
        self._tasks: dict[str, rich.progress.TaskID] = {}
        self._share, self._passes, self._last_line = 0.0, 1, time.monotonic()
        self._rows: int | None = None
        # Of every part: how many steps were done, and when.
        self._begun: dict[str, tuple[int, float]] = {}
        self._said: dict[str, tuple[int, float]] = {}

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._lines and self._rows is not None and failure == (None, None, None):
            output.say(f"{self._what} {self._rows:,} rows")

    def read(self, share: float) -> None:
        """Note the share of the bytes that has been read; a smaller one than before begins another pass."""
        self._passes += share < self._share
        self._share = share
        if self._rows is None:
            words = self._what if self._passes == 1 else f"{self._what}, pass {self._passes}"
            self._show_share(words, "", f"{words}: {share:.0%} of the bytes")

    def over(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches, and count their rows when they are done."""
        self._rows = 0
        for batch in batches:
            yield batch
            self._rows += batch.num_rows
            rows = f"{self._rows:,} rows"
            self._show_share(self._what, rows, f"{self._what} {rows}, {min(self._share, 1.0):.0%} of the file")

    def step(self, part: str, done: int, total: int) -> None:
        """Note how many steps of a part are done; call it first before or as the part begins."""
        words, counted = f"{self._what}, {part}", f"{done} of {total} {self._steps}"
        self._move_bar(part, words, done, total, counted)
        now = time.monotonic()
        self._begun.setdefault(part, (done, now))
        if self._lines and (part not in self._said or done == total or self._is_step_line_due(part, done, total, now)):
            self._said[part] = done, now
            output.say(f"{words}: {counted}{self._times(part, done, total, now)}")

    def _show_share(self, words: str, counted: str, line: str) -> None:
        self._move_bar("", words, self._share, 1.0, counted)
        if self._lines and time.monotonic() - self._last_line >= _BETWEEN_LINES:
            output.say(line)
            self._last_line = time.monotonic()

    def _move_bar(self, part: str, words: str, done: float, total: float, counted: str) -> None:
        if self._bar is None:
            return
        if part not in self._tasks:
            self._tasks[part] = self._bar.add_task(words, total=total, completed=0, counted=counted)
        self._bar.update(self._tasks[part], completed=done, description=words, counted=counted)

    def _is_step_line_due(self, part: str, done: int, total: int, now: float) -> bool:
        before, when = self._said[part]
        return done - before >= _STEP_SHARE * total and now - when >= _BETWEEN_STEP_LINES

    def _times(self, part: str, done: int, total: int, now: float) -> str:
        before, began = self._begun[part]
        if done == before:
            return ""
        gone = now - began
        left = gone * (total - done) / (done - before)
        return f", {_clock(gone)} gone" + (f", about {_clock(left)} left" if done < total else "")


def _clock(seconds: float) -> str:
    """Return a time in words: 75 is "1:15"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _bar(*, transient: bool) -> "rich.progress.Progress":
    import rich.progress as rich

    columns = (
        rich.TextColumn("{task.description}", markup=False), rich.BarColumn(), rich.TaskProgressColumn(),
        rich.TextColumn("{task.fields[counted]}", markup=False),
        rich.TimeElapsedColumn(), rich.TextColumn("gone,"), rich.TimeRemainingColumn(), rich.TextColumn("left"),
    )  # fmt: skip
    return rich.Progress(*columns, console=output.console(stderr=True), transient=transient)
