"""Progress of a fit: which share of the files' bytes has been read. It says nothing about the rows."""

import sys
import time
from typing import TYPE_CHECKING, Self

from privet.cli.support import output

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# Seconds between two lines where there is no terminal.
_BETWEEN_LINES = 2.0


class ReadProgress:
    """A bar on stderr in a terminal; elsewhere plain lines where they are asked for, and else nothing."""

    _task: "TaskID"

    def __init__(self, what: str, *, lines: bool = False) -> None:
        self._what = what
        self._bar = _bar() if sys.stderr.isatty() else None
        self._lines = lines and self._bar is None
        self._passes, self._share, self._last_line = 1, 0.0, time.monotonic()

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(self._what, total=1.0)
        return self

    def __exit__(self, *failure: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def watch(self, share: float) -> None:
        """Note which share of the bytes has been read; a smaller one than before begins another pass."""
        self._passes += share < self._share
        self._share = share
        words = self._what if self._passes == 1 else f"{self._what}, pass {self._passes}"
        if self._bar is not None:
            self._bar.update(self._task, completed=share, description=words)
        elif self._lines and time.monotonic() - self._last_line >= _BETWEEN_LINES:
            output.say(f"{words}: {share:.0%} of the bytes")
            self._last_line = time.monotonic()


def _bar() -> "Progress":
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    return Progress(*columns, console=output.console(stderr=True), transient=True)
